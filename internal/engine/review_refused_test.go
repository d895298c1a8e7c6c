package engine_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// noReview has GitHub refuse reviews, as long as it says so of what is sent.
func (w *world) noReview(status int, whether func(body string) bool) (sent *int) {
	sent = new(int)
	next := w.gate.next
	w.gate.next = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/reviews") || r.Method != http.MethodPost {
			next.ServeHTTP(rw, r)
			return
		}
		body := readAll(r)
		if *sent++; !whether(body) {
			next.ServeHTTP(rw, r)
			return
		}
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(status)
		_, _ = fmt.Fprint(rw, `{"message": "No review here"}`)
	})
	return sent
}

// readAll is the body of a request, which stays in it.
func readAll(r *http.Request) string {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return string(body)
}

func anyReview(string) bool { return true }

func TestAReviewThatGitHubRefusesHoldsNoWorkUp(t *testing.T) {
	t.Parallel()
	for status, sends := range map[int]int{http.StatusForbidden: 1, http.StatusUnprocessableEntity: 3} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			w, ev := newReviewed(t, left("Say it to whom."), left("Still to nobody."), left("To nobody at all."))
			sent := w.noReview(status, anyReview)
			w.done(w.handle(ev))
			assert.Contains(t, w.saidOnce("issue", "done"), "GitHub refused the review by command, which had 2 findings")
			assert.Equal(t, sends, *sent)
			assert.Equal(t, model.ResultNothing, w.handle(ev).Result)
			assert.Equal(t, sends, *sent, "it is not tried for ever")
		})
	}
}

func TestAReviewOnDemandThatGitHubRefusesEnds(t *testing.T) {
	w := newReview(t)
	w.noReview(http.StatusForbidden, anyReview)
	ev := w.say("carol", "/mergexo review")
	assert.Equal(t, model.ResultFailed, w.handle(ev).Result)
	w.answered("applied", "GitHub refused the review")
	w.handle(ev)
	assert.Equal(t, 1, w.calls(), "nobody pays again")
}

// A commit that is no part of the pull request any more takes no review: its findings stand in the text of one without it.
func TestAReviewOfACommitThatIsGoneStandsInItsText(t *testing.T) {
	w := newReview(t)
	sent := w.noReview(http.StatusUnprocessableEntity, func(body string) bool { return strings.Contains(body, `"commit_id"`) })
	require.Equal(t, model.ResultDone, w.orders("carol", "/mergexo review").Result)
	assert.Equal(t, 3, *sent)
	assert.Contains(t, w.reviewed(), "- **must** `greeting.txt` line 2: Greet")
	assert.Empty(t, w.lineComments())
}

func TestTheSweepEndsAReviewOfAPullRequestThatIsClosed(t *testing.T) {
	w, _ := abandoned(t)
	w.api("octo", "PATCH", w.pull(""), object{"state": "closed"})
	w.sweep()
	w.answered("applied", "The pull request is no longer open.")
	assert.NotContains(t, w.said(), "The findings follow")
	assert.Zero(t, w.calls())
}

func TestWhatTheRecordHasNoRoomForIsCounted(t *testing.T) {
	var many []model.Finding
	for i := range 30 {
		many = append(many, found("greeting.txt", 0, model.Should, fmt.Sprintf("%d: %s", i, strings.Repeat("long ", 200))))
	}
	w, ev := newReviewed(t, many)
	require.Equal(t, model.ResultDone, w.handle(ev).Result)
	w.number = 3
	assert.Regexp(t, `1[0-9] more findings did not fit here\.`, w.reviewed())
}
