package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// newTurn is a comment on a line whose turn is reviewed before it is pushed.
func newTurn(t *testing.T, agent string, rounds ...[]model.Finding) (*world, model.Event) {
	t.Helper()
	w := newWorld(t, "", "[review]\non = [\"feedback\"]\nrounds = 2").whoseAgent(agent)
	w.finds(rounds...)
	return w, w.remark("alice", "Greet people.")
}

func TestATurnIsReviewedBeforeItIsPushed(t *testing.T) {
	more := found("greeting.txt", 3, model.Must, "Say who has worked.")
	w, ev := newTurn(t, "works+heeds+reviews", []model.Finding{more}, []model.Finding{found("heeded.txt", 1, model.Should, "Nobody reads this.")})
	rep := w.done(w.handle(ev))
	assert.Equal(t, 4, w.calls(), "author, reviewer, author, reviewer")
	assert.Equal(t, "greeting.txt, line 3: Say who has worked.\n", w.file("heeded.txt"))
	assert.Contains(t, w.reviewed(), "-- heeded.txt line 1\n**should:** Nobody reads this.")
	assert.Contains(t, w.asked(), "Greet people.", "what people asked for")
	assert.Contains(t, w.asked(), "Found in an earlier round")
	assert.Contains(t, w.asked(), "Say who has worked.")
	assert.LessOrEqual(t, rep.Calls.REST+rep.Calls.GraphQL, 13, "a turn on a pull request that is not tracked, the review, and looks until GitHub shows what it is of")
	w.settled(1, 1, 2)
	assert.Equal(t, model.ResultNothing, w.handle(ev).Result)
	assert.Equal(t, 1, w.reviews())
}

func TestAReviewOfATurnIsNoneOfTheWholePullRequest(t *testing.T) {
	w, ev := newTurn(t, "works+reviews", []model.Finding{found("greeting.txt", 3, model.Should, "Say who has worked.")})
	require.Equal(t, model.ResultDone, w.handle(ev).Result)
	assert.Contains(t, w.reviewed(), "1 finding (1 × should), still open when the turn's commits were pushed.")
	w.finds([]model.Finding{found("greeting.txt", 2, model.Must, "Greet people.")})
	w.done(w.orders("carol", "/mergexo review"))
	assert.Contains(t, w.reviewed(), "-- greeting.txt line 2\n**must:** Greet people.")
	assert.Equal(t, 2, w.reviews())
}

func TestAReviewedTurnIsHandedOver(t *testing.T) {
	left := []model.Finding{found("greeting.txt", 3, model.Should, "Say who has worked.")}
	whole, ev := newTurn(t, "works+costs+reviews", left)
	require.Equal(t, model.ResultDone, whole.handle(ev).Result)
	w, ev := newTurn(t, "works+costs+reviews", left)
	w.done(w.inTwo(ev))
	assert.Equal(t, 2, w.calls(), "author and reviewer")
	assert.Equal(t, whole.reviewed(), w.reviewed())
	w.settled(1, 1, 1)
}

// GitHub shows a commit as the head a moment after it was pushed, and takes no comment on it before.
func TestAReviewOfATurnCostsOneCallMoreOnceGitHubShowsItsCommits(t *testing.T) {
	t.Parallel()
	calls := func(heads int, rounds ...[]model.Finding) int {
		w, ev := newTurn(t, "works+reviews", rounds...)
		w.put("/_sandbox/lag", object{"repository": repo.String(), "heads": heads})
		rep := w.done(w.handle(ev))
		if len(rounds[0]) > 0 {
			require.Contains(t, w.reviewed(), "-- greeting.txt line 3\n")
			require.Equal(t, 1, w.reviews())
		}
		return rep.Calls.REST + rep.Calls.GraphQL
	}
	rest := []model.Finding{found("greeting.txt", 3, model.Should, "Say who has worked.")}
	assert.Equal(t, 9, calls(0, nil), "a turn on a pull request that is not tracked yet")
	assert.Equal(t, 10, calls(0, rest))
	assert.LessOrEqual(t, calls(1, rest), 13)
}

// Nobody pays for another look at what is the same.
func TestAnAuthorThatChangesNothingEndsTheReview(t *testing.T) {
	w, ev := newTurn(t, "works+reviews", []model.Finding{found("greeting.txt", 3, model.Must, "Say who has worked.")})
	require.Equal(t, model.ResultDone, w.handle(ev).Result)
	assert.Equal(t, 3, w.calls(), "author, reviewer, author")
	assert.Contains(t, w.reviewed(), "**must:** Say who has worked.")
}

func TestASweepReviewsWhatIsReadyWhenItsEventWasLost(t *testing.T) {
	w := newReview(t, "", "[review]\nauto = \"ready\"")
	w.sweep()
	assert.Contains(t, w.said(), "**Review**, because the pull request is ready")
	w.sweep()
	assert.Equal(t, 1, w.reviews())
	assert.Equal(t, 1, w.calls())

	old := newReview(t, "", "[review]\nauto = \"ready\"")
	old.later(25 * time.Hour)
	old.sweep()
	assert.Zero(t, old.calls(), "it was there before")
}

// A long conversation costs no call more.
func TestAReviewInALongConversationKeepsToItsCalls(t *testing.T) {
	w := newWorld(t)
	w.chatter(120)
	w.later(5 * time.Minute) // no replica hides any of it
	require.Equal(t, model.ResultDone, w.handle(w.say("alice", "Greet people.")).Result)
	w.finds(threeFindings())
	rep := w.done(w.orders("carol", "/mergexo review"))
	assert.LessOrEqual(t, rep.Calls.REST+rep.Calls.GraphQL, 7)
}
