package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/mergexo/internal/clock"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

// overtime ends a run that has no time left to begin what takes an agent; nil as long as there is some.
func (p *pass) overtime() error {
	if p.Phase == thread.ApplyPhase || p.RunLeft(p.Settings) > 0 {
		return nil
	}
	return p.outOfTime()
}

// outOfTime is how a run ends whose time is over.
func (p *pass) outOfTime() *thread.Stop {
	return thread.End(model.ResultRetry, "%s ([agent] run_timeout = %q); the next event or the sweep takes up what is pending on %s", thread.ErrRunTime, thread.Span(p.Settings.Agent.RunTimeout), p.About())
}

// inTime runs the agent's part of a turn within the time of the run. What that ends is an attempt that failed; one that had
// begun late does not count, since the next run gives it more time.
func (p *pass) inTime(ctx context.Context, part func(context.Context) error) error {
	left := p.RunLeft(p.Settings)
	limited, done := clock.WithTimeoutCause(ctx, p.Clock, left, thread.ErrRunTime)
	defer done()
	err := part(limited)
	s := (*thread.Stop)(nil)
	if err == nil || errors.As(err, &s) || ctx.Err() != nil || !errors.Is(context.Cause(limited), thread.ErrRunTime) {
		return err
	}
	if said := (*ending)(nil); errors.As(err, &said) && said.block.Reason != "" { // it came to its end before
		return err
	}
	e := failing(fmt.Errorf("%w: [agent] run_timeout is %s", thread.ErrRunTime, thread.Span(p.Settings.Agent.RunTimeout)))
	e.waits = left < min(p.Settings.Agent.Timeout, p.Settings.Agent.RunTimeout/2)
	return e
}
