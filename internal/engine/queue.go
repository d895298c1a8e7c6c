package engine

import (
	"context"
	"errors"

	"github.com/mergexo/mergexo/internal/engine/landing"
	"github.com/mergexo/mergexo/internal/engine/sweeping"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

// maxRounds bounds how many turns one run takes on one pull request; what is left is the next run's.
const maxRounds = 10

// task is a pull request or issue that a run has to look at.
type task struct {
	event  model.Event
	known  *thread.Memory
	led    bool // from a number that has nothing more to be done
	rounds int
	ended  error // how the follow-ups ended, which is how the run ends
}

func newTask(ev model.Event) *task {
	return &task{event: ev, known: thread.NewMemory(nil)}
}

// drain takes turns on a number until nothing is pending there, within the bounds.
func (e *Engine) drain(ctx context.Context, t *task, rep *model.Report) (err error) {
	defer t.known.Leave(e.Log)
	for again := true; again && err == nil; {
		again, _, err = e.turn(ctx, t, rep)
	}
	if thread.HadDone(rep, err) {
		return nil
	}
	return err
}

// turn takes a number as far as one turn goes, behind what its steps want to be done first. It says whether another one is due.
func (e *Engine) turn(ctx context.Context, t *task, rep *model.Report) (again bool, at *thread.Thread, err error) {
	for {
		p, again, next, err := e.step(ctx, t, rep)
		if next == nil {
			t.rounds++
			return again && t.rounds < maxRounds, p.Thread, err
		}
		below := newTask(next.Event)
		if below.led = next.Instead; below.led { // this number is done with
			t.known.Leave(e.Log)
		}
		err = e.drain(ctx, below, rep)
		rep.Number = next.Event.Number
		if next.Instead || over(ctx, err) || e.Handed {
			return false, p.Thread, err
		}
		t.known.Followed, t.ended = append(t.known.Followed, next.Cause), errors.Join(t.ended, err)
	}
}

// over says that a run does nothing more: it was cancelled, or is at its end.
func over(ctx context.Context, err error) bool { return ctx.Err() != nil || thread.IsLast(err) }

// step takes a number as far as one turn goes. next is what one of its steps wants to be done first.
func (e *Engine) step(ctx context.Context, t *task, rep *model.Report) (p *topics, again bool, next *thread.FollowUp, err error) {
	p = topicsOf(thread.New(&e.World, t.event, rep, t.known))
	p.task = t
	defer p.Close()
	if err = p.Begin(ctx); err == nil {
		again, err = p.act(ctx)
	}
	err = thread.Ended(p.World, err)
	if errors.As(err, &next) {
		return p, false, next, nil
	}
	p.tellNeed(err)
	return p, again, nil, err
}

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

// Survey looks at a thread that has a survey as a run of its number would.
func (e *Engine) Survey(ctx context.Context, t *thread.Thread) error {
	p := topicsOf(t)
	p.task = newTask(t.Event)
	defer p.Close()
	err := p.Begin(ctx)
	if err == nil {
		_, err = p.act(ctx)
	}
	return thread.Ended(p.World, err)
}

// Task is the work at a number that a sweep has found.
func (e *Engine) Task(ev model.Event) sweeping.Task { return &sweepTask{e, newTask(ev)} }

// sweepTask is a task that is taken up turn by turn.
type sweepTask struct {
	engine *Engine
	*task
}

// Turn is one turn of it.
func (t *sweepTask) Turn(ctx context.Context, rep *model.Report) (again bool, at *thread.Thread, err error) {
	return t.engine.turn(ctx, t.task, rep)
}

// Leave ends the work.
func (t *sweepTask) Leave() { t.known.Leave(t.engine.Log) }
