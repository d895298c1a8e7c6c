// Package git runs git safely in one checkout, and reads objects and refs there. The packages below it take its handle as an
// argument. No other package runs git.
//
// After an agent has worked in a checkout, nothing in its .git can be trusted: its configuration names programs that git
// would run. So everything that matters happens in a bare git directory of our own, with our own configuration, which
// shares only the objects, the index and the files with the checkout. No git process has the credential: it talks to the
// server through a relay in our own process, which adds the credential and allows only the current operation.
//
// An own clone is shallow rather than partial (--filter=blob:none): a partial clone fetches on demand, which would be a
// network operation that nobody counted, in an agent without the credential for it.
package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/credential"
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/scratch"
)

// Identity is the committer and author of what we commit.
type Identity struct{ Name, Email string }

func (i Identity) String() string { return i.Name + " <" + i.Email + ">" }

// Options say where the repository is and what is available to work on it.
type Options struct {
	URL       string         // https URL of the repository on its server (SERVER_URL/owner/repo)
	Token     string         // credential for URL, where Credential is nil; "" is anonymous
	Workspace string         // GITHUB_WORKSPACE or ""
	Temp      string         // RUNNER_TEMP or the system's temporary directory
	Scratch   *scratch.Space // of this process; nil: what a killed run leaves in Temp is not removed
	Identity  Identity
	Now       func() time.Time
	Log       *slog.Logger // nil: nothing is logged
	Path      string       // PATH for git, and for what else runs with our rights: see SafePath
	// Credential gives the token of each request.
	Credential credential.Source
	// Network is how to reach the server from this machine, as NAME=value: proxy and certificate settings. Children do not
	// get them.
	Network []string
	// Opening is asked before a checkout is opened, and its error is that of Open; nil: nobody is asked.
	Opening func() error
}

// Checkout is one working copy with our own git directory for it. It is not safe for concurrent use. Its fields are for the
// packages below git: others call their functions.
type Checkout struct {
	Opt     Options
	program string // git itself, found in Opt.Path
	site    string // scheme and host of URL with a final slash

	Layout
	OwnClone bool // we made the clone; Close removes it

	OwnDir         string            // our own bare git directory
	Refs           map[string]string // refs of our own directory: what the server is known to have
	Boundary       []byte            // content of our own shallow file
	settingsBefore []Setting         // the checkout's settings that affect files, before the agent ran
	Partial        bool              // the workspace is a partial clone
	Treeless       bool              // its filter leaves out trees as well
	Tracked        []string          // the server's commits and tags in the workspace when it was opened
	Branch         string            // local branch of the last Restore or Begin, a full name; "" if HEAD had to be detached
	Started        string            // commit of the last Restore or Begin
	Branches       map[string]string // local branches of the checkout and their tips at that time
	Submodules     []Submodule       // of the checkout at that time
	Indexes        string            // directory with the copies of their indexes; "": none

	// Differing are the files that differed from the index just after git had written them.
	Differing map[string]Differing
	LeftOut   []string // what a commit could not take, with git's reasons; whoever tells people empties it
	Committed string   // the head with all that was in the checkout; "" once others may have worked there

	Trees map[string]string // of commits, as far as git was asked

	address string // of a person's origin, or of their repository where it has none

	person *person // the person who owns the checkout and how they reach the origin; nil: a workspace or our own clone

	MostRefs int // that the server takes in one push, once it has refused more; 0: not known

	quarantine string // takes new objects in place of Objects, which are only read then; "": none
	calls      *int   // network operations, shared with every view of the checkout
}

// Submodule is one of a checkout as the last Restore or Begin found it. They do not touch it.
type Submodule struct {
	Path  string
	Head  string // "": it is not checked out
	Index string // a copy of its index, with the files that differed from it
}

