package effect

import (
	"context"

	"github.com/mergexo/mergexo/internal/model"
)

// Handing is for the job of an agent, whose credential can only read. It lets the agent work and hands that over. All else it plans as a
// dry run does, without a word in the report: the next job finds the same, and does it.
type Handing struct {
	*Dry
	dry bool // the agent's part is only told, too
}

// NewHanding makes the applier of an agent's job. otherwise is the applier of a run that is only planned; nil: the run is live.
func NewHanding(otherwise Applier) Handing { return Handing{NewDry(), otherwise != nil} }

// StartsAgents reports whether agents start.
func (h Handing) StartsAgents() bool { return h.Dry != nil && !h.dry }

// Apply brings about what is the agent's, and plans all else.
func (h Handing) Apply(ctx context.Context, t Thread, e Effect) (Result, error) {
	switch {
	case !e.ofAgent:
		return h.Dry.Apply(ctx, unreported{t}, e)
	case h.dry || h.ended != nil:
		return h.Dry.Apply(ctx, t, e)
	}
	return Live{}.Apply(ctx, t, e)
}

// unreported is a thread whose report takes no effects.
type unreported struct{ Thread }

// Record does nothing.
func (unreported) Record(model.Effect) {}
