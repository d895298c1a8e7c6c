package engine

import (
	"cmp"
	"context"
	"errors"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/planning"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/trains"
	"github.com/mergexo/mergexo/internal/model"
)

// pullTopics are the topics of a pull request.
type pullTopics struct{ *topics }

// takeTurn ends what is over, lets the pull request of a fork in, and continues the review, the merge, then the feedback.
func (p pullTopics) takeTurn(ctx context.Context) (again bool, err error) {
	if err := p.task.ended(); err != nil {
		return false, err
	}
	var turned *thread.Stop
	if p.Phase.Writes() {
		if turned, err = p.prepare(ctx); err != nil {
			return false, err
		}
		if err := planning.Check(ctx, p.Thread); err != nil {
			return false, err
		}
	}
	reviewed, err := p.review.Continue(ctx)
	if err != nil {
		return false, err
	}
	waiting, err := p.merging.Continue(ctx)
	if err != nil {
		return false, p.landed(ctx, err)
	}
	if p.merging.Train != "" && p.Phase.Writes() {
		end, err := p.advanceTrain(ctx)
		if err != nil || end != nil {
			return false, cmp.Or(err, error(end))
		}
	}
	waiting = cmp.Or(waiting, p.merging.Refused, reviewed, turned)
	issue, err := p.leads(ctx)
	if err != nil {
		return false, err
	}
	if issue != 0 {
		return false, p.instead(issue)
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

// advanceTrain takes the merge train further that the request of the pull request is in.
func (p pullTopics) advanceTrain(ctx context.Context) (*thread.Stop, error) {
	if err := p.Read(ctx); err != nil { // what was said of it in this run
		return nil, err
	}
	return trains.Advance(ctx, p.World, p.Report, trains.Order{Repo: p.Event.Repo, Base: p.merging.Train, Self: p.Thread, Of: mergeRequests, Asked: []int{p.Event.Number}})
}

// prepare ends what is over, and lets the pull request of a fork in. The Stop says why that is not done.
func (p pullTopics) prepare(ctx context.Context) (*thread.Stop, error) {
	over, err := p.pull.WrapUp(ctx)
	if err == nil && over {
		err = p.fork.End(ctx)
	}
	if err != nil {
		return nil, err
	}
	return p.fork.Continue(ctx)
}

func (p pullTopics) tellWaiting() { p.Report.Need = p.PullStatus(nil).Need }

func (p pullTopics) explain(ctx context.Context) (why Explanation, err error) {
	if why.Pull, why.Turns, err = p.desk.Look(ctx); err == nil {
		why.Merges, why.Pull.Train, err = p.MergeGates(ctx)
	}
	return why, err
}
