package sandbox

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// ask sends a GraphQL query as octo and gives its data.
func (w *town) ask(query string) obj {
	w.t.Helper()
	return w.askAs("octo", query)
}

func (w *town) askAs(login, query string) obj {
	w.t.Helper()
	return w.request(login, "POST", graphqlPath, obj{"query": query}).want(200).obj()["data"].(obj)
}

func (w *town) protect(rules obj) {
	w.t.Helper()
	rules["branch"] = "main"
	w.as("", "PUT", "/_sandbox/protection", rules).want(204)
}

func (w *town) status(sha, context, state string) {
	w.t.Helper()
	w.as("octo", "POST", repoPath+"/statuses/"+sha, obj{"state": state, "context": context}).want(201)
}

// refused is what a push to main is refused with.
func (c *clone) refused(ref string) string {
	c.w.t.Helper()
	out := c.fails("push", "origin", ref+":main")
	require.Contains(c.w.t, out, "remote: error: GH006: Protected branch update failed for refs/heads/main.")
	return out
}

func TestRequiredChecksHoldBackPushesAndMerges(t *testing.T) {
	w := newTown(t)
	w.protect(obj{"checks": []string{"ci", "lint"}})
	c := w.clone("octo")
	sha := c.branch("x", "a.txt", "a\n")
	n := w.pull("octo", "x")
	merge := func(status int) any {
		t.Helper()
		return w.as("octo", "PUT", pullPath(n)+"/merge", obj{}).want(status).obj()["message"]
	}
	same := func(words string) {
		t.Helper()
		require.Contains(t, c.refused("x"), "remote: error: "+words)
		require.Equal(t, words, merge(405))
		require.Equal(t, words, w.as("octo", "PATCH", repoPath+"/git/refs/heads/main", obj{"sha": sha}).want(422).obj()["message"])
	}
	same("2 of 2 required status checks are expected.")
	w.status(sha, "lint", "success")
	same(`Required status check "ci" is expected.`)
	w.status(sha, "ci", "pending")
	same(`Required status check "ci" is pending.`)
	w.status(sha, "ci", "failure")
	same(`Required status check "ci" is failing.`)
	w.status(sha, "ci", "success")
	check := w.as("github-actions[bot]", "POST", repoPath+"/check-runs", obj{"name": "ci", "head_sha": sha, "status": "in_progress"}).want(201).obj()
	same(`Required status check "ci" is in progress.`)
	at := fmt.Sprintf("%s/check-runs/%d", repoPath, id(check))
	w.as("github-actions[bot]", "PATCH", at, obj{"conclusion": "cancelled"}).want(200)
	same(`Required status check "ci" is failing.`)
	w.as("github-actions[bot]", "PATCH", at, obj{"conclusion": "neutral"}).want(200)
	c.git("push", "-q", "origin", "x:main")
	state, _ := w.shown(n)
	require.Equal(t, "merged", state)

	// Each workflow that has a job of the name has to pass.
	c.git("checkout", "-q", "-b", "z", "main")
	again := c.branch("z", "a.txt", "b\n")
	w.status(again, "lint", "success")
	for i, conclusion := range []string{"failure", "success"} {
		w.as("", "PUT", fmt.Sprintf("/_sandbox/runs/%d", 500+i), obj{"name": "ci", "path": fmt.Sprintf(".github/workflows/%d.yml", i), "event": "push",
			"status": "completed", "conclusion": conclusion, "head_sha": again, "head_branch": "z", "jobs": []obj{{"name": "ci", "conclusion": conclusion}}}).want(200)
	}
	require.Contains(t, c.refused("z"), `Required status check "ci" is failing.`)
	w.as("", "PUT", "/_sandbox/runs/500", obj{"status": "completed", "conclusion": "success", "jobs": []obj{{"name": "ci", "conclusion": "success"}}}).want(200)
	c.git("push", "-q", "origin", "z:main")

	// A commit without checks of its own stays out, whatever it was made from.
	c.git("checkout", "-q", "-b", "y", "z")
	c.git("commit", "-q", "--allow-empty", "-m", "More")
	require.Contains(t, c.refused("y"), "2 of 2 required status checks are expected.")
	require.Contains(t, c.refused("+x~1"), "Cannot force-push to this branch")
}

