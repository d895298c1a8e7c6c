package train_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/train"
)

func TestWhoBoards(t *testing.T) {
	type row struct {
		all     []train.Request
		line    string
		waiting string
	}
	must.Each(t, map[string]row{
		"in their order":                 {requests(1, 2, 3), "m0+1+2+3 testing", ""},
		"by priority":                    {[]train.Request{{Number: 1, Priority: train.Low}, {Number: 2}, {Number: 3, Priority: train.High}}, "m0+3+2+1 testing", ""},
		"alone":                          {[]train.Request{{Number: 1}, {Number: 2, Solo: true}, {Number: 3}}, "m0+1 testing, m0+1+2 testing, m0+1+2+3 testing", ""},
		"now":                            {[]train.Request{{Number: 1}, {Number: 2, Now: true}, {Number: 3}}, "m0+2 testing", "#1, #3"},
		"to try":                         {[]train.Request{{Number: 1}, {Number: 2, Try: true}, {Number: 3, Try: true}}, "m0+1 testing, try m0+2 testing", "#3"},
		"behind what it depends on":      {[]train.Request{{Number: 1, Needs: []int{3}}, {Number: 2}, {Number: 3}}, "m0+2+3+1 testing", ""},
		"not without what it depends on": {[]train.Request{{Number: 1, Needs: []int{9}}, {Number: 2}}, "m0+2 testing", "#1: it depends on #9, which is not in the merge train: nobody has asked to merge it, or that request waits"},
		"not in a circle":                {[]train.Request{{Number: 1, Needs: []int{2}}, {Number: 2, Needs: []int{1}}}, "", "#1: it depends on #2, which has not landed, #2: it depends on #1, which has not landed"},
	}, func(t *testing.T, c row) {
		y := newYard(t)
		y.ask(c.all...)
		y.run()
		assert.Equal(t, c.line, y.line())
		assert.Equal(t, c.waiting, y.waiting())
	})
}

func TestNowGoesBeforeWhatIsUnderTest(t *testing.T) {
	y := cars{of: 1}.asked(t, 1, 2)
	y.ask(train.Request{Number: 3, Now: true})
	y.run()
	assert.Equal(t, "m0+3 testing", y.line())
	y.ci("m0+3", green)
	assert.Equal(t, "m0+3+1 testing, m0+3+1+2 testing", y.line())

	y.ask(train.Request{Number: 2, Head: "h2", Now: true})
	y.facts.Asked[0].Token = "again"
	y.run()
	assert.Equal(t, "m0+3+2 testing", y.line())
}

// What goes now takes what it depends on along, before everybody else.
func TestNowGoesBehindWhatItDependsOn(t *testing.T) {
	y := newYard(t)
	y.ask(train.Request{Number: 1}, train.Request{Number: 2}, train.Request{Number: 3})
	y.run()
	y.ask(train.Request{Number: 4, Now: true, Needs: []int{5}}, train.Request{Number: 5, Needs: []int{2}})
	y.run()
	assert.Equal(t, "m0+2 testing", y.line(), "and nothing is tested on it")
	assert.Equal(t, "#4: it depends on #5, which has not landed, #5, #1, #3", y.waiting())
	y.ci("m0+2", green)
	assert.Equal(t, "m0+2+5 testing", y.line())
	y.ci("m0+2+5", green)
	assert.Equal(t, "m0+2+5+4 testing", y.line())
	assert.LessOrEqual(t, y.record.Next, 6, "no car is formed over and over")
	y.ci("m0+2+5+4", green)
	assert.Equal(t, "m0+2+5+4+1+3 testing", y.line())
}

func TestATryNeverLands(t *testing.T) {
	y := newYard(t)
	y.ask(train.Request{Number: 1, Try: true}, train.Request{Number: 2, Try: true}, train.Request{Number: 3, Try: true})
	y.run()
	y.facts.Base = "m1"
	y.ci("m0+1", green)
	assert.Equal(t, "push 1 m0+1; push 2 m1+2; done #1 passed m0+1; delete 1", y.passed())
	y.ci("m1+2", red)
	y.ci("m1+2", red)
	assert.Contains(t, y.passed(), "done #2 refuted m1+2")
	y.clashes["m1 #3"] = true
	y.facts.Branches[3] = "meddled"
	y.run()
	assert.Contains(t, y.passed(), "done #3 refuted")
	assert.Equal(t, "m1", y.facts.Base)
	assert.Empty(t, y.record.Queue)
}

