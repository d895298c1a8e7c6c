package thread

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/model"
)

// IsolationSettings decide how foreign code runs. An isolation is made once a run for each value.
type IsolationSettings struct{ Isolation, User string }

// Wanted returns the settings that decide how foreign code runs.
func Wanted(s config.Settings) IsolationSettings {
	return IsolationSettings{s.Agent.Isolation, s.Agent.User}
}

// Isolate makes sure that foreign code can run as the settings demand. Call it before anything is posted about a turn or a merge,
// so that a machine that cannot isolate costs nothing.
func Isolate(ctx context.Context, w *World, s config.Settings) error {
	i := w.Isolated[Wanted(s)]
	if i == nil {
		var err error
		if i, err = MakeIsolation(ctx, w, s); err != nil {
			return fmt.Errorf("%w: [agent] %w", config.ErrInvalid, err)
		}
	}
	if err := i.Holds(s.Agent.Network); err != nil {
		return fmt.Errorf("%w: [agent] %w", config.ErrInvalid, err)
	}
	return nil
}

// MakeIsolation finds out how foreign code can run on this machine. The error is an *agent.ErrNoIsolation if it cannot run as the
// settings demand.
func MakeIsolation(ctx context.Context, w *World, s config.Settings) (*agent.Isolation, error) {
	setting := s.Agent.Isolation
	if w.GitHub == nil { // a person merges a branch in a checkout of their own, where there is no credential of ours
		setting = agent.IsolationNone
	}
	home, _ := w.Lookup("HOME")
	dirs := slices.DeleteFunc([]string{w.Git.Workspace, w.Sessions}, func(dir string) bool {
		_, err := os.Stat(dir)
		return err != nil
	})
	i, err := agent.Isolate(ctx, agent.IsolationOptions{
		Setting: setting, User: s.Agent.User, Isolator: w.Isolator, Path: w.Git.Path, Home: home, Dirs: dirs, Clock: w.Clock, Log: w.Log,
	})
	level := slog.LevelInfo
	if none := (*agent.ErrNoIsolation)(nil); !w.Phase.Writes() && errors.As(err, &none) { // that job has no credential that can write
		i, err, level = &agent.Isolation{Level: agent.LevelNone, Why: none.Why}, nil, slog.LevelWarn
		w.Warn.Show(fmt.Sprintf("agents and tests run without isolation in this job, which has no token that can write (%s): "+
			"allow user namespaces or sudo without a password on this runner", strings.Join(none.Why, "; ")))
	}
	if err != nil {
		return nil, err
	}
	if w.Isolated == nil {
		w.Isolated = map[IsolationSettings]*agent.Isolation{}
	}
	w.Isolated[Wanted(s)] = i
	w.Log.Log(ctx, level, "isolation", "level", i.Level, "why", i.Why)
	return i, nil
}

// StillAlive returns a Stop if err says that foreign code is still running, since nothing is then safe to push or post. For every
// other error it returns nil. work says where the work is.
func StillAlive(err error, work string) error {
	if !IsAlive(err) {
		return nil
	}
	s := End(model.ResultFailed, "%s; nothing was pushed or posted since then%s", strings.TrimPrefix(err.Error(), "agent: "), work)
	s.Alive = true
	return s
}

// Outlives reports whether err ended the run because foreign code is still running.
func Outlives(err error) bool {
	s := (*Stop)(nil)
	return errors.As(err, &s) && s.Alive
}

// IsLast reports whether err ended the run for good, so that it does nothing else.
func IsLast(err error) bool {
	s := (*Stop)(nil)
	return errors.As(err, &s) && s.Last != nil
}

// HadDone reports whether the run did something before it stopped because nothing was left to do.
func HadDone(rep *model.Report, err error) bool {
	s := (*Stop)(nil)
	return rep.Result == model.ResultDone && errors.As(err, &s) && s.Result == model.ResultNothing && s.Last == nil
}

