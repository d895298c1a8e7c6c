package engine_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// checkpoints are the branches that keep work which stopped half-way.
func (w *world) checkpoints() []string {
	w.t.Helper()
	var names []string
	for _, b := range w.list("octo", w.path("/branches")) {
		if name := b["name"].(string); strings.HasPrefix(name, "mergexo/checkpoint/") {
			names = append(names, name)
		}
	}
	return names
}

// kept is the one checkpoint there is, with the subjects of its commits since the pull request's head, oldest first.
func (w *world) kept() (branch string, subjects []string) {
	w.t.Helper()
	all := w.checkpoints()
	require.Len(w.t, all, 1)
	diff := w.api("octo", "GET", w.path("/compare/"+w.tip()+"..."+all[0]), nil)
	for _, c := range diff["commits"].([]any) {
		message := object(c.(map[string]any)).at("commit", "message").(string)
		subject, _, _ := strings.Cut(message, "\n")
		subjects = append(subjects, subject)
	}
	return all[0], subjects
}

// subjectsOf are the first lines of messages.
func subjectsOf(messages []string) []string {
	var subjects []string
	for _, m := range messages {
		subject, _, _ := strings.Cut(m, "\n")
		subjects = append(subjects, subject)
	}
	return subjects
}

// linkOf is the link to what a branch has now.
func (w *world) linkOf(branch string) string {
	w.t.Helper()
	return fmt.Sprintf("[`%s`](%s/%s/tree/%s)", branch, w.origin, repo, w.at(branch))
}

func TestWorkThatStopsHalfWayIsKeptAndLinked(t *testing.T) {
	type row struct {
		says, reason string
		result       model.Result
		kept         []string
	}
	each(t, map[string]row{
		"commits+dirty+fail": {"turn", "", model.ResultFailed, []string{"Agent's one", "Agent's two", "Checkpoint of work on pull request 1"}},
		"commits+stuck":      {"block", "agent_blocked", model.ResultBlocked, []string{"Agent's one", "Agent's two"}},
	}, func(t *testing.T, how string, c row) {
		w := newWorld(t).whoseAgent(how)
		before := w.tip()
		ev := w.remark("alice", "Answer me.")
		rep := w.handle(ev)
		assert.Equal(t, c.result, rep.Result, rep.Reason)
		assert.Equal(t, c.reason, rep.BlockedReason)
		assert.Equal(t, before, w.tip())
		branch, subjects := w.kept()
		assert.Equal(t, c.kept, subjects)
		assert.Contains(t, w.saidOnce(c.says, ""), w.linkOf(branch))
		assert.Empty(t, w.replies())

		w.agent = "answer"
		if c.result == model.ResultBlocked {
			ev = w.say("carol", "/mergexo unblock")
		}
		require.Equal(t, model.ResultDone, w.handle(ev).Result)
		w.settled(1, 1, len(c.kept)+1)
		assert.Equal(t, c.kept, subjectsOf(w.commits())[1:len(c.kept)+1], "the next attempt went on from there")
	})
}

func TestWhatNoBranchMayHoldIsKeptHidden(t *testing.T) {
	w := newWorld(t).whoseAgent("workflow+fail")
	assert.Equal(t, model.ResultFailed, w.handle(w.remark("alice", "Answer me.")).Result)
	assert.Empty(t, w.checkpoints())
	paste := regexp.MustCompile("To look at it: `(git fetch .*)`").FindStringSubmatch(w.marked("turn", "failed")[0]["body"].(string))
	require.NotNil(t, paste)
	w.pasted(paste[1] + " && test -f .github/workflows/x.yml")
}

func TestARewrittenHistoryIsKeptAside(t *testing.T) {
	w := newWorld(t).whoseAgent("amend+fail")
	assert.Equal(t, model.ResultFailed, w.handle(w.remark("alice", "Answer me.")).Result)
	require.Len(t, w.checkpoints(), 1)
	assert.Contains(t, w.marked("turn", "failed")[0]["body"], w.linkOf(w.checkpoints()[0]))
	assert.Equal(t, []string{"Write greeting.txt"}, w.commits(), "and not on the branch")
}
