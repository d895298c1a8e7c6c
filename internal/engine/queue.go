package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

// maxRounds bounds how many turns one run takes on one pull request; what is left is the next run's.
const maxRounds = 10

// task is a pull request or issue that a run has to look at.
type task struct {
	event    model.Event
	cause    string // of a follow-up
	known    *thread.Memory
	led      bool // from a number that has nothing more to be done
	rounds   int
	followed []followed
}

// followed is a follow-up that has come to its end, and what had wanted it.
type followed struct {
	cause string
	err   error
}

func newTask(ev model.Event) *task {
	return &task{event: ev, known: thread.NewMemory(nil)}
}

// ended is how the follow-ups ended, which is how the run ends.
func (t *task) ended() error {
	var all error
	for _, f := range t.followed {
		all = errors.Join(all, f.err)
	}
	return all
}

// followUp is a task for a follow-up.
func followUp(f *thread.FollowUp) *task {
	t := newTask(f.Event)
	t.cause, t.led = f.Cause, f.Instead
	return t
}

// hasFollowed says that the follow-up of this cause has come to its end.
func (t *task) hasFollowed(cause string) bool {
	return t != nil && slices.ContainsFunc(t.followed, func(f followed) bool { return f.cause == cause })
}

// drain takes turns on a number until nothing is pending there, within the bounds, and on the follow-ups of its steps.
func (e *Engine) drain(ctx context.Context, first *task, rep *model.Report) error {
	stack := []*task{first}
	defer func() {
		for _, t := range stack {
			t.known.Leave(e.Log)
		}
	}()
	for {
		t := stack[len(stack)-1]
		_, again, next, err := e.step(ctx, t, rep)
		if next != nil {
			t.rounds-- // the same turn goes on behind it
			if next.Instead {
				t.known.Leave(e.Log)
				stack, rep.Number = stack[:len(stack)-1], next.Event.Number
			}
			stack = append(stack, followUp(next))
			continue
		}
		if again && err == nil && t.rounds < maxRounds {
			continue
		}
		if thread.HadDone(rep, err) {
			err = nil
		}
		if len(stack) == 1 || over(ctx, err) {
			return err
		}
		t.known.Leave(e.Log)
		stack = stack[:len(stack)-1]
		rep.Number = t.event.Number
		above := stack[len(stack)-1]
		above.followed = append(above.followed, followed{t.cause, err})
	}
}

// over says that a run does nothing more: it was cancelled, or is at its end.
func over(ctx context.Context, err error) bool { return ctx.Err() != nil || thread.IsLast(err) }

// step takes a number as far as one turn goes. next is what one of its steps wants to be done first.
func (e *Engine) step(ctx context.Context, t *task, rep *model.Report) (p *topics, again bool, next *thread.FollowUp, err error) {
	p = newTopics(&e.World, t.event, rep, t.known)
	p.task = t
	defer p.Close()
	t.rounds++
	again, err = p.once(ctx)
	err = thread.EndedBy(p.Thread, err)
	if errors.As(err, &next) {
		return p, false, next, nil
	}
	p.tellNeed(err)
	return p, again, nil, err
}
