package issues

import (
	"context"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkpoint"
	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/model"
)

// takeOver brings the work that a run had saved before it died to the branch of its flow, so that the next attempt goes on
// from there.
func takeOver(ctx context.Context, p *Issue, dead []model.Posted[model.TurnMarker]) error {
	left, err := p.Orphans(ctx, dead)
	if err != nil || len(left) == 0 {
		return err
	}
	w := p.progress
	if err := p.Restore(ctx, w.tip); err != nil {
		return err
	}
	for _, d := range slices.Backward(dead) {
		ref := "refs/heads/" + work.WipBranch(p.Event.Number, d.Marker.Claim)
		if left[ref] == "" {
			continue
		}
		if err := adopt(ctx, p, ref); err != nil {
			p.Log.Warn("saved_work_not_taken_over", "issue_number", p.Event.Number, "ref", ref, "error", err)
			p.Note("the saved work of an interrupted run could not be continued; it is on branch " + strings.TrimPrefix(ref, "refs/heads/"))
		}
	}
	return nil
}

// adopt makes one commit of what was saved and moves the flow's branch to it.
func adopt(ctx context.Context, p *Issue, ref string) error {
	w := p.progress
	saved, err := fetch.Ref(ctx, p.Checkout, ref)
	if err != nil {
		return err
	}
	if err := history.Deepen(ctx, p.Checkout, p.Base(), saved); err != nil {
		return err
	}
	head, err := checkpoint.Flatten(ctx, p.Checkout, saved, work.CheckpointMessage(p.About()))
	if err != nil {
		return err
	}
	if head != w.tip && head != p.Base() {
		move := transport.Update{Branch: w.marker.Branch, Start: w.tip, SHA: head, Drop: []git.Ref{{Name: ref, SHA: saved}}}
		if _, err := p.Apply(ctx, effect.Push{Update: move}); err != nil {
			return err
		}
		w.tip, w.marker.LastCheckpoint, p.Marker.Start = head, head, head
		p.Checkpointed(w.marker.Branch, head)
	}
	return nil
}
