package attempt

import (
	"context"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

// isolate is isolate for a turn, where it runs anything that is not ours.
func isolate(ctx context.Context, p *Attempt) error {
	agentRuns := p.Phase.RunsAgents() && p.Marker.Phase == model.PhaseStarted
	if !agentRuns {
		return nil
	}
	if err := thread.NeedAgent(p.Thread); err != nil {
		return err
	}
	if agent.BuiltIn(p.Settings.Agent.Adapter) && len(p.Settings.Repo.RequiredTests) == 0 {
		return nil
	}
	return thread.Isolate(ctx, p.World, p.Settings)
}
