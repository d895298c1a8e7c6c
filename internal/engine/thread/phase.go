package thread

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// Phase is a process's part of a run that a workflow split over two jobs.
//
// Both parts are the ordinary run. In the agent's job, the applier effect.Handing plans all effects as a dry run does, and lets
// only the agent work. The job ends once the agent's result is handed over. The other job takes the result from there in place of
// an agent. A step asks for its phase only where that is not enough.
type Phase string

// The phases.
const (
	WholeRun   Phase = ""
	AgentPhase Phase = "agent" // works out the turn and runs the agent; it writes nothing to GitHub and hands over the result
	ApplyPhase Phase = "apply" // does all the rest; it runs nothing that an agent touched
)

// RunsAgent reports whether a process of this phase runs the agent, in a checkout that it works in.
func (p Phase) RunsAgent() bool { return p != ApplyPhase }

// Writes reports whether a process of this phase has a credential that can write. The agent's job tells people nothing: the next job finds
// the same, and tells it.
func (p Phase) Writes() bool { return p != AgentPhase }

// IsWhole reports whether one process does all of the run.
func (p Phase) IsWhole() bool { return p == WholeRun }

// Begin reads the pull request or issue, its settings and its state. It deletes comments that two runs posted at the same time.
// If the account or the settings are wrong, it says so in a comment and returns the error.
func (t *Thread) Begin(ctx context.Context) error {
	t.Due(model.DueIdentity, time.Time{})
	if err := Look(ctx, t); err != nil {
		return TellIdentity(ctx, t, TellSettings(ctx, t, err))
	}
	t.Due(model.DueSurplus, time.Time{})
	return Tidy(ctx, t)
}

// EndWithoutAgent returns the Stop of an apply phase that needs an agent to continue. what says what waits for it.
func EndWithoutAgent(w *World, what string, args ...any) *Stop {
	result := model.ResultRetry
	if w.Bundle == "" { // the agent's phase is still to come
		result = model.ResultNothing
	}
	s := End(result, "%s for an agent phase; the next event or sweep starts one", fmt.Sprintf(what, args...))
	s.Agent = w.Bundle == ""
	return s
}