func TestMembersThatConflict(t *testing.T) {
	t.Run("with the base", func(t *testing.T) {
		y := newYard(t)
		y.clashes["m0 #1"] = true
		y.ask(requests(1, 2)...)
		y.run()
		assert.Contains(t, y.passed(), "fail #1 REBASE_CONFLICT: it conflicts with the base in a.go")
		assert.Equal(t, "m0+2 testing", y.line())
	})
	t.Run("only together: the later one is tried alone behind", func(t *testing.T) {
		y := newYard(t)
		y.clashes["m0+1 #2"] = true
		y.ask(requests(1, 2, 3)...)
		y.run()
		assert.Equal(t, "m0+1+3 testing", y.line())
		assert.Equal(t, "#2: it conflicts with a change ahead of it, and is retried once that has landed", y.waiting())
		y.ci("m0+1+3", green)
		assert.Equal(t, "m0+1+3+2 testing", y.line())
	})
	t.Run("where SHAs are as long as they are, however the record has that of the base", func(t *testing.T) {
		for _, recorded := range []int{16, 40} { // older records have all of it
			y := newYard(t)
			base := strings.Repeat("b", 40)
			y.facts.Base = base
			y.settings.Batch = 1
			y.clashes[base+"+1 #2"] = true
			y.ask(requests(1, 2)...)
			y.run()
			at := slices.IndexFunc(y.record.Queue, func(r train.Request) bool { return r.Number == 2 })
			assert.Equal(t, base[:16], y.record.Queue[at].ConflictOn)
			assert.Equal(t, 1, y.record.Queue[at].Conflicts, "nobody tries it again on the same base")
			y.record.Queue[at].ConflictOn = base[:recorded]
			y.run()
			assert.Equal(t, 1, y.record.Queue[at].Conflicts)
			assert.Equal(t, base+"+1 testing", y.line())
		}
	})
	t.Run("and it fails once it conflicts with the base itself", func(t *testing.T) {
		y := newYard(t)
		y.clashes["m0+1 #2"], y.clashes["m0+1+3 #2"] = true, true
		y.ask(requests(1, 2, 3)...)
		y.run()
		y.ci("m0+1+3", green)
		assert.Contains(t, y.passed(), "fail #2 REBASE_CONFLICT")
	})
	t.Run("at last everybody waits for it", func(t *testing.T) {
		y := newYard(t)
		y.settings.Batch, y.settings.Speculate = 1, 2
		for _, on := range []string{"m0+1", "m0+1+3", "m0+1+3+4"} {
			y.clashes[on+" #2"] = true
		}
		y.ask(requests(1, 2, 3, 4, 5, 6)...)
		y.run()
		assert.Equal(t, "m0+1 testing, m0+1+3 testing", y.line())
		y.ci("m0+1", green)
		assert.Equal(t, "m0+1+3 testing, m0+1+3+4 testing", y.line(), "it does not merge onto 3 either")
		y.ci("m0+1+3", green)
		assert.Equal(t, "m0+1+3+4 testing, m0+1+3+4+5 testing", y.line(), "nor onto 4")
		y.ci("m0+1+3+4", green)
		assert.Equal(t, "m0+1+3+4+5 testing", y.line(), "nobody boards")
		y.ci("m0+1+3+4+5", green)
		assert.Equal(t, "m0+1+3+4+5+2 testing, m0+1+3+4+5+2+6 testing", y.line())
	})
	t.Run("with those that depend on it", func(t *testing.T) {
		y := newYard(t)
		y.clashes["m0+1 #2"] = true
		y.ask(train.Request{Number: 1}, train.Request{Number: 2}, train.Request{Number: 3, Needs: []int{2}}, train.Request{Number: 4})
		y.run()
		assert.Equal(t, "m0+1+4 testing", y.line())
	})
	t.Run("or cannot be built", func(t *testing.T) {
		y := newYard(t)
		y.ask(requests(1, 2)...)
		y.record, _ = train.Fold(y.record, y.facts, y.settings, y.now)
		y.facts.Results = []train.Result{train.Unfit{Car: 1, Numbers: []int{1}, Code: "NOTHING_TO_MERGE", Why: "the base has it"}}
		y.run()
		assert.Contains(t, y.passed(), "fail #1 NOTHING_TO_MERGE: the base has it")
		assert.Equal(t, "m0+2 testing", y.line())
	})
}
