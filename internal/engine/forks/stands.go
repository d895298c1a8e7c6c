package forks

import (
	"context"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/external"
	"github.com/mergexo/mergexo/internal/model"
)

// stands reads the pull request again before anything is said or done by a verdict: the command may have been at work for long.
// What no longer holds is ended, and the Stop says why; nil: it is as it was let in.
func (g *admission) stands(ctx context.Context) (*thread.Stop, error) {
	if away, err := g.Voided(ctx); away != nil || err != nil {
		return away, err
	}
	if err := thread.AskHost(ctx, g.Thread); err != nil {
		return nil, err
	}
	facts := thread.ForkFacts(g.Thread, g.MayLetIn)
	step := external.Next(facts)
	was := step.From
	switch {
	case was == nil || was.Marker.Claim != g.marker.Claim:
		return thread.Taken(g.record().About, g.Snap.Pull.URL), nil
	case step.Act == external.GoOn || step.Act == external.GiveUp: // the attempt at hand may be the last one
		return nil, nil
	case g.Snap.Pull.State != model.PullOpen:
		return thread.End(model.ResultNothing, "%s", step.Why), g.End(ctx)
	case step.Act != external.Nothing || !external.Labelled(facts): // it was put on again, which asks for another evaluation
		g.marker = was.Marker
		g.marker.State, g.marker.Reason = model.ExternalVoid, model.ExternalUnlabelled
		if err := g.record().Write(ctx, external.UnlabelledText(g.Snap.Pull, g.marker)); err != nil {
			return nil, err
		}
		const removed = "the label %q was removed in the meantime, so the result for pull request %d does not count"
		return thread.End(model.ResultNothing, removed, was.Marker.Label, g.Event.Number), nil
	}
	// A person has stopped it for now. A later run goes on, unless somebody edited the record, which stays as it is.
	waits := thread.End(model.ResultNothing, "%s", step.Why)
	if g.State.Spoilt() != nil {
		return waits, nil
	}
	g.marker = was.Marker
	g.marker.Attempt--
	return waits, g.record().Release(ctx, text(g))
}
