package sandbox

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func pullPath(n int) string { return fmt.Sprintf("%s/pulls/%d", repoPath, n) }

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
