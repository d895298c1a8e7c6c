package sandbox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func pullPath(n int) string { return fmt.Sprintf("%s/pulls/%d", repoPath, n) }

func TestPullRequestsThatAreRefused(t *testing.T) {
	w, c := townWithClone(t)
	c.branch("x", "a.txt", "a\n")
	c.git("push", "-q", "origin", "origin/main:refs/heads/same")
	c.git("checkout", "-q", "--orphan", "alone")
	c.push("b.txt", "b\n")
	open := func(in obj) string {
		in["title"] = "x"
		return string(w.as("octo", "POST", repoPath+"/pulls", in).want(422).body)
	}
	require.Contains(t, open(obj{"head": "missing", "base": "main"}), `"field":"head"`)
	require.Contains(t, open(obj{"head": "x", "base": "missing"}), `"field":"base"`)
	require.Contains(t, open(obj{"head": "same", "base": "main"}), "No commits between main and same")
	require.Contains(t, open(obj{"head": "alone", "base": "main"}), "has no history in common with main")
	require.Contains(t, open(obj{"base": "main"}), `"missing_field"`)
	w.as("octo", "POST", repoPath+"/pulls", obj{"head": "x", "base": "main"}).want(422)
	n := w.pull("octo", "octo:x")
	require.Contains(t, open(obj{"head": "x", "base": "main"}), "A pull request already exists for octo:x.")
	require.Len(t, w.as("octo", "GET", repoPath+"/pulls?head=octo:x&base=main", nil).list(), 1)
	require.Empty(t, w.as("octo", "GET", repoPath+"/pulls?head=octo:y", nil).list())
	require.Empty(t, w.as("octo", "GET", repoPath+"/pulls?state=closed", nil).list())
	require.Contains(t, string(w.as("octo", "PATCH", pullPath(n), obj{"base": "nope"}).want(422).body), "was not found")
	w.as("stranger", "POST", repoPath+"/pulls", obj{"title": "t", "head": "alone", "base": "main"}).want(403)
	w.as("octo", "GET", pullPath(99), nil).want(404)
}

func TestReopening(t *testing.T) {
	w, c := townWithClone(t)
	c.branch("x", "a.txt", "a\n")
	n := w.pull("octo", "x")
	w.as("octo", "PATCH", pullPath(n), obj{"state": "closed"}).want(200)
	w.as("octo", "PATCH", pullPath(n), obj{"base": "x"}).want(422)
	c.push("b.txt", "b\n")
	w.as("octo", "PATCH", pullPath(n), obj{"state": "open"}).want(200)
	w.as("octo", "PATCH", pullPath(n), obj{"state": "closed"}).want(200)
	closed := w.as("octo", "GET", pullPath(n), nil).obj()["head"].(obj)["sha"]
	c.git("commit", "-q", "--amend", "-m", "Rewritten")
	c.git("push", "-q", "-f", "origin", "x")
	r := w.as("octo", "PATCH", pullPath(n), obj{"state": "open"}).want(422)
	require.Contains(t, string(r.body), "The x branch was force-pushed or recreated.")
	require.Equal(t, closed, w.as("octo", "GET", pullPath(n), nil).obj()["head"].(obj)["sha"], "a closed pull request keeps its head")
}

