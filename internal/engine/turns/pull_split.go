package turns

import (
	"context"
	"slices"

	"github.com/mergexo/mergexo/internal/model"
)

// catchUp looks whether the branch has grown since the agent's part began: then what was handed over is brought onto the
// new head like any other turn.
func catchUp(ctx context.Context, p *Pull) error {
	r := p.Memory.Received
	if !Offered(p.Attempt) || r.Err != nil || r.Number != p.Event.Number || r.Start == p.Snap.Pull.HeadSHA {
		return nil
	}
	relation, err := p.Relation(ctx, r.Start, p.Snap.Pull.HeadSHA)
	if err == nil && relation == model.Ahead {
		p.Earlier = r.Start
	}
	return err
}

// wanted are the sets of event keys, with the head that each began at, that a turn is taken up with in preference to all
// that is pending: those of claims that died before their agent ended, and what was handed over.
func wanted(p *Pull, dead []model.Posted[model.TurnMarker]) []model.TurnMarker {
	var list []model.TurnMarker
	for _, d := range dead {
		list = append(list, d.Marker)
	}
	if Offered(p.Attempt) && p.Memory.Received.Err == nil {
		list = append(list, model.TurnMarker{Start: p.Memory.Received.Start, Events: p.Memory.Received.Events})
	}
	return slices.Clip(list)
}
