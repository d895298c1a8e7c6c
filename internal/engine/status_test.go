package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// reports has somebody set a status, and MergeXO hear of it.
func (w *world) reports(login, sha, name, state string) model.Report {
	w.t.Helper()
	w.later(time.Minute)
	w.api(login, "POST", w.path("/statuses/"+sha), object{"state": state, "context": name})
	return w.handle(w.delivery("status"))
}

// A service that reports by statuses starts no workflow run. Its word alone lands a car, by the branch that is at the commit.
func TestAStatusWakesTheTrain(t *testing.T) {
	w := trainOf(newMerge(t, `verify = "ci"`, `required_checks = ["ci/slow"]`), "true\n")
	w.reports("bob", w.tip(), "ci/slow", "success")
	w.command("carol", "/mergexo merge")
	_, tip := w.only()
	w.reports("bob", tip, "ci/slow", "pending")
	assert.Equal(t, []string{"in_approval IN_TRAIN"}, w.merges())
	w.done(w.reports("bob", tip, "ci/slow", "success"))
	assert.Equal(t, "merged", w.badge(), w.request())
}

// The check run of another App starts one, and tells the branch by its suite.
func TestACheckRunWakesTheTrain(t *testing.T) {
	w := trainOf(newMerge(t, `verify = "ci"`, `required_checks = ["slow@some-ci"]`), "true\n")
	w.put("/_sandbox/users/some-ci[bot]", object{"type": "Bot", "repository": repo.String(), "permission": "write"})
	check := func(sha string) {
		w.later(time.Minute)
		w.api("some-ci[bot]", "POST", w.path("/check-runs"), object{"name": "slow", "head_sha": sha, "conclusion": "success"})
	}
	check(w.tip())
	w.command("carol", "/mergexo merge")
	_, tip := w.only()
	check(tip)
	w.handle(w.delivery("check_run"))
	assert.Equal(t, "merged", w.badge(), w.request())
}

// A merge that waits for a status goes on by it, whosever branch the head is on.
func TestAStatusWakesThePullRequestsOfItsCommit(t *testing.T) {
	w := newMerge(t, `required_checks = ["ci/slow@some-ci"]`)
	w.put("/_sandbox/users/some-ci[bot]", object{"type": "Bot", "repository": repo.String(), "permission": "write"})
	w.command("carol", "/mergexo merge")
	require.Equal(t, []string{"in_approval CHECKS_PENDING"}, w.merges())
	for _, login := range []string{"bob", "github-actions[bot]"} { // of whom nobody knows how they come to say so
		w.reports(login, w.tip(), "ci/slow", "success")
		require.Equal(t, []string{"in_approval CHECKS_PENDING"}, w.merges(), login)
	}
	rep := w.reports("some-ci[bot]", w.tip(), "ci/slow", "success")
	assert.Equal(t, 1, rep.Number)
	assert.Equal(t, "merged", w.badge(), w.request())

	rep = w.ended(model.ResultNothing, "is the head of no open pull request", w.reports("some-ci[bot]", w.at("main"), "ci/slow", "success"))
	assert.Equal(t, model.Calls{GraphQL: 1}, rep.Calls)
}

// GitHub connects a fork's commit with no pull request. The commit tells which one it is the head of.
func TestChecksOfAForkWakeItsPullRequest(t *testing.T) {
	w := newExternal(t)
	w.put("/_sandbox/runs/7001", object{"name": "ci", "path": ".github/workflows/ci.yml", "event": "pull_request", "status": "completed", "head_sha": w.theirs(), "head_branch": w.head, "head_repository": "mallory/widgets"})
	assert.Equal(t, w.number, w.handle(w.delivery("workflow_run")).Number)
	assert.Equal(t, w.number, w.reports("bob", w.theirs(), "ci/slow", "success").Number)
}
