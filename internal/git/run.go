package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mergexo/mergexo/internal/credential"
	"github.com/mergexo/mergexo/internal/git/relay"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

const (
	stderrLimit  = 16 << 10         // bytes of stderr kept in an error
	stdoutLimit  = 128 << 20        // bytes of stdout held in memory
	networkLimit = 15 * time.Minute // one network operation
	localLimit   = 20 * time.Minute // any other command
	killGrace    = 5 * time.Second  // from SIGTERM to SIGKILL when cancelled
)

// Failure classifies why a command failed, as far as the messages of git and the system tell.
type Failure string

// The failures that callers handle; anything else is "".
const (
	Denied      Failure = "denied"      // 401 or 403: the credential is missing, wrong or too weak
	NotFound    Failure = "not found"   // no such repository, or none that the credential can see
	Unreachable Failure = "unreachable" // no connection, or 5xx: retry later
	Exhausted   Failure = "exhausted"   // the machine lacks processes, memory or descriptors: retry later
)

// Error is a failed git command. It never holds the credential.
type Error struct {
	Args    []string // without the program's name
	Exit    int      // -1 when it was killed or did not start
	Stderr  string   // at most 16 KiB, control characters removed
	Failure Failure
	Err     error
}

func (e *Error) Error() string {
	what := "git " + strings.Join(e.Args, " ")
	if said := strings.TrimSpace(e.Stderr); said != "" {
		if name := filterFailed.FindStringSubmatch(said); name != nil && name[1] != "lfs" {
			said += fmt.Sprintf("\nof a job's filters, MergeXO runs only those of Git LFS: remove filter.%s from the job's git configuration", name[1])
		}
		return fmt.Sprintf("%s: %v: %s", what, e.Err, strings.ReplaceAll(said, "\n", "; "))
	}
	return fmt.Sprintf("%s: %v", what, e.Err)
}

// filterFailed is git's message where a required filter did not run.
var filterFailed = regexp.MustCompile(`(?:clean|smudge) filter '?([^'\n]+?)'? failed`)

// FilterFailed reports whether a required filter did not run.
func FilterFailed(err error) bool { return filterFailed.MatchString(StderrOf(err)) }

func (e *Error) Unwrap() error { return e.Err }

// Fix is what to do about a right that the server denied a run's token; "" if unknown.
func (e *Error) Fix() string {
	switch said := strings.ToLower(e.Stderr); {
	case e.Failure != Denied:
		return ""
	case strings.Contains(said, "returned error: 403"), strings.Contains(said, "http 403"):
		return "give the job `permissions: contents: write`, or use a token that may push there"
	}
	return "set GITHUB_TOKEN, or the action's token input, to a token that is valid for this server"
}

// Setting is one configuration value.
type Setting struct{ Key, Value string }

// settingsEnv passes settings in the environment (git-config(1), GIT_CONFIG_COUNT): unlike -c they do not appear in argv.
func settingsEnv(list []Setting) []string {
	env := []string{"GIT_CONFIG_COUNT=" + strconv.Itoa(len(list))}
	for i, s := range list {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s.Key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s.Value))
	}
	return env
}

// shield disables what a configuration could make git run, also in submodules, which read their own.
var shield = []string{
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "safe.directory=*", "-c", "submodule.recurse=false",
	"-c", "commit.gpgSign=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.pager=cat",
}

// offline keeps a command off the network, including lazy fetches of partial clones.
var offline = []string{"-c", "protocol.allow=never"}

// Env is the minimal environment of every git process.
func (c *Checkout) Env(more ...string) []string {
	who, when := c.Opt.Identity, fmt.Sprintf("@%d +0000", c.Opt.Now().Unix())
	return append([]string{
		"PATH=" + c.Opt.Path, "HOME=" + c.OwnDir, "LANG=C.UTF-8", "TMPDIR=" + c.Opt.Temp,
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_LITERAL_PATHSPECS=1", "GIT_LFS_SKIP_SMUDGE=1",
		"GIT_AUTHOR_NAME=" + who.Name, "GIT_AUTHOR_EMAIL=" + who.Email, "GIT_AUTHOR_DATE=" + when,
		"GIT_COMMITTER_NAME=" + who.Name, "GIT_COMMITTER_EMAIL=" + who.Email, "GIT_COMMITTER_DATE=" + when,
	}, more...)
}

// OwnEnv is Env for our own git directory with the checkout's objects.
func (c *Checkout) OwnEnv(more ...string) []string {
	return c.Env(append([]string{"GIT_DIR=" + c.OwnDir, "GIT_OBJECT_DIRECTORY=" + cmp.Or(c.quarantine, c.Objects)}, more...)...)
}

