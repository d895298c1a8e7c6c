package engine

import (
	"cmp"
	"context"
	"errors"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/landing"
	"github.com/mergexo/mergexo/internal/engine/planning"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/turns"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/needs"
)

// act answers commands, and takes the number as far as one turn goes. It says whether another look is due.
func (p *topics) act(ctx context.Context) (again bool, err error) {
	turns.Collect(p.pull.Attempt)
	if err := p.desk.Answer(ctx); err != nil {
		return false, err
	}
	if !p.Snap.IsPull() {
		return p.continueIssue(ctx)
	}
	if err := p.task.ended; err != nil {
		return false, err
	}
	return p.continuePull(ctx)
}

// tellNeed puts what waits for a person into the report of a run that could not go on without one.
func (p *topics) tellNeed(ended error) {
	if s := (*thread.Stop)(nil); !errors.As(ended, &s) || s.Result != model.ResultBlocked || s.Merge { // a merge has told it
		return
	}
	if p.Snap.IsPull() {
		p.Report.Need = thread.PullStatus(p.Thread, nil).Need
	} else if n := len(p.State.Flows); n > 0 && p.State.Flows[n-1].Marker.Waits() {
		p.Report.Need = needs.OfIssue(p.Snap.Issue().Title, p.State.Flows[n-1])
	}
}

// continuePull ends what is over, lets the pull request of a fork in, and continues the review, the merge, then the feedback.
func (p *topics) continuePull(ctx context.Context) (again bool, err error) {
	ends, err := p.pull.WrapUp(ctx)
	if err == nil && ends {
		err = p.fork.End(ctx)
	}
	if err != nil {
		return false, err
	}
	turned, err := p.fork.Continue(ctx)
	if err != nil {
		return false, err
	}
	if err := planning.Check(ctx, p.Thread); err != nil {
		return false, err
	}
	reviewed, err := p.review.Continue(ctx)
	if err != nil {
		return false, err
	}
	waiting, err := p.merging.Continue(ctx)
	if err != nil && p.merging.Landed { // a merge by a workflow's token starts no run for the design or roadmap that it belongs to
		return false, p.giveWay(ctx, err)
	} else if err != nil {
		return false, err
	}
	if p.merging.Train != "" && p.Survey == nil { // a sweep advances each train once
		if err := p.Read(ctx); err != nil { // what was said of it in this run
			return false, err
		}
		o := landing.TrainOrder{Repo: p.Event.Repo, Base: p.merging.Train, Self: p.Thread, Of: mergeRequests, Asked: []int{p.Event.Number}}
		end, err := landing.AdvanceTrain(ctx, p.World, p.Report, o)
		if err != nil || end != nil {
			return false, cmp.Or(err, error(end))
		}
	}
	waiting = cmp.Or(waiting, p.merging.Refused, reviewed, turned)
	if err := p.giveWay(ctx, nil); err != nil {
		return false, err
	}
	if waiting != nil && waiting.Merge && p.Policy.Merges && p.Phase.IsWhole() {
		if err := p.Read(ctx); err != nil { // the merge that has just failed is feedback
			return false, err
		}
	}
	again, err = p.pull.Continue(ctx)
	if waiting != nil && p.Settings.Agent.None() && errors.Is(err, config.ErrInvalid) { // what this run was for has its end
		p.Log.Warn("left_out", p.NumberKey(), p.Event.Number, "error", err)
		return false, waiting
	}
	if s := (*thread.Stop)(nil); waiting != nil && !again && (err == nil || errors.As(err, &s) && s.Result == model.ResultNothing) {
		return false, waiting // there is nothing else to be said of this run
	}
	return again, err
}

// giveWay ends the run on a pull request where the issue has to be looked at in its place, and else as it has ended.
func (p *topics) giveWay(ctx context.Context, ended error) error {
	issue, err := p.leads(ctx)
	if err != nil || issue == 0 {
		return cmp.Or(err, ended)
	}
	return p.instead(issue)
}

// continueIssue takes the work on the issue as far as one attempt goes. The items of a roadmap begin one after the
// other where they have no runs of their own: how one of them ended keeps no other from its turn.
func (p *topics) continueIssue(ctx context.Context) (again bool, err error) {
	ended := p.task.ended
	if ended != nil && (p.State.Roadmap == nil || thread.Outlives(ended)) {
		return false, ended
	}
	again, err = p.issue.Continue(ctx)
	i, s, next := p.Snap.Issue(), (*thread.Stop)(nil), (*thread.FollowUp)(nil)
	idle := errors.As(err, &s) && s.Result == model.ResultNothing // there is nothing to be done
	if ended != nil && !errors.As(err, &next) {
		if idle {
			err = nil
		}
		return false, errors.Join(ended, err)
	}
	if !idle {
		return again, err
	}
	changed := p.Event.Name == "issues" && (p.Event.Action == "closed" || p.Event.Action == "reopened")
	if changed && i.Item != "" {
		return false, p.instead(i.Roadmap)
	}
	if i.Closed && p.task.led {
		return false, cmp.Or(p.plan.TellClosed(ctx), err)
	}
	return again, err
}