// Releases reports whether a run that ended with cause releases its claim: it was not cancelled, and no foreign code is still
// running.
func Releases(ctx context.Context, cause error) bool { return ctx.Err() == nil && !Outlives(cause) }

// IsAlive reports whether err says that foreign code is still running.
func IsAlive(err error) bool {
	failed := (*agent.Error)(nil)
	return errors.As(err, &failed) && failed.Kind == agent.Alive
}

// Grace is the time that an agent has to exit when the run is cancelled. The run needs the rest to save the agent's work.
const Grace = 2 * time.Second

// AgentOptions returns the agent's options by the settings, with its environment.
func AgentOptions(w *World, s config.Settings, gitEnv ...string) agent.Options {
	return agent.Options{
		Adapter: s.Agent.Adapter, Command: s.Agent.Command, Model: s.Agent.Model, ExtraArgs: s.Agent.ExtraArgs,
		Env: agent.Environment(w.Lookup, s.Agent.PassEnv, gitEnv), Access: agent.Access(w.Lookup, s.Agent.Adapter), Network: s.Agent.Network,
		Timeout: s.Agent.Timeout, Grace: Grace, Log: w.Foreign, Events: w.Log, Isolator: w.Isolator, User: s.Agent.User, Isolation: w.Isolated[Wanted(s)], Clock: w.Clock,
	}
}

// TestOptions returns the options for tests, and for other programs of the settings that are not agents. They get no variables
// except gitEnv. It returns an error if they cannot run as the settings demand.
func TestOptions(ctx context.Context, w *World, s config.Settings, timeout time.Duration, temp string, gitEnv []string) (agent.Options, error) {
	if err := Isolate(ctx, w, s); err != nil {
		return agent.Options{}, err
	}
	return agent.Options{
		Env: agent.Environment(w.Lookup, nil, gitEnv), Timeout: timeout, Grace: Grace, Log: w.Foreign,
		Isolator: w.Isolator, User: s.Agent.User, Isolation: w.Isolated[Wanted(s)], Temp: temp, Network: s.Agent.Network, Events: w.Log, Clock: w.Clock,
	}, nil
}

// ModelKeys returns the keys of the agent's model that are kept from the agent.
func ModelKeys(w *World, s config.Settings) []string {
	return agent.Keys(agent.Access(w.Lookup, s.Agent.Adapter))
}

// CheckAgent returns an error if the settings of the agent or the reviewer have a mistake. Call it before anything is posted.
func CheckAgent(w *World, s config.Settings) error {
	err := agent.CheckPass(s.Agent.Adapter, s.Agent.PassEnv)
	if err == nil && !s.Agent.None() {
		_, err = agent.New(AgentOptions(w, s))
	}
	if err == nil && !s.Agent.None() && !s.Reviewer().None() {
		if _, err = agent.New(AgentOptions(w, ReviewerSettings(s))); err != nil {
			return fmt.Errorf("%w: [review] %w", config.ErrInvalid, err)
		}
	}
	if err == nil && s.Agent.User != "" {
		look := AgentOptions(w, s)
		look.Env = []string{"PATH=" + w.Git.Path} // sudo runs with our rights, and from nowhere that foreign code can write to
		_, err = look.Exposed()
	}
	keys := append(ModelKeys(w, s), ModelKeys(w, ReviewerSettings(s))...)
	for _, name := range s.Agent.PassEnv {
		value, _ := w.Lookup(name)
		if err == nil && slices.Contains(keys, strings.TrimSpace(value)) {
			err = fmt.Errorf("pass_env: %s holds the model's key, which MergeXO keeps to itself: remove it", name)
		}
		if err == nil && value != "" && slices.ContainsFunc(Hidden(w), func(secret string) bool { return secret != "" && strings.TrimSpace(value) == secret }) {
			err = fmt.Errorf("pass_env: %s holds one of MergeXO's own secrets, which no agent may see: give the agent another one, or none", name)
		}
	}
	if err != nil {
		return fmt.Errorf("%w: [agent] %w", config.ErrInvalid, err)
	}
	return nil
}
