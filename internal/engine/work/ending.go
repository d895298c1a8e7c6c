package work

import (
	"errors"
	"strings"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

// Ending is how the agent's part of a turn ended that came to no result, as data. It implements error so that it can end a
// run; what ends the turn carries it out.
type Ending struct {
	Block  model.BlockMarker // without a reason: the attempt failed
	Detail string            // of the block
	Cause  error             // of the failure
	Waits  bool              // nothing but time was missing: the attempt does not count
}

func (e *Ending) Error() string {
	if e.Block.Reason != "" {
		return e.Block.Reason + ": " + e.Detail
	}
	return e.Cause.Error()
}

// Repair is a mistake that goes back to the agent as a round for repairs, as often as the settings allow. It implements error so that
// it can end the look at an answer.
type Repair struct {
	Name, Log string
	Reason    string // of the block, once no round is left
}

func (r *Repair) Error() string { return r.Name + ": " + r.Log }

// said is an error in words that can be shown.
type said struct {
	text string
	err  error
}

func (s said) Error() string { return s.text }
func (s said) Unwrap() error { return s.err }

// Shown is an error that says what can be shown of it.
func Shown(text string, err error) error { return said{text, err} }

// Blocked is the end of work that a person has to look at.
func Blocked(w *Work, reason, detail string) *Ending {
	return &Ending{Block: model.BlockMarker{Reason: reason, Observed: Base(w)}, Detail: detail}
}

// Failing is the end of an attempt that failed.
func Failing(cause error) *Ending { return &Ending{Cause: cause} }

// Hindered is the end of an attempt at which something could not be run on this machine. No round of the agent changes that.
// The attempt does not count where the machine only had nothing left.
func Hindered(what string, cause error) *Ending {
	text := what + ": " + strings.TrimPrefix(cause.Error(), "agent: ")
	return &Ending{Cause: Shown(text, cause), Waits: agent.Starved(cause)}
}

// Stopped is how a run ends that waits with its work.
func (e *Ending) Stopped(t *thread.Thread) *thread.Stop {
	if errors.Is(e.Cause, thread.ErrRunTime) {
		return thread.OutOfTime(t)
	}
	return thread.End(model.ResultRetry, "%s", e.Cause)
}
