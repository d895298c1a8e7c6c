package train

import (
	"cmp"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// Show is a train as people see it.
func Show(m Manifest, facts Facts, s Settings, now time.Time) model.Train {
	out := model.Train{Base: m.Base, Cars: []model.TrainCar{}, Queue: []model.TrainPlace{}, Landed: []model.TrainLanding{}, Today: today(m, now)}
	f := told(m, facts, s, now)
	if m.SHA != "" || f.Trouble != "" || facts.Gone { // else nobody has asked yet
		out.Trouble = trouble(f)
	}
	places := positions(f)
	behind := 0
	for _, c := range m.Cars {
		car := c.show(m, facts)
		if !c.Try {
			car.Behind, behind = behind, c.Number
		}
		if at := slices.IndexFunc(places, func(t Tell) bool { return t.Car == c.Number }); at >= 0 {
			car.ETA, car.Why, car.Checks = instant(places[at].ETA), places[at].Why, places[at].Required
		}
		out.Cars = append(out.Cars, car)
	}
	for _, t := range places {
		out.Queue = append(out.Queue, t.Place())
	}
	for _, landed := range slices.Backward(m.Landed) {
		out.Landed = append(out.Landed, model.TrainLanding{Number: landed.Number, SHA: landed.SHA, Asked: instant(landed.From), At: instant(landed.At)})
	}
	return out
}

// Place is where a request is, as people see it.
func (t Tell) Place() model.TrainPlace {
	return model.TrainPlace{
		Position: t.Position, Number: t.Request.Number, Car: t.Car, Behind: t.Ahead, By: t.Request.By, Asked: instant(t.Request.At), Why: cmp.Or(t.Why, t.Back), ETA: instant(t.ETA),
	}
}

func (c Car) show(m Manifest, facts Facts) model.TrainCar {
	car := model.TrainCar{Number: c.Number, State: string(c.State), On: c.On, Tip: c.Tip, Since: instant(c.Since), Try: c.Try, Why: c.Why}
	if c.Pushed != 0 {
		car.Branch = m.Branch(c.Number)
	}
	car.Members = numbers(c.Members)
	for _, k := range c.Checks {
		car.Failed = append(car.Failed, model.TrainCheck{Name: k.Name, State: model.CheckFailed, URL: k.URL})
	}
	return car
}

// today counts what landed on the day of now, and gives the median of the time from the approval to the landing.
func today(m Manifest, now time.Time) model.TrainDay {
	var d model.TrainDay
	midnight := now.UTC().Truncate(24 * time.Hour).Unix()
	var took []int64
	for _, l := range m.Landed {
		if l.At >= midnight {
			d.Landed++
		}
		if l.From != 0 && l.At > l.From {
			took = append(took, l.At-l.From)
		}
	}
	d.More = d.Landed >= mostLanded
	d.MedianSeconds = median(took)
	return d
}

// instant is a time of a manifest.
func instant(unix int64) time.Time {
	if unix == 0 {
		return time.Time{}
	}
	return time.Unix(unix, 0).UTC()
}