func TestMergeMethods(t *testing.T) {
	for _, method := range []string{"merge", "squash", "rebase"} {
		w, c := townWithClone(t)
		c.branch("x", "a.txt", "a\n")
		c.push("b.txt", "b\n")
		n := w.pull("octo", "x")
		c.git("checkout", "-q", "main")
		base := c.push("main.txt", "meanwhile\n")
		w.as("octo", "GET", pullPath(n)+"/merge", nil).want(404)
		head := w.as("octo", "GET", pullPath(n), nil).obj()["head"].(obj)["sha"]
		w.as("octo", "PUT", pullPath(n)+"/merge", obj{"sha": base, "merge_method": method}).want(409)
		w.as("octo", "PUT", pullPath(n)+"/merge", obj{"merge_method": "ours"}).want(422)
		w.as("stranger", "PUT", pullPath(n)+"/merge", obj{}).want(403)
		m := w.as("octo", "PUT", pullPath(n)+"/merge", obj{"sha": head, "merge_method": method}).want(200).obj()
		w.as("octo", "GET", pullPath(n)+"/merge", nil).want(204)
		c.git("fetch", "-q", "origin")
		require.Equal(t, m["sha"], c.git("rev-parse", "origin/main"))
		require.Equal(t, "a.txt\nb.txt", c.git("diff", "--name-only", base, "origin/main"))
		parents := map[string]string{"merge": base + " " + head.(string), "squash": base}[method]
		if method == "rebase" {
			require.Equal(t, "2", c.git("rev-list", "--count", base+"..origin/main"))
			require.Equal(t, "octo", c.git("log", "-1", "--format=%an", "origin/main"))
		} else {
			require.Equal(t, parents, c.git("log", "-1", "--format=%P", "origin/main"))
		}
		p := w.as("octo", "GET", pullPath(n), nil).obj()
		require.Equal(t, true, p["merged"], method)
		require.Equal(t, "octo", p["merged_by"].(obj)["login"])
		w.as("octo", "PUT", pullPath(n)+"/merge", obj{}).want(405)
		require.Contains(t, w.delivered(0), "pull_request.closed")
	}
}

func TestConflictsAndDraftsDoNotMerge(t *testing.T) {
	w, c := townWithClone(t)
	c.branch("x", "README.md", "# mine\n")
	n := w.pull("octo", "x")
	c.git("checkout", "-q", "main")
	c.push("README.md", "# theirs\n")
	require.Nil(t, w.as("octo", "GET", pullPath(n), nil).obj()["mergeable"])
	p := w.as("octo", "GET", pullPath(n), nil).obj()
	require.Equal(t, false, p["mergeable"])
	require.Equal(t, "dirty", p["mergeable_state"])
	w.as("octo", "PUT", pullPath(n)+"/merge", obj{}).want(405)
	w.as("octo", "PUT", pullPath(n)+"/merge", obj{"merge_method": "rebase"}).want(405)

	c.branch("y", "y.txt", "y\n")
	d := w.as("octo", "POST", repoPath+"/pulls", obj{"title": "y", "head": "y", "base": "main", "draft": true}).want(201).obj()
	w.as("octo", "PUT", pullPath(int(d["number"].(float64)))+"/merge", obj{}).want(405)
}

func TestCompare(t *testing.T) {
	w, c := townWithClone(t)
	root := c.git("rev-parse", "HEAD")
	x := c.branch("x", "a.txt", "a\n")
	c.branch("y", "b.txt", "b\n")
	for ends, want := range map[string]string{
		"main...main": "identical 0 0", "main...x": "ahead 1 0", "x...main": "behind 0 1", "x...y": "diverged 1 1",
		root + "..." + x: "ahead 1 0", "main..." + x[:12]: "ahead 1 0",
	} {
		o := w.as("", "GET", repoPath+"/compare/"+ends, nil).want(200).obj()
		require.Equal(t, want, fmt.Sprintf("%v %v %v", o["status"], o["ahead_by"], o["behind_by"]), ends)
		require.Equal(t, root, o["merge_base_commit"].(obj)["sha"])
		require.Equal(t, o["ahead_by"], o["total_commits"])
	}
	w.as("", "GET", repoPath+"/compare/main...nope", nil).want(404)
	w.as("", "GET", repoPath+"/compare/main..."+strings.Repeat("a", 40), nil).want(404)
	for n := range 5 {
		c.commit("c.txt", fmt.Sprint(n))
	}
	c.git("push", "-q", "origin", "HEAD:refs/heads/long/name")
	o := w.as("", "GET", repoPath+"/compare/main...long%2Fname?per_page=2&page=2", nil).want(200).obj()
	require.Len(t, o["commits"], 2)
	require.EqualValues(t, 6, o["total_commits"])
	require.Empty(t, o["files"])
}
