package turns

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
)

func TestTimedOut(t *testing.T) {
	for _, c := range []struct {
		cause error
		is    bool
	}{
		{&agent.Error{Kind: agent.Timeout}, true},
		{fmt.Errorf("run: %w", &agent.Error{Kind: agent.Timeout}), true},
		{fmt.Errorf("%w: [agent] run_timeout is 1h", thread.ErrRunTime), true},
		{&agent.Error{Kind: agent.Limit}, false},
		{context.DeadlineExceeded, false},
		{errors.New("exit status 1"), false},
	} {
		assert.Equal(t, c.is, TimedOut(work.Failing(c.cause)), "%v", c.cause)
	}
}
