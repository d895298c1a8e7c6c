package train_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/train"
)

// Whoever has to leave a car that CI was testing is told why, and how a failure was found.
func TestWhoIsThrownBackIsToldWhy(t *testing.T) {
	t.Parallel()
	type row struct {
		batch int
		do    func(y *yard)
		want  string // of #2
	}
	must.Each(t, map[string]row{
		"one before it is closed": {1, func(y *yard) { y.facts.Requests[1] = train.Standing{State: model.PullClosed, Head: "h1"} },
			"car 2 was taken apart: #1 has left the train: it was closed"},
		"one beside it waits": {3, func(y *yard) {
			y.facts.Requests[1] = train.Standing{State: model.PullOpen, Head: "h1", Waits: "it is a draft"}
		}, "car 1 was taken apart: #1 has left the train: it is a draft"},
		"the base moves":          {1, func(y *yard) { y.facts.Base = "m1" }, "car 2 was taken apart: the base is at m1 now"},
		"its branch is moved":     {1, func(y *yard) { y.facts.Branches[2] = "x" }, "car 2 was taken apart: somebody moved or deleted the branch of car 2"},
		"another one goes now":    {1, func(y *yard) { y.ask(train.Request{Number: 9, Now: true}) }, "car 2 was taken apart: another request goes now"},
		"its car fails":           {3, func(y *yard) { y.report("m0+1+2+3", model.CheckFailed) }, "car 1 was taken apart: the checks failed on car 1, and smaller cars show who is to blame"},
		"the one before it fails": {1, func(y *yard) { y.report("m0+1", model.CheckFailed) }, "car 2 was taken apart: #1 has left the train: the checks failed on what would land"},
		"nothing happens":         {1, func(*yard) {}, ""},
	}, func(t *testing.T, c row) {
		t.Parallel()
		y := newYard(t)
		y.settings.Batch, y.settings.Speculate, y.settings.Retries = c.batch, 3, 0
		y.ask(requests(1, 2, 3)...)
		y.run()
		c.do(y)
		y.run()
		got := "it is gone"
		for _, p := range train.Positions(y.record, y.facts, y.settings, y.now) {
			if p.Request.Number == 2 {
				got = p.Back
			}
		}
		assert.Equal(t, c.want, got)
	})
}

func TestAFailureTellsHowItWasFound(t *testing.T) {
	t.Parallel()
	y := cars{of: 2, atOnce: 2}.asked(t, 1, 2)
	var how string
	for range 10 {
		for _, c := range y.record.Cars {
			state := model.CheckPassed
			if c.Members[len(c.Members)-1].Number == 2 {
				state = model.CheckFailed
			}
			y.report(c.Tip, state)
		}
		_, effects := train.Fold(y.record, y.facts, y.settings, y.now)
		for _, e := range effects {
			if f, is := e.(train.Finish); is {
				how = f.Request.End.How
			}
		}
		y.run()
	}
	assert.Equal(t, "Car 1 tested it as m0+1+2 on m0+1 (main). The checks failed again in 1 rerun. "+
		"Before that, car 1 was taken apart: the checks failed on car 1, and smaller cars show who is to blame.", how)
}
