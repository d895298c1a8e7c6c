package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/config"
)

// grace is what an agent has to end by itself when the run is cancelled, so that there is time to keep its work.
const grace = 2 * time.Second

// agentOptions are what the settings say about the agent, with its environment.
func (e *Engine) agentOptions(s config.Settings, gitEnv ...string) agent.Options {
	return agent.Options{
		Adapter: s.Agent.Adapter, Command: s.Agent.Command, Model: s.Agent.Model, ExtraArgs: s.Agent.ExtraArgs,
		Env: agent.Environment(e.Lookup, s.Agent.PassEnv, gitEnv), Access: agent.Access(e.Lookup, s.Agent.Adapter), Network: s.Agent.Network,
		Timeout: s.Agent.Timeout, Grace: grace, Log: e.Foreign, Events: e.Log, Wall: e.Wall, User: s.Agent.User, Isolation: e.isolated[wanted(s)], Clock: e.Clock,
	}
}

// runTests runs tests of the settings in dir; runCommand another program of theirs that is no agent. Neither gets a variable
// but git's.
func (e *Engine) runTests(ctx context.Context, dir string, argv []string, s config.Settings, timeout time.Duration, temp string, gitEnv []string) error {
	opt, err := e.testOptions(ctx, s, timeout, temp, gitEnv)
	if err != nil {
		return err
	}
	return agent.RunTests(ctx, dir, argv, opt)
}

func (e *Engine) testOptions(ctx context.Context, s config.Settings, timeout time.Duration, temp string, gitEnv []string) (agent.Options, error) {
	if err := e.isolate(ctx, s); err != nil {
		return agent.Options{}, err
	}
	return agent.Options{
		Env: agent.Environment(e.Lookup, nil, gitEnv), Timeout: timeout, Grace: grace, Log: e.Foreign,
		Wall: e.Wall, User: s.Agent.User, Isolation: e.isolated[wanted(s)], Temp: temp, Network: s.Agent.Network, Events: e.Log, Clock: e.Clock,
	}, nil
}

// modelKeys are the keys of the agent's model, where they are kept from it.
func (e *Engine) modelKeys(s config.Settings) []string {
	return agent.Keys(agent.Access(e.Lookup, s.Agent.Adapter))
}

// checkAgent finds mistakes in the settings of the agent before anything is said.
func (e *Engine) checkAgent(s config.Settings) error {
	err := agent.CheckPass(s.Agent.Adapter, s.Agent.PassEnv)
	if err == nil && !s.Agent.None() {
		_, err = agent.New(e.agentOptions(s))
	}
	if err == nil && s.Agent.User != "" {
		_, err = e.agentOptions(s).Exposed()
	}
	keys := e.modelKeys(s)
	for _, name := range s.Agent.PassEnv {
		value, _ := e.Lookup(name)
		if err == nil && slices.Contains(keys, strings.TrimSpace(value)) {
			err = fmt.Errorf("pass_env: %s holds the model's key, which stays with MergeXO: leave it out", name)
		}
		if err == nil && value != "" && slices.ContainsFunc(e.Secrets, func(secret string) bool { return secret != "" && strings.TrimSpace(value) == secret }) {
			err = fmt.Errorf("pass_env: %s holds a secret of MergeXO's own, which no agent may see: give the agent another one, or none", name)
		}
	}
	if err != nil {
		return fmt.Errorf("%w: [agent] %w", config.ErrInvalid, err)
	}
	return nil
}

// needAgent is nil where there is an agent for the work at hand.
func (p *pass) needAgent() error {
	if !p.settings.Agent.None() {
		return nil
	}
	return config.NoAgent(p.settingsSource(), p.subject())
}

// hire makes the agent of the turn at hand and the places where it keeps its things: nothing of them is in the checkout.
func (p *pass) hire(ctx context.Context) (agent.Agent, error) {
	opt := p.agentOptions(p.settings, p.checkout.AgentEnv()...)
	if p.memory.temp == "" {
		temp, err := p.Git.Scratch.Make(p.Git.Temp, "agent", p.Log)
		if err != nil {
			return nil, fmt.Errorf("make directory of the agent: %w", err)
		}
		p.memory.temp = temp
	}
	opt.Temp, opt.Sessions = p.memory.temp, filepath.Join(p.memory.temp, "sessions")
	if p.Sessions != "" { // one pull request's agent does not read another one's
		opt.Sessions = filepath.Join(p.Sessions, p.event.Repo.Owner, p.event.Repo.Name, fmt.Sprint(p.event.Number))
	}
	where, err := opt.Exposed(slices.Concat(p.Secrets, p.modelKeys(p.settings))...)
	if err != nil {
		return nil, err
	}
	if where != "" {
		p.Log.Warn("token_exposed", "process", where, "fix", "start MergeXO by the action, or with exec, so that no process above it keeps the token or the model's key in its environment")
	}
	p.sessions = opt.Sessions
	p.unseal(ctx, opt.Sessions)
	return agent.New(opt)
}

// leave removes what a run's agents left outside the checkout.
func (e *Engine) leave(m *memory) {
	if m.temp == "" {
		return
	}
	if err := os.RemoveAll(m.temp); err != nil {
		e.Log.Warn("agent_directory_not_removed", "error", err)
	}
}
