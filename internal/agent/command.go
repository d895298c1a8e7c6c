package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/mergexo/mergexo/internal/clock"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// command is a program of the user's: it gets the request on stdin, prints the outcome on stdout, and runs in the checkout.
type command struct{ opt Options }

func newCommand(opt Options) (Agent, error) {
	if len(opt.Command) == 0 || opt.Command[0] == "" {
		return nil, errors.New(`agent adapter "command" needs a command: set command = ["./agent"] under [agent]`)
	}
	return command{opt}, nil
}

// Run runs the program once. When it returns, every process that the program started has ended, or the error says that one
// has not.
func (a command) Run(ctx context.Context, dir string, req model.Request) (out model.Outcome, err error) {
	stdin, err := encode(req)
	if err != nil {
		return model.Outcome{}, err
	}
	opt, leave, err := a.opt.enter(ctx, dir)
	if err != nil {
		return model.Outcome{}, err
	}
	defer func() { err = leave(err) }()
	argv := append(append([]string{}, opt.Command...), opt.ExtraArgs...)
	stdout, err := opt.execute(ctx, dir, argv, stdin)
	if err != nil {
		return model.Outcome{}, err
	}
	return Decode(stdout, req)
}

// encode writes the request with empty lists as [], so that programs need not handle null, and with texts as people see them.
func encode(req model.Request) ([]byte, error) {
	if req.Version == 0 {
		req.Version = 1
	}
	req.Feedback, req.ChangedFiles, req.CI = full(req.Feedback), full(req.ChangedFiles), full(req.CI)
	req.History, req.Rules = full(req.History), full(req.Rules)
	var fields map[string]any
	raw, err := json.Marshal(req)
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		err = dec.Decode(&fields)
	}
	var out bytes.Buffer
	if err == nil {
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		err = enc.Encode(asSeen("", fields))
	}
	if err != nil {
		return nil, fmt.Errorf("encode agent request: %w", err)
	}
	return out.Bytes(), nil
}

// cleaning is how a field of a request is cleaned that is neither code nor a name.
var cleaning = map[string]func(string) string{
	"title": markdown.Title, "body": markdown.Words, "summary": markdown.Words, "text": markdown.Words,
	"log": func(text string) string { return markdown.Visible(markdown.Uncolored(text)) },
	// What a program hands on as it is, and what is clean.
	"path": exact, "paths": exact, "changed_files": exact, "base": exact, "head": exact, "session": exact, "rules": exact, "prompt": exact,
}

func exact(text string) string { return text }

// asSeen cleans a part of a request as its prompt is: no hidden markup and no invisible characters in prose, and their numbers
// in all else.
func asSeen(field string, part any) any {
	switch part := part.(type) {
	case map[string]any:
		for name, value := range part {
			part[name] = asSeen(name, value)
		}
	case []any:
		for i, value := range part {
			part[i] = asSeen(field, value)
		}
	case string:
		if clean := cleaning[field]; clean != nil {
			return clean(part)
		}
		return markdown.Visible(part)
	}
	return part
}

func full[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// execute runs argv in dir until it exits, times out or ctx ends, and returns its stdout, even with an error: some programs
// print there what failed.
func (opt Options) execute(ctx context.Context, dir string, argv []string, stdin []byte) ([]byte, error) {
	return opt.executeKeeping(ctx, dir, argv, stdin, nil)
}

// executeKeeping is execute for a program that reports every step in a line: only lines that keep accepts are returned and
// count towards the output limit; nil keeps all. It uses its own pipes instead of exec.Cmd's, so that a grandchild that
// keeps them open does not block us.
func (opt Options) executeKeeping(ctx context.Context, dir string, argv []string, stdin []byte, keep func(line []byte) bool) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, &Error{Kind: Canceled, Exit: -1, Detail: "not started because the run was stopped", Err: err}
	}
	program, err := resolve(argv[0], dir, opt.Env)
	if err != nil {
		return nil, &Error{Kind: Start, Exit: -1, Detail: err.Error(), Err: err}
	}
	ctx, cancel := clock.WithTimeoutCause(ctx, opt.Clock, opt.Timeout, errTimeout)
	defer cancel()
	ctx, flood := context.WithCancelCause(ctx)
	defer flood(nil)

	log := &lines{to: opt.Log}
	out := &capped{limit: opt.OutputLimit, over: func() { flood(errFlood) }}
	sift := &sieve{to: out, keep: keep}
	child, err := opt.child(program, argv, dir, stdin, log)
	if err != nil {
		return nil, &Error{Kind: Start, Exit: -1, Detail: err.Error(), Err: err}
	}
	ended, pipes, err := child.start(sift, log)
	if err != nil {
		_, _ = child.network.end() // nobody will connect
		return nil, &Error{Kind: Start, Exit: -1, Detail: fmt.Sprintf("start %s: %v", excerpt(argv[0], 200), err), Err: err}
	}
	stopped, state, err := opt.await(ctx, child.cmd, ended)
	living := opt.clear(child.cmd.Process.Pid)
	opt.reportRefused(child.network)
	pipes.finish(opt.Clock, opt.Grace)
	child.gate.flush()
	log.flush()
	sift.flush()
	if errors.Is(err, errSudo) { // it may still start what it has not started yet
		living = alive("%v", errSudo)
	}
	if living != nil {
		return nil, living
	}
	if out.flooded() {
		stopped = errFlood
	}
	if refused := child.gate.refusal(opt, argv[0], state.ExitCode()); stopped == nil && refused != nil {
		return nil, refused
	}
	if stopped == nil && err == nil {
		return out.bytes(), nil
	}
	return out.bytes(), opt.failure(stopped, err, state, log.tail())
}

