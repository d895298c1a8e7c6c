package feedback

import (
	"context"
	"slices"

	"github.com/mergexo/mergexo/internal/engine/attempt"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/handoff"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// catchUp looks whether the branch has grown since the agent's part began: then what was handed over is brought onto the
// new head like any other turn.
func catchUp(ctx context.Context, p *Pull) error {
	r := p.Memory.Received
	if !p.Offered() || r.Err != nil || r.Number != p.Event.Number || r.Start == p.Snap.Pull.HeadSHA {
		return nil
	}
	relation, err := p.Relation(ctx, r.Start, p.Snap.Pull.HeadSHA)
	if err == nil && relation == model.Ahead {
		p.Earlier = r.Start
	}
	return err
}

// fitting says why a turn cannot be taken up with what was handed over: somebody has moved the head, or has been faster.
// Then nothing is claimed; the event that moved it has a run of its own.
func fitting(p *Pull, m model.TurnMarker, pending []model.Comment) error {
	if !p.ExpectsHandoff() {
		return thread.EndWithoutAgent(p.World, "%s on %s wait", markdown.Count(len(pending), "comment"), p.About())
	}
	if err := attempt.Fresh(p.Attempt); err != nil {
		return err
	}
	if p.Memory.Received.Err != nil {
		return nil // the turn says so
	}
	err := handoff.Check(p.Memory.Received.Handoff, handoff.Expected{
		Repo: p.Event.Repo, Number: p.Event.Number, Start: m.Start, Onto: m.Onto, Pending: turn.Keys(p.Event.Number, pending), TurnKey: m.Key,
	})
	if err != nil {
		return thread.End(model.ResultRetry, "%s; the agent phase of the next event continues", err)
	}
	return nil
}

// wanted are the sets of event keys, with the head that each began at, that a turn is taken up with in preference to all
// that is pending: those of claims that died before their agent ended, and what was handed over.
func wanted(p *Pull, dead []model.Posted[model.TurnMarker]) []model.TurnMarker {
	var list []model.TurnMarker
	for _, d := range dead {
		list = append(list, d.Marker)
	}
	if p.Offered() && p.Memory.Received.Err == nil {
		list = append(list, model.TurnMarker{Start: p.Memory.Received.Start, Events: p.Memory.Received.Events})
	}
	return slices.Clip(list)
}
