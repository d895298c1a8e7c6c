package train_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/train"
)

// What depends on a pull request that will not land fails, and says so; one that may still land is waited for.
func TestADependencyThatIsClosed(t *testing.T) {
	type row struct {
		change func(y *yard)
		log    string
		line   string
		waits  string
	}
	must.Each(t, map[string]row{
		"it was never asked for and is closed": {func(y *yard) { y.facts.Requests[9] = train.Standing{State: model.PullClosed} },
			"fail #2 DEPENDENCY_CLOSED: it depends on #9, which is neither open nor merged []", "m0+1 testing", ""},
		"it is open":         {func(y *yard) { y.facts.Requests[9] = train.Standing{State: model.PullOpen} }, "push", "m0+1 testing", "#2: it depends on #9, which is not in the merge train: nobody has asked to merge it, or that request waits"},
		"nobody has read it": {func(*yard) {}, "push", "m0+1 testing", "#2: it depends on #9, which is not in the merge train: nobody has asked to merge it, or that request waits"},
		"it is merged":       {func(y *yard) { y.facts.Requests[9] = train.Standing{State: model.PullMerged} }, "push", "m0+1+2 testing", ""},
	}, func(t *testing.T, c row) {
		y := newYard(t)
		y.ask(train.Request{Number: 1}, train.Request{Number: 2, Needs: []int{9}})
		c.change(y)
		y.run()
		assert.Contains(t, y.passed(), c.log)
		assert.Equal(t, c.line, y.line())
		assert.Equal(t, c.waits, y.waiting())
	})
	t.Run("it is aboard and closed", func(t *testing.T) {
		y := newYard(t)
		y.ask(train.Request{Number: 1}, train.Request{Number: 2, Needs: []int{1}})
		y.run()
		assert.Equal(t, "m0+1+2 testing", y.line())
		y.facts.Requests[1] = train.Standing{State: model.PullClosed, Head: "h1"}
		y.passed()
		y.run()
		assert.Equal(t, "fail #1 CLOSED: it was closed []; fail #2 DEPENDENCY_CLOSED: it depends on #1, which is neither open nor merged []; delete 1", y.passed())
		assert.Empty(t, y.record.Queue)
	})
}

// Who only looks at a record that somebody wrote sees cars without requests, too.
func TestCarsOfNobodyAreShown(t *testing.T) {
	m := train.New("main")
	m.Next = 3
	for n, try := range []bool{false, true} {
		m.Cars = append(m.Cars, train.Car{Number: n + 1, On: "m0", Tip: "t", State: train.Testing, Try: try, Members: []train.Member{{Number: n + 7, Head: "h", Tip: "t"}}})
	}
	raw := must.Get(m.Encode())(t)
	read := must.Get(train.Decode(raw, "main"))(t)
	shown := train.Positions(read, train.Facts{}, train.Defaults(), noon)
	require.Len(t, shown, 2)
	assert.Equal(t, []int{7, 8}, []int{shown[0].Request.Number, shown[1].Request.Number})
}
