package engine

import (
	"context"

	"github.com/mergexo/mergexo/internal/engine/landing"
	"github.com/mergexo/mergexo/internal/engine/sweeping"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

// The work of a sweep goes the way of an event's.

// Sweep is sweeping.Sweep by this engine. The error is for what the caller did wrong, as Handle's.
func (e *Engine) Sweep(ctx context.Context, repo model.Repo, opt sweeping.Options) (sweeping.Swept, error) {
	return sweeping.Sweep(ctx, &e.World, e, repo, opt)
}

// Board is sweeping.Board by this engine.
func (e *Engine) Board(ctx context.Context, repo model.Repo) (model.Board, error) {
	return sweeping.Board(ctx, e.reading(), e, repo)
}

// Train takes the merge train of a base further; asked are all whose requests are in it, and seen is the greatest count of its record
// that they name.
func (e *Engine) Train(ctx context.Context, repo model.Repo, base string, asked []int, seen int64, rep *model.Report) error {
	return e.advance(ctx, landing.TrainOrder{Repo: repo, Base: base, Seen: seen, Asked: asked, All: true}, rep)
}

// Task is the work at a number that a sweep has found.
func (e *Engine) Task(ev model.Event) sweeping.Task { return &sweepTask{engine: e, task: newTask(ev)} }

// sweepTask is a task that is taken up turn by turn.
type sweepTask struct {
	engine *Engine
	*task
}

// Rounds is how many turns were taken.
func (t *sweepTask) Rounds() int { return t.rounds }

// Leave ends the work.
func (t *sweepTask) Leave() { t.known.Leave(t.engine.Log) }

// Turn takes one number as far as one turn goes, behind what its steps want to be done first.
func (t *sweepTask) Turn(ctx context.Context, rep *model.Report) (again bool, at *thread.Thread, err error) {
	for {
		p, again, next, err := t.engine.step(ctx, t.task, rep)
		if next == nil {
			return again && t.rounds < maxRounds, p.Thread, err
		}
		t.rounds-- // the same turn goes on
		err = t.engine.drain(ctx, followUp(next), rep)
		rep.Number = next.Event.Number
		if next.Instead || over(ctx, err) {
			return false, p.Thread, err
		}
		t.followed = append(t.followed, followed{next.Cause, err})
	}
}
