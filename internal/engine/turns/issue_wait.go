package turns

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/mergexo/mergexo/internal/clock"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// wait ends an attempt on an issue that only a person can bring further. It is said in a comment of its own, since an edit
// of the claim would notify nobody, and says where the work is.
func wait(ctx context.Context, p *Issue, reason, detail string) error {
	said := flow.Stop{Reason: reason, Detail: detail, Empty: whyEmpty(p, detail), Notes: p.Notes}
	stranded := isStranded(p)
	if p.Kept == (model.Kept{}) && !stranded { // what earlier attempts did
		p.Kept, said.Lost, said.Now = earlierWork(ctx, p)
	}
	said.Kept = p.Kept
	ended := &thread.Stop{Result: model.ResultBlocked, Reason: flow.Reason(p.Event.Number, *p.Issue, said), Block: &model.BlockMarker{
		Repo: p.Event.Repo.String(), Number: p.Event.Number, Reason: reason, Observed: p.Kept.SHA,
	}}
	if stranded {
		ended = thread.End(model.ResultFailed, "%s", ended.Reason)
	}
	if stranded && p.lost != nil {
		ended.Reason += "; it could not be pushed: " + p.lost.Error()
	}
	if p.Kept.Branch == p.Issue.Branch && p.Kept.SHA != "" {
		p.Issue.Tip = p.Kept.SHA
	}
	p.Marker.Kept = p.Kept
	m := markerOf(p, p.Marker)
	if m.Status, m.Waiting = model.PhaseWaiting, reason; stranded {
		m.Status = model.PhaseFailed
	}
	m.Expires, m.TurnMarker.Reason = time.Time{}, thread.Clip(detail)
	if reason != model.ReasonBudget { // an earlier stop's is none of this one
		m.Until = time.Time{}
	}
	if m.TurnMarker.Phase == model.PhasePlanned { // whoever asked to try again was heard
		m.Events = slices.Concat(m.Events, turn.Keys(p.Event.Number, p.queue))
		slices.Sort(m.Events)
		m.Events = slices.Compact(m.Events)
	}
	if m.Planned == "" || m.Outbox == nil || m.Outbox.Draft == nil { // only a plan that is whole is continued
		m.Planned, m.Outbox = "", nil
	}
	if p.ClaimID == 0 { // then nothing but what is said tells whether it was said before
		m.Claim = ""
	}
	token := journal.Token("wait", strconv.Itoa(p.Event.Number), p.Kept.SHA, reason, m.Key, m.Claim)
	tries := m.Tries
	if reason != model.ReasonAttempts {
		tries = turn.WorthTelling(tries)
	}
	text := flow.StopText(*p.Snap.Issue(), m, said) + turn.Earlier(p.Snap.Issue().URL, tries)
	err := sayStop(ctx, p, token, text, m)
	if err == nil {
		return ended
	}
	if p.Marker.NeedsAgent() {
		Unsaid(p.Attempt, model.BlockMarker{Reason: reason}, detail)
	}
	if p.Kept.Bundle != "" { // no comment says it
		err = fmt.Errorf("%w; the work is in the git bundle %s", err, p.Kept.Bundle)
	}
	return err
}

// isStranded reports whether the work is on no ref of the server, so that a person has to get it from the runner.
func isStranded(p *Issue) bool {
	return p.Kept.Bundle != "" || p.Kept.Branch == "" && p.lost != nil
}

// whyEmpty tells why nothing is kept where something was done; "" where there was nothing.
func whyEmpty(p *Issue, detail string) string {
	switch {
	case p.lost != nil:
		return "The work could not be pushed: " + markdown.Inline(p.lost.Error()) + "."
	case p.Unkept != "" && p.Unkept == detail:
		return "The work must not be pushed, so it was not kept."
	case p.Unkept != "":
		return "The work could not be kept: " + markdown.Inline(p.Unkept) + "."
	}
	return ""
}

// sayStop posts a stop once, and then takes the claim away whose place it takes.
func sayStop(ctx context.Context, p *Issue, token, text string, m model.IssueMarker) error {
	if p.State.Tokens[token] == 0 {
		body := journal.Body{Text: text, Kind: journal.KindIssue, Marker: packed(m)}
		if _, err := p.Comment(ctx, token, body, nil); err != nil {
			return err
		}
	}
	if p.ClaimID == 0 {
		return thread.ReadAgain(ctx, p.Thread)
	}
	claim := p.ClaimID
	p.ClaimID = 0
	return p.Remove(ctx, claim, TurnToken(p.Marker.Key))
}

