package thread

import (
	"context"
	"fmt"
	"path"
	"strconv"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// FollowUp is a number that a step wants to be looked at first. It is an error so that it ends the look that the step belongs to;
// the engine's queue then takes it up, and that look again behind it.
type FollowUp struct {
	Event model.Event
	Cause string // the key of the command that wants it
	// Instead says that there is nothing more to be done where it comes from.
	Instead bool
}

func (f *FollowUp) Error() string { return fmt.Sprintf("number %d goes first", f.Event.Number) }

// Follow is the follow-up that looks at another number in the name of the event at hand.
func Follow(t *Thread, number int, cause string) *FollowUp {
	return &FollowUp{Event: model.Event{Name: t.Event.Name, Repo: t.Event.Repo, Number: number}, Cause: cause}
}

// StartRun starts a run of this workflow for a number, on a branch. Where there is no workflow that can be started, none is, and that is
// no error.
func StartRun(ctx context.Context, t *Thread, branch string, number int) (started bool, err error) {
	if t.Run.Workflow == "" {
		return false, nil
	}
	_, err = t.Apply(ctx, effect.Dispatch(path.Base(t.Run.Workflow), branch, number, journal.Token("dispatch", strconv.Itoa(number), t.Run.URL)))
	if err == nil {
		return true, nil
	}
	t.Log.Warn("no_run_started", "number", number, "error", err)
	if k := github.KindOf(err); k == github.Forbidden || k == github.NotFound || k == github.Invalid {
		err = nil
	}
	return false, err
}
