package reviewing

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/engine/redact"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/handoff"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/review"
)

// handOver ends the job of a reviewer with its answer, or with why there is none.
func (r *round) handOver(ctx context.Context, answer Answer, failed error) error {
	if s := (*thread.Stop)(nil); thread.Outlives(failed) || errors.As(failed, &s) {
		return failed
	}
	return work.HandOver(ctx, r.Work, about(r.Pull)+" at "+markdown.Short(r.marker.Head), func(ctx context.Context, cut bool) handoff.Handoff {
		h := handoff.Handoff{
			Repository: r.Event.Repo.String(), Number: r.Event.Number, Flow: handoff.Review, Start: r.marker.Head,
			TurnKey: Token(r.Event.Number, r.marker.Head), Ended: handoff.Failed,
		}
		h.Outcome.Usage.CostUSD = answer.CostUSD
		late := (*work.Ending)(nil)
		switch {
		case failed == nil:
			h.Ended, h.Head, h.Outcome.Findings, h.Dropped = handoff.Planned, h.Start, answer.Findings, answer.Dropped
			return h
		case cut, thread.Passes(failed), errors.As(failed, &late) && late.Waits:
			h.Ended = handoff.Postponed
		}
		h.Detail = redact.Text(ctx, r.Thread, failed.Error())
		return h
	}, nil)
}

// collect takes the handoff of a review of this pull request, once a run, and reports whether there is one: no turn can use it. If a review
// is due, a handoff that nobody can read counts as the review's.
func collect(p *Pull, due bool) (there bool) {
	got := p.Memory.Received
	ours := got != nil && got.Err == nil && got.Flow == handoff.Review && got.Number == p.Event.Number
	lost := got != nil && got.Err != nil && due && p.Event.Number == p.Number
	if p.handed == nil && !p.Memory.Used && (ours || lost) {
		p.Memory.Used, p.handed = true, got
	}
	return p.handed != nil
}

// admit holds what was handed over against the rules, none of it believed, and gives the answer. The head may have moved since, as it
// may while a whole run's reviewer is at work.
func (r *round) admit(ctx context.Context, got *thread.Received) (a Answer, err error) {
	h := got.Handoff
	if got.Err != nil {
		return a, unusable(got.Err.Error())
	}
	want := handoff.Expected{
		Repo: r.Event.Repo, Number: r.Event.Number, Flow: handoff.Review, Start: h.Start, TurnKey: Token(r.Event.Number, h.Start),
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
