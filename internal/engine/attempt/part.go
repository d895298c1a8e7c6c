package attempt

import (
	"context"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/engine/thread"
)

// Part is how a run gets the agent's part of an attempt: it runs the agent, or takes up what another job has handed over.
type Part interface {
	// announce says that foreign code comes next, where it does.
	announce(ctx context.Context) error
	// bring gives the agent's part, in an open checkout.
	bring(ctx context.Context) (product, error)
	// isolate finds out how the agent, and tests of what it did, can run here.
	isolate(ctx context.Context) error
	// Fits runs a check of what was handed over, before anything is claimed. It does nothing where nothing is handed over.
	Fits(check func() error) error
	// Retried is asked where the agent has to do its part again. It gives nothing where that happens in this run, and else leaves it to
	// another one, which the error says.
	Retried(leave func() error) error
	// Retests says whether the required tests can run here on another base.
	Retests() bool
}

// PartOf is how an attempt gets the agent's part in the run's phase.
func PartOf(p *Attempt) Part {
	return thread.ByPhase[Part]{Whole: agentHere{p}, Agent: agentHere{p}, Apply: agentElsewhere{p}}.Of(p.Phase)
}

// agentHere is the part of an agent that this run starts.
type agentHere struct{ p *Attempt }

func (a agentHere) announce(ctx context.Context) error { return a.p.Outside(ctx, a.p.Subject.Next()) }

func (a agentHere) bring(ctx context.Context) (product, error) { return a.p.produce(ctx) }

func (a agentHere) isolate(ctx context.Context) error {
	p := a.p
	if !p.Marker.NeedsAgent() {
		return nil
	}
	if err := thread.AgentReady(p.Thread); err != nil {
		return err
	}
	if agent.BuiltIn(p.Settings.Agent.Adapter) && len(p.Settings.RequiredTests()) == 0 {
		return nil
	}
	return thread.Isolate(ctx, p.World, p.Settings)
}

func (agentHere) Fits(func() error) error    { return nil }
func (agentHere) Retried(func() error) error { return nil }
func (agentHere) Retests() bool              { return true }

// agentElsewhere is the part of an agent that has a job of its own.
type agentElsewhere struct{ p *Attempt }

func (agentElsewhere) announce(context.Context) error { return nil }

func (a agentElsewhere) bring(ctx context.Context) (product, error) { return a.p.receive(ctx) }

func (agentElsewhere) isolate(context.Context) error    { return nil }
func (agentElsewhere) Fits(check func() error) error    { return check() }
func (agentElsewhere) Retried(leave func() error) error { return leave() }
func (a agentElsewhere) Retests() bool                  { return len(a.p.Settings.RequiredTests()) == 0 }
