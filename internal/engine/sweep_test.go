package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/engine/sweeping"
	"github.com/mergexo/mergexo/internal/model"
)

func TestASweepTakesUpFeedbackWhoseTriggerWasLost(t *testing.T) {
	w := newWorld(t)
	w.review("alice", "Answer me.")
	assert.Equal(t, []string{"1 feedback", "0 conflicts"}, w.due())
	w.done(w.visited())
	assert.Len(t, w.marked("turn", "done"), 1)
	assert.Len(t, w.replies(), 1)
	assert.Equal(t, 1, w.calls())
	w.quiet()
}

func TestASweepTracksAPullRequestWhoseOpeningNobodyHeard(t *testing.T) {
	w := newWorld(t)
	w.done(w.visited())
	assert.Len(t, w.marked("pr", ""), 1)
	assert.Zero(t, w.calls(), "nobody said anything")
	w.quiet()
}

func TestASweepMakesGoodWhatADeadRunLeft(t *testing.T) {
	w, ev := twoComments(t)
	dead := w.wrecks(func() { w.handle(ev) })
	want, last := w.shows(), w.gate.writes
	dead.each(t, writes(1, last, 2, 5), func(t *testing.T, w *world, _ int) {
		w.sweep()
		assert.Equal(t, want, w.shows())
		w.quiet()
	})
}

func TestASweepTriesAnAgentThatFailedAgainUntilItBlocks(t *testing.T) {
	w := newWorld(t).whoseAgent("fail")
	w.handle(w.remark("alice", "Answer me."))
	for range 2 {
		w.later(time.Minute)
		w.sweep()
	}
	assert.Len(t, w.marked("block", ""), 1, "after the third attempt")
	assert.Equal(t, 3, w.calls())
	w.quiet()
}

func TestASweepAnswersACommandWhoseTriggerWasLost(t *testing.T) {
	w := newWorld(t)
	w.sweep()
	w.talk("octo", "/mergexo pause")
	assert.Equal(t, []string{"1 command"}, w.due())
	w.sweep()
	assert.Len(t, w.marked("command", ""), 1)
	w.quiet()
}

func TestASweepBlocksAHeadThatWasRewritten(t *testing.T) {
	w := newWorld(t)
	w.sweep()
	w.later(time.Minute)
	w.rewritten()
	assert.Equal(t, []string{"0 conflicts"}, w.due(), "the guard of histories goes with the radar")
	w.gives(model.ResultBlocked, w.visited())
	assert.Len(t, w.marked("block", ""), 1)
	w.quiet()
}

func TestASweepOfOneNumberLeavesTheOthersAlone(t *testing.T) {
	w := newWorld(t)
	w.review("alice", "Answer me.")
	swept := w.sweepBy(sweeping.Options{Only: []int{w.number}})
	assert.Equal(t, model.ResultDone, of(swept, w.number).Result)
	assert.Equal(t, []string{"0 conflicts"}, w.due())
	w.sweepBy(sweeping.Options{Repository: true})
	w.quiet()
}

func TestASweepOfARepositoryWithoutPullRequests(t *testing.T) {
	w := newWorld(t)
	w.api("octo", "PATCH", w.pull(""), object{"state": "closed"})
	w.quiet()
}

func TestASweepIsBoundedAndLeavesTheRestToTheNextOne(t *testing.T) {
	w := newWorld(t, "", "[sweep]\nmax_items = 1")
	w.openBeside("agent/other", "hello\nmoon\n")
	first := w.sweep()
	assert.Equal(t, model.ResultRetry, first.Result())
	assert.Len(t, w.marked("pr", ""), 1, "the one that has waited longest")
	assert.NotEmpty(t, w.conflictsOn(w.number), "what is the whole repository's does not wait for that")
	second := w.sweep()
	assert.Equal(t, model.ResultDone, second.Result())
	w.quiet()
}

func TestTheCallsOfASweepAreInItsReports(t *testing.T) {
	w := newWorld(t)
	w.review("alice", "Answer me.")
	swept := w.sweep()
	api, git := w.gate.counted()
	sum := model.Calls{}
	for _, r := range swept.Results {
		sum.REST, sum.GraphQL, sum.Git = sum.REST+r.Calls.REST, sum.GraphQL+r.Calls.GraphQL, sum.Git+r.Calls.Git
	}
	assert.Equal(t, api, sum.REST+sum.GraphQL)
	assert.Equal(t, git, sum.Git)
}
