package engine

import (
	"context"
	"errors"
	"maps"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/forks"
	"github.com/mergexo/mergexo/internal/engine/landing"
	"github.com/mergexo/mergexo/internal/engine/planning"
	"github.com/mergexo/mergexo/internal/engine/reviewing"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/turns"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/model"
)

// topics are all that a run may do at one pull request or issue: at most one turn in one look.
type topics struct {
	*thread.Thread
	task *task // nil where it is no run's

	pull    *turns.Pull
	issue   *turns.Issue
	merging *landing.Request
	fork    *forks.Pull
	review  *reviewing.Pull
	plan    *planning.Issue
	desk    *desk
}

// topicsOf are those of what a thread is about.
func topicsOf(t *thread.Thread) *topics {
	p := &topics{Thread: t, pull: turns.NewPull(t), issue: turns.NewIssue(t), merging: &landing.Request{Thread: t}, review: reviewing.NewPull(t)}
	p.fork = &forks.Pull{Work: &work.Work{Thread: t}, Merging: p.merging}
	p.merging.Voided = p.fork.Voided
	p.plan = &planning.Issue{Thread: t}
	p.issue.Planned = p.plan.Continue
	p.desk = &desk{Thread: t, topics: p}
	return p
}

// mergeRequests are the requests to merge the pull request of a thread.
func mergeRequests(t *thread.Thread) *landing.Request { return topicsOf(t).merging }

// instead is the follow-up after which there is nothing more to be done here.
func (p *topics) instead(number int) error {
	next := thread.Follow(p.Thread, number, "")
	next.Instead = true
	return next
}

// foresee is how a run on the pull request would end that does not do anything; nil: it would.
func (p *topics) foresee(ctx context.Context) error {
	probe, w, t, known := &effect.Probe{}, *p.World, *p.Thread, *p.Memory // which it may change
	w.Effects, w.Git.Opening, w.Claims = probe, probe.Opening, maps.Clone(w.Claims)
	t.World, t.Memory, t.Report = &w, &known, &model.Report{}
	q := topicsOf(&t)
	q.task = newTask(t.Event)
	_, err := q.continuePull(ctx)
	if stop := (*thread.Stop)(nil); probe.Next() != "" && !errors.As(err, &stop) {
		return nil
	}
	return err
}
