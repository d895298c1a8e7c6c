package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// exhausted blocks a pull request whose last attempt died before it could say that it was the last. Its claim stays and tells
// of all attempts, as the block does.
func (p *pass) exhausted(ctx context.Context, m model.TurnMarker) error {
	p.marker = m
	gone := p.replaced()
	at := -1
	for i, g := range gone {
		if g.Marker.Key == m.Key && g.Marker.Phase != model.PhasePlanned {
			at = i
		}
	}
	if at < 0 {
		return p.block(ctx, model.BlockMarker{Reason: model.ReasonAttempts, Observed: m.Start}, "")
	}
	last := gone[at]
	p.claimID, p.marker = last.CommentID, last.Marker
	p.marker.Tries = turn.Past(nil, gone)
	if _, err := p.findSaved(ctx, gone); err != nil {
		return err
	}
	for i, t := range p.marker.Tries {
		if t.RunURL == last.Marker.RunURL && t.Attempt == last.Marker.Attempt {
			p.kept = model.Kept{Branch: t.Checkpoint, SHA: t.CheckpointSHA}
			p.marker.Tries = slices.Delete(p.marker.Tries, i, i+1)
			break
		}
	}
	p.marker.Checkpoint, p.marker.CheckpointSHA = p.kept.Branch, p.kept.SHA
	p.dropDoubles(ctx, p.kept.SHA)
	if p.marker.Reason == "" {
		p.marker.Reason = "the runs of the attempts ended without a word; their logs may tell why"
	}
	cause := p.marker.Reason
	p.feedback, _ = turn.Find(p.snap, p.marker.Events)
	p.marker.Expires = p.expiry()
	if p.marker.Phase != model.PhaseFailed {
		if err := p.giveUp(ctx, "Nothing was pushed to the branch and the feedback stays pending."); err != nil {
			return err
		}
	}
	blocked := p.block(ctx, model.BlockMarker{Reason: model.ReasonAttempts, Observed: p.base()}, cause)
	if err := p.clear(ctx, slices.Delete(gone, at, at+1)); err != nil {
		return err
	}
	return blocked
}

// dropDoubles removes the checkpoints of earlier attempts whose work is elsewhere by now: in this commit, or in the checkpoint of
// a later attempt. It is a courtesy: what stays is linked.
func (p *pass) dropDoubles(ctx context.Context, head string) {
	aside := func(t model.Try) bool { return strings.HasPrefix(t.Checkpoint, "mergexo/checkpoint/") }
	if p.issue != nil || !slices.ContainsFunc(p.marker.Tries, aside) {
		return
	}
	if err := p.open(ctx); err != nil {
		p.Log.Warn("checkpoints_not_compared", p.numberKey(), p.event.Number, "error", err)
		return
	}
	tries, heads := slices.Clone(p.marker.Tries), []string{head}
	for i := range slices.Backward(tries) {
		t := &tries[i]
		if !aside(*t) {
			continue
		}
		holder, err := p.heldBy(ctx, *t, heads)
		if err == nil && holder != "" {
			err = p.checkout.Drop(ctx, git.Ref{Name: "refs/heads/" + t.Checkpoint, SHA: t.CheckpointSHA})
		}
		switch {
		case err != nil:
			p.Log.Warn("checkpoint_not_removed", p.numberKey(), p.event.Number, "branch", t.Checkpoint, "error", err)
		case holder != "":
			t.Checkpoint, t.CheckpointSHA = "", holder
		default:
			heads = append(heads, t.CheckpointSHA)
		}
	}
	p.marker.Tries = tries
}

// heldBy is which of these commits holds the work of an attempt: it has the checkpoint's commits, or its very tree. "" is for
// none, also where somebody has gone on from the checkpoint.
func (p *pass) heldBy(ctx context.Context, t model.Try, heads []string) (string, error) {
	tip, err := p.checkout.FetchRef(ctx, "refs/heads/"+t.Checkpoint)
	if err != nil || tip != t.CheckpointSHA {
		return "", err
	}
	tree, err := p.checkout.TreeOf(ctx, tip)
	if err != nil {
		return "", err
	}
	for _, head := range heads {
		if head == "" {
			continue
		}
		if other, err := p.checkout.TreeOf(ctx, head); err != nil {
			continue // it is not here: nothing is known of it
		} else if other == tree {
			return head, nil
		}
		if relation, err := p.checkout.Relation(ctx, tip, head); err == nil && (relation == model.Ahead || relation == model.Identical) {
			return head, nil
		}
	}
	return "", nil
}
