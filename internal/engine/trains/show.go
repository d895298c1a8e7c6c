package trains

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/engine/landing"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/train"
)

// Show reads the merge trains of a repository, or that of one base, and changes nothing.
func Show(ctx context.Context, w *thread.World, repo model.Repo, base string) ([]model.Train, error) {
	bases := []string{base}
	if base == "" {
		refs, err := w.GitHub.Refs.List(ctx, repo, transport.TrainRefs)
		if err != nil {
			return nil, err
		}
		bases = nil
		for _, ref := range refs {
			if of, is := transport.TrainBase(ref.Name); is {
				bases = append(bases, of)
			}
		}
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
	l := &line{Order: Order{Repo: repo, Base: base}, opened: map[int]*landing.Aboard{}}
	l.home = thread.New(w, model.Event{Name: "train", Repo: repo, IsPull: true}, &model.Report{}, nil)
	defer l.home.Close()
	if err := l.look(ctx); err != nil {
		return model.Train{}, err
	}
	out := model.Train{Base: base, Trouble: l.facts.Trouble, Cars: []model.TrainCar{}, Queue: []model.TrainPlace{}, Landed: []model.TrainLanding{}}
	for _, c := range l.manifest.Cars {
		car := model.TrainCar{Number: c.Number, State: string(c.State), On: c.On, Tip: c.Tip, Since: instant(c.Since), Try: c.Try, Why: c.Why}
		if c.Pushed != 0 {
			car.Branch = train.Root + base + fmt.Sprintf("/%d", c.Number)
		}
		for _, m := range c.Members {
			car.Members = append(car.Members, m.Number)
		}
		for _, k := range c.Checks {
			car.Failed = append(car.Failed, model.TrainCheck{Name: k.Name, URL: k.URL})
		}
		out.Cars = append(out.Cars, car)
	}
	for _, t := range train.Positions(l.manifest, l.facts, l.limits, l.time()) {
		out.Queue = append(out.Queue, model.TrainPlace{
			Position: t.Position, Number: t.Request.Number, Car: t.Car, Behind: t.Ahead, By: t.Request.By, Asked: instant(t.Request.At), Why: t.Why, ETA: instant(t.ETA),
		})
	}
	for _, landed := range slices.Backward(l.manifest.Landed) {
		out.Landed = append(out.Landed, model.TrainLanding{Number: landed.Number, SHA: landed.SHA, Asked: instant(landed.From), At: instant(landed.At)})
	}
	return out, nil
}

// seconds is a time as manifests have it.
func seconds(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.Unix()
}

// instant is a time of the manifest.
func instant(unix int64) time.Time {
	if unix == 0 {
		return time.Time{}
	}
	return time.Unix(unix, 0).UTC()
}
