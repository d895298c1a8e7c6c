package git

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
)

const (
	stderrLimit  = 16 << 10         // bytes of a child's stderr that an error keeps
	stdoutLimit  = 128 << 20        // bytes of a child's stdout that are held in memory
	networkLimit = 15 * time.Minute // one network operation
	localLimit   = 20 * time.Minute // any other command
	killGrace    = 5 * time.Second  // between SIGTERM and SIGKILL of a cancelled child
)

// Failure classifies why a command did not work, as far as the system's and git's words tell.
type Failure string

// The failures that callers treat differently; anything else is "".
const (
	Denied      Failure = "denied"      // 401 or 403: the credential is missing, wrong or too weak
	NotFound    Failure = "not found"   // no such repository, or none that the credential may see
	Unreachable Failure = "unreachable" // no connection, or 5xx: worth another try later
	Exhausted   Failure = "exhausted"   // the machine lacks processes, memory or descriptors: worth another try later
)

// Error is a git command that did not succeed. It never holds the credential.
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
		return fmt.Sprintf("%s: %v: %s", what, e.Err, strings.ReplaceAll(said, "\n", "; "))
	}
	return fmt.Sprintf("%s: %v", what, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Fix is what can be done about what a server has denied a run's token; "" where nobody can tell.
func (e *Error) Fix() string {
	switch said := strings.ToLower(e.Stderr); {
	case e.Failure != Denied:
		return ""
	case strings.Contains(said, "returned error: 403"), strings.Contains(said, "http 403"):
		return "give the job `permissions: contents: write`, or use a token that may push there"
	}
	return "set GITHUB_TOKEN, or the action's token input, to a token that is valid for this server"
}

// setting is one configuration value.
type setting struct{ key, value string }

// settingsEnv passes settings by environment (git-config(1), GIT_CONFIG_COUNT): unlike -c they are not in argv.
func settingsEnv(list []setting) []string {
	env := []string{"GIT_CONFIG_COUNT=" + strconv.Itoa(len(list))}
	for i, s := range list {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s.key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s.value))
	}
	return env
}

// shield turns off what a configuration could make git run, also in submodules, which read their own.
var shield = []string{
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "safe.directory=*", "-c", "submodule.recurse=false",
	"-c", "commit.gpgSign=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.pager=cat",
}

// offline keeps a command from the network, lazy fetches of partial clones included.
var offline = []string{"-c", "protocol.allow=never"}

// env is the environment of every git child, built from nothing.
func (c *Checkout) env(more ...string) []string {
	who, when := c.opt.Identity, fmt.Sprintf("@%d +0000", c.opt.Now().Unix())
	return append([]string{
		"PATH=" + c.opt.Path, "HOME=" + c.own, "LANG=C.UTF-8", "TMPDIR=" + c.opt.Temp,
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_LITERAL_PATHSPECS=1", "GIT_LFS_SKIP_SMUDGE=1",
		"GIT_AUTHOR_NAME=" + who.Name, "GIT_AUTHOR_EMAIL=" + who.Email, "GIT_AUTHOR_DATE=" + when,
		"GIT_COMMITTER_NAME=" + who.Name, "GIT_COMMITTER_EMAIL=" + who.Email, "GIT_COMMITTER_DATE=" + when,
	}, more...)
}

// spec is one git command.
type spec struct {
	dir    string
	env    []string
	args   []string
	stdin  []byte
	input  io.Reader // instead of stdin, for what is too large to be held
	output io.Writer // gets stdout; nil: run returns it
	alone  bool      // without a terminal, on which it could ask and wait
}

// ask runs a command in our own git directory, on the checkout's objects.
func (c *Checkout) ask(ctx context.Context, args ...string) ([]byte, error) {
	return c.tell(ctx, nil, args...)
}

// tell is ask with something on stdin.
func (c *Checkout) tell(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	env := c.env("GIT_DIR="+c.own, "GIT_OBJECT_DIRECTORY="+c.objects)
	return c.run(ctx, spec{dir: c.own, env: env, args: concat(shield, offline, args), stdin: stdin})
}

// tree runs a command in our own git directory on the checkout's objects, index and files.
func (c *Checkout) tree(ctx context.Context, args ...string) ([]byte, error) {
	return c.treeWith(ctx, c.index, nil, args...)
}

// treeWith is tree with another index and something on stdin.
func (c *Checkout) treeWith(ctx context.Context, index string, stdin []byte, args ...string) ([]byte, error) {
	env := c.env("GIT_DIR="+c.own, "GIT_OBJECT_DIRECTORY="+c.objects, "GIT_INDEX_FILE="+index, "GIT_WORK_TREE="+c.top)
	return c.run(ctx, spec{dir: c.top, env: env, args: concat(shield, offline, args), stdin: stdin})
}

// inside runs a command in the checkout's git directory. Only its refs and its configuration file are asked or changed
// in this way: nothing that would run a program its configuration names.
func (c *Checkout) inside(ctx context.Context, args ...string) ([]byte, error) {
	return c.insideTold(ctx, nil, args...)
}

func (c *Checkout) insideTold(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	env := c.env("GIT_DIR="+c.gitDir, "GIT_WORK_TREE="+c.top)
	return c.run(ctx, spec{dir: c.top, env: env, args: concat(shield, offline, args), stdin: stdin})
}

