package landing

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/nearest"
	"github.com/mergexo/mergexo/internal/train"
)

// ShowTrains reads the merge trains of a repository, or only that of base if it is not empty. It changes nothing.
func ShowTrains(ctx context.Context, w *thread.World, repo model.Repo, base string) ([]model.Train, error) {
	refs, err := w.GitHub.Refs.List(ctx, repo, transport.TrainRefs)
	if err != nil {
		return nil, err
	}
	var bases []string
	for _, ref := range refs {
		if of, is := transport.TrainBase(ref.Name); is {
			bases = append(bases, of)
		}
	}
	switch {
	case base != "" && len(bases) == 0:
		return nil, fmt.Errorf("%w: --base %s: %s has no merge train", thread.ErrUsage, base, repo)
	case base != "" && !slices.Contains(bases, base):
		return nil, fmt.Errorf("%w: --base: there is no merge train of %s%s", thread.ErrUsage, base, nearest.Hint(base, bases))
	case base != "":
		bases = []string{base}
	}
	out := []model.Train{}
	for _, base := range bases {
		one, err := show(ctx, w, repo, base)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

func show(ctx context.Context, w *thread.World, repo model.Repo, base string) (model.Train, error) {
	l := onlooker(w, repo, base)
	defer l.home.Close()
	if err := l.look(ctx); err != nil {
		return model.Train{}, err
	}
	return train.Show(l.manifest, l.facts, l.limits, l.time()), nil
}

// onlooker is a train that is only looked at.
func onlooker(w *thread.World, repo model.Repo, base string) *line {
	l := &line{TrainOrder: TrainOrder{Repo: repo, Base: base}, begin: thread.Look, opened: map[int]*aboard{}}
	l.home = thread.New(w, model.Event{Name: "train", Repo: repo}, &model.Report{}, nil)
	return l
}

// trainStanding tells where the request to merge a pull request is in the train of its base, and changes nothing. Joins says that the
// next run takes it up if it is not there; else nil says that it is not.
func trainStanding(ctx context.Context, w *thread.World, repo model.Repo, p model.Pull, joins bool) (*model.TrainStanding, error) {
	l := onlooker(w, repo, p.BaseRef)
	defer l.home.Close()
	if err := l.look(ctx); err != nil {
		return nil, err
	}
	for _, t := range train.Positions(l.manifest, l.facts, l.limits, l.time()) {
		if t.Request.Number == p.Number {
			return &model.TrainStanding{
				Base: l.Base, TrainPlace: t.Place(), State: string(t.State), With: t.With, Checks: t.Required, Says: merge.PlaceText(p, l.Base, placeOf(l, t)),
			}, nil
		}
	}
	if !joins {
		return nil, nil
	}
	return &model.TrainStanding{Base: l.Base, TrainPlace: model.TrainPlace{Number: p.Number}, Says: merge.PlaceText(p, l.Base, merge.Place{Why: train.Show(l.manifest, l.facts, l.limits, l.time()).Trouble})}, nil
}

// draw has the report of a run show the train as the run left it, if there is one.
func draw(l *line, rep *model.Report) {
	m := l.now
	if len(m.Queue)+len(m.Cars)+len(m.Landed) == 0 {
		return
	}
	rep.Trains = slices.DeleteFunc(rep.Trains, func(t model.Train) bool { return t.Base == l.Base })
	rep.Trains = append(rep.Trains, train.Show(m, l.facts, l.limits, l.time()))
}

// seconds is a time as manifests have it.
func seconds(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.Unix()
}
