package thread

import (
	"fmt"

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
