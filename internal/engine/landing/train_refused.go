package landing

import (
	"context"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/train"
	"github.com/mergexo/mergexo/internal/treepath"
)

// branchRefused finds out who is to blame for a branch that GitHub does not take. Without the permission for workflow files it is who
// changes one, and nobody has to wait for that. All else concerns the whole train.
func branchRefused(ctx context.Context, l *line, e train.Push, rejected *git.ErrRejected) error {
	whole := train.PushRefused{Car: e.Car, Why: "the branch of the train could not be pushed: " + rejected.Message}
	at := slices.IndexFunc(l.now.Cars, func(c train.Car) bool { return c.Number == e.Car })
	if rejected.Reason != git.Workflow || at < 0 {
		l.learn(whole)
		return nil
	}
	var numbers []int
	on := l.now.Cars[at].On
	for _, m := range l.now.Cars[at].Members {
		paths, err := history.ChangedPaths(ctx, l.home.Checkout, on, m.Tip)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(paths, func(p string) bool { return strings.HasPrefix(p, treepath.Workflows+"/") }) {
			numbers = append(numbers, m.Number)
		}
		on = m.Tip
	}
	if len(numbers) == 0 { // some commit changes one, and another takes that back
		l.learn(whole)
		return nil
	}
	l.learn(train.Unfit{Car: e.Car, Numbers: numbers, Code: model.CodeForbidden, Why: "the branch of the train could not be pushed: " + rejected.Message})
	return nil
}