// Safely prepends settings that keep git from running other programs, and off the network.
func Safely(args ...[]string) []string {
	return slices.Concat(shield, offline, slices.Concat(args...))
}

// Spec is one git command.
type Spec struct {
	Dir    string
	Env    []string
	Args   []string
	Stdin  []byte
	Input  io.Reader // replaces stdin, for large input
	Output io.Writer // gets stdout; nil: run returns it
	alone  bool      // without a terminal, on which it could prompt
}

// Ask runs a command in our own git directory, on the checkout's objects.
func (c *Checkout) Ask(ctx context.Context, args ...string) ([]byte, error) {
	return c.Tell(ctx, nil, args...)
}

// Tell is Ask with stdin.
func (c *Checkout) Tell(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	env := c.OwnEnv()
	return c.Run(ctx, Spec{Dir: c.OwnDir, Env: env, Args: Safely(args), Stdin: stdin})
}

// Tree runs a command in our own git directory on the checkout's objects, index and files.
func (c *Checkout) Tree(ctx context.Context, args ...string) ([]byte, error) {
	return c.TreeWith(ctx, c.Index, nil, args...)
}

// TreeWith is Tree with another index and stdin.
func (c *Checkout) TreeWith(ctx context.Context, index string, stdin []byte, args ...string) ([]byte, error) {
	env := c.OwnEnv("GIT_INDEX_FILE="+index, "GIT_WORK_TREE="+c.Top)
	return c.Run(ctx, Spec{Dir: c.Top, Env: env, Args: Safely(args), Stdin: stdin})
}

// Inside runs a command in the checkout's git directory. It may only read or change refs and the configuration file:
// nothing that would run a program named in its configuration.
func (c *Checkout) Inside(ctx context.Context, args ...string) ([]byte, error) {
	return c.InsideTold(ctx, nil, args...)
}

// InsideTold is Inside with stdin.
func (c *Checkout) InsideTold(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	env := c.Env("GIT_DIR="+c.GitDir, "GIT_WORK_TREE="+c.Top)
	return c.Run(ctx, Spec{Dir: c.Top, Env: env, Args: Safely(args), Stdin: stdin})
}

// Network runs a command that talks to the server, in our own git directory. Git's server is a relay in our own process,
// which has the credential and allows only the given operation. So git does not get Options.Network either: a proxy is for
// the real server, and its URL may have a password.
func (c *Checkout) Network(ctx context.Context, allowed relay.Op, stdin []byte, args ...string) ([]byte, error) {
	*c.calls++
	c.Opt.Log.Debug("git_network", "operation", bare(args)[0], "count", *c.calls)
	if c.person != nil {
		return asPerson(ctx, c, stdin, args...)
	}
	r, err := relay.Start(relay.Server{URL: c.Opt.URL, Site: c.site, Credential: c.Opt.Credential, Network: c.Opt.Network, Log: c.Opt.Log}, allowed, c.Boundary)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	settings := []Setting{
		{"remote.origin.url", r.Address}, {"protocol.version", "2"}, {"protocol.allow", "never"}, {"protocol.git.allow", "always"},
	}
	env := c.OwnEnv("GIT_PROXY_COMMAND=") // none, whatever core.gitProxy says
	return c.talk(ctx, Spec{Dir: c.OwnDir, Args: args, Stdin: stdin}, env, settings, r.Reword)
}

// talk runs a command that talks to a server with these settings, and rewords what it says of a failure.
func (c *Checkout) talk(ctx context.Context, s Spec, env []string, settings []Setting, reword func(string) string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, networkLimit)
	defer cancel()
	if c.Partial {
		settings = append(settings, Setting{"remote.origin.promisor", "true"})
	}
	s.Env, s.Args = slices.Concat(env, settingsEnv(settings)), slices.Concat(shield, s.Args)
	out, err := c.Run(ctx, s)
	if c.Partial { // a filter is recorded as if our own directory were a partial clone, in which git fails on missing objects
		if back := os.WriteFile(filepath.Join(c.OwnDir, "config"), configText(c), 0o600); back != nil && err == nil {
			err = fmt.Errorf("write configuration: %w", back)
		}
	}
	var failed *Error
	if errors.As(err, &failed) {
		failed.Stderr = Redact(c, reword(failed.Stderr))
		failed.Failure = cmp.Or(failed.Failure, classify(failed.Stderr))
	}
	return out, err
}