func TestRequiredReviewsHoldBackPushesAndMerges(t *testing.T) {
	w := newTown(t)
	w.grant("rita", "write")
	w.grant("mona", "maintain")
	w.protect(obj{"approvals": 1, "checks": []string{"ci"}})
	c := w.clone("octo")
	sha := c.branch("x", "a.txt", "a\n")
	n := w.pull("octo", "x")
	review := func(login, event string) obj {
		t.Helper()
		return w.as(login, "POST", pullPath(n)+"/reviews", obj{"event": event, "body": "so"}).want(200).obj()
	}
	const missing = "At least 1 approving review is required by reviewers with write access."
	require.Contains(t, c.refused("x"), "remote: error: "+missing+` Required status check "ci" is expected.`)
	w.status(sha, "ci", "success")
	merge := func(status int) any {
		t.Helper()
		return w.as("octo", "PUT", pullPath(n)+"/merge", obj{}).want(status).obj()["message"]
	}
	review("passerby", "APPROVE")
	require.Equal(t, missing, merge(405), "who may not write does not count")
	review("rita", "APPROVE")
	against := review("mona", "REQUEST_CHANGES")
	require.Equal(t, missing, merge(405))
	require.Contains(t, c.refused("x"), missing, "an approved pull request's commit is a push all the same")
	w.as("octo", "PUT", fmt.Sprintf("%s/reviews/%d/dismissals", pullPath(n), id(against)), obj{"message": "no"}).want(200)
	merge(200)
}

func TestLinearHistoryTakesNoMergeCommits(t *testing.T) {
	w := newTown(t)
	w.protect(obj{"linear": true})
	c := w.clone("octo")
	c.branch("x", "a.txt", "a\n")
	n := w.pull("octo", "x")
	c.git("checkout", "-q", "main")
	c.push("main.txt", "meanwhile\n")
	c.git("merge", "-q", "--no-ff", "-m", "Merge", "x")
	require.Contains(t, c.refused("main"), "remote: error: This branch must not contain merge commits.")
	require.Equal(t, "This branch must not contain merge commits.", w.as("octo", "PUT", pullPath(n)+"/merge", obj{}).want(405).obj()["message"])
	w.as("octo", "PUT", pullPath(n)+"/merge", obj{"merge_method": "rebase"}).want(200)
}

// A ruleset shows itself in other places than branch protection does, has other words, and lets some pass.
func TestRulesetsHoldBackPushesAndMerges(t *testing.T) {
	w := newTown(t)
	w.grant("rita", "write")
	w.grant("bot", "write")
	w.protect(obj{"ruleset": 42, "pull": true, "checks": []string{"ci"}, "linear": true, "bypass": []string{"bot"}})
	w.as("", "PUT", "/_sandbox/protection", obj{"branch": "main", "checks": []string{"ci"}, "bypass": []string{"bot"}}).want(422)

	types := []string{}
	for _, rule := range w.as("rita", "GET", repoPath+"/rules/branches/main", nil).want(200).list() {
		require.EqualValues(t, 42, rule["ruleset_id"])
		types = append(types, rule["type"].(string))
	}
	require.Equal(t, []string{"deletion", "non_fast_forward", "pull_request", "required_status_checks", "required_linear_history"}, types)
	for login, may := range map[string]string{"rita": "never", "octo": "never", "bot": "always"} {
		require.Equal(t, may, w.as(login, "GET", repoPath+"/rulesets/42", nil).want(200).obj()["current_user_can_bypass"], login)
	}
	branch := w.as("rita", "GET", repoPath+"/branches/main", nil).want(200).obj()
	require.Equal(t, []any{true, false}, []any{branch["protected"], branch["protection"].(obj)["enabled"]})
	require.Equal(t, "Branch not protected", w.as("octo", "GET", repoPath+"/branches/main/protection", nil).want(404).obj()["message"])
	require.Nil(t, w.askAs("rita", `{ repository(owner: "octo", name: "widgets") { ref(qualifiedName: "refs/heads/main") { refUpdateRule { viewerCanPush } } } }`)["repository"].(obj)["ref"].(obj)["refUpdateRule"])

	c := w.clone("octo")
	sha := c.branch("x", "a.txt", "a\n")
	out, err := c.try("push", "origin", "x:main")
	require.Error(t, err)
	const why = `Changes must be made through a pull request. Required status check "ci" is expected.`
	require.Contains(t, out, "remote: error: GH013: Repository rule violations found for refs/heads/main.")
	require.Contains(t, out, "remote: - "+why)
	require.Equal(t, "Repository rule violations found\n\n"+why, w.as("octo", "PATCH", repoPath+"/git/refs/heads/main", obj{"sha": sha}).want(422).obj()["message"])
	n := w.pull("octo", "x")
	merge := func(login, method string, status int) any {
		t.Helper()
		return w.as(login, "PUT", pullPath(n)+"/merge", obj{"merge_method": method}).want(status).obj()["message"]
	}
	require.Equal(t, "Repository rule violations found\n\nRequired status check \"ci\" is expected.", merge("octo", "squash", 405))
	w.status(sha, "ci", "success")
	require.Equal(t, "Repository rule violations found\n\nThis branch must not contain merge commits.", merge("octo", "merge", 405))
	merge("octo", "squash", 200)
	w.clone("bot").git("push", "-q", "origin", "origin/x:refs/heads/y")
	w.as("bot", "PATCH", repoPath+"/git/refs/heads/main", obj{"sha": sha, "force": true}).want(200)
}
