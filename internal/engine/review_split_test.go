package engine_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine/sweeping"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

// splitReviews are what asks for a review where the agent has a job of its own. The first job answers a command.
var splitReviews = []struct {
	name, setting, event string
	asks                 func(w *world)
	command              bool
}{
	{"a command", "", "issue_comment", func(w *world) { w.talk("carol", "/mergexo review") }, true},
	{"a label", "[review]\nauto = \"label\"", "pull_request", func(w *world) { w.labels("carol", "agent:review") }, false},
	{"being ready", "[review]\nauto = \"ready\"", "pull_request", func(*world) {}, false},
}

// asksForAReview is the event of a command that the first job has answered, after which the reviewer has a job of its own.
func (w *world) asksForAReview() model.Event {
	w.t.Helper()
	ev := w.say("carol", "/mergexo review")
	w.within(w.phase(thread.ApplyPhase, ev, ""))
	return ev
}

func TestAReviewGoesThroughTwoJobs(t *testing.T) {
	t.Parallel()
	for _, c := range splitReviews {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			asked := func() (*world, model.Event) {
				w := newReview(t, "", c.setting)
				c.asks(w)
				return w, w.delivery(c.event)
			}
			whole, ev := asked()
			atOnce := whole.handle(ev)
			require.Equal(t, model.ResultDone, atOnce.Result)

			w, ev := asked()
			if c.command {
				w.within(w.phase(thread.ApplyPhase, ev, ""))
				w.answered("applied", "The findings follow as one review.")
			}
			dir := w.prepared(ev)
			rep := w.done(w.phase(thread.ApplyPhase, ev, dir))
			assert.LessOrEqual(t, rep.Calls.REST+rep.Calls.GraphQL, max(7, atOnce.Calls.REST+atOnce.Calls.GraphQL), "the label or the first marker of a pull request costs one more")
			assert.Equal(t, whole.saysAndReviews(), w.saysAndReviews(), "as a whole run leaves it")
			assert.Equal(t, fmt.Sprint(whole.labelled()), fmt.Sprint(w.labelled()))
			assert.Equal(t, 1, w.calls(), "the apply phase runs no agent")

			said := w.saysAndReviews()
			assert.Equal(t, model.ResultNothing, w.phase(thread.ApplyPhase, ev, dir).Result, "the same handoff again")
			assert.Equal(t, model.ResultNothing, w.phase(thread.AgentPhase, ev, filepath.Join(t.TempDir(), "handoff")).Result, "and the agent's job again")
			assert.Equal(t, said, w.saysAndReviews())
			assert.Equal(t, 1, w.calls())
		})
	}
}

// The agent's job has no token that writes, and may run an agent without isolation; but not one that reads what a stranger wrote.
func TestAForkIsNotReviewedInAJobThatCannotIsolate(t *testing.T) {
	w := newReader(t, writeItOut)
	ev, dir := w.asksForAReview(), filepath.Join(t.TempDir(), "handoff")
	e := w.engine()
	e.Phase, e.Bundle, e.Isolator = thread.AgentPhase, dir, ""
	w.by(e, ev)
	w.gives(model.ResultFailed, w.phase(thread.ApplyPhase, ev, dir))
	assert.Contains(t, w.said(), "MergeXO reviews a pull request from a fork only in isolation")
	assert.Empty(t, w.reviewed())
}

// The agent's job plans the answer to a command, which the last job gives.
func TestACommandForAReviewTakesOneRunOfTwoJobs(t *testing.T) {
	w := newReview(t)
	w.done(w.inTwo(w.say("carol", "/mergexo review")))
	assert.Contains(t, w.said(), "`/mergexo review`")
	assert.Contains(t, w.reviewed(), "3 findings")
	assert.Equal(t, 1, w.calls())
}

func TestAReviewersJobThatHandsNothingOverIsToldAndTriedAgain(t *testing.T) {
	w := newReview(t)
	ev := w.asksForAReview()
	lost := func() model.Report { return w.phase(thread.ApplyPhase, ev, filepath.Join(t.TempDir(), "none")) }
	rep := lost()
	assert.Equal(t, model.ResultFailed, rep.Result, rep.Reason)
	assert.Contains(t, w.said(), "attempt 1 of 3")
	assert.Contains(t, w.said(), "the agent's job handed over nothing")
	assert.Len(t, w.answers(), 1, "in the reply that is there")
	require.Equal(t, model.ResultDone, w.inTwo(ev).Result)
	assert.Contains(t, w.reviewed(), "3 findings")

	w.write("alice", w.head, "more.txt", "more\n")
	ev = w.asksForAReview()
	for range 3 {
		lost()
	}
	assert.Contains(t, w.said(), "Once that is fixed, repeat `/mergexo review`.")
	assert.Equal(t, model.ResultNothing, lost().Result)
	assert.Equal(t, 1, w.calls())
}

func TestAReviewerThatFailsInItsOwnJob(t *testing.T) {
	w := newWorld(t)
	w.finds([]model.Finding{found("x", 1, model.Must, strings.Repeat("x", 300_000))})
	w.gives(model.ResultFailed, w.inTwo(w.asksForAReview()))
	assert.Contains(t, w.said(), "handoff refused: outcome.findings[0]")
	assert.NotContains(t, w.said(), "agent: agent:")
	assert.Empty(t, w.reviewed())
	w.finds(threeFindings())
	require.Equal(t, model.ResultDone, w.inTwo(w.pullEvent()).Result)
	assert.Contains(t, w.reviewed(), "3 findings")
}

