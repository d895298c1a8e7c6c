package feedback

import (
	"context"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/engine/attempt"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// exhausted blocks a pull request whose last attempt died before it could say that it was the last. Its claim stays and tells
// of all attempts, as the block does.
func exhausted(ctx context.Context, p *Pull, m model.TurnMarker) error {
	p.Marker = m
	gone := replaced(p)
	at := -1
	for i, g := range gone {
		if g.Marker.Key == m.Key && g.Marker.Phase != model.PhasePlanned {
			at = i
		}
	}
	if at < 0 {
		return p.Block(ctx, model.BlockMarker{Reason: model.ReasonAttempts, Observed: m.Start}, "")
	}
	last := gone[at]
	p.ClaimID, p.Marker = last.CommentID, last.Marker
	p.Marker.Tries = turn.Past(nil, gone)
	if _, err := p.FindSaved(ctx, gone); err != nil {
		return err
	}
	for i, t := range p.Marker.Tries {
		if t.RunURL == last.Marker.RunURL && t.Attempt == last.Marker.Attempt {
			p.Kept = model.Kept{Branch: t.Checkpoint, SHA: t.CheckpointSHA}
			p.Marker.Tries = slices.Delete(p.Marker.Tries, i, i+1)
			break
		}
	}
	p.Marker.Checkpoint, p.Marker.CheckpointSHA = p.Kept.Branch, p.Kept.SHA
	dropDoubles(ctx, p, p.Kept.SHA)
	if p.Marker.Reason == "" {
		p.Marker.Reason = "the runs ended without a result; see their logs"
	}
	cause := p.Marker.Reason
	p.Feedback, _ = turn.Find(p.Snap, p.Marker.Events)
	p.Marker.Expires = p.Expiry()
	if p.Marker.Phase != model.PhaseFailed {
		if err := p.GiveUp(ctx, "Nothing was pushed, and the feedback stays pending."); err != nil {
			return err
		}
	}
	blocked := p.Block(ctx, model.BlockMarker{Reason: model.ReasonAttempts, Observed: p.Base()}, cause)
	if err := attempt.Clear(ctx, p.Attempt, slices.Delete(gone, at, at+1)); err != nil {
		return err
	}
	return blocked
}

// dropDoubles removes the checkpoints of earlier attempts whose work is elsewhere by now: in this commit, or in the checkpoint of
// a later attempt. It is a courtesy: what stays is linked.
func dropDoubles(ctx context.Context, p *Pull, head string) {
	aside := func(t model.Try) bool { return strings.HasPrefix(t.Checkpoint, "mergexo/checkpoint/") }
	if !slices.ContainsFunc(p.Marker.Tries, aside) {
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
		if slices.Contains(heads, t.CheckpointSHA) { // the very commit, so that the branch is a later attempt's as well
			t.Checkpoint = ""
			continue
		}
		holder, err := heldBy(ctx, p, *t, heads)
		gone := git.IsNoRef(err)
		if gone { // by a run that died before it said so, or by somebody
			holder, err = holderOf(ctx, p, t.CheckpointSHA, heads)
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
func heldBy(ctx context.Context, p *Pull, t model.Try, heads []string) (string, error) {
	tip, err := fetch.Ref(ctx, p.Checkout, "refs/heads/"+t.Checkpoint)
	if err != nil || tip != t.CheckpointSHA {
		return "", err
	}
	return holderOf(ctx, p, tip, heads)
}

// holderOf is heldBy for a commit.
func holderOf(ctx context.Context, p *Pull, tip string, heads []string) (string, error) {
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
