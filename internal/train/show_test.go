package train_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/train"
)

// show is the train of a yard in one line: the cars with their checks, whom they stand behind and in how long they land, and who
// waits.
func (y *yard) show() string {
	shown := train.Show(y.record, y.facts, y.settings, y.now)
	in := func(at time.Time) string {
		if at.IsZero() {
			return ""
		}
		return " in " + at.Sub(y.now).String()
	}
	var out []string
	for _, c := range shown.Cars {
		text := fmt.Sprintf("car %d %v %s", c.Number, c.Members, c.State)
		if c.Behind != 0 {
			text += fmt.Sprintf(" behind %d", c.Behind)
		}
		if c.Try {
			text += " tried"
		}
		for _, k := range c.Checks {
			text += fmt.Sprintf(" %s:%s", k.Name, k.State)
		}
		out = append(out, text+in(c.ETA))
	}
	for _, q := range shown.Queue {
		if q.Car == 0 {
			out = append(out, strings.TrimSpace(fmt.Sprintf("#%d %s", q.Number, q.Why))+in(q.ETA))
		}
	}
	if shown.Trouble != "" {
		out = append(out, "stopped: "+shown.Trouble)
	}
	return strings.Join(out, ", ")
}

func TestATrainAsItIsShown(t *testing.T) {
	running := train.Checks{State: model.CheckPending, Required: []model.TrainCheck{{Name: "ci", State: model.CheckPending}}}
	type row struct {
		set  func(*yard)
		want string
	}
	must.Each(t, map[string]row{
		"on its way":             {func(*yard) {}, "car 1 [1] testing ci:expected in 20m0s, car 2 [2] testing behind 1 ci:expected in 20m0s, #3 in 40m0s, #4 in 40m0s"},
		"a check runs":           {func(y *yard) { y.facts.Checks["m0+1"] = running }, "car 1 [1] testing ci:pending in 20m0s, car 2 [2] testing behind 1 ci:expected in 20m0s, #3 in 40m0s, #4 in 40m0s"},
		"nothing has landed yet": {func(y *yard) { y.record.Landed = nil }, "car 1 [1] testing ci:expected, car 2 [2] testing behind 1 ci:expected, #3, #4"},
		"one is held": {func(y *yard) {
			y.facts.Requests[3] = train.Standing{State: model.PullOpen, Head: "h3", Waits: "it is a draft"}
		},
			"car 1 [1] testing ci:expected in 20m0s, car 2 [2] testing behind 1 ci:expected in 20m0s, #3 it is a draft, #4 in 40m0s"},
		"its checks ran again": {func(y *yard) { y.record.Cars[0].Since = y.now.Add(7 * time.Minute).Unix() },
			"car 1 [1] testing ci:expected in 27m0s, car 2 [2] testing behind 1 ci:expected in 27m0s, #3 in 40m0s, #4 in 40m0s"},
		"it lands":         {func(y *yard) { y.record.Cars[0].State = train.Moving }, "car 1 [1] landing in 0s, car 2 [2] testing behind 1 ci:expected in 20m0s, #3 in 40m0s, #4 in 40m0s"},
		"the first is red": {func(y *yard) { y.record.Cars[0].State = train.Red }, "car 1 [1] red, car 2 [2] testing behind 1 ci:expected, #3, #4"},
		"one is tried": {func(y *yard) { y.ask(train.Request{Number: 5, Try: true}); y.run() },
			"car 1 [1] testing ci:expected in 19m59s, car 2 [2] testing behind 1 ci:expected in 19m59s, car 3 [5] testing tried ci:expected, #3 in 40m0s, #4 in 40m0s"},
		"in trouble": {func(y *yard) { y.record.Trouble = "nothing tests it" },
			"car 1 [1] testing ci:expected, car 2 [2] testing behind 1 ci:expected, #3 nothing tests it, #4 nothing tests it, stopped: nothing tests it"},
		"pushes were refused": {func(y *yard) { y.record.Halt = &train.Halt{Why: "no pushes", At: y.now.Add(-time.Hour).Unix()} },
			"car 1 [1] testing ci:expected, car 2 [2] testing behind 1 ci:expected, #3 no pushes, #4 no pushes, stopped: no pushes"},
		"CI is late": {func(y *yard) { y.record.Cars[0].Why = "no" },
			"car 1 [1] testing ci:expected, car 2 [2] testing behind 1 ci:expected, #3 the train is paused, since no on car 1, #4 the train is paused, since no on car 1, stopped: the train is paused, since no on car 1"},
		"pushes are refused": {func(y *yard) { y.record.Halt = &train.Halt{Why: "no pushes", At: y.now.Unix()} },
			"car 1 [1] testing ci:expected, car 2 [2] testing behind 1 ci:expected, #3 no pushes, #4 no pushes, stopped: no pushes"},
	}, func(t *testing.T, c row) {
		y := newYard(t)
		y.settings.Batch, y.settings.Speculate = 1, 2
		y.facts.Needed = []model.TrainCheck{{Name: "ci", State: model.CheckExpected}}
		y.ask(requests(1, 2, 3, 4)...)
		y.run()
		y.record.Landed = []train.Landing{{Number: 99, SHA: "m0", From: 1, At: y.now.Unix(), Took: 20 * 60}}
		c.set(y)
		assert.Equal(t, c.want, y.show())
	})
	assert.Equal(t, model.Train{Base: "main", Cars: []model.TrainCar{}, Queue: []model.TrainPlace{}, Landed: []model.TrainLanding{}},
		train.Show(train.New("main"), train.Facts{}, train.Defaults(), noon), "nobody has asked yet")
}

func TestWhatLandedToday(t *testing.T) {
	m := train.New("main")
	at := func(d time.Duration) int64 { return noon.Add(d).Unix() }
	show := func() model.TrainDay { return train.Show(m, train.Facts{}, train.Defaults(), noon).Today }
	m.Landed = []train.Landing{{Number: 1, From: at(-15 * time.Hour), At: at(-12*time.Hour - time.Second)}, {Number: 2, At: at(-12 * time.Hour)}, {Number: 3, From: at(-30 * time.Minute), At: at(0)}, {Number: 4, From: at(-10 * time.Minute), At: at(0)}}
	assert.Equal(t, model.TrainDay{Landed: 3, MedianSeconds: 30 * 60}, show(), "since midnight UTC; the median is of all that are remembered")
	m.Landed = nil
	for i := range model.TrainLandings {
		m.Landed = append(m.Landed, train.Landing{Number: i + 1, At: at(0)})
	}
	assert.Equal(t, model.TrainDay{Landed: model.TrainLandings, More: true}, show(), "earlier ones may be forgotten")
}
