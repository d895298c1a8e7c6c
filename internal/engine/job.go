package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/landing"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/handoff"
	"github.com/mergexo/mergexo/internal/model"
)

// job is what one phase of a run does with an event.
type job interface {
	// look takes turns on the numbers of an event and on what follows.
	look(ctx context.Context, ev model.Event, rep *model.Report) error
	// train takes a merge train further that the run is about.
	train(ctx context.Context, o landing.TrainOrder, rep *model.Report) error
}

func (e *Engine) job() job {
	return thread.ByPhase[job]{Whole: writingJob{e}, Agent: agentsJob{e}, Apply: writingJob{e}}.Of(e.Phase)
}

// writingJob is a run that changes what is on GitHub.
type writingJob struct{ e *Engine }

func (j writingJob) look(ctx context.Context, ev model.Event, rep *model.Report) error {
	_, err := j.e.lookAtAll(ctx, ev, rep)
	return err
}

func (j writingJob) train(ctx context.Context, o landing.TrainOrder, rep *model.Report) error {
	return j.e.advance(ctx, o, rep)
}

// agentsJob is the job of an agent.
type agentsJob struct{ e *Engine }

// look always hands something over, so that nothing in the directory means that the job died.
func (j agentsJob) look(ctx context.Context, ev model.Event, rep *model.Report) error {
	e := j.e
	if err := handoff.Fresh(e.Bundle); err != nil {
		return fmt.Errorf("%w: --bundle: %w", thread.ErrUsage, err)
	}
	last, err := e.lookAtAll(ctx, ev, rep)
	if e.Handed || last {
		return err
	}
	e.Handed = true
	nothing := handoff.Handoff{Repository: ev.Repo.String(), Number: ev.Number, Ended: handoff.Nothing, Detail: rep.Reason}
	if err != nil {
		nothing.Detail = err.Error()
	}
	p := newTopics(&e.World, ev, rep, nil)
	_, werr := p.Apply(ctx, effect.HandOver(e.Bundle, nothing))
	return errors.Join(err, werr)
}

func (agentsJob) train(context.Context, landing.TrainOrder, *model.Report) error {
	return thread.End(model.ResultNothing, "a merge train is for the phase that writes")
}
