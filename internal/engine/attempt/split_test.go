package attempt

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/handoff"
	"github.com/mergexo/mergexo/internal/model"
)

func TestACancelledJobHandsOverWhatTheNextOneNeeds(t *testing.T) {
	for name, c := range map[string]struct{ is, handedOn handoff.Handoff }{
		"a result stays one":                             {handoff.Handoff{Ended: handoff.Planned}, handoff.Handoff{Ended: handoff.Planned}},
		"a block stays one":                              {handoff.Handoff{Ended: handoff.Blocked, Reason: "x"}, handoff.Handoff{Ended: handoff.Blocked, Reason: "x"}},
		"a turn is tried again, and that does not count": {handoff.Handoff{Ended: handoff.Failed, Detail: "d"}, handoff.Handoff{Ended: handoff.Postponed, Detail: "d"}},
		"a flow asks a person": {handoff.Handoff{Ended: handoff.Failed, Flow: model.FlowBugfix},
			handoff.Handoff{Ended: handoff.Blocked, Flow: model.FlowBugfix, Reason: model.ReasonCancelled, Detail: "the agent's job was cancelled"}},
		"a flow's result stays one": {handoff.Handoff{Ended: handoff.Planned, Flow: model.FlowBugfix}, handoff.Handoff{Ended: handoff.Planned, Flow: model.FlowBugfix}},
	} {
		assert.Equal(t, c.handedOn, cutShort(c.is), name)
	}
}

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
