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

func TestARealProgramReviewsAndChangesNothing(t *testing.T) {
	programs(t, func(t *testing.T, r modelstub.Rig) {
		w, s := played(t, r, "")
		s.Play(r.Done(`{"findings": [{"path": "greeting.txt", "line": 2, "severity": "must", "text": "Greet people.", "suggestion": "people"}]}`))
		head := w.tip()
		rep := w.orders("carol", "/mergexo review")
		require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
		assert.Contains(t, w.reviewed(), "-- greeting.txt line 2\n**must:** Greet people.\n\nSuggestion:\n\n```suggestion\npeople\n```")
		asked := s.Asked(0)
		assert.Contains(t, asked, "You are to review pull request #1 of octo/widgets")
		assert.Contains(t, asked, "+world")
		assert.Equal(t, head, w.tip())
		assert.LessOrEqual(t, rep.Calls.REST+rep.Calls.GraphQL, 7)
	})
}

func TestARealProgramThatWouldPushWhileItReviewsChangesNothing(t *testing.T) {
	programs(t, func(t *testing.T, r modelstub.Rig) {
		w, s := played(t, r, "")
		s.Play(r.Run("echo moon > greeting.txt; git commit -qam Moon; git push origin HEAD:refs/heads/moon"), r.Done(`{"findings": []}`))
		head := w.tip()
		rep := w.orders("carol", "/mergexo review")
		require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
		assert.Equal(t, head, w.tip())
		assert.Contains(t, w.reviewed(), "nothing new was found")
		status, _ := w.send("octo", http.MethodGet, w.path("/git/ref/heads/moon"), nil)
		assert.Equal(t, http.StatusNotFound, status)
	})
}
