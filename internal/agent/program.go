package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// program is an agent's command line program that is not ours: what Codex and Claude Code have in common.
type program struct {
	release
	opt     Options
	mu      sync.Mutex
	checked bool
}

// release is a version of a program: the one that the tests run.
type release struct {
	name    string // as it is looked up in PATH
	pkg     string // npm package
	version string
	prepare []string // commands that a runner needs besides
}

// install is the command that installs it.
func (r release) install() string { return "npm install -g " + r.pkg + "@" + r.version }

const checkTimeout = time.Minute

// opening is what a run of a program begins with.
type opening struct {
	session session // to continue; zero for a new one
	schema  string  // the form of the answer
	place   place
	link    *link
}

// open reads and makes what a run begins with; transcripts is as place has it. Whoever calls it ends the link.
func (p *program) open(req model.Request, transcripts string) (o opening, err error) {
	if o.session, err = readSession(req.Session); err != nil {
		return o, err
	}
	if o.schema, err = outcomeSchema(req); err != nil {
		return o, err
	}
	if o.place, err = p.place(transcripts); err != nil {
		return o, err
	}
	o.link, err = p.link()
	return o, err
}

// place is where a program keeps its things. All of it is new for every run, so that what an agent leaves there, for its
// shells or for itself, reaches no other pull request; only the transcripts of its sessions may outlive the run.
type place struct{ home, state string }

// place makes it; transcripts is the directory of them below the program's own state.
func (p *program) place(transcripts string) (place, error) {
	if p.opt.Temp == "" {
		return place{}, fmt.Errorf("run %s: no directory for its home was given", p.name)
	}
	temp, err := filepath.Abs(p.opt.Temp)
	if err != nil {
		return place{}, fmt.Errorf("make home of %s: %w", p.name, err)
	}
	at := place{home: filepath.Join(temp, "agent-home"), state: filepath.Join(temp, p.name)}
	if err := makeDirs(temp, "agent-home", "agent-home/tmp", p.name); err != nil {
		return place{}, fmt.Errorf("make home of %s: %w", p.name, err)
	}
	if p.opt.Sessions == "" {
		return at, nil
	}
	sessions, err := filepath.Abs(p.opt.Sessions)
	if err == nil {
		err = makeDirs(sessions, p.name)
	}
	if err != nil {
		return place{}, fmt.Errorf("make home of %s: %w", p.name, err)
	}
	link := filepath.Join(at.state, transcripts)
	if _, err := os.Lstat(link); errors.Is(err, fs.ErrNotExist) {
		if err := os.Symlink(filepath.Join(sessions, p.name), link); err != nil {
			return place{}, fmt.Errorf("make home of %s: %w", p.name, err)
		}
	}
	return at, nil
}

// notALink refuses a symbolic link in the place of a directory of ours: whoever put it there wants what it leads to.
func notALink(dir string) error {
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is a symbolic link, which an agent can have put there: remove it", dir)
	}
	return nil
}

// makeDirs makes directories below top, those above first. An earlier agent can have written there: what is there instead
// of a directory, a symbolic link for instance, is removed.
func makeDirs(top string, names ...string) error {
	if err := notALink(top); err != nil {
		return err
	}
	if err := os.MkdirAll(top, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range names {
		if info, err := root.Lstat(name); err == nil && info.IsDir() {
			continue
		}
		if err := root.RemoveAll(name); err != nil {
			return err
		}
		if err := root.Mkdir(name, 0o700); err != nil {
			return err
		}
	}
	return nil
}

// writeNew creates a file. It removes what an earlier agent has put in its place, and does not write to that.
func writeNew(file, text string, mode fs.FileMode) error {
	if err := os.RemoveAll(file); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// check asks the program for its version, once: a program that cannot say it is not installed, another version than the
// tested one is worth a line in the log. further is a check of the program's own.
func (p *program) check(ctx context.Context, opt Options, dir string, further func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.checked {
		return nil
	}
	log := opt.Log
	opt.Log, opt.Timeout = io.Discard, min(opt.Timeout, checkTimeout)
	said, err := opt.execute(ctx, dir, []string{p.name, "--version"}, nil)
	var failed *Error
	switch {
	case errors.As(err, &failed) && (failed.Kind == Start || failed.Kind == Exit):
		why := lastWords(failed.Stderr, 300)
		if why.text == "" {
			why.text = strings.TrimSuffix(failed.Detail, notFoundHint)
		}
		missing := failing(NotInstalled, failed.Exit, "%s does not start (%s): install it with %s", p.name, why, p.install())
		missing.Stderr, missing.Err = failed.Stderr, err
		return missing
	case err != nil:
		return err
	}
	if !slices.Contains(strings.Fields(string(said)), p.version) {
		fmt.Fprintf(log, "mergexo: %s says it is \"%s\"; version %s is the one that MergeXO is tested with\n",
			p.name, excerpt(strings.TrimSpace(string(said)), 80), p.version)
	}
	if err := further(); err != nil {
		return err
	}
	p.checked = true
	return nil
}

// with returns env with some variables replaced, and without those whose value is "".
func with(env []string, set map[string]string) []string {
	var out []string
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if _, ok := set[name]; !ok {
			out = append(out, entry)
		}
	}
	for name, value := range set {
		if value != "" {
			out = append(out, name+"="+value)
		}
	}
	slices.Sort(out)
	return out
}

// value is a variable in env; "" when it is not there.
func value(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if text, ok := strings.CutPrefix(entry, name+"="); ok {
			return text
		}
	}
	return ""
}

// noSession is a session that cannot be continued: whoever asked has to begin a new one.
func (p *program) noSession(id string, said *Error) *Error {
	failed := failing(NoSession, -1, "session %s of %s is not on this runner (%s)", id, p.name, lastWords(said.Stderr, 200))
	failed.Err = said
	return failed
}

// failed is what the program said of its own failure.
func (p *program) failed(kind Kind, said string, exit int) *Error {
	ways := map[Kind]string{
		Login:   "%s has no valid key (%s): set %s in the env of MergeXO's step",
		Limit:   "%s has reached a limit of its provider (%s)",
		Model:   "%s got no answer from its model (%s)",
		Refused: "%s reports that its model refused (%s)",
		Output:  "%s returned no outcome (%s)",
	}
	args := []any{p.name, words{text: said, most: 300, line: true}}
	if kind == Login {
		args = append(args, strings.Join(adapters[p.opt.Adapter].model.keys, " or "))
	}
	return failing(kind, exit, ways[kind], args...)
}

// paid has the error of a run that ended well, and from whose user nothing can be taken back, know what the run used.
func paid(out model.Outcome, err error) error {
	failed := (*Error)(nil)
	if errors.As(err, &failed) && failed.Kind == Unreturned {
		failed.Usage, failed.Session = out.Usage, out.Session
	}
	return err
}

// settled gives what a run came to: an outcome, or an error that knows what the run used and by what session it could be
// continued.
func settled(out model.Outcome, err error, id string) (model.Outcome, error) {
	if err == nil {
		return out, nil
	}
	var failed *Error
	if errors.As(err, &failed) && failed.Kind != NoSession {
		failed.Usage = out.Usage
		if id != "" {
			failed.Session = out.Session
		}
	}
	return model.Outcome{}, err
}
