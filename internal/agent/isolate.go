package agent

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mergexo/mergexo/internal/agent/isolate"
	"github.com/mergexo/mergexo/internal/clock"
)

// Self is this program, for Options.Isolator; "" where there is no isolator: everywhere but on Linux.
func Self() (string, error) {
	if runtime.GOOS != "linux" {
		return "", nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	return path, nil
}

// running is the program being executed, even if its file has been replaced since: an agent with our user could do that.
const running = "/proc/self/exe"

// callTimeout limits the isolator's work before and after an agent, for a checkout of a million files too.
const callTimeout = 10 * time.Minute

// child is a process that will become an agent, before it is started.
type child struct {
	cmd   *exec.Cmd
	stdin []byte
	gate  *gate // nil: without an isolator
	// network provides the agent's own network; nil: it has the machine's.
	network *handover
}

// child makes the process. Without an isolator it is the program itself; else it is this program, which then becomes it.
func (opt Options) child(program string, argv []string, dir string, stdin []byte, log *lines) (child, error) {
	env := append(append([]string{}, opt.Env...), "PWD="+dir)
	if opt.Isolator == "" {
		return child{cmd: &exec.Cmd{Path: program, Args: argv, Dir: dir, Env: env}, stdin: stdin}, nil
	}
	spec := isolate.Spec{
		Task: isolate.Run, Sign: sign(), As: opt.tenant.user(), Path: program, Argv: isolate.Bytes(argv), Env: isolate.Bytes(env),
	}
	if opt.tenant == nil { // the limit includes our user's existing processes
		_, threads := isolate.ProcessesOf(spec.As.UID)
		spec.As.Tasks = threads + maxTasks
	}
	if opt.within(&spec, dir, program); opt.tenant.sudoPath() == "" {
		spec.Parent = os.Getpid()
	}
	var network *handover
	if !opt.Network.Open() {
		var err error
		if network, err = opt.receiveListeners(spec.Sign); err != nil {
			return child{}, err
		}
		spec.Network = network.network()
	}
	as := opt.tenant
	if as != nil && (spec.View != nil || spec.Network != nil) { // only root can make them; it then becomes the user
		as, spec.As.Become = as.root(), true
	}
	text, err := isolate.Seal(spec)
	if err != nil {
		_, _ = network.end() // nobody will connect
		return child{}, err
	}
	cmd := opt.through(as)
	cmd.Dir = dir
	return child{cmd: cmd, stdin: append(text, stdin...), gate: &gate{to: log, sign: spec.Sign}, network: network}, nil
}

// through runs the isolator as a user, nil: our own. The command line only names that user; a Spec holds the rest.
func (opt Options) through(as *account) *exec.Cmd {
	if sudo := as.sudoPath(); sudo != "" {
		who := as.name
		switch {
		case as.made: // root becomes it: other users may be unable to reach this program
			who = "root"
		case as.known == "":
			who = fmt.Sprintf("#%d", as.uid)
		}
		return &exec.Cmd{
			Path: sudo, Args: []string{"sudo", "-n", "-u", who, "--", opt.Isolator, isolate.Word},
			Env: []string{"PATH=" + value(opt.Env, "PATH"), "LC_ALL=C"},
		}
	}
	return &exec.Cmd{Path: running, Args: []string{opt.Isolator, isolate.Word}, Env: []string{}}
}

// maxTasks is how many processes and threads an agent may have.
const maxTasks = 1 << 12

// sign is an unguessable name.
func sign() string { return "mergexo-" + rand.Text() }

// call makes the isolator do something other than become an agent, and returns its output.
func (opt Options) call(as *account, spec isolate.Spec) (string, error) {
	spec.Sign, spec.As = sign(), as.user()
	text, err := isolate.Seal(spec)
	if err != nil {
		return "", err
	}
	var out, said bytes.Buffer
	cmd := opt.through(as)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), &out, &said
	cmd.Dir = "/"
	ended, err := begin(cmd)
	if err != nil {
		return "", &noEntry{err: err}
	}
	limit := callTimeout
	if spec.Task == isolate.End { // the processes that it ends can stop it
		limit = endLimit / 5
	}
	timer := clock.Or(opt.Clock).NewTimer(limit)
	defer timer.Stop()
	select {
	case err = <-ended:
		if alive := reap(cmd.Process.Pid, opt.Clock); alive != nil {
			return "", alive
		}
	case <-timer.Chan():
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // we may not kill sudo
		go func() { <-ended; _ = reap(cmd.Process.Pid, opt.Clock) }()
		if spec.Task != isolate.End {
			return "", alive("%s takes longer than %s", spec.Task, clock.Text(limit))
		}
		return "", errors.New("it takes longer than " + clock.Text(limit))
	}
	if err == nil {
		return out.String(), nil
	}
	return "", isolatorError(said.String(), spec.Sign, err)
}

