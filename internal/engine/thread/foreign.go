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

// IsolationSettings are those that say how foreign code runs: what they make is made once for a run.
type IsolationSettings struct{ Isolation, User string }

// Wanted is what the settings say about how foreign code runs.
func Wanted(s config.Settings) IsolationSettings {
	return IsolationSettings{s.Agent.Isolation, s.Agent.User}
}

// Isolate makes sure that foreign code can run as the settings want it. It is asked before anything is said of a turn or a
// merge, so that a machine that cannot isolate costs nothing.
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

// MakeIsolation finds out how foreign code can run here. *agent.ErrNoIsolation says that it cannot run as the settings want it.
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

// StillAlive ends the run where foreign code goes on running, so that nothing is safe to push or to say. It is nil for
// every other error. work says where the work is.
func StillAlive(err error, work string) error {
	if !IsAlive(err) {
		return nil
	}
	s := End(model.ResultFailed, "%s; nothing was pushed or posted since then%s", strings.TrimPrefix(err.Error(), "agent: "), work)
	s.Alive = true
	return s
}

// Outlives tells whether a run ended because of that.
func Outlives(err error) bool {
	s := (*Stop)(nil)
	return errors.As(err, &s) && s.Alive
}

// IsLast says that a run which was stopped so does nothing more.
func IsLast(err error) bool {
	s := (*Stop)(nil)
	return errors.As(err, &s) && s.Last != nil
}

// HadDone says that a run which is stopped so had something to do before, and that there is nothing more.
func HadDone(rep *model.Report, err error) bool {
	s := (*Stop)(nil)
	return rep.Result == model.ResultDone && errors.As(err, &s) && s.Result == model.ResultNothing && s.Last == nil
}

// Releases says that a run which ends so releases its claim: it was not cancelled, and nothing of it goes on running.
func Releases(ctx context.Context, cause error) bool { return ctx.Err() == nil && !Outlives(cause) }

// IsAlive says that foreign code goes on running.
func IsAlive(err error) bool {
	failed := (*agent.Error)(nil)
	return errors.As(err, &failed) && failed.Kind == agent.Alive
}

// Grace is what an agent has to end by itself when the run is cancelled, so that there is time to keep its work.
const Grace = 2 * time.Second

// AgentOptions are what the settings say about the agent, with its environment.
func AgentOptions(w *World, s config.Settings, gitEnv ...string) agent.Options {
	return agent.Options{
		Adapter: s.Agent.Adapter, Command: s.Agent.Command, Model: s.Agent.Model, ExtraArgs: s.Agent.ExtraArgs,
		Env: agent.Environment(w.Lookup, s.Agent.PassEnv, gitEnv), Access: agent.Access(w.Lookup, s.Agent.Adapter), Network: s.Agent.Network,
		Timeout: s.Agent.Timeout, Grace: Grace, Log: w.Foreign, Events: w.Log, Isolator: w.Isolator, User: s.Agent.User, Isolation: w.Isolated[Wanted(s)], Clock: w.Clock,
	}
}

// TestOptions are what tests run with, and other programs of the settings that are no agents. They get no variable but git's. The
// error is of the settings, where they cannot run as those want it.
func TestOptions(ctx context.Context, w *World, s config.Settings, timeout time.Duration, temp string, gitEnv []string) (agent.Options, error) {
	if err := Isolate(ctx, w, s); err != nil {
		return agent.Options{}, err
	}
	return agent.Options{
		Env: agent.Environment(w.Lookup, nil, gitEnv), Timeout: timeout, Grace: Grace, Log: w.Foreign,
		Isolator: w.Isolator, User: s.Agent.User, Isolation: w.Isolated[Wanted(s)], Temp: temp, Network: s.Agent.Network, Events: w.Log, Clock: w.Clock,
	}, nil
}

// ModelKeys are the keys of the agent's model, where they are kept from it.
func ModelKeys(w *World, s config.Settings) []string {
	return agent.Keys(agent.Access(w.Lookup, s.Agent.Adapter))
}

// CheckAgent finds mistakes in the settings of the agent before anything is said.
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
