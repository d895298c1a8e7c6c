package sandbox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPullRequestFollowsItsBranch(t *testing.T) {
	w, c := townWithClone(t)
	first := c.branch("agent/x", "a.txt", "one\ntwo\nthree\n")
	n := w.pull("octo", "agent/x")
	path := fmt.Sprintf("%s/pulls/%d", repoPath, n)
	p := w.as("", "GET", path, nil).want(200).obj()
	require.Equal(t, first, p["head"].(obj)["sha"])
	require.Nil(t, p["mergeable"], "asking begins the test")
	require.Equal(t, true, w.as("", "GET", path, nil).want(200).obj()["mergeable"])
	require.EqualValues(t, 3, p["additions"])
	require.Equal(t, first, strings.Fields(c.git("ls-remote", "origin", fmt.Sprintf("refs/pull/%d/head", n)))[0])

	before := w.deliveries()
	second := c.commit("b.txt", "more\n")
	c.git("push", "-q", "origin", "agent/x")
	require.Equal(t, second, w.as("", "GET", path, nil).want(200).obj()["head"].(obj)["sha"])
	require.Equal(t, second, strings.Fields(c.git("ls-remote", "origin", fmt.Sprintf("refs/pull/%d/head", n)))[0])
	require.Equal(t, []string{"push", "pull_request.synchronize"}, w.delivered(before))

	before = w.deliveries()
	c.git("push", "-q", "origin", "agent/x:main")
	merged := w.as("", "GET", path, nil).want(200).obj()
	require.Equal(t, true, merged["merged"])
	require.Equal(t, second, merged["merge_commit_sha"])
	require.Equal(t, "octo", merged["merged_by"].(obj)["login"])
	require.EqualValues(t, 2, merged["commits"], "what was merged stays in view")
	require.Equal(t, []string{"push", "pull_request.closed"}, w.delivered(before))
	c.git("push", "-q", "origin", ":agent/x")
	require.Equal(t, second, w.as("", "GET", path, nil).want(200).obj()["head"].(obj)["sha"])
	w.as("octo", "PATCH", path, obj{"state": "open"}).want(422)
}

func TestAHeadThatIsDeletedOrEmptiedClosesItsPullRequest(t *testing.T) {
	w, c := townWithClone(t)
	gone := c.branch("gone", "a.txt", "a\n")
	c.branch("emptied", "b.txt", "b\n")
	n, m := w.pull("octo", "gone"), w.pull("octo", "emptied")
	c.git("push", "-q", "origin", ":gone")
	c.git("push", "-q", "-f", "origin", "origin/main:emptied")
	p := w.as("", "GET", fmt.Sprintf("%s/pulls/%d", repoPath, n), nil).obj()
	require.Equal(t, "closed", p["state"])
	require.Equal(t, false, p["merged"])
	require.Equal(t, gone, p["head"].(obj)["sha"])
	require.Equal(t, "closed", w.as("", "GET", fmt.Sprintf("%s/pulls/%d", repoPath, m), nil).obj()["state"])
	r := w.as("octo", "PATCH", fmt.Sprintf("%s/pulls/%d", repoPath, n), obj{"state": "open"}).want(422)
	require.Contains(t, string(r.body), "branch has been deleted")

	c.git("push", "-q", "origin", gone+":refs/heads/gone")
	w.as("octo", "PATCH", fmt.Sprintf("%s/pulls/%d", repoPath, n), obj{"state": "open"}).want(200)
	require.Equal(t, "open", w.as("", "GET", fmt.Sprintf("%s/pulls/%d", repoPath, n), nil).obj()["state"])
}

