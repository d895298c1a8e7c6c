package train_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/train"
)

// longest are requests as long as they come, with SHAs of 64 digits.
func longest(count int) (all []train.Request) {
	for n := range count {
		all = append(all, train.Request{
			Number: 100_000 + n, Head: fmt.Sprintf("%064x", n), Token: fmt.Sprintf("%d:%016x", 3_000_000_000+n, n), Comment: int64(3_000_000_000 + n),
			By: "somebody-with-a-long-name", At: noon.Unix() + int64(n), Told: "3w5e11264sgsf",
		})
	}
	return all
}

// crowd is a train of many requests, three cars of which are under test, with all that it remembers.
func crowd(count int) (train.Manifest, train.Facts) {
	m := train.New("release/2026-03")
	m.Queue = longest(count)
	facts := train.Facts{Base: fmt.Sprintf("%064x", 1<<40), Requests: map[int]train.Standing{}, Checks: map[string]train.Checks{}, Branches: map[int]string{}}
	for _, r := range m.Queue {
		facts.Requests[r.Number] = train.Standing{State: model.PullOpen, Head: r.Head}
	}
	for n := range 30 {
		m.Landed = append(m.Landed, train.Landing{Number: 99_000 + n, SHA: fmt.Sprintf("%064x", n), From: noon.Unix(), At: noon.Unix(), Took: 1234})
	}
	for built := true; built; {
		built = false
		var effects []train.Effect
		m, effects = train.Fold(m, facts, train.Defaults(), noon)
		for _, e := range effects {
			switch e := e.(type) {
			case train.Build:
				done := train.Built{Car: e.Car, On: e.Onto}
				for _, r := range e.Members {
					done.Members = append(done.Members, train.Member{Number: r.Number, Head: r.Head, Tip: fmt.Sprintf("%064x", r.Number)})
				}
				facts.Results, built = append(facts.Results, done), true
			case train.Push:
				facts.Branches[e.Car] = e.Tip
			}
		}
	}
	facts.Results = nil
	m, _ = train.Fold(m, facts, train.Defaults(), noon)
	for i := range m.Cars {
		for n := range 5 {
			m.Cars[i].Checks = append(m.Cars[i].Checks, train.Check{Name: "a check with a long name", URL: "https://github.com/acme/widgets/actions/runs/12345678901/job/12345678901", ID: int64(12345678901 + n)})
		}
	}
	return m, facts
}

func TestTwoHundredRequestsFitIntoAManifest(t *testing.T) {
	m, _ := crowd(200)
	raw := must.Get(m.Encode())(t)
	require.Len(t, m.Cars, 3)
	t.Logf("%d bytes", len(raw))
	assert.Less(t, len(raw), 64<<10)
	read := must.Get(train.Decode(raw, m.Base))(t)
	assert.Equal(t, string(raw), string(must.Get(read.Encode())(t)))
}

// However much the requests say, two hundred of them fit with the SHAs that GitHub has: priorities, conflicts, dependencies, landings
// that came to nothing, and what they wait for.
func TestTwoHundredRequestsThatSayMuchFitIntoAManifest(t *testing.T) {
	m := talkative()
	raw := must.Get(m.Encode())(t)
	t.Logf("%d bytes", len(raw))
	assert.Less(t, len(raw), 64<<10-200*20, "there is room for twenty bytes more in each request")
	require.NoError(t, must.Err(train.Decode(raw, m.Base)))
}

func talkative() train.Manifest {
	m, _ := crowd(200)
	for i := range m.Queue {
		r := &m.Queue[i]
		r.Head, r.Priority, r.Solo = r.Head[24:], train.Low, true
		switch i % 20 {
		case 0:
			r.Needs = []int{100_001, 100_002, 100_003}
		case 1:
			r.Made = []string{strings.Repeat("a", 40), strings.Repeat("b", 40), strings.Repeat("c", 40)}
		case 2, 3, 4:
			r.Held, r.Waits = "2 review threads are not resolved, and 1 approval of a code owner is missing", true
		case 5, 6, 7, 8:
			r.Conflicts, r.ConflictOn = 2, m.SHA[48:]
		}
	}
	return m
}

