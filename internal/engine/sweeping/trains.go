package sweeping

import (
	"context"
	"slices"

	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/model"
)

// recorded are the bases whose merge train has a record, in their order.
func (f *scan) recorded() []string {
	var bases []string
	for _, ref := range f.refs {
		if base, is := transport.TrainBase(ref.Name); is {
			bases = append(bases, base)
		}
	}
	slices.Sort(bases)
	return bases
}

// trains reads the merge trains of bases, up to the first that cannot be read.
func (s *sweeper) trains(ctx context.Context, bases []string) ([]model.Train, error) {
	var all []model.Train
	for _, base := range bases {
		some, err := s.runner.Trains(ctx, s.repo, base)
		if err != nil {
			return all, err
		}
		all = append(all, some...)
	}
	return all, nil
}
