package turns

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// Look reads the pull request again, and returns its head. The error ends the run if the claim or the feedback changed while the
// agent worked.
func (p *Pull) Look(ctx context.Context) (head string, err error) {
	if err := p.Read(ctx); err != nil {
		return "", err
	}
	return p.Snap.Pull.HeadSHA, stillOurs(ctx, p)
}

// stillOurs ends a run whose turn is no longer its own to finish.
func stillOurs(ctx context.Context, p *Pull) error {
	mine := slices.ContainsFunc(p.State.Turns, func(t model.Posted[model.TurnMarker]) bool { return t.CommentID == p.ClaimID })
	g, unmet := model.Unmet(turn.Gates(p.Snap, p.State, p.Policy))
	switch {
	case unmet && g.Name == model.GateOpen && p.Snap.Pull.HeadSHA == p.Marker.Planned && p.Marker.Planned != work.Base(p.Work):
		return nil // it was published before it was merged or closed: only the answers are missing
	case unmet && g.Name == model.GateOpen:
		return abandon(ctx, p, g.Evidence, "Once the pull request is open again")
	case unmet && (g.Name == model.GateBlock || g.Name == model.GateMarkers):
		return p.gates(ctx)
	case unmet:
		return abandon(ctx, p, g.Evidence, "Once that has changed")
	case !mine:
		return thread.End(model.ResultRetry, "somebody deleted this run's claim on pull request %d; nothing was pushed", p.Event.Number)
	case thread.Answered(p.Thread, p.Marker): // by a run whose claim was not shown to this one
		return Withdraw(ctx, p.Attempt, model.ResultNothing, "another run answered this on pull request %d", p.Event.Number)
	}
	return nil
}

// abandon leaves a turn whose pull request was closed, merged, or taken over by a person while the agent was at work, and
// says so. The work stays recorded: once that is over, it is published.
func abandon(ctx context.Context, p *Pull, why, until string) error {
	p.Marker.Reason = why
	if err := GiveUpClaim(ctx, p.Attempt, "Nothing was pushed. "+until+", the next event continues from here."); err != nil {
		return err
	}
	return thread.End(model.ResultNothing, "%s", why)
}

// Refused blocks a pull request whose commits the server refused.
func (p *Pull) Refused(ctx context.Context, why *git.ErrRejected) error {
	return p.Block(ctx, model.BlockMarker{Reason: model.ReasonPush, Observed: work.Base(p.Work)}, why.Error())
}

// Rewritten blocks a pull request whose head lost the commit that the turn is based on.
func (p *Pull) Rewritten(ctx context.Context, head string) error {
	return p.Block(ctx, thread.Rewritten(work.Base(p.Work), head, model.GuardRemote), "")
}

// Stuck ends a run whose turn did not land after all looks at the branch.
func (p *Pull) Stuck(ctx context.Context) error {
	if p.Snap.Pull.HeadSHA == work.Base(p.Work) {
		return thread.End(model.ResultRetry, "the push to %s failed; the work is recorded and the next run publishes it", p.Snap.Pull.HeadRef)
	}
	return p.Block(ctx, model.BlockMarker{Reason: model.ReasonConflict, Expected: work.Base(p.Work), Observed: p.Snap.Pull.HeadSHA}, "")
}

// Unfit sends the turn back to the agent, on this head, since the planned commits do not fit there.
func (p *Pull) Unfit(ctx context.Context, head string) error {
	p.Marker.Tries = append(p.Marker.Tries, model.Try{
		Reason: "its finished work does not fit on " + markdown.Short(head), RunURL: p.Marker.RunURL, Kept: work.KeepAside(ctx, p.Work, p.Marker.Planned),
	})
	p.Marker.Phase, p.Marker.Onto, p.Marker.Planned = model.PhaseStarted, head, ""
	p.Marker.Outbox, p.Marker.Moved, p.Commits = nil, "", nil
	if err := Edit(ctx, p.Attempt, p.Words.Claim()); err != nil {
		return err
	}
	if !p.Phase.RunsAgent() {
		return thread.End(model.ResultRetry, "the head of pull request %d moved to %s in the meantime; the agent phase of the next event continues the turn there", p.Event.Number, markdown.Short(head))
	}
	return nil
}

// Answer posts the missing replies of the outbox, then the receipt.
func (p *Pull) Answer(ctx context.Context, _ bool) (again bool, err error) {
	o := *p.Marker.Outbox
	answers, tokens, err := replies(ctx, p, o.Replies)
	if err != nil {
		return false, err
	}
	o.Notes = append(slices.Clone(o.Notes), resolve(ctx, p, answers)...)
	note, err := postReview(ctx, p) // as late as can be: GitHub has shown the commits by then
	if err != nil {
		return false, err
	}
	if note != "" {
		o.Notes = append(o.Notes, note)
	}
	before := LastSession(p.Attempt).Key
	planned := p.Marker
	if o.Flaky != nil {
		mark, err := incident(ctx, p, o)
		if err != nil {
			return false, err
		}
		p.Marker.Flaky = mark
	}
	p.Marker.Phase, p.Marker.Head, p.Marker.Tokens = model.PhaseDone, p.Marker.Planned, tokens
	p.Marker.Outbox = nil
	text := turn.ReceiptText(p.Snap.Pull, answers, o, p.Marker)
	p.Marker.Tries = nil                                      // the text tells
	p.Marker = turn.Carry(p.Marker, p.State, p.Snap.Failures) // behind the text, which is of this turn's own answers
	if err := Edit(ctx, p.Attempt, text); err != nil {
		p.Marker = planned
		return false, err
	}
	p.Report.HeadSHA = p.Marker.Head
	ReplaceTranscript(ctx, p.Attempt, before)
	work.Unsave(ctx, p.Work)
	return false, nil
}

// replies posts the replies of a turn. It gives the answers to all of its feedback, and the tokens of what is posted.
func replies(ctx context.Context, p *Pull, all []model.ReviewReply) ([]turn.Answer, []string, error) {
	answers := make([]turn.Answer, 0, len(p.Marker.Events))
	for _, c := range p.Feedback {
		answers = append(answers, turn.Answer{Feedback: c})
	}
	tokens := []string{TurnToken(p.Marker.Key)}
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
			tokens = append(tokens, ReplyToken(p.Marker.Key, r.ReviewCommentID))
		}
	}
	return answers, tokens, nil
}

// reply answers one review comment, unless the answer is there already or the comment is gone.
func reply(ctx context.Context, p *Pull, r model.ReviewReply) (turn.Answer, error) {
	token := ReplyToken(p.Marker.Key, r.ReviewCommentID)
	if url, found := thread.Replied(p.Thread, token); found {
		thread.Applied(p.Thread, "reply", strconv.FormatInt(r.ReviewCommentID, 10), token, effect.Present)
		return turn.Answer{ReplyURL: url}, nil
	}
	body, err := p.Codec.Encode(journal.Body{Text: r.Body, Tokens: []string{token}, Kind: journal.KindAnswer, Marker: Trace(p.Attempt)})
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
