package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
)

// newReviewed is an issue whose work is reviewed before its pull request is opened.
func newReviewed(t *testing.T, rounds ...[]model.Finding) (*world, model.Event) {
	t.Helper()
	w := newIssue(t, "", "[review]\non = [\"small_job\"]\nrounds = 2").whoseAgent("job+heeds+reviews")
	w.finds(rounds...)
	return w, w.label("alice", smallJob)
}

// left are a must and two others on the line that the job writes.
func left(text string) []model.Finding {
	return []model.Finding{found("greeting.txt", 2, model.Must, text), found("greeting.txt", 1, model.Nit, "No capital.")}
}

func TestWhatMustBeFixedIsFixedBeforeThePullRequestIsOpened(t *testing.T) {
	w, ev := newReviewed(t, left("Say it to whom."), nil)
	rep := w.done(w.handle(ev))
	require.Len(t, w.pulls(), 1)
	assert.LessOrEqual(t, rep.Calls.REST+rep.Calls.GraphQL, 12, "nothing is left to post")
	assert.Equal(t, "greeting.txt, line 2: Say it to whom.\n", w.fileOf("agent/small/2-greet-in-french", "heeded.txt"))
	assert.Equal(t, 4, w.calls(), "author, reviewer, author, reviewer")
	assert.Contains(t, w.asked(), "before its pull request is opened")
	assert.Contains(t, w.asked(), "People in France read this.", "the issue")
	assert.Contains(t, w.asked(), "+bonjour", "the diff")
	w.number = 3
	assert.Empty(t, w.reviewed())
}

func TestWhatIsLeftOfAReviewIsPostedWithThePullRequest(t *testing.T) {
	each(t, map[string]func(*world, model.Event) model.Report{"in one job": (*world).handle, "by the job that writes": (*world).inTwo}, func(t *testing.T, _ string, run func(*world, model.Event) model.Report) {
		w, ev := newReviewed(t, left("Say it to whom."), left("Still to nobody."), left("To nobody at all."))
		rep := w.done(run(w, ev))
		assert.LessOrEqual(t, rep.Calls.REST+rep.Calls.GraphQL, 13)
		assert.Equal(t, 6, w.calls(), "two rounds, of which the job that writes has none")
		w.number = 3
		golden.File(t, "review/with_pull_request.md", w.reviewed())
		assert.Equal(t, model.ResultNothing, w.handle(ev).Result)
	})
}

func TestAReviewerCannotAddToTheWork(t *testing.T) {
	w, ev := newReviewed(t, nil)
	w.agent = "job+heeds+reviews+meddles"
	w.done(w.handle(ev))
	w.lacks("agent/small/2-greet-in-french", "meddled.txt")
	assert.NotEqual(t, contents(t, w.log+".author"), contents(t, w.log+".reviewer"), "it has a tree of its own")
}

func TestOtherWorkIsNotReviewed(t *testing.T) {
	w, _ := newReviewed(t, left("Say it to whom."))
	require.Equal(t, model.ResultDone, w.handle(w.label("alice", bugfix)).Result)
	assert.Equal(t, 1, w.calls())
}

func TestWorkThatIsOnTheBaseAlreadyIsNotReviewed(t *testing.T) {
	w, tip := stuckIssue(t, "", "[review]\non = [\"small_job\"]")
	w.api("octo", "PATCH", w.path("/git/refs/heads/main"), object{"sha": tip})
	w.agent = "pleased+reviews"
	before := w.calls()
	w.blocked(model.ReasonNoChange, w.handle(w.say("carol", "/mergexo retry")))
	assert.Equal(t, before+1, w.calls(), "the author, and nobody who looks at an empty diff")
}
