package feedback

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/mergexo/mergexo/internal/engine/attempt"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// land brings the planned commits onto the branch. It says false when the branch moved and the turn has to be brought
// onto its new head first; the marker then says how far it is.
func land(ctx context.Context, p *Pull) (landed bool, err error) {
	if err := p.Read(ctx); err != nil {
		return false, err
	}
	if err := stillOurs(ctx, p); err != nil {
		return false, err
	}
	head := p.Snap.Pull.HeadSHA
	if p.Marker.Moved != "" && p.Marker.Planned == p.Base() { // nothing to push, so that it fits anywhere
		p.Marker.Onto, p.Marker.Planned = head, head
	}
	planned := p.Marker.Planned
	if planned == p.Base() || head == planned {
		return unmoved(ctx, p, head)
	}
	if head == p.Base() {
		return publish(ctx, p)
	}
	done, err := p.Relation(ctx, planned, head)
	if err != nil {
		return false, err
	}
	if done == model.Ahead { // published by a run that died, and somebody went on from there
		attempt.Published(p.Attempt)
		return true, nil
	}
	return false, rebase(ctx, p, head)
}

// unmoved is for a turn that has nothing to push, or whose push is done: only a rewrite stands in the way of its answers.
func unmoved(ctx context.Context, p *Pull, head string) (bool, error) {
	relation, err := p.Relation(ctx, p.Marker.Planned, head)
	if err != nil {
		return false, err
	}
	switch lineage.Decide(relation) {
	case lineage.Block:
		return false, p.Block(ctx, thread.Rewritten(p.Marker.Planned, head, model.GuardRemote), "")
	case lineage.Resolve:
		return false, thread.End(model.ResultRetry, "it is not known yet how %s relates to %s", markdown.Short(head), markdown.Short(p.Marker.Planned))
	}
	attempt.Published(p.Attempt)
	return true, nil
}

// stillOurs holds a fresh snapshot against all that may have changed while the agent was at work.
func stillOurs(ctx context.Context, p *Pull) error {
	mine := slices.ContainsFunc(p.State.Turns, func(t model.Posted[model.TurnMarker]) bool { return t.CommentID == p.ClaimID })
	g, unmet := model.Unmet(turn.Gates(p.Snap, p.State, p.Policy))
	switch {
	case unmet && g.Name == model.GateOpen && p.Snap.Pull.HeadSHA == p.Marker.Planned && p.Marker.Planned != p.Base():
		return nil // it was published before it was merged or closed: only the answers are missing
	case unmet && g.Name == model.GateOpen:
		return abandon(ctx, p, g.Evidence, "Once the pull request is open again")
	case unmet && (g.Name == model.GateBlock || g.Name == model.GateMarkers):
		return p.gates(ctx)
	case unmet:
		return abandon(ctx, p, g.Evidence, "Once that has changed")
	case !mine:
		return thread.End(model.ResultRetry, "somebody deleted this run's claim on pull request %d; nothing was pushed", p.Event.Number)
	case p.Answered(p.Marker): // by a run whose claim was not shown to this one
		return p.Withdraw(ctx, model.ResultNothing, "another run answered this on pull request %d", p.Event.Number)
	}
	return nil
}

// abandon leaves a turn whose pull request was closed, merged, or taken over by a person while the agent was at work, and
// says so. The work stays recorded: once that is over, it is published.
func abandon(ctx context.Context, p *Pull, why, until string) error {
	p.Marker.Reason = why
	if err := p.GiveUpClaim(ctx, "Nothing was pushed. "+until+", the next event continues from here."); err != nil {
		return err
	}
	return thread.End(model.ResultNothing, "%s", why)
}

// publish moves the branch from the start head to the planned one and deletes the stage in the same push.
func publish(ctx context.Context, p *Pull) (bool, error) {
	if err := p.Open(ctx); err != nil {
		return false, err
	}
	if here, err := attempt.Unstage(ctx, p.Attempt); err != nil || !here {
		return err == nil, err
	}
	landed, err := attempt.Publish(ctx, p.Attempt, p.Snap.Pull.HeadRef, p.Base())
	if rejected := (*git.ErrRejected)(nil); errors.As(err, &rejected) {
		return false, p.Block(ctx, model.BlockMarker{Reason: model.ReasonPush, Observed: p.Base()}, rejected.Error())
	}
	return landed, err
}

// restart sends the turn back to the agent on this head, since what is planned does not fit there as it is.
func restart(ctx context.Context, p *Pull, head string) error {
	p.Marker.Tries = append(p.Marker.Tries, model.Try{
		Reason: "its finished work does not fit on " + markdown.Short(head), RunURL: p.Marker.RunURL, Kept: p.KeepAside(ctx, p.Marker.Planned),
	})
	p.Marker.Phase, p.Marker.Onto, p.Marker.Planned = model.PhaseStarted, head, ""
	p.Marker.Outbox, p.Marker.Moved, p.Commits = nil, "", nil
	if err := p.Edit(ctx, p.ClaimText()); err != nil {
		return err
	}
	if !p.Phase.RunsAgent() {
		return thread.End(model.ResultRetry, "the head of pull request %d moved to %s in the meantime; the agent phase of the next event continues the turn there", p.Event.Number, markdown.Short(head))
	}
	return nil
}

// errAnew ends a turn whose commits were published, and are not on the head that an operator has accepted: its feedback is another turn's.
var errAnew = errors.New("the turn begins again")

