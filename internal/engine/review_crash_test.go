package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// reviewedStory is a story with a review, or with threads that are resolved, which may die at any of its writes.
type reviewedStory struct {
	begin    func(t *testing.T) (*world, model.Event)
	writes   []string
	shows    func(w *world) string // what has to be the same however it died
	recorded int                   // the number of the write that holds what the agents have said
}

// saysAndReviews is all that people read there, but for the comment with which whoever comes first follows the pull request.
func (w *world) saysAndReviews() string {
	return followed.ReplaceAllString(w.said(), "") + w.reviewed()
}

var reviewedStories = map[string]reviewedStory{
	"asked by a label": {func(t *testing.T) (*world, model.Event) {
		w := newWorld(t, "", "[review]\nauto = \"label\"")
		w.handle(w.delivery("pull_request")) // it is followed
		w.finds(threeFindings())
		w.labels("carol", "agent:review")
		w.gate.revive()
		return w, w.delivery("pull_request")
	}, []string{"claim", "review", "end", "label"}, func(w *world) string { return fmt.Sprint(w.saysAndReviews(), w.labelled()) }, 2},

	"asked by being ready": {func(t *testing.T) (*world, model.Event) {
		w := newReview(t, "", "[review]\nauto = \"ready\"")
		return w, w.delivery("pull_request")
	}, []string{"claim", "review", "end", "first marker"}, (*world).saysAndReviews, 2},

	"of work, before the opening": {func(t *testing.T) (*world, model.Event) {
		w, ev := newReviewed(t, left("Say it to whom."))
		w.api("octo", "PATCH", w.path("/pulls/1"), object{"state": "closed"}) // which has nothing to do with it
		w.agent = "job+reviews"                                               // it changes nothing more, and the same is found again
		return w, ev
	}, []string{"claim", "stage", "plan", "push", "pull request", "its marker", "review", "receipt"}, func(w *world) string {
		shows := w.showsIssue()
		w.number = 3
		defer func() { w.number = 2 }()
		return strings.ReplaceAll(shows, ", attempt 2", "") + w.reviewed()
	}, 3},

	"of a turn, before its push": {func(t *testing.T) (*world, model.Event) {
		return newTurn(t, "works+reviews", []model.Finding{found("greeting.txt", 3, model.Should, "Say who has worked.")})
	}, []string{"first marker", "claim", "stage", "plan", "push", "reply", "review too early", "review", "receipt"}, func(w *world) string { return w.shows() + w.reviewed() }, 4},

	"that resolves threads": {func(t *testing.T) (*world, model.Event) {
		w := newWorld(t, "", resolving)
		w.review("alice", "Greet people.")
		return w, w.remark("bob", "And me.")
	}, []string{"first marker", "claim", "stage", "plan", "push", "reply", "reply", "thread", "thread", "receipt"}, func(w *world) string {
		return w.shows() + strings.Join(w.resolvedThreads(), "\n")
	}, 4},
}

// die takes the story through each of its deaths from a write on, and to what next makes of it.
func (s reviewedStory) die(t *testing.T, from int, next func(w *world, ev model.Event)) {
	w, ev := s.begin(t)
	dead := w.wrecks(func() { w.done(w.handle(ev)) })
	require.Equal(t, len(s.writes), w.gate.writes, "%v", s.writes)
	want, calls := s.shows(w), w.calls()
	dead.each(t, writes(from, len(s.writes), s.recorded, len(s.writes)-1), func(t *testing.T, w *world, n int) {
		next(w, ev)
		assert.Equal(t, want, s.shows(w))
		if n >= s.recorded {
			assert.Equal(t, calls, w.calls(), "nobody pays twice")
		}
		calls := w.calls()
		w.handle(ev)
		assert.Equal(t, want, s.shows(w))
		assert.Equal(t, calls, w.calls())
	})
}

// What comes before is told by the stories without a review.
func TestADeathAtAnyWriteOfWhatIsReviewedIsMadeGood(t *testing.T) {
	each(t, reviewedStories, func(t *testing.T, _ string, s reviewedStory) {
		s.die(t, s.recorded-1, func(w *world, ev model.Event) { w.handle(ev) })
	})
}
