package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// exhausted blocks a pull request whose last attempt died before it could say that it was the last. Its claim stays and tells
// of all attempts, as the block does.
func (p *pass) exhausted(ctx context.Context, m model.TurnMarker) error {
	p.Marker = m
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
	p.ClaimID, p.Marker = last.CommentID, last.Marker
	p.Marker.Tries = turn.Past(nil, gone)
	if _, err := p.findSaved(ctx, gone); err != nil {
		return err
	}
	for i, t := range p.Marker.Tries {
		if t.RunURL == last.Marker.RunURL && t.Attempt == last.Marker.Attempt {
			p.kept = model.Kept{Branch: t.Checkpoint, SHA: t.CheckpointSHA}
			p.Marker.Tries = slices.Delete(p.Marker.Tries, i, i+1)
			break
		}
	}
	p.Marker.Checkpoint, p.Marker.CheckpointSHA = p.kept.Branch, p.kept.SHA
	p.dropDoubles(ctx, p.kept.SHA)
	if p.Marker.Reason == "" {
		p.Marker.Reason = "the runs of the attempts ended without a word; their logs may tell why"
	}
	cause := p.Marker.Reason
	p.feedback, _ = turn.Find(p.Snap, p.Marker.Events)
	p.Marker.Expires = p.Expiry()
	if p.Marker.Phase != model.PhaseFailed {
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
	if p.issue != nil || !slices.ContainsFunc(p.Marker.Tries, aside) {
		return
	}
	if err := p.Open(ctx); err != nil {
		p.Log.Warn("checkpoints_not_compared", p.NumberKey(), p.Event.Number, "error", err)
		return
	}
	tries, heads := slices.Clone(p.Marker.Tries), []string{head}
	for i := range slices.Backward(tries) {
		t := &tries[i]
		if !aside(*t) {
			continue
		}
		holder, err := p.heldBy(ctx, *t, heads)
		gone := isNoRef(err)
		if gone { // by a run that died before it said so, or by somebody
			holder, err = p.holder(ctx, t.CheckpointSHA, heads)
			if err != nil {
				holder, err = "", nil // its commit went with it
			}
		}
		if err == nil && holder != "" && !gone {
			_, err = p.Apply(ctx, effect.Forget{Ref: git.Ref{Name: "refs/heads/" + t.Checkpoint, SHA: t.CheckpointSHA}})
		}
		switch {
		case err != nil:
			p.Log.Warn("checkpoint_not_removed", p.NumberKey(), p.Event.Number, "branch", t.Checkpoint, "error", err)
		case holder != "" || gone:
			t.Checkpoint, t.CheckpointSHA = "", holder
		default:
			heads = append(heads, t.CheckpointSHA)
		}
	}
	p.Marker.Tries = tries
}

// heldBy is which of these commits holds the work of an attempt: it has the checkpoint's commits, or its very tree. "" is for
// none, also where somebody has gone on from the checkpoint.
func (p *pass) heldBy(ctx context.Context, t model.Try, heads []string) (string, error) {
	tip, err := fetch.Ref(ctx, p.Checkout, "refs/heads/"+t.Checkpoint)
	if err != nil || tip != t.CheckpointSHA {
		return "", err
	}
	return p.holder(ctx, tip, heads)
}

// holder is heldBy for a commit.
func (p *pass) holder(ctx context.Context, tip string, heads []string) (string, error) {
	if err := fetch.Commits(ctx, p.Checkout, tip); err != nil {
		return "", err
	}
	tree, err := history.TreeOf(ctx, p.Checkout, tip)
	if err != nil {
		return "", err
	}
	for _, head := range heads {
		if head == "" {
			continue
		}
		if other, err := history.TreeOf(ctx, p.Checkout, head); err != nil {
			continue // it is not here: nothing is known of it
		} else if other == tree {
			return head, nil
		}
		if relation, err := history.Relation(ctx, p.Checkout, tip, head); err == nil && (relation == model.Ahead || relation == model.Identical) {
			return head, nil
		}
	}
	return "", nil
}
