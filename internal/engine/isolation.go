package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// isolationSettings are those that say how foreign code runs: what they make is made once for a run.
type isolationSettings struct{ isolation, user string }

func wanted(s config.Settings) isolationSettings {
	return isolationSettings{s.Agent.Isolation, s.Agent.User}
}

// isolate makes sure that foreign code can run as the settings want it. It is asked before anything is said of a turn or a
// merge, so that a machine that cannot isolate costs nothing.
func (e *Engine) isolate(ctx context.Context, s config.Settings) error {
	i := e.isolated[wanted(s)]
	if i == nil {
		var err error
		if i, err = e.makeIsolation(ctx, s); err != nil {
			return fmt.Errorf("%w: [agent] %w", config.ErrInvalid, err)
		}
	}
	if err := i.Holds(s.Agent.Network); err != nil {
		return fmt.Errorf("%w: [agent] %w", config.ErrInvalid, err)
	}
	return nil
}

func (e *Engine) makeIsolation(ctx context.Context, s config.Settings) (*agent.Isolation, error) {
	path, _ := e.Lookup("PATH")
	setting := s.Agent.Isolation
	if e.GitHub == nil { // a person merges a branch in a checkout of their own, where there is no credential of ours
		setting = agent.IsolationNone
	}
	i, err := agent.Isolate(ctx, agent.IsolationOptions{
		Setting: setting, User: s.Agent.User, Wall: e.Wall, Path: path, Dirs: existing(e.Git.Workspace, e.Sessions), Clock: e.Clock, Log: e.Log,
	})
	if none := (*agent.ErrNoIsolation)(nil); e.Phase == AgentPhase && errors.As(err, &none) { // that job has no credential
		i, err = &agent.Isolation{Level: agent.LevelNone, Why: none.Why}, nil
	}
	if err != nil {
		return nil, err
	}
	if e.isolated == nil {
		e.isolated = map[isolationSettings]*agent.Isolation{}
	}
	e.isolated[wanted(s)] = i
	e.Log.Info("isolation", "level", i.Level, "why", i.Why)
	return i, nil
}

// existing are those directories that are there.
func existing(dirs ...string) []string {
	return slices.DeleteFunc(dirs, func(dir string) bool {
		_, err := os.Stat(dir)
		return err != nil
	})
}

// isolateTurn is isolate for a turn, where it runs anything that is not ours.
func (p *pass) isolateTurn(ctx context.Context) error {
	agentRuns := p.Phase != ApplyPhase && p.marker.Phase == model.PhaseStarted
	if !agentRuns {
		return nil
	}
	if err := p.needAgent(); err != nil {
		return err
	}
	if agent.BuiltIn(p.settings.Agent.Adapter) && len(p.settings.Repo.RequiredTests) == 0 {
		return nil
	}
	return p.isolate(ctx, p.settings)
}

// Close ends what the engine has made on this machine for its run.
func (e *Engine) Close() error {
	var all error
	for _, i := range e.isolated {
		all = errors.Join(all, i.Close())
	}
	e.isolated = nil
	return all
}

// outlived ends the run where foreign code goes on running, so that nothing is safe to push or to say any more. It is nil for
// every other error. work says where the work is.
func outlived(err error, work string) error {
	if !isAlive(err) {
		return nil
	}
	s := stop(model.ResultFailed, "%s; nothing was pushed or said since%s", strings.TrimPrefix(err.Error(), "agent: "), work)
	s.alive = true
	return s
}

// outlived is outlived with what was done so far left on the runner, as a bundle.
func (p *pass) outlived(ctx context.Context, err error) error {
	if !isAlive(err) {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	work, gerr := p.gather(ctx)
	switch {
	case gerr == nil && work.head == "":
		return outlived(err, "")
	case gerr == nil:
		file := filepath.Join(p.Git.Temp, fmt.Sprintf("mergexo-kept-%d-%.12s.bundle", p.event.Number, work.head))
		if gerr = p.checkout.Rescue(ctx, file, markdown.Unbundled, p.base(), work.head); gerr == nil {
			return outlived(err, fmt.Sprintf("; its work is on this runner, in %s: git fetch %s %s gets it", file, file, markdown.Unbundled))
		}
	}
	return outlived(err, "; its work could not be kept: "+gerr.Error())
}

// outlives tells whether a run ended because of that.
func outlives(err error) bool {
	s := (*Stop)(nil)
	return errors.As(err, &s) && s.alive
}

func isAlive(err error) bool {
	failed := (*agent.Error)(nil)
	return errors.As(err, &failed) && failed.Kind == agent.Alive
}
