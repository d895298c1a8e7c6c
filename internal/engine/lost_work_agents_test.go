//go:build agents

package engine_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/sandbox/modelstub"
)

func TestADeathAfterTheStageKeepsTheSession(t *testing.T) {
	r := modelstub.Codex()
	w, s := played(t, r, "[feedback]\non_missing_session = \"block\"\n")
	w.seals, w.keeps = newKey(t), "" // a runner of its own for every run
	s.Play(w.answering(r, w.review("alice", "Greet the moon."), "world", "moon")...)
	require.Equal(t, model.ResultDone, w.handle(w.delivery("pull_request_review_comment")).Result)

	w.clone("--branch", w.head)
	second := w.review("bob", "And now the sun.")
	ev := w.delivery("pull_request_review_comment")
	s.Play(w.answering(r, second, "moon", "sun")...)
	staged := false
	w.gate.when(diesFirst, func(r *http.Request) bool {
		was := staged
		staged = staged || isPush(r)
		return was
	})
	w.dies(ev)

	w.clone("--branch", w.head)
	s.Play(w.answering(r, second, "moon", "sun")...)
	w.done(w.handle(ev))
	assert.Contains(t, s.Asked(0), "Greet the moon.", "the session knows the first turn")
	assert.Len(t, w.replies(), 2)
	assert.Len(t, w.marked("turn", "done"), 2)
	assert.Equal(t, "hello\nsun\n", w.file("greeting.txt"))
}
