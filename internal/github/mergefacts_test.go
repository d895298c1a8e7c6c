package github

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func (w *world) facts(c *Client, n int, branch string) model.MergeFacts {
	w.t.Helper()
	return must.Get(c.Threads.MergeFacts(w.t.Context(), widgets, n, branch, ""))(w.t)
}

func (w *world) tip(branch string) string {
	w.t.Helper()
	return w.as("octo", "GET", "git/ref/heads/"+branch, nil)["object"].(map[string]any)["sha"].(string)
}

func (w *world) review(login string, n int, event string) time.Time {
	w.t.Helper()
	at := w.tick()
	w.as(login, "POST", fmt.Sprintf("pulls/%d/reviews", n), map[string]any{"event": event, "body": "so"})
	return at
}

func TestMergeFacts(t *testing.T) {
	w, n := newPull(t)
	head, opened := w.tip("agent/7"), w.tip("main")
	w.put("main", "b.txt", "meanwhile\n")
	approved := w.review("ada", n, "APPROVE")
	w.review("tri", n, "APPROVE")
	w.review("ada", n, "COMMENT")
	against := w.review("grace", n, "REQUEST_CHANGES")
	posted := w.tick()
	w.as("octo", "POST", "statuses/"+head, map[string]any{"context": "lint", "state": "failure"})
	w.as("octo", "POST", "statuses/"+head, map[string]any{"context": "lint", "state": "pending", "target_url": "http://lint.example.com/1"})
	w.as("github-actions[bot]", "POST", "check-runs", map[string]any{"name": "ci", "head_sha": head, "conclusion": "failure"})
	again := w.tick()
	w.as("github-actions[bot]", "POST", "check-runs", map[string]any{"name": "ci", "head_sha": head, "conclusion": "skipped", "details_url": "http://ci.example.com/2"})
	w.as("octo", "PATCH", "", map[string]any{"allow_squash_merge": false})
	w.control("protection", map[string]any{"push": []string{"octo"}, "checks": []string{"ci"}, "approvals": 2, "linear": true})
	// One pull request more from the branch, and one onto it.
	w.as("octo", "POST", "git/refs", map[string]any{"ref": "refs/heads/other", "sha": opened})
	w.as("octo", "POST", "pulls", map[string]any{"title": "Also", "head": "agent/7", "base": "other"})
	w.as("octo", "POST", "git/refs", map[string]any{"ref": "refs/heads/next", "sha": head})
	w.put("next", "c.txt", "more\n")
	w.as("octo", "POST", "pulls", map[string]any{"title": "Next", "head": "next", "base": "agent/7"})

	c := w.client("ada")
	f := w.facts(c, n, "agent/7")
	assert.Equal(t, "0 REST, 1 GraphQL", calls(c))
	url := func(r model.Review) model.Review { r.URL = ""; return r }
	require.Len(t, f.Reviews, 2)
	assert.Equal(t, model.Review{Login: "ada", State: "APPROVED", SHA: head, At: approved}, url(f.Reviews[0]))
	assert.Equal(t, model.Review{Login: "grace", State: "CHANGES_REQUESTED", SHA: head, At: against}, url(f.Reviews[1]))
	assert.Contains(t, f.Reviews[0].URL, "#pullrequestreview-")
	require.Len(t, f.Checks, 2)
	assert.NotEmpty(t, f.Checks[0].Suite)
	f.Checks[0].Suite = ""
	assert.Equal(t, []model.Check{
		{Name: "ci", App: "github-actions", State: model.CheckPassed, Required: true, URL: "http://ci.example.com/2", At: again},
		{Name: "lint", State: model.CheckPending, URL: "http://lint.example.com/1", At: posted},
	}, f.Checks)
	f.Reviews, f.Checks = nil, nil
	assert.Equal(t, model.MergeFacts{
		HeadSHA: head, BaseSHA: w.tip("main"), BaseRecorded: opened, PushRefused: true, RuleKnown: true, RequiredApprovals: 2, LinearHistory: true,
		Demands: []model.Demand{
			{Kind: model.DemandPull, Source: "branch protection"}, {Kind: model.DemandChecks, Source: "branch protection", Names: []string{"ci"}},
		},
		RequiredChecks: []string{"ci"}, Methods: []string{"merge", "rebase"}, Users: []int{n + 1, n + 2}, Onto: []int{n + 2}, Commits: 1,
	}, f)
	assert.Empty(t, w.facts(c, n, "").Users)
}