// classify parses messages of git and curl, since git has no exit codes for them
// (https://git-scm.com/docs/git#_environment_variables has none to ask for either). LANG is fixed, so they are stable.
func classify(stderr string) Failure {
	said := strings.ToLower(addresses.ReplaceAllString(stderr, "URL"))
	for _, rule := range []struct {
		failure Failure
		words   []string
	}{
		{Denied, []string{"authentication failed", "could not read username", "could not read password", "returned error: 401", "returned error: 403", "http 401", "http 403", "permission denied (", "host key verification failed"}},
		{NotFound, []string{"' not found", "returned error: 404", "http 404", "does not appear to be a git repository"}},
		{Unreachable, []string{
			"could not resolve", "failed to connect", "couldn't connect", "connection refused", "connection reset", "timed out", "returned error: 5",
			"http 5", "returned error: 429", "http 429", "empty reply", "hung up unexpectedly", "unexpected disconnect", "early eof", "tls connection", "openssl ssl_", "ssl_error_", "ssl_read() ", "ssl_write() ",
		}},
	} {
		for _, word := range rule.words {
			if strings.Contains(said, word) {
				return rule.failure
			}
		}
	}
	return ""
}

// addresses are what a message names and nobody said: a repository may be called anything.
var addresses = regexp.MustCompile(`https?://[^\s']+`)

// Run runs git in its own process group and ends the whole group when ctx ends.
func (c *Checkout) Run(ctx context.Context, s Spec) ([]byte, error) {
	ctx, done := context.WithTimeout(ctx, localLimit)
	defer done()
	cmd := exec.CommandContext(ctx, c.program, s.Args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.Dir, s.Env, killGrace
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !s.alone, Setsid: s.alone} // a session is a group, too
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	var stdout bounded
	stderr := &tail{limit: stderrLimit}
	cmd.Stdout, cmd.Stderr, cmd.Stdin = &stdout, stderr, s.Input
	if s.Output != nil {
		cmd.Stdout = s.Output
	}
	if s.Stdin != nil {
		cmd.Stdin = bytes.NewReader(s.Stdin)
	}
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the rest of the group; usually nothing
	}
	if err == nil {
		return stdout.kept, nil
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("%w (%w)", err, ctx.Err())
	}
	if stdout.full {
		err = fmt.Errorf("%w: %w", errFlood, err)
	}
	failed := &Error{Args: redactAll(c, bare(s.Args)), Exit: -1, Stderr: advice.ReplaceAllString(syntax.Clean(Redact(c, stderr.String())), ""), Err: err}
	if cmd.ProcessState != nil {
		failed.Exit = cmd.ProcessState.ExitCode()
	}
	failed.Failure = exhaustion(cmd.Process != nil, err, failed.Stderr)
	return stdout.kept, failed
}

// advice is what git tells people at a terminal to do (https://git-scm.com/docs/git-config#_advice).
var advice = regexp.MustCompile(`(?m)^(?:remote: )?hint: ?.*\n?`)

// bare drops the leading -c settings, which are noise to a reader.
func bare(args []string) []string {
	for len(args) > 2 && args[0] == "-c" {
		args = args[2:]
	}
	return args
}

// Redact replaces all spellings of all secrets of the credential in a text.
func Redact(c *Checkout, s string) string {
	if c.Opt.Credential == nil { // a person's checkout
		return s
	}
	return credential.Redact(c.Opt.Credential, s)
}

func redactAll(c *Checkout, list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = Redact(c, s)
	}
	return out
}

// ExitCode is the exit code of a command that ran, or -1.
func ExitCode(err error) int {
	var failed *Error
	if errors.As(err, &failed) {
		return failed.Exit
	}
	return -1
}

// StderrOf is the stderr of a failed command.
func StderrOf(err error) string {
	var failed *Error
	if errors.As(err, &failed) {
		return failed.Stderr
	}
	return ""
}

var errFlood = fmt.Errorf("it wrote over %d MiB", stdoutLimit>>20)

// bounded keeps up to stdoutLimit bytes. More is an error, which ends the process that writes.
type bounded struct {
	kept []byte
	full bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.full = b.full || len(b.kept)+len(p) > stdoutLimit; b.full {
		return 0, errFlood
	}
	b.kept = append(b.kept, p...)
	return len(p), nil
}

// tail keeps the last bytes written to it.
type tail struct {
	limit int
	kept  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if len(t.kept) > 2*t.limit {
		t.kept = append([]byte(nil), t.kept[len(t.kept)-t.limit:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	if len(t.kept) > t.limit {
		return "..." + string(t.kept[len(t.kept)-t.limit:])
	}
	return string(t.kept)
}

// find looks a program up in path. exec.LookPath would use our own environment.
func find(name, path string) (string, error) {
	for dir := range strings.SplitSeq(path, string(filepath.ListSeparator)) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && filepath.IsAbs(file) && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("find %s: not in PATH %q: install git 2.39 or later", name, path)
}
