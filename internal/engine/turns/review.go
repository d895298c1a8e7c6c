package turns

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/engine/redact"
	"github.com/mergexo/mergexo/internal/engine/reviewing"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/review"
)

// review has a second agent look at a result before it is proposed. What must be fixed goes back to the author, in so many rounds
// as the settings allow and for as long as that changes anything; what is left is posted with the result. A reviewer that fails holds
// nothing up: people review, too.
func (d *dialogue) review(ctx context.Context, head string) (again bool, err error) {
	if !isReviewed(d.Attempt) || ctx.Err() != nil || head == d.reviewed { // the author has changed nothing since the last look
		return false, nil
	}
	kept := context.WithoutCancel(ctx)
	base, err := reviewBase(kept, d.Attempt, head)
	if err != nil || head == base { // nothing is proposed
		return false, err
	}
	if spentUp(d) {
		d.unreviewed("today's budget is used up")
		return false, nil
	}
	task, posted, err := d.toReview(kept, base, head)
	if err != nil {
		return false, err
	}
	answer, err := reviewing.Look(ctx, d.Work, task)
	charge(d.Attempt, answer.CostUSD)
	if thread.Outlives(err) {
		return false, err
	}
	if err != nil {
		d.Log.Warn("review_failed", d.NumberKey(), d.Event.Number, "turn_key", d.Marker.Key, "error", err)
		d.unreviewed(redact.Text(kept, d.Thread, err.Error()))
		return false, nil
	}
	fresh := reviewing.Fresh(d.Thread, answer.Findings, posted)
	d.reviewed, d.Left = head, leave(d.Work, fresh, answer.Dropped, answer.Diff)
	must := review.Must(fresh)
	if len(must) > 0 && d.reviews < d.Settings.Review.Rounds && spentUp(d) {
		work.Note(d.Work, "the agent did not act on the review: today's budget is used up")
		return false, nil
	}
	if len(must) > 0 && d.reviews < d.Settings.Review.Rounds {
		d.reviews++
		d.found = append(d.found, fresh...)
		d.ask.Kind, d.ask.CI = model.AskRepair, []model.CIFailure{{Name: "review", Log: review.Report(must)}}
		return true, nil
	}
	return false, nil
}

// isReviewed reports whether a second agent looks at a result before it is proposed.
func isReviewed(p *Attempt) bool {
	return slices.Contains(p.Settings.Review.On, cmp.Or(string(kind(p)), model.AskFeedback))
}

// unreviewed notes why nobody looks at a result. What is left of an earlier look is said anyway, but for what the author was
// sent back to fix, and not on lines, which may have moved.
func (d *dialogue) unreviewed(why string) {
	if d.reviewed == "" {
		work.Note(d.Work, "nobody reviewed this before it was proposed: "+why)
		return
	}
	work.Note(d.Work, "nobody reviewed what was changed after the review: "+why)
	if d.Left == nil {
		return
	}
	left := *d.Left
	left.Findings, left.Shown = nil, nil
	for _, f := range d.Left.Findings {
		if f.Severity != model.Must {
			f.Line, f.Suggestion = 0, ""
			left.Findings = append(left.Findings, f)
		}
	}
	if d.Left = nil; len(left.Findings) > 0 {
		d.Left = &left
	}
}

// spentUp says that no reviewer may be asked today.
func spentUp(d *dialogue) bool {
	most := d.Settings.Feedback.CostPerDayUSD
	return most > 0 && d.Marker.Spent != nil && d.Marker.Spent.CostUSD >= most
}

// toReview is what the reviewer is asked about a result, and what stands on its pull request already.
func (d *dialogue) toReview(ctx context.Context, base, head string) (t reviewing.Task, posted thread.Posted, err error) {
	t = reviewing.Task{Key: d.Marker.Key, Base: base, Head: head, Tests: d.Settings.RequiredTests(), Doc: d.ask.Doc, Earlier: d.found}
	if !d.Snap.IsPull() {
		return t, posted, nil
	}
	if posted, err = thread.ReadReviews(ctx, d.Thread); err != nil {
		return t, posted, err
	}
	t.Raised, t.Asked = reviewing.Raised(d.Thread, posted), d.Feedback
	return t, posted, nil
}

// roomForReview is how many bytes of findings a record has room for, beside the description of the pull request.
const roomForReview = 20_000

// leave is what a review has left to say, the gravest first, as much as there is room for.
func leave(w *work.Work, findings []model.Finding, dropped int, diff review.Diff) *model.PlannedReview {
	left := &model.PlannedReview{By: w.Settings.Reviewer().Adapter, Dropped: dropped}
	room := roomForReview
	for i, f := range findings {
		text, err := json.Marshal(f)
		if room -= len(text); err != nil || room < 0 {
			left.Dropped += len(findings) - i
			break
		}
		if diff.Has(f.Path, f.Line) {
			left.Shown = append(left.Shown, len(left.Findings))
		}
		left.Findings = append(left.Findings, f)
	}
	if len(findings) == 0 {
		return nil
	}
	return left
}

// takeReview takes in what the reviewer of the agent's phase has left to say, none of it believed.
func takeReview(ctx context.Context, p *Attempt, findings []model.Finding, head string) error {
	if len(findings) == 0 || !isReviewed(p) {
		return nil
	}
	if err := review.Check(findings); err != nil {
		return work.Failing(&agent.Error{Kind: agent.Output, Detail: err.Error(), Err: err})
	}
	base, err := reviewBase(ctx, p, head)
	if err != nil {
		return err
	}
	diff, err := history.Diff(ctx, p.Checkout, base, head)
	if err != nil {
		return err
	}
	findings, dropped := review.Gravest(findings)
	p.Left = leave(p.Work, redact.Findings(ctx, p.Thread, findings), dropped, review.ReadDiff(diff))
	return nil
}

// PostReview posts the remaining findings of a review, after the pull request was opened or has the commits. shown waits until
// GitHub shows them. ofTurn says that the review is about these commits only. If GitHub refuses the review, note says so and err
// is nil, since the work itself goes on.
func PostReview(ctx context.Context, t *thread.Thread, m model.TurnMarker, ofTurn bool, shown func(context.Context) error) (note string, err error) {
	left := m.Outbox.Review
	if left == nil {
		return "", nil
	}
	about := review.About{
		Pull: model.Pull{Number: t.Event.Number, URL: t.Snap.Pull.URL}, Head: m.Planned, By: left.By, Opening: !ofTurn, Turn: ofTurn, Dropped: left.Dropped,
	}
	if t.State.Tokens[reviewing.TokenOf(about)] != 0 {
		return "", nil
	}
	onLines := slices.DeleteFunc(slices.Clone(left.Shown), func(i int) bool { return i < 0 || i >= len(left.Findings) })
	lines := review.Diff{}
	for _, i := range onLines {
		lines.Add(left.Findings[i].Path, left.Findings[i].Line)
	}
	_, err = reviewing.Post(ctx, t, about, left.Findings, lines, shown)
	if reviewing.Refused(err) {
		t.Log.Warn("review_not_posted", t.NumberKey(), t.Event.Number, "error", err)
		return fmt.Sprintf("GitHub refused the review by %s, which had %s: %s", left.By, markdown.Count(len(left.Findings)+left.Dropped, "finding"), err), nil
	}
	if err != nil {
		return "", fmt.Errorf("post the review with pull request %d: %w", t.Event.Number, err)
	}
	return "", nil
}
