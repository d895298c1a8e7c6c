package engine_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

// saves has work saved every ten seconds, and lets these pass once when the agent is at work.
func (w *world) saves() {
	w.t.Helper()
	w.agentSetting(`timeout = "1m"`, "timeout = \"1m\"\ncheckpoint_every = \"10s\"")
	w.passing(10*time.Second, atWork)
}

// killed handles an event with an agent that works for ever, and kills the run once its work is on the remote.
func (w *world) killed(ev model.Event) (saved string) {
	w.t.Helper()
	w.saves()
	w.cancelled(w.engine(), ev, func() bool {
		if all := w.checkpoints(); len(all) > 0 {
			saved = all[0]
			w.gate.bury(diesFirst)
		}
		return saved != ""
	}, "work is saved")
	w.gate.revive()
	w.over(w.runs)
	return saved
}

func TestAKilledRunLosesLittleOfALongJob(t *testing.T) {
	w, ev := labelled(t, smallJob, "quiet+hangs")
	saved := w.killed(ev)
	assert.Equal(t, "hello\nquiet\n", w.fileOf(saved, "greeting.txt"))
	assert.Contains(t, w.comments()[0]["body"], saved, "the claim says where")
	assert.NotContains(t, w.branches(), branch)

	w.agent = "job"
	w.done(w.handle(ev))
	assert.Equal(t, "hello\nquiet\nbonjour\n", w.fileOf(branch, "greeting.txt"))
	assert.Len(t, w.pulls(), 1)
	assert.Len(t, w.comments(), 1)
	assert.Equal(t, []string{branch}, slices.Collect(maps.Keys(w.branches())), "nothing else is left")
	commits := w.list("octo", w.path("/commits?sha="+branch))
	assert.Equal(t, "Say bonjour", commits[0].at("commit", "message"))
	assert.True(t, strings.HasPrefix(commits[1].at("commit", "message").(string), "Checkpoint of work on issue 2"))
	assert.Len(t, commits[1]["parents"], 1)
}

func TestAKilledRunOfATurnIsContinuedFromItsSavedWork(t *testing.T) {
	w, ev := commented(t, "quiet+hangs")
	saved := w.killed(ev)
	assert.Equal(t, "hello\nworld\nquiet\n", w.fileOf(saved, "greeting.txt"))
	w.agent = "answer"
	w.done(w.handle(ev))
	assert.Contains(t, w.file("greeting.txt"), "quiet\n")
	assert.Equal(t, []string{"Write greeting.txt", "Checkpoint of work on pull request 1", "Answer, in words of call 3"}, subjectsOf(w.commits()))
	assert.NotContains(t, w.receipt(), saved)
	assert.Empty(t, w.checkpoints())
}

func TestWhatIsSavedMeanwhileIsTakenAwayAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"quiet+waits+job", "quiet+waits+ask"} {
		w := newIssue(t)
		w.saves()
		w.agent = how
		w.handle(w.label("alice", smallJob))
		assert.Equal(t, []string{branch}, slices.Collect(maps.Keys(w.branches())), how)
		// The agent may be done before the run has heard that its work is there, so that the log need not say it.
		_, told := w.send("", "GET", "/_sandbox/deliveries", nil)
		assert.Contains(t, string(told), "refs/heads/mergexo/checkpoint/2/wip-", how)
	}
}

func TestASecretIsNotSavedMeanwhile(t *testing.T) {
	w := newIssue(t).whoseAgent("secret+hangs")
	w.saves()
	ev := w.label("alice", smallJob)
	w.cancelled(w.engine(), ev, func() bool { return strings.Contains(w.logged.String(), "work_not_saved") }, "the work was to be saved")
	assert.Empty(t, w.branches())
	assert.NotContains(t, w.logged.String(), "work_saved")
}
