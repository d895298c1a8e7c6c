package clock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/clock"
)

func TestATimeoutComesWhenItsClockSaysSo(t *testing.T) {
	t.Parallel()
	why := errors.New("too slow")
	for name, cause := range map[string]error{"with a cause": why, "without one": context.DeadlineExceeded} {
		c := clockwork.NewFakeClock()
		given := cause
		if name == "without one" {
			given = nil
		}
		ctx, cancel := clock.WithTimeoutCause(t.Context(), c, time.Hour, given)
		below, end := context.WithCancel(ctx)
		c.Advance(time.Hour - 1)
		require.NoError(t, ctx.Err(), name)
		c.Advance(1)
		<-below.Done()
		require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded, name)
		require.ErrorIs(t, below.Err(), context.DeadlineExceeded, name)
		assert.Equal(t, cause, context.Cause(below), name)
		end()
		cancel()
	}
}

func TestATimeoutIsNoCancellation(t *testing.T) {
	t.Parallel()
	c := clockwork.NewFakeClock()
	ctx, cancel := clock.WithTimeout(t.Context(), c, time.Hour)
	cancel()
	<-ctx.Done()
	c.Advance(2 * time.Hour)
	require.ErrorIs(t, ctx.Err(), context.Canceled)
	assert.Equal(t, context.Canceled, context.Cause(ctx))

	parent, stop := context.WithCancel(t.Context())
	ctx, cancel = clock.WithTimeout(parent, c, time.Hour)
	defer cancel()
	stop()
	<-ctx.Done()
	c.Advance(2 * time.Hour)
	require.ErrorIs(t, ctx.Err(), context.Canceled, "its parent ended first")
}

func TestWithoutAClockItIsTheMachines(t *testing.T) {
	t.Parallel()
	ctx, cancel := clock.WithTimeout(t.Context(), nil, 1)
	defer cancel()
	<-ctx.Done()
	require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
	assert.WithinDuration(t, time.Now(), clock.Or(nil).Now(), time.Hour)
}
