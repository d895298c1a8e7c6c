package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// openBeside opens another pull request, from a branch of this name, that changes the same line to another text.
func (w *world) openBeside(branch, text string) int {
	w.t.Helper()
	w.later(time.Minute)
	w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/" + branch, "sha": w.at("main")})
	w.write("octo", branch, "greeting.txt", text)
	return int(w.api("octo", "POST", w.path("/pulls"), object{"title": "Beside", "head": branch, "base": "main"})["number"].(float64))
}

// twoThatConflict is a world in which a second pull request changes the same line.
func twoThatConflict(t *testing.T, more ...string) (w *world, other int) {
	t.Helper()
	w = newWorld(t, more...)
	return w, w.openBeside("agent/other", "hello\nmoon\n")
}

// conflictsOn are the texts of the comments on conflicts of a pull request.
func (w *world) conflictsOn(number int) []string {
	w.t.Helper()
	at := w.number
	w.number = number
	defer func() { w.number = at }()
	var out []string
	for _, c := range w.marked("conflicts", "") {
		out = append(out, c["body"].(string))
	}
	return out
}

func TestConflictsAreToldOnceAndTakenBack(t *testing.T) {
	w, other := twoThatConflict(t)
	w.sweep()
	require.Len(t, w.conflictsOn(w.number), 1)
	require.Len(t, w.conflictsOn(other), 1)
	assert.Contains(t, w.conflictsOn(w.number)[0], fmt.Sprintf("#%d", other))
	assert.Contains(t, w.conflictsOn(other)[0], fmt.Sprintf("#%d", w.number))
	assert.Contains(t, w.conflictsOn(other)[0], "greeting.txt")
	w.quiet()

	w.write("octo", "main", "greeting.txt", "hello\nsun\n")
	w.sweep()
	require.Len(t, w.conflictsOn(w.number), 1, "the same comment is brought up to date")
	assert.Contains(t, w.conflictsOn(w.number)[0], w.at("main")[:10], "it names the commit that is in the way")
	w.quiet()

	w.write("octo", "main", "greeting.txt", "hello\n")
	w.api("octo", "PATCH", w.path(fmt.Sprintf("/pulls/%d", other)), object{"state": "closed"})
	w.sweep()
	assert.Empty(t, w.conflictsOn(w.number), "nothing is in the way any more")
	w.quiet()
}

func TestConflictsAreNotToldWhereNobodyWantsToKnow(t *testing.T) {
	w, other := twoThatConflict(t, "", "[sweep]\nconflicts = \"never\"")
	w.sweep()
	assert.Empty(t, w.conflictsOn(w.number))
	assert.Empty(t, w.conflictsOn(other))
	w.quiet()
}

func TestConflictsWithAPullRequestThatIsNotTrackedAreToldOnTheOtherOne(t *testing.T) {
	w := newWorld(t)
	other := w.openBeside("feature/other", "hello\nmoon\n")
	w.sweep()
	assert.Len(t, w.conflictsOn(w.number), 1)
	assert.Empty(t, w.conflictsOn(other), "nobody asked MergeXO to speak there")
	w.quiet()
}

// TestOnePullRequestKeepsNoOtherFromBeingTold: it was moved to a base without settings, which are that branch's own affair.
func TestOnePullRequestKeepsNoOtherFromBeingTold(t *testing.T) {
	w, other := twoThatConflict(t)
	w.sweep()
	require.Len(t, w.conflictsOn(other), 1)
	made := w.api("octo", "POST", w.path("/git/commits"), object{"message": "No settings", "tree": w.api("octo", "POST", w.path("/git/trees"), object{
		"tree": []any{object{"path": "a.txt", "mode": "100644", "type": "blob", "content": "a\n"}}})["sha"], "parents": []any{}})["sha"]
	w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/release", "sha": made})
	w.api("octo", "PATCH", w.pull(""), object{"base": "release"})
	third := w.openBeside("agent/third", "hello\nsun\n")
	w.sweep()
	assert.Len(t, w.conflictsOn(third), 1)
	w.quiet()
}

// TestASweepThatCouldNotTellOneOfItsConflictsTriesAgain: the others are told, and no word is left that all was looked at.
func TestASweepThatCouldNotTellOneOfItsConflictsTriesAgain(t *testing.T) {
	w, other := twoThatConflict(t)
	w.fail(object{"match": object{"method": "POST", "path": fmt.Sprintf("/api/v3/repos/octo/widgets/issues/%d/comments", w.number)}, "status": 403, "times": 100})
	w.sweepOrDie()
	w.fail()
	assert.Len(t, w.conflictsOn(other), 1)
	assert.Empty(t, w.conflictsOn(w.number))
	w.sweep()
	assert.Len(t, w.conflictsOn(w.number), 1)
	w.quiet()
}