// network runs a command that talks to the server, in our own git directory. The server that git sees is a relay in our own
// process, which has the credential and lets through what is allowed and nothing else. So git gets nothing of
// Options.Network either: a proxy is for the real server, and its URL may have a password.
func (c *Checkout) network(ctx context.Context, allowed operation, stdin []byte, args ...string) ([]byte, error) {
	c.calls++
	c.opt.Log.Debug("git_network", "operation", bare(args)[0], "count", c.calls)
	if c.person != nil {
		return c.asPerson(ctx, stdin, args...)
	}
	relay, err := c.relay(allowed)
	if err != nil {
		return nil, err
	}
	defer relay.close()
	settings := []setting{
		{"remote.origin.url", relay.address}, {"http.proxy", ""}, {"http.followRedirects", "false"}, {"core.askPass", ""}, {"credential.helper", ""},
	}
	env := c.env("GIT_DIR="+c.own, "GIT_OBJECT_DIRECTORY="+c.objects)
	out, err := c.talk(ctx, spec{dir: c.own, args: args, stdin: stdin}, env, settings)
	var failed *Error
	if errors.As(err, &failed) {
		failed.Stderr = c.redact(relay.reword(failed.Stderr))
	}
	return out, err
}

// talk runs a command that talks to what these settings say.
func (c *Checkout) talk(ctx context.Context, s spec, env []string, settings []setting) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, networkLimit)
	defer cancel()
	if c.promisor {
		settings = append(settings, setting{"remote.origin.promisor", "true"})
	}
	s.env, s.args = concat(env, settingsEnv(settings)), concat(shield, s.args)
	out, err := c.run(ctx, s)
	if c.promisor { // a filter is noted as if our own directory were a partial clone, where git fails at what is missing
		if back := os.WriteFile(filepath.Join(c.own, "config"), c.ownConfig(), 0o600); back != nil && err == nil {
			err = fmt.Errorf("write configuration: %w", back)
		}
	}
	var failed *Error
	if errors.As(err, &failed) && failed.Failure == "" {
		failed.Failure = classify(failed.Stderr)
	}
	return out, err
}

// classify reads git's and curl's words; git has no exit codes for them
// (https://git-scm.com/docs/git#_environment_variables has none to ask for either). LANG is fixed, so they are stable.
func classify(stderr string) Failure {
	said := strings.ToLower(stderr)
	for _, rule := range []struct {
		failure Failure
		words   []string
	}{
		{Denied, []string{"authentication failed", "could not read username", "could not read password", "returned error: 401", "returned error: 403", "http 401", "http 403", "permission denied (", "host key verification failed"}},
		{NotFound, []string{"' not found", "returned error: 404", "http 404", "does not appear to be a git repository"}},
		{Unreachable, []string{
			"could not resolve", "failed to connect", "couldn't connect", "connection refused", "connection reset", "timed out", "returned error: 5",
			"http 5", "returned error: 429", "http 429", "empty reply", "hung up unexpectedly", "unexpected disconnect", "early eof", "tls connection", "ssl_",
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

// run starts git in a process group of its own and ends the whole group when ctx ends.
func (c *Checkout) run(ctx context.Context, s spec) ([]byte, error) {
	ctx, done := context.WithTimeout(ctx, localLimit)
	defer done()
	cmd := exec.CommandContext(ctx, c.program, s.args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.dir, s.env, killGrace
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !s.alone, Setsid: s.alone} // a session is a group, too
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	var stdout bounded
	stderr := &tail{limit: stderrLimit}
	cmd.Stdout, cmd.Stderr, cmd.Stdin = &stdout, stderr, s.input
	if s.output != nil {
		cmd.Stdout = s.output
	}
	if s.stdin != nil {
		cmd.Stdin = bytes.NewReader(s.stdin)
	}
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // whatever of the group is left; usually nothing
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
	failed := &Error{Args: c.redactAll(bare(s.args)), Exit: -1, Stderr: clean(c.redact(stderr.String())), Err: err}
	if cmd.ProcessState != nil {
		failed.Exit = cmd.ProcessState.ExitCode()
	}
	failed.Failure = lacks(cmd.Process != nil, err, failed.Stderr)
	return stdout.kept, failed
}

// bare drops the leading -c settings, which say nothing to a reader.
func bare(args []string) []string {
	for len(args) > 2 && args[0] == "-c" {
		args = args[2:]
	}
	return args
}

func (c *Checkout) redact(s string) string {
	if c.basic == "" {
		return s
	}
	spellings := []string{c.basic, "***", c.opt.Token, "***", base64.StdEncoding.EncodeToString([]byte(c.opt.Token)), "***"}
	return strings.NewReplacer(spellings...).Replace(s)
}

func (c *Checkout) redactAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = c.redact(s)
	}
	return out
}

// exitCode is the exit code of a command that ran, or -1.
func exitCode(err error) int {
	var failed *Error
	if errors.As(err, &failed) {
		return failed.Exit
	}
	return -1
}

// stderrOf is what the failed command said.
func stderrOf(err error) string {
	var failed *Error
	if errors.As(err, &failed) {
		return failed.Stderr
	}
	return ""
}

var errFlood = fmt.Errorf("it wrote over %d MiB", stdoutLimit>>20)

// bounded holds what is written to it up to stdoutLimit. More is an error, by which the child that writes ends.
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

// clean removes control characters, so that what a server or a path says cannot drive a terminal or a log.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r", "\n")
	return strings.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

// find looks a program up in path. exec.LookPath would use our own environment, which is not ours to read.
func find(name, path string) (string, error) {
	for dir := range strings.SplitSeq(path, string(filepath.ListSeparator)) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && filepath.IsAbs(file) && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("find %s: not in PATH %q: install git 2.39 or later", name, path)
}

func concat(lists ...[]string) []string {
	var all []string
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// line is the first line of git's answer.
func line(out []byte) string {
	first, _, _ := strings.Cut(string(out), "\n")
	return first
}

// fields splits git's -z output.
func fields(out []byte) []string {
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}
