package thread

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEachPhaseDoesItsOwn(t *testing.T) {
	does := ByPhase[string]{Whole: "all", Agent: "answer", Apply: "land"}
	for phase, want := range map[Phase]string{WholeRun: "all", AgentPhase: "answer", ApplyPhase: "land"} {
		assert.Equal(t, want, does.Of(phase), "phase %q", phase)
	}
}