// overBudget says once a day that today's budget is used up. Nothing is taken up by it, and the next day goes on by itself.
func overBudget(ctx context.Context, p *Issue, why string, opens time.Time) error {
	m, mark, spent := &p.Marker, p.State.Settled, p.State.Spent
	m.Events, m.Since, m.Seen, m.Spent = nil, mark.At, mark.ID, &spent
	m.Key = journal.Token("budget", strconv.Itoa(m.Number), opens.Format(time.DateOnly))
	if p.fresh { // no branch was chosen
		p.Issue.Branch = ""
	}
	p.Issue.Until = opens
	return wait(ctx, p, model.ReasonBudget, why+"; the block ends at "+opens.Format("2006-01-02 15:04 UTC"))
}

// Stops returns the reason to wait for a person after a failed attempt, or after one whose work is on no ref of the server. It
// returns "" if there is none.
func (p *Issue) Stops(e *work.Ending) string {
	switch {
	case isStranded(p), !e.Waits && !TimedOut(e) && p.Marker.Attempt >= turn.MaxAttempts:
		return model.ReasonAttempts
	case !e.Waits && TimedOut(e):
		return model.ReasonTimeout
	}
	return ""
}

// lastLine is how long a run that was cancelled may take to say where its work is, once lastWords are over.
const lastLine = 2 * time.Second

// Cancelled saves the work in the moment that a cancelled run has left, and says where it is.
func (p *Issue) Cancelled(ctx context.Context, _ error) error {
	whole := context.WithoutCancel(ctx)
	saving, saved := clock.WithTimeout(whole, p.Clock, work.LastWords)
	p.Kept = work.KeepAll(saving, p.Work)
	saved()
	ctx, done := clock.WithTimeout(whole, p.Clock, lastLine) // whatever became of the work is said
	defer done()
	err := wait(ctx, p, model.ReasonCancelled, "")
	if s := (*thread.Stop)(nil); errors.As(err, &s) && s.Result == model.ResultBlocked {
		s.Result = model.ResultRetry
	}
	return err
}

// keepOnBranch pushes what was done for an issue to the branch of its flow. Where somebody else has a branch of that name, it
// goes to another one, which is the flow's from then on; where somebody was faster on ours, to one of its own; where it
// cannot be pushed at all, into a file, and the run fails loudly.
func keepOnBranch(ctx context.Context, p *Issue, head string) model.Kept {
	names := []string{p.Issue.Branch}
	if p.Tip == "" && p.Issue.Tip == "" {
		for nth := 2; nth <= 5; nth++ {
			names = append(names, flow.Branch(p.Issue.Flow, p.Event.Number, p.Snap.Issue().Title, nth))
		}
	}
	for _, name := range names {
		p.lost = work.Push(ctx, p.Work, name, p.Tip, head, work.Droppable(p.Work)...)
		if work.Arrived(ctx, p.Work, p.lost, "refs/heads/"+name, head) {
			p.lost, p.Tip, p.Issue.Branch, p.Issue.Tip = nil, head, name, head
			work.Checkpointed(p.Work, name, head)
			return model.Kept{Branch: name, SHA: head, Base: work.Base(p.Work)}
		}
		p.Log.Warn("checkpoint_failed", "issue_number", p.Event.Number, "branch", name, "turn_key", p.Marker.Key, "error", p.lost)
		if !work.Displaced(p.lost) {
			break
		}
	}
	if unreachable := (*git.Error)(nil); errors.As(p.lost, &unreachable) && unreachable.Failure == git.Unreachable {
		work.Spare(p.Work)
		return work.Strand(ctx, p.Work, head)
	}
	return work.KeepApart(ctx, p.Work, head)
}

// oneMore is what today's agents have done with one more turn; false where the budget has no room for it.
func oneMore(p *Issue) (model.Spent, bool) {
	var before model.Spent
	if p.Marker.Spent != nil {
		before = *p.Marker.Spent
	}
	after, why, _ := thread.Budget(p.Thread).Spend(before, p.ServerNow())
	return after, why == ""
}