func TestMergeFactsOfConflictsAndMerges(t *testing.T) {
	w, n := newPull(t)
	w.put("main", "a.txt", "else\n")
	c := w.client("octo")
	assert.False(t, w.facts(c, n, "").Conflicting, "GitHub does not know yet")
	f := w.facts(c, n, "")
	assert.True(t, f.Conflicting)
	assert.False(t, f.RuleKnown || f.Partial || f.PushRefused)
	assert.Empty(t, f.Checks)
}

const bareMerge = `"headRefOid": "h", "baseRefOid": "b", "mergeable": "UNKNOWN", "commits": {"totalCount": 1}, "baseRef": null`

func mergeAnswer(pull, errs string) reply {
	if errs != "" {
		errs = `, "errors": [` + errs + `]`
	}
	return reply{200, `{"data": {"repository": {"pullRequest": {` + bareMerge + pull + `}}}` + errs + `}`, nil}
}

func TestMergeFactsThatATokenMayNotSee(t *testing.T) {
	for _, c := range []struct{ pull, err, missing string }{
		{`, "opinions": {"nodes": []}, "checks": null`, `{"type": "FORBIDDEN", "path": ["repository", "pullRequest", "checks"], "message": "Resource not accessible by integration"}`, "checks"},
		{`, "opinions": {"nodes": []}, "checks": {"contexts": {"nodes": [null]}}`, `{"type": "FORBIDDEN", "path": ["repository", "pullRequest", "checks", "contexts", "nodes", 0], "message": "no"}`, "checks"},
		{`, "opinions": null`, `{"type": "FORBIDDEN", "path": ["repository", "pullRequest", "opinions"], "message": "no"}`, "reviews"},
		{`, "opinions": {"nodes": [null]}`, "", "reviews"},
		{`, "baseRef": {"rule": null}`, `{"type": "FORBIDDEN", "path": ["repository", "pullRequest", "baseRef", "rule"], "message": "no"}`, "rule"},
	} {
		l := dial(t, Options{}, mergeAnswer(c.pull, c.err))
		f := must.Get(l.Threads.MergeFacts(t.Context(), widgets, 7, "x", ""))(t)
		assert.Equal(t, []string{c.missing}, f.Missing)
		assert.True(t, f.Partial)
		assert.False(t, f.RuleKnown)
	}
	l := dial(t, Options{}, mergeAnswer("", `{"type": "FORBIDDEN", "path": ["repository", "pullRequest", "commits"], "message": "no"}`))
	fails(l.Threads.MergeFacts(t.Context(), widgets, 7, "", ""))(t, Forbidden)
}

// A fine-grained personal token sees statuses and no check runs, and no permission gives it those.
func TestMergeFactsOfAFineGrainedToken(t *testing.T) {
	w, n := newPull(t)
	head := w.tip("agent/7")
	w.as("octo", "POST", "statuses/"+head, map[string]any{"context": "lint", "state": "success"})
	fine := must.Get(New(Options{APIURL: w.urls.API, GraphQLURL: w.urls.GraphQL, Token: "github_pat_sandbox-ada"}))(t)
	f := w.facts(fine, n, "")
	assert.Equal(t, []any{false, model.Hidden{}}, []any{f.Partial, f.ChecksHidden}, "there are none to be seen")

	w.as("github-actions[bot]", "POST", "check-runs", map[string]any{"name": "ci", "head_sha": head, "conclusion": "success"})
	f = w.facts(fine, n, "")
	require.Len(t, f.Checks, 1)
	assert.Equal(t, "lint", f.Checks[0].Name)
	assert.Equal(t, []string{"checks"}, f.Missing)
	assert.Equal(t, model.Hidden{Why: "a fine-grained personal token cannot read check runs", Fix: "give MergeXO the workflow's own token or that of a GitHub App"}, f.ChecksHidden)
	assert.Equal(t, model.Hidden{}, w.facts(w.client("ada"), n, "").ChecksHidden)

	l := dial(t, Options{}, mergeAnswer(`, "checks": null`, `{"type": "FORBIDDEN", "path": ["repository", "pullRequest", "checks"], "message": "Resource not accessible by integration"}`))
	f = must.Get(l.Threads.MergeFacts(t.Context(), widgets, 7, "", ""))(t)
	assert.Equal(t, model.Hidden{Why: "the token may not read checks", Fix: "give the job `permissions: checks: read, statuses: read`, or use a token that has them"}, f.ChecksHidden)

	facts := must.Get(fine.Repositories.Facts(t.Context(), widgets))(t)
	assert.Equal(t, "a fine-grained personal token cannot read check runs", facts.ChecksHidden.Why)
	assert.Empty(t, must.Get(w.client("ada").Repositories.Facts(t.Context(), widgets))(t).ChecksHidden)
}

