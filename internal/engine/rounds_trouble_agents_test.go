//go:build agents

package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/sandbox/modelstub"
)

func TestAProvidersLimitIsNoTurnOfTheDay(t *testing.T) {
	t.Parallel()
	r := modelstub.Codex()
	w, s := played(t, r, "[feedback]\nturns_per_day = 2\n")
	comment := w.review("alice", "Greet the moon.")
	ev := w.delivery("pull_request_review_comment")
	for range 4 {
		s.Play(r.RateLimit())
		rep := w.handle(ev)
		assert.Equal(t, model.ResultRetry, rep.Result, rep.Reason)
		s.Forget()
	}
	s.Play(w.answering(r, comment, "world", "moon")...)
	rep := w.handle(ev)
	require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
	w.settled(1, 1, 1)
}
