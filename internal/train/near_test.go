package train_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/train"
)

// looks is a run that reads the standings of those who are near only.
func (y *yard) looks(all map[int]train.Standing) {
	y.t.Helper()
	y.facts.Requests = map[int]train.Standing{}
	for _, n := range y.record.Wanted().Requests[:min(y.record.Near(y.settings), len(y.record.Queue))] {
		y.facts.Requests[n] = all[n]
	}
	y.run()
}

// A run looks at the first of those who wait only. Many who may not board hide nobody behind them, once they have been looked at.
func TestThoseWhoWaitHideNobody(t *testing.T) {
	must.Each(t, map[string]func(s *train.Standing){
		"by a label":       func(s *train.Standing) { s.Waits = "it has the label freeze" },
		"by their comment": func(s *train.Standing) { s.Held = "the approval is gone" },
	}, func(t *testing.T, stop func(s *train.Standing)) {
		y := newYard(t)
		y.settings.Batch, y.settings.Speculate = 2, 1
		for n := 1; n <= 10; n++ {
			y.ask(train.Request{Number: n})
			s := y.facts.Requests[n]
			stop(&s)
			y.facts.Requests[n] = s
		}
		y.ask(requests(11, 12, 13)...)
		all := y.facts.Requests
		for range 5 { // the first one takes them up
			y.looks(all)
		}
		assert.Equal(t, "m0+11+12 testing", y.line())
		for n := 1; n <= 10; n++ {
			all[n] = train.Standing{State: model.PullOpen, Head: all[n].Head}
		}
		y.looks(all)
		assert.Equal(t, 1, y.record.Queue[0].Number)
		assert.False(t, y.record.Queue[0].Waits)
	})
}

// Those that are only tried board no car of the line, and hide nobody either.
func TestTriesHideNobody(t *testing.T) {
	y := newYard(t)
	y.settings.Batch, y.settings.Speculate = 2, 1
	for n := 1; n <= 10; n++ {
		y.ask(train.Request{Number: n, Try: true})
	}
	y.ask(requests(11, 12)...)
	all := y.facts.Requests
	for range 5 {
		y.looks(all)
	}
	assert.Contains(t, y.line(), "+11+12 testing")
}

// Nobody overtakes a request that a run does not get to read, though it knows of that one by itself. Who goes now does.
func TestNobodyOvertakesWhoIsNotRead(t *testing.T) {
	type row struct {
		last train.Request
		line string
	}
	must.Each(t, map[string]row{
		"who asked later": {train.Request{Number: 3}, ""},
		"who goes now":    {train.Request{Number: 3, Now: true}, "m0+3 testing"},
	}, func(t *testing.T, c row) {
		y := newYard(t)
		y.ask(requests(1, 2)...)
		y.ask(c.last)
		delete(y.facts.Requests, 1)
		y.run()
		assert.Equal(t, c.line, y.line())
	})
}

// Without a base everybody fails who is not merged, which has to be read first.
func TestWithoutABaseOnlyThoseFailWhoAreRead(t *testing.T) {
	y := cars{of: 1, atOnce: 1}.asked(t, 1, 2, 3)
	y.facts.Base, y.facts.Gone = "", true
	delete(y.facts.Requests, 3)
	y.run()
	require.Len(t, y.record.Queue, 1)
	y.facts.Requests[3] = train.Standing{State: model.PullMerged, Head: "h3", SHA: "m1"}
	y.passed()
	y.run()
	assert.Equal(t, "done #3 landed m1", y.passed())
}