// What a fold does is bounded by what changes, whoever waits: the bounds are counts, which no machine changes.
func TestTheWorkOfAFold(t *testing.T) {
	still, facts := crowd(200)
	moved := func(change func(m *train.Manifest, f *train.Facts)) (train.Manifest, train.Facts) {
		m, f := still, facts
		f.Requests, f.Checks = maps.Clone(facts.Requests), map[string]train.Checks{}
		change(&m, &f)
		return m, f
	}
	empty := train.New(still.Base)
	type row struct {
		change func(m *train.Manifest, f *train.Facts)
		most   int
	}
	must.Each(t, map[string]row{
		"nothing changes": {func(*train.Manifest, *train.Facts) {}, 0},
		"all ask at once": {func(m *train.Manifest, f *train.Facts) {
			*m, f.Asked, f.Branches = empty, still.Queue, map[int]string{}
		}, 1},
		"a car of four is green":    {func(m *train.Manifest, f *train.Facts) { f.Checks[m.Cars[0].Tip] = train.Checks{State: green} }, 2},
		"all that is tested is red": {func(m *train.Manifest, f *train.Facts) { allAre(m, f, red) }, 2},
		"all that is tested passes": {func(m *train.Manifest, f *train.Facts) { allAre(m, f, green) }, 2},
		"the base moves":            {func(_ *train.Manifest, f *train.Facts) { f.Base = fmt.Sprintf("%064x", 1<<41) }, 2},
		"all are closed":            {func(_ *train.Manifest, f *train.Facts) { allStand(f, train.Standing{State: model.PullClosed}) }, 4},
		"all are frozen":            {func(m *train.Manifest, f *train.Facts) { frozen(m, f) }, 4},
	}, func(t *testing.T, c row) {
		m, f := moved(c.change)
		steps := train.Steps(m, f, train.Defaults(), noon)
		t.Logf("%d steps", steps)
		assert.LessOrEqual(t, steps, c.most)
	})
	allocations := func(count int) float64 {
		m, f := crowd(count)
		return testing.AllocsPerRun(5, func() { train.Fold(m, f, train.Defaults(), noon.Add(time.Minute)) })
	}
	two, four := allocations(200), allocations(400)
	t.Logf("%.0f allocations for 200 requests, %.0f for 400", two, four)
	assert.Less(t, two, 2000.0)
	assert.Less(t, four, 2.2*two, "as much more as there are more requests")
}

func allAre(m *train.Manifest, f *train.Facts, state model.CheckState) {
	for _, c := range m.Cars {
		f.Checks[c.Tip] = train.Checks{State: state, Failed: []train.Check{{Name: "build", ID: 1, Run: "CR_1"}}}
	}
}

func allStand(f *train.Facts, s train.Standing) {
	for n, was := range f.Requests {
		s.Head = was.Head
		f.Requests[n] = s
	}
}

func frozen(_ *train.Manifest, f *train.Facts) {
	allStand(f, train.Standing{State: model.PullOpen, Waits: "it has the label freeze"})
}

func TestFiveHundredRequestsAtOnce(t *testing.T) {
	y := newYard(t)
	numbers := make([]int, 500)
	for i := range numbers {
		numbers[i] = i + 1
	}
	y.ask(requests(numbers...)...)
	y.run()
	assert.Len(t, y.record.Cars, 3)
	assert.Len(t, y.record.Queue, 500)
	told := 0
	tip := y.record.Cars[0].Tip
	before := map[int]string{}
	for _, r := range y.record.Queue {
		before[r.Number] = r.Told
	}
	y.ci(tip, green)
	for _, r := range y.record.Queue {
		if r.Told != before[r.Number] {
			told++
		}
	}
	assert.Less(t, told, 30, "a landing changes the comments of those whom it is news for")
}

func BenchmarkFoldOfTwoHundred(b *testing.B) {
	m, facts := crowd(200)
	for b.Loop() {
		train.Fold(m, facts, train.Defaults(), noon.Add(time.Minute))
	}
	raw := must.Get(talkative().Encode())(b)
	b.ReportMetric(float64(len(raw)), "manifest-bytes")
}

