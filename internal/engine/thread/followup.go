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

// FollowUp names a number that a step wants to be handled first. It is an error so that it ends the current look. The engine's
// queue then handles that number, and repeats this look afterwards.
type FollowUp struct {
	Event model.Event
	Cause string // the key of the command that wants it
	// Instead says that there is nothing more to be done where it comes from.
	Instead bool
}

func (f *FollowUp) Error() string { return fmt.Sprintf("number %d goes first", f.Event.Number) }

// Follow returns the follow-up that handles another number on behalf of the event at hand.
func Follow(t *Thread, number int, cause string) *FollowUp {
	return &FollowUp{Event: model.Event{Name: t.Event.Name, Repo: t.Event.Repo, Number: number}, Cause: cause}
}

// StartRun starts a run of this workflow for a number on a branch. If no workflow can be started, started is false and err is
// nil.
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