// TestAPullRequestThatIsClosedWhileOthersAreVisitedConflictsWithNobody: its branch is still there.
func TestAPullRequestThatIsClosedWhileOthersAreVisitedConflictsWithNobody(t *testing.T) {
	w, other := twoThatConflict(t)
	w.sweep()
	w.later(time.Minute)
	w.rewritten()
	w.beforeWriting(func() { // the guard is about to block it, and a person closes it
		w.api("alice", "PATCH", w.pull(""), object{"state": "closed"})
	})
	w.sweep()
	assert.Empty(t, w.conflictsOn(other))
}

func TestTwoSweepsAtOnceSayEverythingOnce(t *testing.T) {
	w, other := twoThatConflict(t)
	w.review("alice", "Answer me.")
	w.beforeWriting(func() { w.sweep() })
	w.sweep()
	w.gate.revive()
	w.sweep()
	assert.Len(t, w.marked("turn", "done"), 1)
	assert.Len(t, w.replies(), 1)
	assert.Equal(t, 1, w.calls())
	assert.Len(t, w.conflictsOn(other), 1)
	w.quiet()
}

func TestAReplyThatWasDeletedIsReportedOnceAndNotPostedAgain(t *testing.T) {
	w := newWorld(t)
	w.review("alice", "Answer me.")
	w.sweep()
	reply := w.replies()[0].id()
	w.later(time.Minute)
	status, _ := w.send("octo", "DELETE", w.path(fmt.Sprintf("/pulls/comments/%d", reply)), nil)
	require.Equal(t, 204, status)
	assert.Contains(t, w.due(), fmt.Sprintf("%d replies", w.number))
	before := len(w.comments())
	w.sweep()
	assert.Len(t, w.comments(), before+1)
	assert.Empty(t, w.replies())
	w.quiet()
	assert.Equal(t, 1, w.calls())
}

func TestASweepTellsWhereTheWorkIsThatAMergeOvertook(t *testing.T) {
	w := newWorld(t)
	w.review("alice", "Answer me.")
	w.gate.pushes(diesFirst, func(n int) bool { return n == 2 }) // the branch's push, which would have dropped the stage
	w.handle(w.delivery("pull_request_review_comment"))
	w.gate.revive()
	require.NotEmpty(t, w.stages())
	w.api("octo", "PUT", w.pull("/merge"), object{})
	w.sweep()
	assert.NotEmpty(t, w.stages(), "it is the only copy of the agent's work")
	assert.Contains(t, w.marked("turn", "failed")[0]["body"], "git fetch origin refs/mergexo/turn/")
	w.quiet()
}

func TestARateLimitInTheMiddleLeavesTheRestToTheNextSweep(t *testing.T) {
	w := newWorld(t)
	w.review("alice", "Answer me.")
	w.fail(object{"match": object{"method": "POST", "path": "/api/v3/repos/octo/widgets/issues"}, "status": 403, "times": 1,
		"headers": object{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": fmt.Sprint(w.now.Add(time.Hour).Unix())}, "body": object{"message": "API rate limit exceeded"}})
	swept := w.sweep()
	assert.Equal(t, model.ResultRetry, swept.Result())
	w.fail()
	w.sweep()
	assert.Len(t, w.marked("turn", "done"), 1)
	w.quiet()
}

func TestASweepTakesAwayLeasesThatAreOver(t *testing.T) {
	w := newWorld(t)
	w.sweep()
	lease := func(base string, until time.Time) string {
		message := fmt.Sprintf("{\"holder\": \"somebody\", \"until\": %q}", until.UTC().Format(time.RFC3339))
		ref, tree := "refs/mergexo/lock/"+base, w.api("octo", "GET", w.path("/git/commits/"+w.at("main")), nil).at("tree", "sha")
		sha := w.api("octo", "POST", w.path("/git/commits"), object{"message": message, "tree": tree, "parents": []string{}})["sha"]
		w.api("octo", "POST", w.path("/git/refs"), object{"ref": ref, "sha": sha})
		return ref
	}
	w.openBeside("agent/other", "hello\nmoon\n") // leases alone are no reason to fetch anything
	over, held := lease("main", w.now.Add(-time.Minute)), lease("next", w.now.Add(time.Minute))
	w.sweep()
	left := fmt.Sprint(w.stages())
	assert.NotContains(t, left, over)
	assert.Contains(t, left, held)
}
