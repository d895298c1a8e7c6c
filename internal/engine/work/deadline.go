package work

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/mergexo/internal/clock"
	"github.com/mergexo/mergexo/internal/engine/thread"
)

// Overtime ends a run that has no time left to begin what takes an agent; nil as long as there is some.
func Overtime(w *Work) error {
	if !w.Phase.RunsAgent() || thread.RunLeft(w.World, w.Settings) > 0 {
		return nil
	}
	return thread.OutOfTime(w.Thread)
}

// InTime runs the agent's part of a turn within the time of the run. What that ends is an attempt that failed; one that had
// begun late does not count, since the next run gives it more time.
func InTime(ctx context.Context, w *Work, part func(context.Context) error) error {
	left := thread.RunLeft(w.World, w.Settings)
	limited, done := clock.WithTimeoutCause(ctx, w.Clock, left, thread.ErrRunTime)
	defer done()
	err := part(limited)
	s := (*thread.Stop)(nil)
	if err == nil || errors.As(err, &s) || ctx.Err() != nil || !errors.Is(context.Cause(limited), thread.ErrRunTime) {
		return err
	}
	if said := (*Ending)(nil); errors.As(err, &said) && said.Block.Reason != "" { // it ended before
		return err
	}
	e := Failing(fmt.Errorf("%w: [agent] run_timeout is %s", thread.ErrRunTime, thread.Span(w.Settings.Agent.RunTimeout)))
	e.Waits = left < min(w.Settings.Agent.Timeout, w.Settings.Agent.RunTimeout/2)
	return e
}

// Foreign runs a program that is not ours, whose name is shown until it is over, within the time of the run. It may find our own
// directory and leave a configuration there, so that one is made again.
func Foreign(ctx context.Context, w *Work, name string, run func(context.Context) error) error {
	err := InTime(ctx, w, func(ctx context.Context) error {
		defer w.Working.Show("running " + name)()
		err := run(ctx)
		if alive := thread.StillAlive(err, ""); alive != nil {
			return alive
		}
		return err
	})
	if thread.Outlives(err) {
		return err
	}
	return errors.Join(err, w.Checkout.Recreate())
}

// Dispose removes what such a program worked in. What stays is no reason to fail.
func Dispose(w *Work, remove func() error) {
	if err := remove(); err != nil {
		w.Log.Warn("tree_not_removed", "error", err)
	}
}
