//go:build all

package engine_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

func TestADeathWhileWorkIsKeptIsMadeGood(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		w, ev := commented(t, "commits+fail")
		for _, f := range []fate{diesFirst, diesAfter} {
			w.gate.only(n, f)
			_, _ = w.engine().Handle(context.Background(), ev)
			w.over(w.runs)
			if !w.gate.died() {
				require.Greater(t, n, 3, "the claim, the checkpoint and what is said of it")
				return
			}
			w.gate.revive()
		}
		w.agent = "answer"
		require.Equal(t, model.ResultDone, w.recover(ev).Result, "died twice at write %d", n)
		commits := w.commits()
		w.settled(1, 1, len(commits)-1) // what was kept is taken up
		assert.Contains(t, commits[len(commits)-1], "Answer")
		assert.LessOrEqual(t, len(w.checkpoints()), 2)
	}
}
