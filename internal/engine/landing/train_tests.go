package landing

import (
	"context"
	"errors"
	"slices"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/train"
)

// test runs the tests of the settings on the first car under test that they have not reported on, where the settings want both
// these and the repository's checks. done says that there is none.
func (l *line) test(ctx context.Context) (done bool, err error) {
	if !slices.Contains(l.required(), ownEntry(l)) {
		return true, nil
	}
	for _, c := range l.now.Cars {
		if c.State != train.Testing || l.reported(c.Tip) {
			continue
		}
		says, err := "The tests passed.", testCar(ctx, l.home, l.Base, c.On, c.Tip)
		failure := (*Failure)(nil)
		if errors.As(err, &failure) {
			says, err = failure.Detail, nil
		}
		if err != nil {
			return false, err
		}
		if err := l.home.Open(ctx); err != nil {
			return false, err
		}
		_, err = l.home.Apply(ctx, effect.Status(c.Tip, ownCheck, failure == nil, says))
		return false, err
	}
	return true, nil
}

// reported says that the tests of the settings have reported on a commit.
func (l *line) reported(tip string) bool {
	return slices.ContainsFunc(l.view.Branches, func(b model.TrainBranch) bool {
		return b.SHA == tip && merge.CarRequired([]string{ownEntry(l)}, nil, b.Checks)[0].State != model.CheckExpected
	})
}
