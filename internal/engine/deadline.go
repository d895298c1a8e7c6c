package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/mergexo/internal/clock"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/model"
)

// errRunTime ends what an agent is at when the time of the whole run is over. The workflow's own limit, a little later, would
// leave no moment to save anything.
var errRunTime = errors.New("the time of the run is over")

// begins notes when this process set to work, once.
func (e *Engine) begins() {
	if e.began.IsZero() {
		e.began = clock.Or(e.Clock).Now()
	}
}

// runLeft is how much of the run's time is left.
func (e *Engine) runLeft(s config.Settings) time.Duration {
	e.begins()
	return s.Agent.RunTimeout - clock.Or(e.Clock).Now().Sub(e.began)
}

// overtime ends a run that has no time left to begin what takes an agent; nil as long as there is some.
func (p *pass) overtime() error {
	if p.Phase == ApplyPhase || p.runLeft(p.settings) > 0 {
		return nil
	}
	return p.outOfTime()
}

// outOfTime is how a run ends whose time is over.
func (p *pass) outOfTime() *Stop {
	return stop(model.ResultRetry, "%s ([agent] run_timeout = %q); the next event or the sweep takes up what is pending on %s", errRunTime, span(p.settings.Agent.RunTimeout), p.subject())
}

// inTime runs the agent's part of a turn within the time of the run. What that ends is an attempt that failed; one that had
// begun late does not count, since the next run gives it more time.
func (p *pass) inTime(ctx context.Context, part func(context.Context) error) error {
	left := p.runLeft(p.settings)
	limited, done := clock.WithTimeoutCause(ctx, p.Clock, left, errRunTime)
	defer done()
	err := part(limited)
	s := (*Stop)(nil)
	if err == nil || errors.As(err, &s) || ctx.Err() != nil || !errors.Is(context.Cause(limited), errRunTime) {
		return err
	}
	if said := (*ending)(nil); errors.As(err, &said) && said.block.Reason != "" { // it came to its end before
		return err
	}
	e := failing(fmt.Errorf("%w: [agent] run_timeout is %s", errRunTime, span(p.settings.Agent.RunTimeout)))
	e.waits = left < min(p.settings.Agent.Timeout, p.settings.Agent.RunTimeout/2)
	return e
}

// span is a duration as the settings have it: "80m" and not "1h20m0s".
func span(d time.Duration) string {
	if d%time.Minute == 0 {
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}
