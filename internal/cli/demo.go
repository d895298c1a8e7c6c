package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/report"
	"github.com/mergexo/mergexo/internal/sandbox"
	"github.com/mergexo/mergexo/internal/sandbox/pages"
	"github.com/mergexo/mergexo/internal/sandbox/runner"
)

// leaveTime is how long a run may go on after Ctrl-C: it says where it was.
const leaveTime = 10 * time.Second

// demonstrate serves a sandbox in which something happens, until the program is interrupted.
func demonstrate(p *program, c *cli.Context) (err error) {
	if c.IsSet("seed") {
		return usagef("--demo begins with a repository of its own: leave --seed out")
	}
	listener, err := listenHere(c.String("listen"))
	if err != nil {
		return err
	}
	defer listener.Close()
	temp, err := p.scratch.Make(os.TempDir(), "demo", nil)
	if err != nil {
		return fmt.Errorf("make a directory for the demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	state, kept := filepath.Join(temp, "state"), c.IsSet("state")
	if kept {
		state = c.String("state")
	}
	key := random()
	runs, err := demoRunner(key, temp)
	if err != nil {
		return err
	}
	s, err := demoSandbox(state, runs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	s.SetOrigin("http://" + listener.Addr().String())
	isNew := s.URLs().Repository == ""
	if isNew {
		if err := s.Seed(demoScene); err != nil {
			return err
		}
	}
	handler, err := demoPages(p, c, s, runs, key, temp)
	if err != nil {
		return err
	}
	defer serve(listener, handler).Close()
	if isNew {
		if err := demoBegins(c.Context, s.URLs(), key); err != nil {
			return err
		}
	}
	var tips []string
	for _, t := range demoTips {
		tips = append(tips, t.Name+": "+t.Text)
	}
	if err := report.Demo(p.Out, s.URLs().Server, key, demoRepository, tips, kept); err != nil {
		return err
	}
	return runs.Serve(c.Context, s.URLs())
}

// demoRunner starts this program for the events of the sandbox.
func demoRunner(key, temp string) (*runner.Runner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return runner.New(runner.Options{Program: []string{self, "run"}, Token: key + ".sandbox-actions", Env: withoutRunner(os.Environ()), Dir: temp, Patience: leaveTime}), nil
}

// demoSandbox opens the sandbox in a directory. It delivers its events to the runner.
func demoSandbox(state string, runs *runner.Runner) (*sandbox.Server, error) {
	o := shipped(state, true)
	o.Deliver = runs.Hear
	s, err := sandbox.New(o)
	if err != nil {
		return nil, fmt.Errorf("open the sandbox in %s: %w", state, err)
	}
	return s, nil
}

// serve answers until the server is closed.
func serve(listener net.Listener, handler http.Handler) *http.Server {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	return server
}

// demoPages are the pages of the demo, and the sandbox behind them.
func demoPages(p *program, c *cli.Context, s *sandbox.Server, runs *runner.Runner, key, temp string) (http.Handler, error) {
	urls := s.URLs()
	p.secrets = secrets{Token: key + ".sandbox-actions"}
	w := place{api: urls.API, graphql: urls.GraphQL, server: urls.Server, temp: temp, now: time.Now}
	return pages.New(pages.Options{
		API: s, Origin: urls.Server, Repository: urls.Repository, Reader: "octo", Key: key, Events: runs, Tips: demoTips, Log: slog.New(slog.NewTextHandler(p.Err, nil)),
		Trains: func(ctx context.Context, name string) ([]model.Train, error) {
			repo, err := model.ParseRepo(name)
			if err != nil {
				return nil, err
			}
			e, done, err := p.engine(c, w, repo, "")
			if err != nil {
				return nil, err
			}
			all, err := e.Trains(ctx, repo, "")
			return all, errors.Join(err, done())
		},
	})
}

// listenHere listens for this machine only: whoever reaches the demo speaks as whom they like.
func listenHere(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, usagef("--listen %s: want HOST:PORT, as 127.0.0.1:8080", address)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, usagef("--listen %s: the demo is for this machine only: want 127.0.0.1:PORT", address)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, cannotListen(address, err)
	}
	return l, nil
}

// cannotListen says why an address cannot be listened on.
func cannotListen(address string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return usagef("--listen %s: the port is in use: give another one, or port 0 for one that is free", address)
	}
	return usagef("--listen %s: %w", address, err)
}

// withoutRunner is an environment without the secrets, and without what tells a program about a workflow's run.
func withoutRunner(environ []string) []string {
	return slices.DeleteFunc(withoutSecrets(environ), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return slices.ContainsFunc([]string{"GITHUB_", "RUNNER_", "INPUT_", "ACTIONS_"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) ||
			name == "MERGEXO_FAIL_ON" || name == "MERGEXO_SESSIONS"
	})
}