func TestAManifestThatSomebodyEdited(t *testing.T) {
	m, _ := crowd(5)
	raw := must.Get(m.Encode())(t)
	for _, c := range []struct{ old, new, want string }{
		{`{"version":1`, `{"version":2`, "the train's manifest: version 2, want 1"},
		{`{"version":1`, `{"version":1,"version":1`, "version: it occurs twice"},
		{`{"version":1`, `{"Version":1`, `the train's manifest: unknown field "Version"`},
		{`"base":"release/2026-03"`, `"base":"main"`, `the train's manifest: it is of base "main", want "release/2026-03"`},
		{`"next":3`, `"next":0`, "the train's manifest: next car 0, want at least 1"},
		{`"next":3`, `"next":2`, "the train's manifest: car 2 occurs twice, or was never made"},
		{`{"n":100001,`, `{"n":100000,`, "the train's manifest: request 100000 occurs twice, or is not a pull request's number"},
		{`"state":"testing"`, `"state":"flying"`, `the train's manifest: car 1: unknown state "flying"`},
		{`"state":"testing"`, `"state":"building"`, "the train's manifest: car 1: state building does not go with tip"},
		{`"members":[{"n":100004,`, `"members":[{"n":100000,`, "the train's manifest: request 100000 is aboard twice"},
		{`"members":[{"n":100004,`, `"members":[],"x":[{"n":100004,`, `cars[1]: unknown field "x"`},
		{"}\n", "", "the train's manifest: not JSON: it ends in the middle"},
		{"}\n", "}{}", "the train's manifest: it continues after the JSON value"},
	} {
		changed := strings.Replace(string(raw), c.old, c.new, 1)
		require.NotEqual(t, string(raw), changed, c.old)
		assert.ErrorContains(t, must.Err(train.Decode([]byte(changed), m.Base)), c.want)
	}
	assert.ErrorContains(t, must.Err(train.Decode([]byte(strings.Repeat(" ", train.MaxBytes+1)), m.Base)), "the train's manifest has 1048577 bytes, more than 1048576")
}

// Whatever is read as a manifest, a fold of it ends, and writes one that is read as the same.
func FuzzManifest(f *testing.F) {
	for _, count := range []int{0, 1, 5} {
		m, _ := crowd(count)
		raw := must.Get(m.Encode())(f)
		f.Add(raw)
	}
	f.Add([]byte(`{"version":1,"base":"release/2026-03","next":9,"cars":[{"n":1,"on":"a","members":[{"n":7,"head":"h","tip":"t"}],"tip":"t","state":"landing","since":0}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := train.Decode(raw, "release/2026-03")
		if err != nil {
			return
		}
		facts := train.Facts{Base: "m1", Branches: map[int]string{1: "t"}, Requests: map[int]train.Standing{}}
		for _, r := range m.Queue {
			facts.Requests[r.Number] = train.Standing{State: model.PullOpen, Head: r.Head}
		}
		next, effects := train.Fold(m, facts, train.Defaults(), noon)
		written := must.Get(next.Encode())(t)
		read := must.Get(train.Decode(written, "release/2026-03"))(t, "%s", written)
		again, same := train.Fold(read, facts, train.Defaults(), noon)
		require.Equal(t, string(written), string(must.Get(again.Encode())(t)))
		require.Equal(t, len(effects), len(same))
	})
}

// A record of an older version says more than this one writes: it is read, and the rest is as it was.
func TestARecordOfAnOlderVersionIsRead(t *testing.T) {
	m, _ := crowd(5)
	m.Queue[4].Conflicts, m.Queue[4].ConflictOn = 1, m.SHA // whole
	raw := must.Get(m.Encode())(t)
	older := strings.Replace(string(raw), `,"told":`, `,"strategy":"squash","told":`, 5)
	require.Equal(t, 5, strings.Count(older, `"strategy"`))
	read := must.Get(train.Decode([]byte(older), m.Base))(t)
	assert.Equal(t, string(raw), string(must.Get(read.Encode())(t)))
}
