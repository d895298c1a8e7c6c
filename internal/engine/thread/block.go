package thread

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// Told holds what a block tells beside its reason. With a turn at hand, that includes its work.
type Told struct {
	Detail string
	Kept   model.Kept
	Notes  []string
	// End ends the claim at hand; nil: there is none.
	End func(context.Context, model.BlockMarker) error
}

// Block stops the pull request with one comment, even if another run finds the same at the same time. It ends the claim at hand.
// The error is the Stop that the run ends with.
func Block(ctx context.Context, t *Thread, m model.BlockMarker, told Told) error {
	m.Repo, m.Number, m.Key = t.Event.Repo.String(), t.Event.Number, t.Marker.Key
	m.Detail, m.Kept = Clip(told.Detail), told.Kept
	blocked := &Stop{Result: model.ResultBlocked, Reason: turn.BlockReason(t.Snap.Pull, m, told.Detail), Block: &m}
	if m.Reason == model.ReasonRewrite {
		t.Log.Error("history_rewrite_blocked", "pr_number", m.Number, "turn_key", m.Key,
			"expected_head_sha", m.Expected, "observed_head_sha", m.Observed)
	}
	parts := []string{"block", fmt.Sprint(m.Number), m.Reason, m.Expected, m.Observed}
	if !m.Until.IsZero() { // another day is another block
		parts = append(parts, m.Until.Format(time.RFC3339))
	}
	token := journal.Token(parts...)
	if t.State.Block == nil {
		err := postBlock(ctx, t, token, m, told)
		if ended := (*effect.Ended)(nil); errors.As(err, &ended) { // somebody only asks what a run would do
			return blocked
		}
		if err != nil {
			return err
		}
	}
	if told.End != nil {
		if err := told.End(ctx, m); err != nil {
			return err
		}
	}
	return blocked
}

// postBlock says it, and looks whether another run has said it first.
func postBlock(ctx context.Context, t *Thread, token string, m model.BlockMarker, told Told) error {
	tries := turn.WorthTelling(t.Marker.Tries)
	if m.Reason == model.ReasonAttempts {
		tries = append(slices.Clone(t.Marker.Tries), t.Marker.Try())
	}
	body := journal.Body{Text: turn.BlockText(t.Snap.Pull, m, told.Detail, told.Kept, tries, told.Notes...), Kind: journal.KindBlock, Marker: m}
	blocking := func() int64 { // any block of the thread will do
		if t.State.Block == nil {
			return 0
		}
		return t.State.Block.CommentID
	}
	if _, err := t.Comment(ctx, token, body, blocking); err != nil {
		return err
	}
	return ReadAgain(ctx, t)
}

// GuardHistory compares the head with the last accepted one, and blocks the pull request if its history was rewritten. The
// planned head of a turn that died during its push counts as accepted, since it is our own push.
func GuardHistory(ctx context.Context, t *Thread, dead []model.Posted[model.TurnMarker]) error {
	accepted, head := t.State.Accepted, t.Snap.Pull.HeadSHA
	ours := slices.ContainsFunc(dead, func(c model.Posted[model.TurnMarker]) bool { return c.Marker.Planned == head })
	if accepted == "" || accepted == head || ours || slices.Contains(t.State.MergeTips, head) {
		return nil
	}
	relation, err := SinceAccepted(ctx, t)
	if err != nil {
		return err
	}
	switch lineage.Decide(relation) {
	case lineage.Block:
		return Block(ctx, t, Rewritten(accepted, head, model.GuardCrossCycle), Told{})
	case lineage.Resolve:
		return End(model.ResultRetry, "it is not known yet how %s relates to %s", markdown.Short(head), markdown.Short(accepted))
	}
	return nil
}

// GuardMarkers blocks a pull request if somebody edited or deleted comments that hold its state.
func GuardMarkers(ctx context.Context, t *Thread) error {
	if t.State.Block != nil {
		return nil
	}
	for _, g := range turn.Gates(t.Snap, t.State, t.Policy) {
		if g.Name == model.GateMarkers && !g.Met {
			return Block(ctx, t, model.BlockMarker{Reason: t.State.Spoilt().Code(), Expected: t.State.Accepted, Observed: t.Snap.Pull.HeadSHA}, Told{Detail: g.Evidence})
		}
	}
	return nil
}
