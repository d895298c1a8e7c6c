package train_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/train"
)

// Everybody whose request was in a lost record hears of it once; who is gone by then, not at all.
func TestALossIsToldUntilAllKnow(t *testing.T) {
	y := newYard(t)
	m := train.Rebuild("main", []train.Request{{Number: 1, Head: "h1", Token: "t1", At: 1}, {Number: 2, Head: "h2", Token: "t2", At: 2}}, 1).Lose("r1", "empty")
	told := func(results ...train.Result) []int {
		y.facts.Results = results
		var effects []train.Effect
		m, effects = train.Fold(m, y.facts, train.Defaults(), y.now)
		var out []int
		for _, e := range effects {
			if l, is := e.(train.TellLoss); is {
				assert.Equal(t, "empty", l.Loss.Why)
				out = append(out, l.Request.Number)
			}
		}
		return out
	}
	require.Equal(t, []int{1, 2}, told())
	raw := must.Get(m.Encode())(t)
	assert.Equal(t, m, must.Get(train.Decode(raw, "main"))(t))
	assert.Equal(t, []int{1, 2}, told(train.LossTold{Number: 1, Record: "r2"}), "of another record")
	assert.Equal(t, []int{2}, told(train.LossTold{Number: 1, Record: "r1"}))
	y.facts.Requests = map[int]train.Standing{2: {State: model.PullOpen, Ended: "t2"}}
	assert.Empty(t, told())
	assert.Empty(t, m.Losses)
}
