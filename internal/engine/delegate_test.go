package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// newDelegate is newMerge with dana, who may read.
func newDelegate(t *testing.T) *world {
	t.Helper()
	w := newMerge(t)
	w.put("/_sandbox/users/dana", object{"type": "User", "repository": repo.String(), "permission": "read"})
	return w
}

func TestADelegateMayMergeOnePullRequestAndNothingElse(t *testing.T) {
	w := newDelegate(t)
	w.talk("dana", "/mergexo merge") // which counts no more later than now
	w.orders("carol", "/mergexo delegate @dana")
	w.answered("applied", "@dana can now have this pull request merged")
	assert.Len(t, w.answers(), 1)

	assert.Zero(t, strings.Count(w.logged.String(), "grants_not_signed"), "nothing was granted before")

	other := w.second("agent/other", "other.txt")
	w.approve("alice")
	w.command("dana", "/mergexo merge")
	assert.Equal(t, "open", w.badge())
	assert.Empty(t, w.answers(), "she is nobody on pull request %d", other)

	w.number, w.head = 1, "agent/greet"
	for i, text := range []string{"/mergexo merge now", "/mergexo pause"} {
		w.orders("dana", text)
		w.answered("rejected", "dana can give `/mergexo merge`")
		assert.Len(t, w.answers(), 2+i, text)
	}
	w.talk("dana", "/mergexo merge") // whose event gets lost
	w.sweep()
	assert.Equal(t, []string{"done"}, w.merges(), w.logged.String())
	assert.Equal(t, "merged", w.badge())
	assert.Contains(t, w.logged.String(), "level=WARN msg=grants_not_signed issue_number=0 pr_number=1 delegates=1")
	w.orders("dana", "/mergexo revert")
	w.answered("rejected", "dana can give `/mergexo merge`")
}

func TestADelegationIsTakenBackForGood(t *testing.T) {
	w := newDelegate(t)
	w.orders("carol", "/mergexo delegate @dana")
	w.orders("carol", "/mergexo delegate cancel")
	w.answered("applied", "**Revoked.**")
	w.command("dana", "/mergexo merge")
	assert.Empty(t, w.merges())
	all := w.marked("command", "")
	w.api("octo", "DELETE", w.path(fmt.Sprintf("/issues/comments/%d", all[len(all)-1].id())), nil) // the receipt of the cancel
	w.command("dana", "/mergexo merge")
	w.command("dana", "/mergexo merge")
	assert.Empty(t, w.merges(), "whoever deletes a reply gives nobody rights")
	w.orders("carol", "/mergexo delegate cancel")
	w.answered("rejected", "has no delegates")
}

// However long a conversation gets, and however little of it is read, a receipt knows the delegates.
func TestAReceiptKeepsTheDelegates(t *testing.T) {
	w := newDelegate(t)
	w.orders("carol", "/mergexo delegate @dana")
	require.Equal(t, model.ResultDone, w.handle(w.remark("alice", "Answer me.")).Result)
	assert.Contains(t, w.lastSaid(), `"delegates":[{"login":"dana"`)
}
