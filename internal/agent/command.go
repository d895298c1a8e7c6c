package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// command is a program of the user's: the request on its stdin, the outcome on its stdout, the checkout as its working
// directory.
type command struct{ opt Options }

func newCommand(opt Options) (Agent, error) {
	if len(opt.Command) == 0 || opt.Command[0] == "" {
		return nil, errors.New(`agent adapter "command" needs a command: set command = ["./agent"] under [agent]`)
	}
	return command{opt}, nil
}

// Run runs the program once. When it returns, every process of the program's group has ended, and every other one that
// kept its environment.
func (a command) Run(ctx context.Context, dir string, req model.Request) (model.Outcome, error) {
	stdin, err := encode(req)
	if err != nil {
		return model.Outcome{}, err
	}
	argv := append(append([]string{}, a.opt.Command...), a.opt.ExtraArgs...)
	stdout, err := a.opt.execute(ctx, dir, argv, stdin)
	if err != nil {
		return model.Outcome{}, err
	}
	return Decode(stdout)
}

// encode writes the request with empty lists as [], so that no program has to know about null.
func encode(req model.Request) ([]byte, error) {
	if req.Version == 0 {
		req.Version = 1
	}
	req.Feedback, req.ChangedFiles, req.CI = full(req.Feedback), full(req.ChangedFiles), full(req.CI)
	req.History, req.Rules = full(req.History), full(req.Rules)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(req); err != nil {
		return nil, fmt.Errorf("encode agent request: %w", err)
	}
	return out.Bytes(), nil
}

func full[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// execute runs argv in dir to its end, its timeout or the end of ctx, and returns its stdout. With an error too: some
// programs say there what failed.
func (opt Options) execute(ctx context.Context, dir string, argv []string, stdin []byte) ([]byte, error) {
	return opt.executeKeeping(ctx, dir, argv, stdin, nil)
}

// executeKeeping is execute for a program that writes a line for everything it does: only the lines that keep wants are
// returned, and count for the output limit; nil keeps all. It works on pipes of its own, not exec.Cmd's: a grandchild
// that keeps them open must not keep us waiting.
func (opt Options) executeKeeping(ctx context.Context, dir string, argv []string, stdin []byte, keep func(line []byte) bool) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, &Error{Kind: Canceled, Exit: -1, Detail: "not started because the run was stopped", Err: err}
	}
	program, err := resolve(argv[0], dir, opt.Env)
	if err != nil {
		return nil, &Error{Kind: Start, Exit: -1, Detail: err.Error(), Err: err}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, opt.Timeout, errTimeout)
	defer cancel()
	ctx, flood := context.WithCancelCause(ctx)
	defer flood(nil)

	log := &lines{to: opt.Log}
	out := &capped{limit: opt.OutputLimit, over: func() { flood(errFlood) }}
	sift := &sieve{to: out, keep: keep}
	pipes, err := openPipes(stdin, sift, log)
	if err != nil {
		return nil, &Error{Kind: Start, Exit: -1, Detail: "make pipes: " + err.Error(), Err: err}
	}
	mark := marker()
	cmd := &exec.Cmd{
		Path: program, Args: argv, Dir: dir, Env: append(append([]string{}, opt.Env...), "PWD="+dir, mark),
		Stdin: pipes.child[0], Stdout: pipes.child[1], Stderr: pipes.child[2],
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	err = cmd.Start()
	pipes.started()
	if err != nil {
		pipes.finish(0)
		return nil, &Error{Kind: Start, Exit: -1, Detail: fmt.Sprintf("start %s: %v", excerpt(argv[0], 200), err), Err: err}
	}
	stopped, err := opt.await(ctx, cmd)
	kill(cmd.Process.Pid, syscall.SIGKILL) // what the program left behind
	killMarked(mark)
	pipes.finish(opt.Grace)
	log.flush()
	sift.flush()
	if out.flooded() {
		stopped = errFlood
	}
	if stopped == nil && err == nil {
		return out.bytes(), nil
	}
	return out.bytes(), opt.failure(stopped, err, cmd.ProcessState, log.tail())
}

var (
	errTimeout = errors.New("timeout")
	errFlood   = errors.New("too much output")
)

// await waits for the program; when ctx ends first, its group gets SIGTERM, and SIGKILL after the grace. stopped is why
// the program was ended, nil when it ended by itself.
func (opt Options) await(ctx context.Context, cmd *exec.Cmd) (stopped, err error) {
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		return nil, err
	case <-ctx.Done():
	}
	kill(cmd.Process.Pid, syscall.SIGTERM)
	grace := time.NewTimer(opt.Grace)
	defer grace.Stop()
	select {
	case err = <-done:
	case <-grace.C:
		kill(cmd.Process.Pid, syscall.SIGKILL)
		err = <-done
	}
	return context.Cause(ctx), err
}

// kill signals a whole process group. That it has ended already is as good.
func kill(group int, signal syscall.Signal) { _ = syscall.Kill(-group, signal) }

// failure says how the program ended.
func (opt Options) failure(stopped, err error, state *os.ProcessState, stderr string) *Error {
	failed := &Error{Exit: state.ExitCode(), Stderr: stderr, Err: err}
	switch {
	case errors.Is(stopped, errFlood):
		failed.Kind, failed.Detail = Flood, fmt.Sprintf("it wrote more than %d bytes on stdout", opt.OutputLimit)
	case errors.Is(stopped, errTimeout):
		failed.Kind, failed.Detail = Timeout, "stopped after "+span(opt.Timeout)
	case stopped != nil:
		failed.Kind, failed.Detail, failed.Err = Canceled, "stopped because the run was", stopped
	default:
		failed.Kind, failed.Detail = Exit, fmt.Sprintf("exit code %d", failed.Exit)
		if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			failed.Detail = "ended by signal: " + status.Signal().String()
		}
	}
	return failed
}

// resolve finds the program: a path is relative to the checkout, a bare name is looked up in the PATH that the agent
// gets, not in ours.
func resolve(program, dir string, env []string) (string, error) {
	if strings.Contains(program, "/") {
		if !filepath.IsAbs(program) {
			program = filepath.Join(dir, program)
		}
		return program, nil
	}
	path := ""
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			path = value
		}
	}
	for _, place := range filepath.SplitList(path) {
		file := filepath.Join(place, program)
		if info, err := os.Stat(file); err == nil && filepath.IsAbs(file) && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("start %s: not found in PATH%s", excerpt(program, 200), notFoundHint)
}

const notFoundHint = ": install it, or give its path in command"