func TestACancelledReviewersJobCostsNoAttempt(t *testing.T) {
	w := newWorld(t).whoseAgent("hangs")
	ev, dir := w.asksForAReview(), filepath.Join(t.TempDir(), "handoff")
	w.gate.revive()
	e := w.engine()
	e.Phase, e.Bundle = thread.AgentPhase, dir
	w.gives(model.ResultRetry, w.interrupted(e, ev, 1))
	assert.Zero(t, w.gate.writes)
	w.phase(thread.ApplyPhase, ev, dir)
	assert.Contains(t, w.said(), "attempt 0 of 3")
	w.finds(threeFindings())
	w.agent = "reviews"
	require.Equal(t, model.ResultDone, w.inTwo(w.pullEvent()).Result)
	assert.Contains(t, w.reviewed(), "3 findings")
}

func TestTheHeadMovesBetweenTheJobsOfAReview(t *testing.T) {
	w := newReview(t)
	ev, old := w.asksForAReview(), w.at(w.head)
	dir := w.prepared(ev)
	w.write("alice", w.head, "more.txt", "more\n")
	w.done(w.phase(thread.ApplyPhase, ev, dir))
	assert.Contains(t, fmt.Sprint(w.list("octo", w.pull("/reviews"))), "commit_id:"+old)
	assert.Len(t, w.lineComments(), 1)

	ev = w.asksForAReview()
	dir = w.prepared(ev)
	w.api("octo", "PATCH", w.path("/git/refs/heads/"+w.head), object{"sha": old, "force": true})
	w.write("alice", w.head, "else.txt", "else\n")
	w.gives(model.ResultFailed, w.phase(thread.ApplyPhase, ev, dir))
	assert.Contains(t, w.said(), "which the pull request does not have")
	require.Equal(t, model.ResultDone, w.inTwo(w.pullEvent()).Result)
	assert.Equal(t, 3, w.calls())
}

// The read-only job cannot claim anything: two runs may ask a reviewer, and one review is posted.
func TestTwoRunsInTwoJobsPostOneReview(t *testing.T) {
	t.Parallel()
	for _, c := range splitReviews {
		t.Run(c.name, func(t *testing.T) {
			w := newReview(t, "", c.setting)
			c.asks(w)
			ev := w.delivery(c.event)
			if c.command {
				require.Equal(t, model.ResultDone, w.phase(thread.ApplyPhase, ev, "").Result)
			}
			one, other := w.prepared(ev), w.prepared(ev)
			w.gate.revive()
			w.afterWrite(1, func() { // the claim is there
				e := w.engine()
				e.Phase, e.Bundle = thread.ApplyPhase, other
				w.gives(model.ResultRetry, w.by(e, ev))
			})
			w.done(w.phase(thread.ApplyPhase, ev, one))
			assert.Equal(t, model.ResultNothing, w.phase(thread.ApplyPhase, ev, other).Result)
			assert.Equal(t, 1, strings.Count(w.reviewed(), "== COMMENTED"))
			assert.Equal(t, 2, w.calls())
		})
	}
}

// What the first job says must not keep the second from its work: both are of one run, which is not over.
func TestTheJobsOfOneRunDoNotWaitForEachOther(t *testing.T) {
	w := newReview(t)
	ev, dir, run := w.say("carol", "/mergexo review"), filepath.Join(t.TempDir(), "handoff"), w.engine().Run
	for _, job := range []struct {
		phase thread.Phase
		dir   string
	}{{thread.ApplyPhase, ""}, {thread.AgentPhase, dir}, {thread.ApplyPhase, dir}} {
		e := w.engine()
		e.Phase, e.Bundle, e.Run = job.phase, job.dir, run
		rep := w.by(e, ev)
		require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
	}
	assert.Contains(t, w.reviewed(), "3 findings")
	assert.Equal(t, 1, w.calls())
}

// One run hands one thing over.
func TestAReviewAndATurnTakeTwoRuns(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"the turn", "the review"} {
		t.Run(first, func(t *testing.T) {
			w := newWorld(t).whoseAgent("works+reviews")
			w.finds(threeFindings())
			w.review("alice", "Answer me.")
			if first == "the turn" { // the last job answers the command
				dir := w.prepared(w.delivery("pull_request_review_comment"))
				w.talk("carol", "/mergexo review")
				rep := w.phase(thread.ApplyPhase, w.delivery("pull_request_review_comment"), dir)
				assert.Contains(t, []model.Result{model.ResultDone, model.ResultRetry}, rep.Result, rep.Reason)
				assert.Len(t, w.marked("turn", "done"), 1)
				assert.Empty(t, w.reviewed())
			} else {
				w.gives(model.ResultRetry, w.inTwo(w.asksForAReview()))
				assert.Contains(t, w.reviewed(), "3 findings")
				assert.Empty(t, w.marked("turn", ""))
			}
			w.inTwo(w.pullEvent())
			assert.Len(t, w.marked("turn", "done"), 1)
			assert.Contains(t, w.reviewed(), "3 findings")
			assert.Equal(t, 2, w.calls())
		})
	}
}

// A sweep runs no agent here. It starts a run for the number.
func TestASweepStartsARunForAReview(t *testing.T) {
	w := newReview(t, "", "[review]\nauto = \"label\"")
	w.labels("carol", "agent:review")
	e := w.engine()
	e.Phase = thread.ApplyPhase
	w.sweepWith(e, sweeping.Options{})
	assert.Contains(t, strings.Join(w.gate.seen, "\n"), "/actions/workflows/mergexo.yml/dispatches")
	assert.Contains(t, w.said(), "The findings follow as one review.")
	w.done(w.inTwo(w.pullEvent()))
	assert.Contains(t, w.reviewed(), "3 findings")
	assert.Empty(t, w.labelled())
}
