package attempt

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/engine/redact"
	"github.com/mergexo/mergexo/internal/engine/reviewer"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/review"
)

// review has a second agent look at a result before it is proposed. What must be fixed goes back to the author, in so many rounds
// as the settings allow; what is left is posted with the pull request. A reviewer that fails holds nothing up: people review, too.
func (d *dialogue) review(ctx context.Context, head string) (again bool, err error) {
	if !d.Subject.Reviewed() || ctx.Err() != nil {
		return false, nil
	}
	d.Left = nil
	kept := context.WithoutCancel(ctx)
	base, err := history.ForkPoint(kept, d.Checkout, fetch.BaseTip(d.Checkout), head)
	if err != nil {
		return false, err
	}
	answer, err := reviewer.Look(ctx, d.Work, reviewer.Task{Key: d.Marker.Key, Base: base, Head: head, Tests: d.Settings.Repo.RequiredTests, Doc: d.ask.Doc})
	charge(d.Attempt, answer.CostUSD)
	if thread.Outlives(err) {
		return false, err
	}
	if err != nil {
		d.Log.Warn("review_failed", d.NumberKey(), d.Event.Number, "turn_key", d.Marker.Key, "error", err)
		d.Note("nobody reviewed this before it was proposed: " + redact.Text(kept, d.Thread, err.Error()))
		return false, nil
	}
	fresh := review.Fresh(answer.Findings, nil, func(model.Finding) bool { return false })
	if must := review.Must(fresh); len(must) > 0 && d.reviews < d.Settings.Review.Rounds {
		d.reviews++
		d.ask.Kind, d.ask.CI = model.AskRepair, []model.CIFailure{{Name: "review", Log: review.Report(must)}}
		return true, nil
	}
	d.Left = leave(d.Work, fresh, answer.Diff)
	return false, nil
}

// roomForReview is how many bytes of findings a record has room for, beside the description of the pull request.
const roomForReview = 20_000

// leave is what a review has left to say, the gravest first, as much as there is room for.
func leave(w *work.Work, findings []model.Finding, diff review.Diff) *model.PlannedReview {
	left := &model.PlannedReview{By: w.Settings.Reviewer().Adapter}
	room := roomForReview
	for i, f := range findings {
		text, err := json.Marshal(f)
		if room -= len(text); err != nil || room < 0 {
			left.Dropped = len(findings) - i
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
	if len(findings) == 0 || !p.Subject.Reviewed() {
		return nil
	}
	if err := review.Check(findings); err != nil {
		return work.Failing(&agent.Error{Kind: agent.Output, Detail: err.Error(), Err: err})
	}
	base, err := history.ForkPoint(ctx, p.Checkout, fetch.BaseTip(p.Checkout), head)
	if err != nil {
		return err
	}
	diff, err := history.Diff(ctx, p.Checkout, base, head)
	if err != nil {
		return err
	}
	p.Left = leave(p.Work, redact.Findings(ctx, p.Thread, findings), review.ReadDiff(diff))
	return nil
}

// PostReview posts what a review has left to say on the pull request that was opened, once. Where GitHub takes none, note says so:
// the work itself is not held up by that.
func PostReview(ctx context.Context, t *thread.Thread, m model.TurnMarker) (note string, err error) {
	left := m.Outbox.Review
	if left == nil || t.State.Tokens[reviewer.Token(t.Event.Number, m.Planned)] != 0 {
		return "", nil
	}
	shown := slices.DeleteFunc(slices.Clone(left.Shown), func(i int) bool { return i < 0 || i >= len(left.Findings) })
	lines := review.Diff{}
	for _, i := range shown {
		lines.Add(left.Findings[i].Path, left.Findings[i].Line)
	}
	about := review.About{
		Pull: model.Pull{Number: t.Event.Number, URL: t.Snap.Pull.URL}, Head: m.Planned, By: left.By, Opening: true, Dropped: left.Dropped,
	}
	_, err = reviewer.Post(ctx, t, about, left.Findings, lines)
	if reviewer.Refused(err) {
		t.Log.Warn("review_not_posted", t.NumberKey(), t.Event.Number, "error", err)
		return fmt.Sprintf("GitHub refused the review by %s, which had %s: %s", left.By, markdown.Count(len(left.Findings)+left.Dropped, "finding"), err), nil
	}
	if err != nil {
		return "", fmt.Errorf("post the review with pull request %d: %w", t.Event.Number, err)
	}
	return "", nil
}
