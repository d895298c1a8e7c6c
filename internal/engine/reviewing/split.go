package reviewing

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/clock"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/record"
	"github.com/mergexo/mergexo/internal/engine/redact"
	"github.com/mergexo/mergexo/internal/engine/reviewer"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/handoff"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/review"
)

// handed is what the agent's job handed over for a review.
type handed struct {
	handoff handoff.Handoff
	err     error // why there is none
}

// HandOver is the agent's phase of a review: the reviewer's answer goes into the handoff's directory. What needs no reviewer is left
// to the other phase, which finds it by itself. It is not claimed, so that two runs may ask a reviewer; one review is posted.
func (p *Pull) HandOver(ctx context.Context) error {
	r, err := p.due(ctx)
	if r == nil || err != nil {
		return err
	}
	if err := p.Overtime(); err != nil {
		return err
	}
	if err := p.Outside(ctx, fmt.Sprintf("the review of pull request %d at %s comes next", p.Event.Number, markdown.Short(r.marker.Head))); err != nil {
		return err
	}
	div, failed := r.fetch(ctx)
	answer := reviewer.Answer{}
	if failed == nil {
		r.marker.Head = div.HeadSHA
		answer, failed = r.look(ctx, div)
	}
	if s := (*thread.Stop)(nil); thread.Outlives(failed) || errors.As(failed, &s) {
		return failed
	}
	cut := ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	if cut {
		last, end := clock.WithTimeout(ctx, p.Clock, work.LastWords)
		defer end()
		ctx = last
	}
	return r.write(ctx, answer, failed, cut)
}

// due is the review that the reviewer has to be asked for now, by the same rules as in a whole run; nil: none.
func (p *Pull) due(ctx context.Context) (*round, error) {
	r := &round{Pull: p}
	if said := p.State.Review(); said != nil && said.Marker.Open() {
		live, err := p.Busy(ctx, said.CommentID, said.Marker.Lease)
		switch {
		case err != nil:
			return nil, err
		case live:
			return nil, record.Taken(p.about(), said.URL)
		case p.Snap.Pull.State != model.PullOpen || said.Marker.Attempt >= review.MaxAttempts || said.Marker.ByItself() && p.held() != "":
			return nil, nil
		}
		r.marker = said.Marker
		if url, err := p.reviewed(ctx, r.marker.Head, p.Snap.Pull.HeadSHA); url != "" || err != nil {
			return nil, err
		}
		r.marker.Head = p.Snap.Pull.HeadSHA
		return r, nil
	}
	a, err := p.asks(ctx)
	if a == nil || err != nil || p.knows(a.Key) {
		return nil, err
	}
	if why, err := p.refuse(ctx); why != "" || err != nil {
		return nil, err
	}
	r.marker = p.opening(a.Key, a.By, a.At)
	return r, nil
}

// write hands over what the reviewer said, or why it said nothing.
func (r *round) write(ctx context.Context, answer reviewer.Answer, failed error, cut bool) error {
	h := handoff.Handoff{
		Repository: r.Event.Repo.String(), Number: r.Event.Number, Flow: handoff.Review, Start: r.marker.Head,
		TurnKey: reviewer.Token(r.Event.Number, r.marker.Head), Ended: handoff.Failed,
	}
	h.Outcome.Usage.CostUSD = answer.CostUSD
	bare := h
	late := (*work.Ending)(nil)
	switch {
	case failed == nil:
		h.Ended, h.Head, h.Outcome.Findings, h.Dropped = handoff.Planned, h.Start, answer.Findings, answer.Dropped
	case cut, thread.Passes(failed), errors.As(failed, &late) && late.Waits:
		h.Ended, h.Detail = handoff.Postponed, redact.Text(ctx, r.Thread, failed.Error())
	default:
		h.Detail = redact.Text(ctx, r.Thread, failed.Error())
	}
	_, err := r.Apply(ctx, effect.HandOver(r.Bundle, h))
	if refused := (*handoff.Refusal)(nil); errors.As(err, &refused) { // what the reviewer said cannot be handed over
		h, h.Detail = bare, err.Error()
		_, err = r.Apply(ctx, effect.HandOver(r.Bundle, h))
	}
	if err != nil {
		return err
	}
	r.Handed = true
	thread.Applied(r.Thread, "handoff", r.Bundle, journal.Token("handoff", h.TurnKey), effect.Applied)
	if cut {
		return thread.End(model.ResultRetry, "cancelled; the review of pull request %d is postponed", r.Event.Number)
	}
	r.Report.Result = model.ResultDone
	return thread.End(model.ResultDone, "the review of pull request %d at %s ended %s and is handed over in %s", r.Event.Number, markdown.Short(h.Start), h.Ended, r.Bundle)
}

// collect takes up what was handed over for a review of this pull request, once a run: no turn can use it.
func (p *Pull) collect() {
	got := p.Memory.Received
	if got == nil || got.Err != nil || p.Memory.Used || got.Flow != handoff.Review || got.Number != p.Event.Number {
		return
	}
	p.Memory.Used = true
	p.handed = &handed{handoff: got.Handoff}
}

// brought says that the agent's job handed something over for the review, or should have and died.
func (p *Pull) brought() bool {
	got := p.Memory.Received
	if p.handed == nil && got != nil && got.Err != nil && !p.Memory.Used && p.Event.Number == p.Number {
		p.Memory.Used = true
		p.handed = &handed{err: unusable(got.Err.Error())}
	}
	return p.handed != nil
}

// admit holds what was handed over against the rules, none of it believed, and gives the answer. The head may have moved since, as it
// may while a whole run's reviewer is at work.
func (r *round) admit(ctx context.Context, got handed) (a reviewer.Answer, err error) {
	h := got.handoff
	if got.err != nil {
		return a, got.err
	}
	want := handoff.Expected{
		Repo: r.Event.Repo, Number: r.Event.Number, Flow: handoff.Review, Start: h.Start, TurnKey: reviewer.Token(r.Event.Number, h.Start),
	}
	if err := handoff.Check(h, want); err != nil {
		return a, unusable(err.Error())
	}
	a.Dropped = h.Dropped
	switch h.Ended {
	case handoff.Planned:
	case handoff.Postponed:
		return a, &agent.Error{Kind: agent.Limit, Detail: strings.TrimPrefix(h.Detail, "agent: ")}
	default:
		return a, unusable(h.Detail)
	}
	if err := review.Check(h.Outcome.Findings); err != nil {
		return a, unusable(err.Error())
	}
	div, err := r.fetch(ctx)
	if err != nil {
		return a, err
	}
	relation, err := thread.RelationIn(ctx, r.Checkout, h.Start, div.HeadSHA)
	if err != nil {
		return a, err
	}
	if lineage.Decide(relation) != lineage.Pass {
		return a, unusable(fmt.Sprintf("the agent's job reviewed %s, which the pull request does not have", markdown.Short(h.Start)))
	}
	diff, err := history.Diff(ctx, r.Checkout, div.MergeBase, h.Start)
	if err != nil {
		return a, err
	}
	findings, dropped := review.Gravest(h.Outcome.Findings)
	a.Findings, a.Dropped, a.Diff = redact.Findings(ctx, r.Thread, findings), a.Dropped+dropped, review.ReadDiff(diff)
	return a, nil
}

// unusable is an attempt that failed in the agent's job.
func unusable(why string) error {
	return &agent.Error{Kind: agent.Output, Detail: strings.TrimPrefix(why, "agent: ")}
}
