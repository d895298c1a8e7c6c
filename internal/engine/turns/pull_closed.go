package turns

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/mergexo/mergexo/internal/clock"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// WrapUp lets a sweep finish what was begun on a pull request that somebody has merged or closed. over reports that no turn is
// left there.
func (p *Pull) WrapUp(ctx context.Context) (over bool, err error) {
	if p.Event.Name != "schedule" || p.Snap.Pull.State == model.PullOpen {
		return false, nil
	}
	p.Due(model.DueSurplus, time.Time{})
	if c := p.State.Conflicts; c != nil {
		if err := p.Remove(ctx, c.CommentID, journal.Token("conflicts", strconv.Itoa(p.Event.Number))); err != nil {
			return false, err
		}
	}
	if p.Snap.Pull.State != model.PullMerged || thread.OwesAnswers(p.Thread) { // it may be opened again, and then its turns go on
		return true, nil
	}
	for _, t := range turn.Open(p.State) {
		p.Due(model.DueTurn, t.At)
		live, err := p.Busy(ctx, t.CommentID, t.Marker.Lease)
		if err != nil || live {
			return false, err
		}
		if err := overtake(ctx, p, t); err != nil {
			return false, err
		}
	}
	return true, nil
}

// overtake says that a turn comes to nothing, and where its commits are: the ref of those that are recorded stays.
func overtake(ctx context.Context, p *Pull, t model.Posted[model.TurnMarker]) error {
	next := "The pull request was merged before this turn ended."
	if t.Marker.Phase == model.PhasePlanned && t.Marker.Planned != turn.Base(t.Marker) {
		next = fmt.Sprintf("The pull request was merged before this turn's commits were published. They are kept: `git fetch origin %s`.", StagedAt(p.Event.Number, t.Marker))
	}
	p.ClaimID, p.Marker = t.CommentID, t.Marker
	p.Feedback = feedbackOf(p, t.Marker.Events)
	p.Marker.Phase, p.Marker.Outbox, p.Marker.Reason = model.PhaseFailed, nil, "the pull request was merged in the meantime"
	err := Edit(ctx, p.Attempt, p.Words.Failed(next))
	p.ClaimID, p.Marker, p.Feedback = 0, model.TurnMarker{}, nil
	return err
}

// cutOff is why a run that was told to stop came to no result.
const cutOff = "the workflow run was cancelled, or its job timed out"

// Cancelled saves the agent's work in the moment that is left, and says where it is. The claim stays, so that the next run can
// recover. If the comment links the work, the claim is given up, and nobody has to wait until GitHub says that this run is over.
func (p *Pull) Cancelled(ctx context.Context, cause error) error {
	ended := errors.Join(context.Canceled, cause)
	ctx, done := clock.WithTimeout(context.WithoutCancel(ctx), p.Clock, work.LastWords)
	defer done()
	k := work.KeepAll(ctx, p.Work)
	p.Marker.Kept, p.Marker.Reason = k, cutOff
	var err error
	if k.Branch == "" {
		err = Edit(ctx, p.Attempt, p.Words.Failed(turn.Interrupted))
	} else {
		err = GiveUpClaim(ctx, p.Attempt, turn.Interrupted)
	}
	if err != nil {
		p.Log.Warn("checkpoint_not_linked", "branch", k.Branch, "error", err)
	}
	return ended
}