func TestHeadAndBaseInOnePushCloseWithoutMerging(t *testing.T) {
	w, c := townWithClone(t)
	c.branch("x", "a.txt", "a\n")
	n := w.pull("octo", "x")
	c.git("commit", "-q", "--amend", "-m", "Rebased")
	c.git("push", "-q", "--atomic", "-f", "origin", "x", "x:main")
	p := w.as("", "GET", fmt.Sprintf("%s/pulls/%d", repoPath, n), nil).obj()
	require.Equal(t, "closed", p["state"])
	require.Equal(t, false, p["merged"])
}

func TestWhoMayPush(t *testing.T) {
	w := newTown(t)
	w.grant("wendy", "write")
	w.grant("rita", "read")
	c := w.clone("octo")
	c.commit("a.txt", "a\n")
	for login, want := range map[string]string{"": "could not read Username", "rita": "403", "stranger": "403"} {
		c.login = login
		out, err := c.try("push", "origin", "HEAD:refs/heads/y")
		require.Error(t, err, login)
		require.Contains(t, out, want, login)
	}
	c.login = "wendy"
	c.git("push", "-q", "origin", "HEAD:refs/heads/y")

	require.Contains(t, c.fails("-c", "http.extraheader=", "-c", "http.extraheader=Authorization: Bearer nonsense", "ls-remote", w.url+"/octo/widgets"), "could not read Username", "a bad token is asked for again")

	w.as("", "POST", "/_sandbox/repositories", obj{"full_name": "octo/secret", "private": true}).want(201)
	require.Contains(t, c.fails("ls-remote", w.url+"/octo/secret"), "not found")
}

func TestHiddenRefsLeasesAndAtomicPushes(t *testing.T) {
	w, c := townWithClone(t)
	first := c.branch("x", "a.txt", "a\n")
	c.git("push", "-q", "--force-with-lease=refs/mergexo/lock/main:", "origin", "HEAD:refs/mergexo/lock/main")
	out, err := c.try("push", "--force-with-lease=refs/mergexo/lock/main:", "origin", "HEAD~1:refs/mergexo/lock/main")
	require.Error(t, err, "create only")
	require.Contains(t, out, "stale info")
	second := c.commit("b.txt", "b\n")
	c.git("push", "-q", "origin", "HEAD:refs/mergexo/turn/1/k")
	c.git("push", "-q", "--atomic", "--force-with-lease=x:"+first, "origin", "HEAD:x", ":refs/mergexo/turn/1/k")
	require.Equal(t, second, strings.Fields(c.git("ls-remote", "origin", "x"))[0])
	require.Empty(t, c.git("ls-remote", "origin", "refs/mergexo/turn/*"))

	n := w.pull("octo", "x")
	ref := fmt.Sprintf("refs/pull/%d/head", n)
	require.Contains(t, c.fails("push", "--atomic", "origin", "+HEAD~1:"+ref, "HEAD:refs/heads/z"), "deny updating a hidden ref")
	require.Empty(t, c.git("ls-remote", "origin", "z"), "one refused ref refuses all")
	require.Equal(t, second, strings.Fields(c.git("ls-remote", "origin", ref))[0])
}

func TestProtectedBranches(t *testing.T) {
	w := newTown(t)
	w.grant("wendy", "write")
	w.grant("max", "maintain")
	w.as("", "PUT", "/_sandbox/protection", obj{"repository": "octo/widgets", "branch": "main", "push": []string{"Max"}}).want(204)
	c := w.clone("wendy")
	c.commit("a.txt", "a\n")
	require.Contains(t, c.fails("push", "origin", "HEAD:main"), "GH006: Protected branch update failed for refs/heads/main")
	require.Contains(t, c.fails("push", "--atomic", "origin", "HEAD:main", "HEAD:other"), "atomic")
	require.Empty(t, c.git("ls-remote", "origin", "other"))
	c.git("push", "-q", "origin", "HEAD:other")

	c.login = "max"
	c.git("push", "-q", "origin", "HEAD:main")
	c.git("commit", "-q", "--amend", "-m", "Rewritten")
	require.Contains(t, c.fails("push", "-f", "origin", "HEAD:main"), "Cannot force-push")
	main := w.as("", "GET", repoPath+"/git/ref/heads/main", nil).want(200).obj()["object"].(obj)["sha"]
	w.as("wendy", "PATCH", repoPath+"/git/refs/heads/main", obj{"sha": main}).want(422)
	w.as("", "PUT", "/_sandbox/protection", obj{"branch": "main"}).want(204)
	c.git("push", "-q", "-f", "origin", "HEAD:main")
}