// Differing is a file that differed from the index before anybody worked in the checkout, or that git does not take: blobs and
// attributes can disagree, a workflow can tell the index to overlook a file, and not every file system has all modes and names. While it
// is as it was, it is nobody's work.
type Differing struct {
	Was, Now Entry  // in the index, and what git would make of it
	Content  string // what was there, as package checkout puts it
}

// Open takes the workspace if it is a checkout of URL's repository, however its origin is spelled, and else starts a clone of
// our own below Temp, which the first Restore fills. It makes no network call. Close removes what it made.
func Open(ctx context.Context, opt Options) (*Checkout, error) {
	if opt.Opening != nil {
		if err := opt.Opening(); err != nil {
			return nil, err
		}
	}
	server, err := url.Parse(opt.URL)
	if err != nil || server.Host == "" || server.User != nil {
		return nil, fmt.Errorf("repository URL %q: want https://HOST/OWNER/NAME without a credential", opt.URL)
	}
	if opt.Now == nil || opt.Temp == "" {
		return nil, errors.New("open checkout: a clock and a temporary directory are needed")
	}
	if opt.Path == "" {
		opt.Path = "/usr/local/bin:/usr/bin:/bin"
	}
	opt.Credential, opt.Token = credential.Or(opt.Credential, opt.Token), ""
	c := &Checkout{Opt: opt, site: server.Scheme + "://" + server.Host + "/", Refs: map[string]string{}, Trees: map[string]string{}, Differing: map[string]Differing{}, calls: new(int)}
	return open(c, func() error { return attachWorkspace(ctx, c) })
}

