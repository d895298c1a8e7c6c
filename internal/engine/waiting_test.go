package engine_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// standings are how all pull requests stand for somebody with a token, and what waits for a person.
func (w *world) standings(token string) ([]model.Status, []model.Need) {
	w.t.Helper()
	all, waiting, err := w.engineAs(token).Standings(context.Background(), repo)
	require.NoError(w.t, err)
	return all, waiting
}

// waiting is all that waits for a person, as "NUMBER kind reason"; every entry links a comment.
func (w *world) waiting(token string) []string {
	w.t.Helper()
	out := []string{}
	_, all := w.standings(token)
	for _, n := range all {
		out = append(out, fmt.Sprint(n.Number, " ", n.Kind, " ", n.Reason))
		assert.Contains(w.t, n.URL, "#issuecomment-", n.Headline)
	}
	return out
}

func TestWhatWaitsForAPersonIsOneList(t *testing.T) {
	w := newIssue(t).whoseAgent("ask")
	rep := w.gives(model.ResultBlocked, w.handle(w.label("alice", smallJob)))
	require.NotNil(t, rep.Need, "the job summary shows it")
	assert.Equal(t, "answer the agent's question", rep.Need.Headline)
	issue := w.number
	w.number, w.agent = 1, "answer"
	w.approve("alice")
	rep = w.blocked("NO_TESTS", w.command("carol", "/mergexo merge"))
	require.NotNil(t, rep.Need, "the job summary shows it")
	assert.Equal(t, "set a test command (or none) in [merge] tests", rep.Need.Headline)
	want := []string{"1 merge NO_TESTS", fmt.Sprint(issue, " issue agent_blocked")}
	for _, token := range []string{"sandbox-actions", "sandbox-carol"} {
		assert.Equal(t, want, w.waiting(token), token)
	}
	board := w.board()
	assert.Len(t, board.Needs(), 2, "the dashboard shows the same")

	why := must.Get(w.engineAs("sandbox-carol").Why(context.Background(), repo, issue))(t)
	assert.Contains(t, why.Step, "waits for a person (agent_blocked)")
	assert.Equal(t, "answer the agent's question", why.Issue.Need.Headline)

	why = must.Get(w.engineAs("sandbox-carol").Why(context.Background(), repo, 1))(t)
	last := why.Merges[len(why.Merges)-1]
	assert.Equal(t, model.GateName("last_request"), last.Name)
	assert.False(t, last.Met)
	assert.Contains(t, last.Evidence, "refused (NO_TESTS), see http")
	w.orders("carol", "/mergexo why")
	w.answered("applied", "It cannot be merged yet: refused (NO_TESTS), see http")
	w.answered("applied", "Waiting for a person: [set a test command (or none) in [merge] tests")
}

// People may have branches merged that are no business of the agent's.
func TestAMergeThatWaitsIsListedThoughItsBranchIsNotTracked(t *testing.T) {
	w := newMerge(t)
	settings := "[repo]\ntrack = []\n[merge]\n"
	w.write("octo", "main", ".github/mergexo.toml", settings+"approvals = 2\ntests = \"none\"\n")
	w.talk("alice", "What do you think?")
	stands := func(want model.StatusState) {
		t.Helper()
		all, _ := w.standings("sandbox-actions")
		require.Len(t, all, 1)
		assert.Equal(t, want, all[0].State)
		assert.Zero(t, all[0].Pending, "people talk to each other")
	}
	assert.Empty(t, w.waiting("sandbox-carol"))
	w.command("carol", "/mergexo merge")
	require.Equal(t, []string{"in_approval APPROVAL_MISSING"}, w.merges())
	assert.Equal(t, []string{"1 merge APPROVAL_MISSING"}, w.waiting("sandbox-carol"))
	stands(model.StatusQueued)

	w.write("octo", "main", ".github/mergexo.toml", settings)
	w.approve("bob")
	w.command("carol", "/mergexo merge")
	assert.Equal(t, []string{"1 merge NO_TESTS"}, w.waiting("sandbox-carol"))
	stands(model.StatusUntracked)
	board := w.board()
	assert.Zero(t, board.Untracked)
}