// isolatorError is what an isolator printed that failed, or what kept it from beginning.
func isolatorError(said, sign string, err error) error {
	if _, why, ok := strings.Cut(said, sign+" "); ok {
		return told(excerpt(strings.TrimSpace(why), 500))
	}
	return &noEntry{said: lastWords(said, 300).String(), err: err}
}

// told is what the isolator wrote of its failure. Of the system's error only the text is left.
type told string

func (t told) Error() string { return string(t) }

// Is finds the system's error by its text, which Go has in English everywhere.
func (t told) Is(target error) bool {
	errno, ok := target.(syscall.Errno)
	return ok && strings.HasSuffix(string(t), errno.Error())
}

// noEntry is the error of an isolator that failed to set up.
type noEntry struct {
	said string
	err  error
}

func (e *noEntry) Error() string {
	if e.said == "" {
		return e.err.Error()
	}
	return e.said
}

func (e *noEntry) Unwrap() error { return e.err }

// gate filters the isolator's messages from standard error: that the agent starts now, and then, only if it failed to, why.
// What comes before is from sudo or the loader.
type gate struct {
	to      *lines
	sign    string
	part    []byte
	entered bool
	open    bool // everything from here on is the agent's
	why     string
}

func (g *gate) Write(p []byte) (int, error) {
	if g.open {
		return g.to.Write(p)
	}
	g.part = append(g.part, p...)
	for !g.open {
		if g.entered && !bytes.HasPrefix(g.part, []byte(g.sign)[:min(len(g.part), len(g.sign))]) {
			g.open = true
			_, _ = g.to.Write(g.part)
			break
		}
		end := bytes.IndexByte(g.part, '\n')
		if end < 0 {
			break
		}
		g.line(g.part[:end+1])
		g.part = g.part[end+1:]
	}
	return len(p), nil
}

func (g *gate) line(line []byte) {
	why, ok := bytes.CutPrefix(line, []byte(g.sign))
	switch {
	case !ok:
		_, _ = g.to.Write(line)
	case len(bytes.TrimSpace(why)) > 0:
		g.why, g.open = excerpt(string(bytes.TrimSpace(why)), 500), true
	default:
		g.entered = true
	}
}

// flush passes on the rest at the end.
func (g *gate) flush() {
	if g != nil && !g.open && len(g.part) > 0 {
		_, _ = g.to.Write(g.part)
		g.part = nil
	}
}

// refusal is why the program was not started, or nil. Call it when the process ended by itself.
func (g *gate) refusal(opt Options, program string, exit int) *Error {
	switch {
	case g == nil:
		return nil
	case g.why != "" && exit == isolate.Refused:
		why := fmt.Sprintf("start %s: %s", excerpt(program, 200), g.why)
		if opt.tenant != nil && g.why == syscall.EACCES.Error() {
			why += fmt.Sprintf(": user %s may not execute it, or not reach it", opt.tenant.name)
		}
		return &Error{Kind: Start, Exit: -1, Detail: why, Err: told(g.why)}
	case !g.entered:
		return &Error{Kind: Start, Exit: -1, Stderr: g.to.tail(), Detail: "start " + excerpt(program, 200) + ": " + opt.tenant.barred(opt.Isolator)}
	}
	return nil
}

// Exposed names a process above us whose environment shows one of the secrets to an agent, or returns "". Our own process
// shows nothing; but a shell that was given the token and runs us does. Without secrets it only reports whether the agent's user can be used.
func (opt Options) Exposed(secrets ...string) (string, error) {
	if opt.Isolator == "" || opt.level() == LevelNamespace { // a namespace shows no process above us
		return "", nil
	}
	var err error
	if opt.tenant, err = opt.findAccount(); err != nil {
		return "", err
	}
	holders := holding(secrets)
	if len(secrets) > 0 && len(holders) == 0 {
		return "", nil
	}
	out, err := opt.call(opt.tenant, isolate.Spec{Task: isolate.Look, Processes: holders})
	if err != nil {
		return "", fmt.Errorf("check what an agent could read: %w", err)
	}
	pid, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	if pid == "" {
		return "", nil
	}
	name, _ := os.ReadFile(filepath.Join("/proc", pid, "comm"))
	return fmt.Sprintf("%s (process %s)", excerpt(strings.TrimSpace(string(name)), 40), pid), nil
}

// holding are the processes above us with one of the secrets in their environment.
func holding(secrets []string) (holders []int) {
	for _, pid := range ancestors() {
		env, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
		if err == nil && slices.ContainsFunc(secrets, func(s string) bool { return s != "" && bytes.Contains(env, []byte(s)) }) {
			holders = append(holders, pid)
		} // else it has ended, or only its own user may read it
	}
	return holders
}