// start starts the process on pipes; how it ends is sent to ended.
func (c child) start(stdout io.Writer, stderr *lines) (ended <-chan error, p *pipes, err error) {
	var said io.Writer = stderr
	if c.gate != nil {
		said = c.gate
	}
	if p, err = openPipes(c.stdin, stdout, said); err != nil {
		return nil, nil, err
	}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = p.child[0], p.child[1], p.child[2]
	ended, err = begin(c.cmd)
	p.started()
	if err != nil {
		p.abandon()
	}
	return ended, p, err
}

// begin starts a process in a session of its own, away from our terminal, into which it could type. Whoever sees it end has
// to reap it.
func begin(cmd *exec.Cmd) (<-chan error, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	started, ended := make(chan error, 1), make(chan error, 1)
	go func() {
		// The isolator ties the agent to the thread that started it; the kernel offers nothing else.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		expect()
		if err := cmd.Start(); err != nil {
			disown()
			started <- err
			return
		}
		born(cmd.Process.Pid)
		started <- nil
		ended <- cmd.Wait()
	}()
	return ended, <-started
}

// clear ends what the program left: its process group, session and orphans, and all processes of its user. It fails if
// something keeps running; leave checks another user's processes.
func (opt Options) clear(pid int) error {
	opt.kill(pid, syscall.SIGKILL)
	if opt.tenant != nil && opt.tenant.sudo == "" {
		_ = opt.signal(syscall.SIGKILL)
	}
	return reap(pid, opt.Clock)
}

// endLimit is how long foreign code may take to end after being told to.
const endLimit = 10 * time.Second

// alive is the error for foreign code that keeps running.
func alive(format string, args ...any) *Error {
	return &Error{Kind: Alive, Exit: -1, Detail: fmt.Sprintf(format, args...)}
}

var (
	errTimeout = errors.New("timeout")
	errFlood   = errors.New("too much output")
	errSudo    = errors.New("sudo did not end what it had started")
)

// sudoPatience is how long sudo has to notice that its child was killed.
const sudoPatience = 4 * time.Second

// await waits for the program; when ctx ends first, it gets SIGTERM, and SIGKILL after the grace period. stopped is why the
// program was ended, nil if it ended by itself. A program that did not end has no state.
func (opt Options) await(ctx context.Context, cmd *exec.Cmd, ended <-chan error) (stopped error, state *os.ProcessState, err error) {
	select {
	case err := <-ended:
		return nil, cmd.ProcessState, err
	case <-ctx.Done():
	}
	stopped = context.Cause(ctx)
	opt.kill(cmd.Process.Pid, syscall.SIGTERM)
	grace := opt.Clock.NewTimer(opt.Grace)
	defer grace.Stop()
	select {
	case err = <-ended:
		return stopped, cmd.ProcessState, err
	case <-grace.Chan():
	}
	opt.kill(cmd.Process.Pid, syscall.SIGKILL)
	if opt.tenant.sudoPath() == "" {
		err = <-ended
		return stopped, cmd.ProcessState, err
	}
	last := opt.Clock.NewTimer(sudoPatience)
	defer last.Stop()
	select {
	case err = <-ended:
		return stopped, cmd.ProcessState, err
	case <-last.Chan():
		return stopped, nil, errSudo
	}
}

// kill signals a whole process group, which may have ended already. We may signal neither sudo nor its child, which is
// another user's, but sudo ends with its child.
func (opt Options) kill(group int, sig syscall.Signal) {
	_ = syscall.Kill(-group, sig)
	if opt.tenant.sudoPath() != "" {
		_ = opt.signal(sig)
	}
}

// failure says how the program ended.
func (opt Options) failure(stopped, err error, state *os.ProcessState, stderr string) *Error {
	failed := &Error{Exit: state.ExitCode(), Stderr: stderr, Err: err}
	switch {
	case errors.Is(stopped, errFlood):
		failed.Kind, failed.Detail = Flood, fmt.Sprintf("it wrote more than %d bytes on stdout", opt.OutputLimit)
	case errors.Is(stopped, errTimeout):
		failed.Kind, failed.Detail = Timeout, "stopped after "+clock.Text(opt.Timeout)
	case stopped != nil:
		failed.Kind, failed.Detail, failed.Err = Canceled, "stopped because the run was", stopped
	default:
		failed.Kind, failed.Detail = Exit, fmt.Sprintf("exit code %d", failed.Exit)
		if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			failed.Detail = "ended by signal: " + status.Signal().String()
		}
		if opt.Isolator != "" && noFork(stderr) {
			failed.Detail += fmt.Sprintf(" (processes could not be started: MergeXO allows %d processes and threads at once, so run fewer in parallel)", maxTasks)
		}
	}
	return failed
}

// resolve finds the program: a path is relative to the checkout, a bare name is looked up in the agent's PATH, not in ours.
func resolve(program, dir string, env []string) (string, error) {
	if strings.Contains(program, "/") {
		if !filepath.IsAbs(program) {
			program = filepath.Join(dir, program)
		}
		return program, nil
	}
	for _, place := range filepath.SplitList(value(env, "PATH")) {
		file := filepath.Join(place, program)
		if info, err := os.Stat(file); err == nil && filepath.IsAbs(file) && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("start %s: not found in PATH%s", excerpt(program, 200), notFoundHint)
}

// Installed reports whether an agent with this environment finds a program on its PATH.
func Installed(program string, env []string) bool {
	_, err := resolve(program, "", env)
	return err == nil
}

const notFoundHint = ": install it, or give its path in command"
