package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// Neither its own time nor that of the run takes anything of what the author has done.
func TestAReviewerThatHangsHoldsNoWorkUp(t *testing.T) {
	t.Run("of a turn", func(t *testing.T) {
		w := newWorld(t, "", "[review]\non = [\"feedback\"]\ncommand = [\"sh\", \"-c\", \"echo "+atWork+" >&2; read line < /dev/zero\"]").whoseAgent("works")
		w.passing(2*time.Minute, atWork)
		w.done(w.handle(w.remark("alice", "Greet people.")))
		assert.Contains(t, w.marked("turn", "done")[0]["body"], "nobody reviewed this before it was proposed: ")
	})
	each(t, map[string]string{"its own": "", "the run's": "run_timeout = \"90s\"\n"}, func(t *testing.T, _ string, setting string) {
		w := newIssue(t, "", setting+"[review]\non = [\"small_job\"]\ncommand = [\"sh\", \"-c\", \"echo "+atWork+" >&2; read line < /dev/zero\"]")
		w.passing(2*time.Minute, atWork)
		w.done(w.handle(w.label("alice", smallJob)))
		require.Len(t, w.pulls(), 1)
		assert.Contains(t, w.pulls()[0]["body"], "nobody reviewed this before it was proposed: ")
		assert.Equal(t, 1, w.calls())
	})
}

func TestAReviewerBeforeTheOpeningCannotPush(t *testing.T) {
	w, ev := newReviewed(t, nil)
	w.agent = "job+meddles+pushes+reviews"
	w.done(w.handle(ev))
	require.Len(t, w.pulls(), 1)
	for _, branch := range []string{"moon", "agent/small/2-greet-in-french"} {
		w.lacks(branch, "meddled.txt")
	}
	assert.NotContains(t, w.branches(), "moon")
}

// It takes back in each round what it has asked for in the one before. That ends, the reviewer is told what it said, and only its
// last word is posted.
func TestAReviewerThatContradictsItselfComesToAnEnd(t *testing.T) {
	w, ev := newReviewed(t, left("Say bonjour to people."), left("Do not say bonjour to people."), left("Say bonjour to people."))
	w.done(w.handle(ev))
	assert.Equal(t, 6, w.calls(), "two rounds")
	assert.Regexp(t, `(?s)Found in an earlier round.*Say bonjour to people\..*Do not say bonjour to people\.`, w.asked())
	assert.Contains(t, w.asked(), "do not contradict what you asked for")
	w.number = 3
	assert.Equal(t, 1, w.reviews())
	assert.Contains(t, w.reviewed(), "-- greeting.txt line 2\n**must:** Say bonjour to people.")
	assert.NotContains(t, w.reviewed(), "Do not say")
}

func TestAReviewerThatCostsMoreThanTheBudgetIsNotAskedAgain(t *testing.T) {
	type row struct {
		agent    string
		calls    int
		note     string
		reviewed []string
	}
	each(t, map[string]row{
		"the author has used it up": {"job+costs+reviews", 1, "nobody reviewed this before it was proposed: today's budget is used up", nil},
		"the reviewer does": {
			"job+heeds+dear+reviews", 2, "the agent did not act on the review: today's budget is used up",
			[]string{"**must:** Say it to whom.", "No capital."},
		},
		"the author does while it works on the review": {
			"job+heeds+strives+reviews", 3,
			"nobody reviewed what was changed after the review: today's budget is used up", []string{"- **nit** `greeting.txt`: No capital."},
		},
	}, func(t *testing.T, _ string, c row) {
		w := newIssue(t, "", "[review]\non = [\"small_job\"]\n[feedback]\ncost_per_day_usd = 0.5").whoseAgent(c.agent)
		w.finds(left("Say it to whom."))
		w.done(w.handle(w.label("alice", smallJob)))
		assert.Equal(t, c.calls, w.calls())
		assert.Contains(t, w.pulls()[0]["body"], c.note)
		w.number = 3
		assert.Equal(t, min(len(c.reviewed), 1), w.reviews())
		for _, says := range c.reviewed {
			assert.Contains(t, w.reviewed(), says)
		}
		if len(c.reviewed) == 1 {
			assert.NotContains(t, w.reviewed(), "**must**", "nobody knows whether it is fixed")
		}
	})
}

func TestAReviewerThatFailsInItsSecondRoundLosesNoFinding(t *testing.T) {
	w, ev := newReviewed(t, left("Say it to whom."), []model.Finding{found("../x", 1, model.Must, "x")})
	w.done(w.handle(ev))
	assert.Contains(t, w.pulls()[0]["body"], "nobody reviewed what was changed after the review: ")
	w.number = 3
	assert.Contains(t, w.reviewed(), "- **nit** `greeting.txt`: No capital.")
	assert.NotContains(t, w.reviewed(), "Say it to whom.")
}