// A check that runs again is the newest although the older one ended after it began.
func TestMergeFactsAreReadOn(t *testing.T) {
	run := func(start, end, status, conclusion string) string {
		return fmt.Sprintf(`{"__typename": "CheckRun", "name": "ci", "status": %q, "conclusion": %s, "startedAt": %s, "completedAt": %s, "checkSuite": {"app": {"slug": "x"}}}`, status, conclusion, start, end)
	}
	page := 0
	checks := func(more bool, nodes string) string {
		page++
		return fmt.Sprintf(`, "checks": {"contexts": {"nodes": [%s], "pageInfo": {"hasNextPage": %t, "endCursor": "c%d"}}}`, nodes, more, page)
	}
	first := mergeAnswer(`, "opinions": {"nodes": [], "pageInfo": {"hasNextPage": false}}`+checks(true, run(`"2026-01-01T10:00:00Z"`, `"2026-01-01T10:09:00Z"`, "COMPLETED", `"SUCCESS"`)), "")
	l := dial(t, Options{}, first, mergeAnswer(checks(false, run(`"2026-01-01T10:05:00Z"`, "null", "IN_PROGRESS", "null")), ""))
	f := must.Get(l.Threads.MergeFacts(t.Context(), widgets, 7, "", ""))(t)
	assert.Len(t, l.seen, 2)
	require.Len(t, f.Checks, 1)
	assert.Equal(t, model.CheckPending, f.Checks[0].State)
	assert.False(t, f.Partial)

	l = dial(t, Options{}, first, mergeAnswer(checks(false, run("null", "null", "QUEUED", "null")), ""))
	f = must.Get(l.Threads.MergeFacts(t.Context(), widgets, 7, "", ""))(t)
	assert.Equal(t, model.CheckPending, f.Checks[0].State, "one that has not begun is newer than all that have")

	l = dial(t, Options{}, first, mergeAnswer(`, "checks": null`, ""))
	f = must.Get(l.Threads.MergeFacts(t.Context(), widgets, 7, "", ""))(t)
	assert.Equal(t, []string{"checks"}, f.Missing, "the head has moved to a commit without checks")

	l = dial(t, Options{}, first)
	f = must.Get(l.Threads.MergeFacts(t.Context(), widgets, 7, "", ""))(t)
	assert.Len(t, l.seen, 2, "a page that says it is its own next one")
	assert.Equal(t, []string{"checks"}, f.Missing)

	var endless []reply
	for range 9 {
		endless = append(endless, mergeAnswer(`, "opinions": {"nodes": [], "pageInfo": {"hasNextPage": false}}`+checks(true, ""), ""))
	}
	l = dial(t, Options{}, endless...)
	f = must.Get(l.Threads.MergeFacts(t.Context(), widgets, 7, "", ""))(t)
	assert.Len(t, l.seen, 1+furtherPages)
	assert.Equal(t, []string{"checks"}, f.Missing)
	assert.True(t, f.Partial)
}

func TestHowChecksEnd(t *testing.T) {
	for conclusion, want := range map[string]model.CheckState{
		"SUCCESS": model.CheckPassed, "NEUTRAL": model.CheckPassed, "SKIPPED": model.CheckPassed,
		"FAILURE": model.CheckFailed, "CANCELLED": model.CheckFailed, "TIMED_OUT": model.CheckFailed, "ACTION_REQUIRED": model.CheckFailed,
		"STALE": model.CheckFailed, "STARTUP_FAILURE": model.CheckFailed, "": model.CheckFailed,
	} {
		assert.Equal(t, want, runState("COMPLETED", conclusion), conclusion)
		assert.Equal(t, model.CheckPending, runState("WAITING", conclusion), "a run that was started again keeps its last conclusion")
	}
	for state, want := range map[string]model.CheckState{
		"SUCCESS": model.CheckPassed, "PENDING": model.CheckPending, "EXPECTED": model.CheckPending, "FAILURE": model.CheckFailed, "ERROR": model.CheckFailed,
	} {
		assert.Equal(t, want, statusState(state))
	}
}
