package engine

import (
	"context"
	"slices"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// guardCrossCycle compares the last accepted head with the one now. The planned head of a turn that died while
// publishing is an accepted one too: it is our own push.
func (p *pass) guardCrossCycle(ctx context.Context, dead []model.Posted[model.TurnMarker]) error {
	accepted, head := p.State.Accepted, p.Snap.Pull.HeadSHA
	ours := slices.ContainsFunc(dead, func(t model.Posted[model.TurnMarker]) bool { return t.Marker.Planned == head })
	if accepted == "" || accepted == head || ours || slices.Contains(p.State.MergeTips, head) {
		return nil
	}
	relation, err := p.SinceAccepted(ctx)
	if err != nil {
		return err
	}
	switch lineage.Decide(relation) {
	case lineage.Block:
		return p.block(ctx, thread.Rewritten(accepted, head, model.GuardCrossCycle), "")
	case lineage.Resolve:
		return thread.End(model.ResultRetry, "the relation of %s to %s is not known yet", markdown.Short(head), markdown.Short(accepted))
	}
	return nil
}