func TestAWorkflowTokenCannotPushWorkflows(t *testing.T) {
	w := newTown(t)
	c := w.clone("actions")
	c.commit(".github/workflows/older.yml", "on: push\n")
	c.commit(".github/workflows/ci.yml", "on: push\n")
	require.Contains(t, c.fails("push", "origin", "HEAD:refs/heads/x"), "refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml` without `workflows` permission")
	c.login = "octo"
	c.git("push", "-q", "origin", "HEAD:main")
	c.login = "actions"
	c.commit("a.txt", "a\n")
	c.git("push", "-q", "origin", "HEAD:refs/heads/x")
}

// A new ref has to have the workflows that some branch has now, though all of its commits are known. Nor does the merge endpoint
// take a change of them.
func TestAWorkflowTokenMakesNoRefWithOldWorkflows(t *testing.T) {
	w, c := townWithClone(t)
	old := c.commit("a.txt", "a\n")
	c.git("push", "-q", "origin", "HEAD:main")
	c.commit(".github/workflows/ci.yml", "on: push\n")
	then := strings.TrimSpace(c.git("rev-parse", "HEAD"))
	c.git("push", "-q", "origin", "HEAD:main")
	c.commit(".github/workflows/ci.yml", "on: pull_request\n")
	c.git("push", "-q", "origin", "HEAD:main")
	c.login = "actions"
	c.git("push", "-q", "origin", old+":refs/heads/none") // it has no workflow at all
	require.Contains(t, c.fails("push", "origin", then+":refs/heads/x"), "refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml`")
	c.git("push", "-q", "origin", "HEAD:refs/heads/x")

	c.login = "octo"
	c.branch("y", ".github/workflows/more.yml", "on: push\n")
	n := w.pull("octo", "y")
	require.Equal(t, "Resource not accessible by integration", w.as("actions", "PUT", pullPath(n)+"/merge", obj{}).want(403).obj()["message"])
	w.as("octo", "PUT", pullPath(n)+"/merge", obj{}).want(200)
}

// What a pull request brought from a fork is on no branch yet.
func TestAWorkflowTokenCannotPushWorkflowsOfAFork(t *testing.T) {
	w := newTown(t)
	f, _ := w.fork("eve", "topic")
	head := f.commit(".github/workflows/ci.yml", "on: push\n")
	f.git("push", "-q", "origin", "topic")
	n := w.pull("eve", "eve:topic")
	c := w.clone("actions")
	c.git("fetch", "-q", "origin", fmt.Sprintf("refs/pull/%d/head", n))
	require.Contains(t, c.fails("push", "origin", head+":refs/heads/x"), "refusing to allow a GitHub App to create or update workflow")
	c.git("push", "-q", "origin", head+"~1:refs/heads/x")
	c.login = "octo"
	c.git("push", "-q", "origin", head+":refs/heads/theirs")
	c.login = "actions"
	c.git("push", "-q", "origin", head+":refs/heads/x")
}

func TestABigPushIsChunkedAndALargeOneIsZipped(t *testing.T) {
	w, c := townWithClone(t)
	var b strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&b, "%x\n", i*2654435761)
	}
	c.commit("big.txt", b.String())
	c.git("-c", "http.postBuffer=65536", "push", "-q", "origin", "HEAD:refs/heads/big")
	require.Equal(t, c.git("rev-parse", "HEAD"), w.clone("octo", "-b", "big").git("rev-parse", "HEAD"))
}