// rebase replays the turn's own commits on a head that somebody fast-forwarded meanwhile. Only a conflict costs another
// round of the agent.
func rebase(ctx context.Context, p *Pull, head string) error {
	relation, err := p.Relation(ctx, cmp.Or(p.Marker.Moved, p.Base()), head)
	if err != nil {
		return err
	}
	switch lineage.Decide(relation) {
	case lineage.Block:
		return p.Block(ctx, thread.Rewritten(p.Base(), head, model.GuardRemote), "")
	case lineage.Resolve:
		return thread.End(model.ResultRetry, "it is not known yet how %s relates to %s", markdown.Short(head), markdown.Short(p.Base()))
	}
	if err := p.Open(ctx); err != nil {
		return err
	}
	here, err := attempt.Unstage(ctx, p.Attempt)
	if err == nil && !here && p.Marker.Moved != "" {
		err = errors.Join(errAnew, p.Remove(ctx, p.ClaimID, attempt.TurnToken(p.Marker.Key)))
	}
	if err != nil || !here {
		return err
	}
	if err := checkout.Restore(ctx, p.Checkout, p.Snap.Pull.HeadRef, p.Snap.Pull.BaseRef, head); err != nil {
		var moved *git.ErrHeadMoved
		if errors.As(err, &moved) {
			return nil // the next look sees the newer head
		}
		return err
	}
	if !attempt.Retests(p.Attempt) {
		return restart(ctx, p, head)
	}
	fits, err := attempt.RebaseOnto(ctx, p.Attempt, head)
	if err == nil && !fits {
		return restart(ctx, p, head)
	}
	return err
}

// answer posts what the outbox still owes, then the receipt.
func answer(ctx context.Context, p *Pull) error {
	o := *p.Marker.Outbox
	answers, tokens, err := replies(ctx, p, o.Replies)
	if err != nil {
		return err
	}
	o.Notes = append(slices.Clone(o.Notes), resolve(ctx, p, answers)...)
	note, err := postReview(ctx, p) // as late as can be: GitHub has shown the commits by then
	if err != nil {
		return err
	}
	if note != "" {
		o.Notes = append(o.Notes, note)
	}
	before := attempt.LastSession(p.Attempt).Key
	planned := p.Marker
	if o.Flaky != nil {
		mark, err := incident(ctx, p, o)
		if err != nil {
			return err
		}
		p.Marker.Flaky = mark
	}
	p.Marker.Phase, p.Marker.Head, p.Marker.Tokens = model.PhaseDone, p.Marker.Planned, tokens
	p.Marker.Outbox = nil
	text := turn.ReceiptText(p.Snap.Pull, answers, o, p.Marker)
	p.Marker.Tries = nil                                      // the text tells
	p.Marker = turn.Carry(p.Marker, p.State, p.Snap.Failures) // behind the text, which is of this turn's own answers
	if err := p.Edit(ctx, text); err != nil {
		p.Marker = planned
		return err
	}
	p.Report.HeadSHA = p.Marker.Head
	attempt.ReplaceTranscript(ctx, p.Attempt, before)
	p.Unsave(ctx)
	return nil
}

// replies posts the replies of a turn. It gives the answers to all of its feedback, and the tokens of what is posted.
func replies(ctx context.Context, p *Pull, all []model.ReviewReply) ([]turn.Answer, []string, error) {
	answers := make([]turn.Answer, 0, len(p.Marker.Events))
	for _, c := range p.Feedback {
		answers = append(answers, turn.Answer{Feedback: c})
	}
	tokens := []string{attempt.TurnToken(p.Marker.Key)}
	for _, r := range all {
		a, err := reply(ctx, p, r)
		if err != nil {
			return nil, nil, err
		}
		for i := range answers {
			if answers[i].Feedback.Kind == model.KindReview && answers[i].Feedback.ID == r.ReviewCommentID {
				answers[i].ReplyURL, answers[i].Gone = a.ReplyURL, a.Gone
			}
		}
		if !a.Gone {
			tokens = append(tokens, attempt.ReplyToken(p.Marker.Key, r.ReviewCommentID))
		}
	}
	return answers, tokens, nil
}

// reply answers one review comment, unless the answer is there already or the comment is gone.
func reply(ctx context.Context, p *Pull, r model.ReviewReply) (turn.Answer, error) {
	token := attempt.ReplyToken(p.Marker.Key, r.ReviewCommentID)
	if url, found := thread.Replied(p.Thread, token); found {
		p.Applied("reply", strconv.FormatInt(r.ReviewCommentID, 10), token, effect.Present)
		return turn.Answer{ReplyURL: url}, nil
	}
	body, err := p.Codec.Encode(journal.Body{Text: r.Body, Tokens: []string{token}, Kind: journal.KindAnswer, Marker: traceOf(p)})
	if err != nil {
		return turn.Answer{}, err
	}
	// The comment may be too old to have been read: GitHub knows whether it is still there. Where only the first comment of
	// its thread was deleted, the comment itself takes replies.
	var made effect.Result
	for _, thread := range []int64{p.Marker.Outbox.Threads[r.ReviewCommentID], r.ReviewCommentID} {
		if thread == 0 {
			continue
		}
		made, err = p.Apply(ctx, effect.Reply(p.Event.Number, r.ReviewCommentID, thread, token, body))
		if k := github.KindOf(err); k != github.NotFound && k != github.Gone {
			break
		}
	}
	switch k := github.KindOf(err); {
	case k == github.NotFound || k == github.Gone:
		return turn.Answer{Gone: true}, nil
	case err == nil:
		p.Say(model.Saying{Where: fmt.Sprintf("reply to review comment %d", r.ReviewCommentID), Text: r.Body})
	}
	return turn.Answer{ReplyURL: made.URL}, err
}
