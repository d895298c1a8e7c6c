package sweep

import "github.com/mergexo/mergexo/internal/model"

// Leftovers are the refs that nobody needs any more. known tells the state of a pull request, where it was asked for; what
// keep holds stays whatever else is known.
func Leftovers(refs []model.Ref, known func(number int) (state model.PullState, known bool), keep func(model.Ref) bool) []model.Ref {
	return nil
}
