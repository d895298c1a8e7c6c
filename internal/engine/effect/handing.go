package effect

import (
	"context"

	"github.com/mergexo/mergexo/internal/model"
)

// Handing is for the job of an agent, whose credential can only read. It lets the agent work and hands that over. All else it plans as a
// dry run does, without a word in the report: the next job finds the same, and does it.
type Handing struct{ *Dry }

// NewHanding makes the applier of an agent's job.
func NewHanding() Handing { return Handing{NewDry()} }

// Apply brings about what is the agent's, and plans all else.
func (h Handing) Apply(ctx context.Context, t Thread, e Effect) (Result, error) {
	if e.ofAgent {
		return Live{}.Apply(ctx, t, e)
	}
	return h.Dry.Apply(ctx, unreported{t}, e)
}

// unreported is a thread whose report takes no effects.
type unreported struct{ Thread }

// Record does nothing.
func (unreported) Record(model.Effect) {}
