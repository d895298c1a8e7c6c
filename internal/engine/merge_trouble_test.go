package engine_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// request is the text of the only request to merge.
func (w *world) request() string {
	w.t.Helper()
	said := w.marked("merge", "")
	require.Len(w.t, said, 1)
	return said[0]["body"].(string)
}

func TestMergeApprovalHoldsForTheSameChangeOnANewerBase(t *testing.T) {
	w := newMerge(t)
	w.write("octo", "main", "other.txt", "meanwhile\n")
	base := w.at("main")
	tree := w.bare("merge-tree", "--write-tree", "main", w.head)
	sha := w.api("alice", "POST", w.path("/git/commits"), object{"message": "Write greeting.txt", "tree": tree, "parents": []any{base}})["sha"].(string)
	w.move(sha)
	w.done(w.command("carol", "/mergexo merge"))
	assert.Equal(t, sha, w.at("main"))
}

func TestMergeWhileTheBaseMoves(t *testing.T) {
	w := newMerge(t)
	w.write("octo", "main", "other.txt", "meanwhile\n")
	n := 0
	w.gate.at = func(_ int, r *http.Request) fate {
		if strings.HasSuffix(r.URL.Path, "git-receive-pack") {
			n++
			w.write("octo", "main", fmt.Sprintf("moving-%d.txt", n), "on\n")
		}
		return passes
	}
	w.gives(model.ResultRetry, w.command("carol", "/mergexo merge"))
	assert.Equal(t, []string{"in_approval BASE_MOVED"}, w.merges())
	assert.Equal(t, "open", w.badge())
	w.gate.revive()
	w.done(w.handle(w.delivery("pull_request_review")))
	assert.Equal(t, "merged", w.badge())
	assert.Equal(t, "hello\nworld\n", w.fileOf("main", "greeting.txt"))
	for i := 1; i <= n; i++ {
		assert.Equal(t, "on\n", w.fileOf("main", fmt.Sprintf("moving-%d.txt", i)), "nobody's work is lost")
	}
}

func TestMergeOntoABaseThatIsRewoundMeanwhile(t *testing.T) {
	first := ""
	w := whileTestedBy(t, func(w *world) deed {
		first = w.at("main")
		w.write("octo", "main", "secret.txt", "to be taken back\n")
		return deed{"octo", "PATCH", "/git/refs/heads/main", fmt.Sprintf(`{"sha":%q,"force":true}`, first)}
	})
	w.blocked("BASE_REWOUND", w.command("carol", "/mergexo merge"))
	assert.Equal(t, first, w.at("main"), "nothing is brought back")
	w.requested("merge_failed BASE_REWOUND")
}

func TestMergeOfAHeadThatMovesMeanwhile(t *testing.T) {
	w := newMerge(t)
	w.write("octo", "main", "other.txt", "meanwhile\n")
	w.beforeGitPush(1, func() { w.write("alice", w.head, "late.txt", "not approved\n") })
	w.inVain("/mergexo merge", "merge_failed HEAD_MOVED")
	assert.Equal(t, "not approved\n", w.file("late.txt"), "nobody's work is lost")
}

func TestMergeWaitsUntilGitHubShowsTheHead(t *testing.T) {
	w := newMerge(t)
	w.write("octo", "main", "other.txt", "meanwhile\n")
	w.put("/_sandbox/lag", object{"repository": repo.String(), "heads": 3, "merges": 2})
	w.lands("/mergexo merge")
}

func TestMergeOfANewerRequest(t *testing.T) {
	w := unapproved(t)
	w.command("carol", "/mergexo merge strategy=squash")
	assert.Equal(t, []string{"merge_failed SUPERSEDED", "in_approval APPROVAL_MISSING"}, w.merges())
	w.write("octo", "main", "other.txt", "meanwhile\n")
	w.done(w.endorsed("alice"))
	assert.Equal(t, "Write greeting.txt", w.bare("log", "-1", "--format=%s", "main"), "one commit keeps its message")
}

func TestMergeDryRunChangesNothing(t *testing.T) {
	w := newMerge(t)
	w.write("octo", "main", "other.txt", "meanwhile\n")
	before, head := w.at("main"), w.tip()
	w.done(w.command("carol", "/mergexo merge dry-run"))
	assert.Equal(t, before, w.at("main"))
	assert.Equal(t, head, w.tip())
	assert.Empty(t, w.merges())
	assert.Empty(t, w.stages())
	w.write("octo", "main", "greeting.txt", "goodbye\n")
	w.command("carol", "/mergexo merge dry-run")
	assert.Contains(t, w.lastSaid(), "greeting.txt")
}

func TestMergeAndTurnExcludeEachOther(t *testing.T) {
	w := newMerge(t)
	turn := w.remark("alice", "Say it louder.")
	var rep model.Report
	asked := false
	w.gate.after = func(int) {
		if len(w.marked("turn", "started")) > 0 && !asked {
			asked = true
			rep = w.by(w.engine(), w.say("carol", "/mergexo merge"))
		}
	}
	w.handle(turn)
	require.True(t, asked)
	assert.Equal(t, model.ResultRetry, rep.Result, rep.Reason)
	assert.Equal(t, "open", w.badge())
	assert.NotEmpty(t, w.replies(), "the turn came to its end")
}

// failsHalfWay has a merge move the head, and the base refuse the push then.
func (w *world) failsHalfWay() {
	w.t.Helper()
	w.write("octo", "main", "other.txt", "meanwhile\n")
	w.beforeGitPush(3, func() { // lock, head, base
		w.put("/_sandbox/protection", object{"repository": repo.String(), "branch": "main", "push": []string{"octo"}})
	})
	before := w.tip()
	rep := w.command("carol", "/mergexo merge")
	w.gate.revive()
	require.Equal(w.t, "PROTECTED", rep.BlockedReason, rep.Reason)
	require.Equal(w.t, []string{"merge_failed PROTECTED"}, w.merges())
	require.NotEqual(w.t, before, w.tip(), "the head has moved")
}

func TestTurnGoesOnAfterAMergeThatFailedHalfWay(t *testing.T) {
	w := newMerge(t)
	w.handle(w.remark("bob", "First of all.")) // the history guard has its baseline
	w.approve("alice")
	w.failsHalfWay()
	w.done(w.handle(w.remark("alice", "Say it louder.")))
	assert.Empty(t, w.marked("block", ""))
}

// The author's branch has moved when the base refuses: one command puts it back, and nobody takes that for a rewrite.
func TestMergeThatTheBaseRefusesTellsHowToHaveTheBranchBack(t *testing.T) {
	w := newMerge(t)
	before := w.tip()
	w.failsHalfWay()
	assert.Contains(t, w.request(), fmt.Sprintf("\ngit push --force-with-lease=%[1]s:%[2]s origin %[3]s:refs/heads/%[1]s\n", w.head, w.tip(), before))
	w.move(before)
	w.done(w.handle(w.remark("alice", "Say it louder.")))
	assert.Empty(t, w.marked("block", ""))
}