// open makes the git directory of our own for a checkout, and closes it if it cannot be attached.
func open(c *Checkout, attach func() error) (opened *Checkout, err error) {
	if c.Opt.Log == nil {
		c.Opt.Log = slog.New(slog.DiscardHandler)
	}
	if c.program, err = find("git", c.Opt.Path); err != nil {
		return nil, err
	}
	if c.Opt.Temp, err = filepath.Abs(c.Opt.Temp); err != nil {
		return nil, fmt.Errorf("resolve temporary directory: %w", err)
	}
	if err := NewOwnDir(c); err != nil {
		return nil, err
	}
	if err := attach(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// attachWorkspace finds the working tree and copies what our own directory needs of it.
func attachWorkspace(ctx context.Context, c *Checkout) error {
	ok, err := adopt(ctx, c)
	if err != nil {
		return err
	}
	if !ok {
		return errors.Join(startClone(ctx, c), NewOwnDir(c))
	}
	if c.Tracked, err = trackedCommits(ctx, c); err != nil {
		return err
	}
	return takeState(ctx, c)
}

// takeState reads the checkout's shallow boundary and HEAD.
func takeState(ctx context.Context, c *Checkout) (err error) {
	if c.Boundary, err = os.ReadFile(c.Shallow); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read shallow file: %w", err)
	}
	if head, err := c.TipOf(ctx, "HEAD^{commit}"); err == nil && head != "" {
		c.Refs[HaveHead] = head
	}
	return NewOwnDir(c)
}

// adopt examines the workspace; false means that it is not a checkout of this repository.
func adopt(ctx context.Context, c *Checkout) (bool, error) {
	if c.Opt.Workspace == "" {
		return false, nil
	}
	top, err := filepath.Abs(c.Opt.Workspace)
	if err != nil {
		return false, fmt.Errorf("resolve workspace: %w", err)
	}
	// Only a .git right here counts: git would search upwards, and find another repository.
	if _, err := os.Lstat(filepath.Join(top, ".git")); err != nil {
		return false, nil
	}
	c.Top = top
	if err := locate(ctx, c); err != nil {
		c.Opt.Log.Debug("workspace_unusable", "error", err)
		return false, nil
	}
	origin, err := c.Inside(ctx, "config", "--get", "remote.origin.url")
	if err != nil || !sameRepository(syntax.Line(origin), c.Opt.URL) {
		return false, nil
	}
	return true, ReadSettings(ctx, c)
}

// startClone makes an empty clone of our own.
func startClone(ctx context.Context, c *Checkout) error {
	top, err := c.Temporary("checkout")
	if err != nil {
		return fmt.Errorf("make directory for an own clone: %w", err)
	}
	c.Top, c.OwnClone = top, true
	return initialize(ctx, c)
}

// initialize makes the git directory of a clone of our own.
func initialize(ctx context.Context, c *Checkout) error {
	// As locate would say. Git resolves links.
	top, err := filepath.EvalSymlinks(c.Top)
	if err != nil {
		return fmt.Errorf("resolve directory of an own clone: %w", err)
	}
	c.GitDir = filepath.Join(top, ".git")
	in := func(name string) string { return filepath.Join(c.GitDir, name) }
	c.Config, c.Objects, c.Index, c.Shallow, c.Info = in("config"), in("objects"), in("index"), in("shallow"), in("info")
	origin := []Setting{{"remote.origin.url", c.Opt.URL}, {"remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"}}
	list, err := Initialize(c.GitDir, origin, map[string][]byte{"HEAD": []byte("ref: refs/heads/mergexo\n")})
	if err != nil {
		return fmt.Errorf("start an own clone: %w", err)
	}
	if !c.OwnClone { // a workspace that has lost its git directory keeps its own
		return nil
	}
	return TakeSettings(ctx, c, list)
}

// locate asks git for the paths of the checkout, so that linked worktrees and .git files work as well. They are kept, since
// the agent may move things later.
func locate(ctx context.Context, c *Checkout) error {
	ask := slices.Concat([]string{"-c", "safe.directory=*", "rev-parse", "--path-format=absolute"}, parts, []string{"--is-inside-work-tree"})
	out, err := c.Run(ctx, Spec{Dir: c.Top, Env: c.Env("GIT_CEILING_DIRECTORIES=" + filepath.Dir(c.Top)), Args: ask})
	said := "false"
	if err == nil {
		said, err = take(c, string(out))
	}
	if err == nil && said != "true" {
		err = errors.New("it is in no working tree")
	}
	return Wrap(err, "find git directory of %s", c.Top)
}

// parts make git rev-parse tell where the parts of a checkout are.
var parts = []string{"--absolute-git-dir", "--git-common-dir", "--git-path", "objects", "--git-path", "index", "--git-path", "shallow", "--git-path", "info"}

// take takes where the parts are, and returns the line after them.
func take(c *Checkout, said string) (last string, err error) {
	part := strings.Split(strings.TrimSuffix(said, "\n"), "\n")
	if len(part) != 7 {
		return "", fmt.Errorf("unexpected answer %q", said)
	}
	c.GitDir, c.Config = part[0], filepath.Join(part[1], "config")
	c.Objects, c.Index, c.Shallow, c.Info = part[2], part[3], part[4], part[5]
	return part[6], nil
}

// Dir is the working tree: an absolute path.
func (c *Checkout) Dir() string { return c.Top }

// NetworkCalls counts the fetches, pushes and ls-remotes so far, whether they succeeded or not.
func (c *Checkout) NetworkCalls() int { return *c.calls }

// Close restores the configuration that the agent may have changed, for the steps after us, and removes our own git
// directory and clone. It may be called twice.
func (c *Checkout) Close() error {
	var errs []error
	if c.OwnClone && c.Top != "" {
		errs = append(errs, os.RemoveAll(c.Top))
	} else {
		errs = append(errs, c.PutBack())
	}
	errs = append(errs, os.RemoveAll(c.OwnDir), os.RemoveAll(c.Indexes)) // "" is nothing
	if c.person != nil && c.person.bare != "" {
		errs = append(errs, os.RemoveAll(c.person.bare))
	}
	return Wrap(errors.Join(errs...), "close checkout")
}

// AgentEnv is git's part of an agent's environment: no credential, no hooks, no system configuration, our identity, and no
// transport but the local file system, so that a fetch or push fails at once and says why.
func (c *Checkout) AgentEnv() []string {
	who := c.Opt.Identity
	env := []string{
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1",
		"GIT_AUTHOR_NAME=" + who.Name, "GIT_AUTHOR_EMAIL=" + who.Email,
		"GIT_COMMITTER_NAME=" + who.Name, "GIT_COMMITTER_EMAIL=" + who.Email,
	}
	return append(env, settingsEnv([]Setting{
		{"core.hooksPath", "/dev/null"}, {"core.fsmonitor", "false"}, {"core.askPass", ""}, {"credential.helper", ""},
		{"protocol.allow", "never"}, {"protocol.file.allow", "always"},
		{"commit.gpgSign", "false"}, {"tag.gpgSign", "false"}, {"gc.auto", "0"}, {"maintenance.auto", "false"},
		{"safe.directory", c.Top}, {"advice.detachedHead", "false"},
	})...)
}

// Temporary makes a directory below Temp; purpose is one word.
func (c *Checkout) Temporary(purpose string) (string, error) {
	return c.Opt.Scratch.Make(c.Opt.Temp, purpose, c.Opt.Log)
}

// trackedCommits are the commits of the server's branches and tags that the workspace knows.
func trackedCommits(ctx context.Context, c *Checkout) ([]string, error) {
	out, err := c.Inside(ctx, "for-each-ref", fmt.Sprintf("--count=%d", maxTracked), "--format=%(objectname)", "refs/remotes/origin", "refs/tags")
	return strings.Fields(string(out)), Wrap(err, "list what the workspace has of the server")
}

// LargestFile is the size in bytes of the largest file that GitHub takes
// (https://docs.github.com/repositories/working-with-files/managing-large-files/about-large-files-on-github). Larger ones are never read.
const LargestFile = 100 << 20

// maxTracked limits them.
const maxTracked = 5_000

// OrInClone does something that needs an intact git directory, and repeats it in a clone of our own if git cannot work with
// the workspace: another run would find the same damage. A person's checkout is never replaced.
func OrInClone(ctx context.Context, c *Checkout, do func() error) error {
	err := do()
	if !workspaceBroken(ctx, c, err) {
		return err
	}
	c.Opt.Log.Warn("workspace_damaged", "error", err)
	if err := replaceByClone(ctx, c); err != nil {
		return err
	}
	return do()
}

// workspaceBroken reports whether an error means a workspace that git cannot work with, and not the server or the run.
func workspaceBroken(ctx context.Context, c *Checkout, err error) bool {
	var failed *Error
	var unsafeDir *ErrUnsafeGitDir
	switch {
	case c.OwnClone || c.person != nil || ctx.Err() != nil:
		return false
	case errors.As(err, &unsafeDir):
		return true
	}
	// A clone would not know of the filter.
	return errors.As(err, &failed) && failed.Failure == "" && !FilterFailed(err)
}

// replaceByClone replaces the workspace with a clone of our own.
func replaceByClone(ctx context.Context, c *Checkout) error {
	c.Forget()
	c.Refs, c.Boundary, c.settingsBefore, c.Partial, c.Treeless = map[string]string{}, nil, nil, false, false
	c.Started, c.Branches = "", nil
	if err := startClone(ctx, c); err != nil {
		return err
	}
	return NewOwnDir(c)
}

// Renew gives the checkout a git directory in place of one that is gone: the same one, if it has got another name in the working tree,
// and else one that knows no commit and no ref. The files stay.
func Renew(ctx context.Context, c *Checkout) error {
	names, err := os.ReadDir(c.Top)
	if err != nil {
		return fmt.Errorf("look for the git directory: %w", err)
	}
	for _, one := range names {
		if place := filepath.Join(c.Top, one.Name()); one.IsDir() && isBare(place) {
			return errors.Join(os.RemoveAll(c.GitDir), os.Rename(place, c.GitDir))
		}
	}
	c.Refs, c.Boundary = map[string]string{}, nil
	return errors.Join(initialize(ctx, c), NewOwnDir(c))
}
