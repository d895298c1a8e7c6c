//go:build agents

package engine_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/sandbox/modelstub"
)

func TestARealProgramReviewsAndChangesNothing(t *testing.T) {
	programs(t, func(t *testing.T, r modelstub.Rig) {
		w, s := played(t, r, "")
		s.Play(r.Done(`{"findings": [{"path": "greeting.txt", "line": 2, "severity": "must", "text": "Greet people.", "suggestion": "people"}]}`))
		head := w.tip()
		rep := w.done(w.orders("carol", "/mergexo review"))
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
		w.done(w.orders("carol", "/mergexo review"))
		assert.Equal(t, head, w.tip())
		assert.Contains(t, w.reviewed(), "nothing new was found")
		status, _ := w.send("octo", http.MethodGet, w.path("/git/ref/heads/moon"), nil)
		assert.Equal(t, http.StatusNotFound, status)
	})
}

func TestARealProgramReviewsWorkBeforeItsPullRequestIsOpened(t *testing.T) {
	programs(t, func(t *testing.T, r modelstub.Rig) {
		w, s := played(t, r, "[review]\non = [\"small_job\"]\n")
		w.open("alice", "Greet in French", "People in France read this.")
		work := func(say string) []modelstub.Answer {
			return []modelstub.Answer{
				r.Run("echo " + say + " >> greeting.txt"),
				r.Done(`{"pr_title": "Greet in French", "pr_summary": "It greets.", "commit_message": "Say ` + say + `", "git_ops": [], "blocked_reason": ""}`),
			}
		}
		s.Play(slices.Concat(
			work("bonjour"),
			[]modelstub.Answer{r.Done(`{"findings": [{"path": "greeting.txt", "line": 2, "severity": "must", "text": "Say it to whom.", "suggestion": ""}]}`)},
			work("people"),
			[]modelstub.Answer{
				r.Run("echo moon > greeting.txt; git commit -qam Moon; git push origin HEAD:refs/heads/moon"),
				r.Done(`{"findings": [{"path": "greeting.txt", "line": 3, "severity": "should", "text": "Say it louder.", "suggestion": ""}]}`),
			},
		)...)
		rep := w.done(w.handle(w.label("alice", smallJob)))
		assert.LessOrEqual(t, rep.Calls.REST+rep.Calls.GraphQL, 13)
		require.Len(t, w.pulls(), 1)
		assert.Equal(t, "hello\nbonjour\npeople\n", w.fileOf("agent/small/2-greet-in-french", "greeting.txt"))
		assert.NotContains(t, w.branches(), "moon")
		for _, says := range []string{"before its pull request is opened", "People in France read this.", "+bonjour"} {
			assert.Contains(t, s.Asked(2), says)
		}
		assert.Contains(t, s.Asked(3), "Say it to whom.", "the author")
		assert.Contains(t, s.Asked(5), "Found in an earlier round")
		w.number = 3
		assert.Contains(t, w.reviewed(), "-- greeting.txt line 3\n**should:** Say it louder.")
	})
}

func TestARealProgramReviewsATurnBeforeItsPush(t *testing.T) {
	programs(t, func(t *testing.T, r modelstub.Rig) {
		w, s := played(t, r, "[review]\non = [\"feedback\"]\n")
		s.Play(append(w.answering(r, w.review("alice", "Greet the moon."), "world", "moon"),
			r.Done(`{"findings": [{"path": "greeting.txt", "line": 2, "severity": "should", "text": "Which moon?", "suggestion": "the moon"}]}`))...)
		w.done(w.handle(w.delivery("pull_request_review_comment")))
		w.settled(1, 1, 1)
		assert.Contains(t, s.Asked(s.Asks()-1), "Greet the moon.", "what people asked for")
		assert.Contains(t, w.reviewed(), "-- greeting.txt line 2\n**should:** Which moon?")
	})
}
