package thread

import (
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/needs"
	"github.com/mergexo/mergexo/internal/turn"
)

// PullStatus returns the status of the pull request, with what waits for a person. pending is the feedback of people who may give
// some.
func PullStatus(t *Thread, pending []model.Comment) model.Status {
	s := turn.StatusOf(t.Snap, t.State, t.Policy, pending)
	if t.Snap.Pull.State == model.PullOpen {
		s.Need = needs.OfPull(s, t.State.External())
	}
	return s
}
