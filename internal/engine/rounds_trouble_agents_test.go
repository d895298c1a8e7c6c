//go:build agents

package engine_test

import (
	"testing"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/sandbox/modelstub"
)

func TestAProvidersLimitIsNoTurnOfTheDay(t *testing.T) {
	r := modelstub.Codex()
	w, s := played(t, r, "[feedback]\nturns_per_day = 2\n")
	comment := w.review("alice", "Greet the moon.")
	ev := w.delivery("pull_request_review_comment")
	for range 4 {
		s.Play(r.RateLimit())
		w.gives(model.ResultRetry, w.handle(ev))
		s.Forget()
	}
	s.Play(w.answering(r, comment, "world", "moon")...)
	w.done(w.handle(ev))
	w.settled(1, 1, 1)
}
