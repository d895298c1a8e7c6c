package forks

import (
	"context"
	"time"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/external"
	"github.com/mergexo/mergexo/internal/model"
)

// End ends a letting in whose pull request is over by other hands, and takes off what a run left that died.
func (p *Pull) End(ctx context.Context) error {
	said := p.State.External()
	if said == nil {
		return nil
	}
	p.Due(model.DueExternal, time.Time{})
	g := &admission{Pull: p, comment: said.CommentID, marker: said.Marker}
	if external.EndedByOthers(p.State) {
		g.marker.State, g.marker.Reason = model.ExternalVoid, model.ExternalClosed
		if p.Snap.Pull.State == model.PullMerged {
			g.marker.Reason = model.ExternalMerged
		}
		if err := g.record().Write(ctx, external.OverText(p.Snap.Pull, g.marker)); err != nil {
			return err
		}
		said.Marker = g.marker
		dropMirror(ctx, g)
	}
	if external.LabelLeft(thread.ForkFacts(p.Thread, p.MayLetIn)) {
		dropMirror(ctx, g)
		return g.takeOff(ctx)
	}
	return nil
}
