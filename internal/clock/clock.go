// Package clock limits how long work may take, by a clock that the caller passes in. So a test decides when time is up, and no
// outcome depends on how fast a machine is. The time of day comes as a func() time.Time elsewhere.
package clock

import (
	"cmp"
	"context"
	"regexp"
	"time"

	"github.com/jonboulle/clockwork"
)

// Clock makes timers and tickers.
type Clock = clockwork.Clock

// Or is c, and the machine's own clock where there is none.
func Or(c Clock) Clock { return cmp.Or(c, clockwork.NewRealClock()) }

// WithTimeout is context.WithTimeout on a clock that is handed in; nil is the machine's own. clockwork has one, too, but
// there Err waits for the end of a context that is not over (https://github.com/jonboulle/clockwork/blob/v0.5.0/context.go).
func WithTimeout(parent context.Context, c Clock, d time.Duration) (context.Context, context.CancelFunc) {
	return WithTimeoutCause(parent, c, d, nil)
}

// WithTimeoutCause is context.WithTimeoutCause on a clock that is handed in; nil is the machine's own.
func WithTimeoutCause(parent context.Context, c Clock, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	if cause == nil {
		cause = context.DeadlineExceeded
	}
	if c == nil {
		return context.WithTimeoutCause(parent, d, cause)
	}
	inner, cancel := context.WithCancelCause(parent)
	l := &limited{Context: inner, done: make(chan struct{}), cause: cause}
	context.AfterFunc(inner, func() { close(l.done) })
	timer := c.AfterFunc(d, func() { cancel(cause) })
	return l, func() {
		timer.Stop()
		cancel(context.Canceled)
	}
}

// limited is a context whose end by time shows as such. It has a channel of its own, or contexts below it would ask the one
// inside.
type limited struct {
	context.Context
	done  chan struct{}
	cause error
}

func (l *limited) Done() <-chan struct{} { return l.done }

func (l *limited) Err() error {
	select {
	case <-l.done:
	default:
		return nil
	}
	if context.Cause(l.Context) == l.cause {
		return context.DeadlineExceeded
	}
	return l.Context.Err()
}

// zeros are the seconds, or the minutes and the seconds, at the end of a duration that has none.
var zeros = regexp.MustCompile(`([hm])(?:0m)?0s$`)

// Text is a duration as settings write it: 30m, 1h30m, 50ms, and not 1h30m0s.
func Text(d time.Duration) string { return zeros.ReplaceAllString(d.String(), "$1") }
