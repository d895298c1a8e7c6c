package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// signed gives the commit of a branch a signature, which the sandbox takes for a good one.
func (c *clone) signed(branch string) {
	c.w.t.Helper()
	head, message, _ := strings.Cut(c.git("cat-file", "commit", branch), "\n\n")
	raw := head + "\ngpgsig -----BEGIN SSH SIGNATURE-----\n -----END SSH SIGNATURE-----\n\n" + message
	require.NoError(c.w.t, os.WriteFile(filepath.Join(c.dir, "commit.raw"), []byte(raw), 0o600))
	c.git("update-ref", "refs/heads/"+branch, strings.TrimSpace(c.git("hash-object", "-t", "commit", "-w", "commit.raw")))
}

func TestABranchThatTakesSignedCommitsOnly(t *testing.T) {
	w, c := townWithClone(t)
	c.branch("x", "a.txt", "a\n")
	n := w.pull("octo", "x")
	for _, rules := range []obj{{"signed": true, "ruleset": 42}, {"signed": true}} {
		w.protect(rules)
		require.Contains(t, c.fails("push", "origin", "x:main"), "Commits must have verified signatures.")
	}
	for method, why := range map[string]string{
		"merge":  "Commits must have valid signatures.",
		"rebase": "Base branch requires signed commits. Rebase merges cannot be automatically signed by GitHub",
	} {
		require.Equal(t, why, w.as("octo", "PUT", pullPath(n)+"/merge", obj{"merge_method": method}).want(405).obj()["message"])
	}
	require.Equal(t, true, w.as("octo", "GET", repoPath+"/branches/main/protection", nil).want(200).obj()["required_signatures"].(obj)["enabled"])
	c.signed("x")
	c.git("push", "-q", "-f", "origin", "x")
	c.git("push", "-q", "origin", "x:main")

	c.branch("y", "b.txt", "b\n")
	w.as("octo", "PUT", pullPath(w.pull("octo", "y"))+"/merge", obj{"merge_method": "squash"}).want(200)
}

// A rule against force pushes lets a branch be deleted, and a rule against deletions lets it be rewritten.
func TestARulesetHoldsForWhatItNames(t *testing.T) {
	w, c := townWithClone(t)
	c.branch("x", "a.txt", "a\n")
	for rule, may := range map[string]string{"non_fast_forward": ":x", "deletion": "+main:x"} {
		made := w.as("octo", "POST", repoPath+"/rulesets", obj{"name": rule, "target": "branch", "enforcement": "active",
			"conditions": obj{"ref_name": obj{"include": []string{"~ALL"}, "exclude": []string{}}}, "rules": []obj{{"type": rule}}}).want(201).obj()
		require.Equal(t, true, w.as("octo", "GET", repoPath+"/branches/x", nil).want(200).obj()["protected"])
		for _, change := range []string{"+main:x", ":x"} {
			if out, err := c.try("push", "origin", change); change == may {
				require.NoError(t, err, out)
			} else {
				require.Error(t, err)
				require.Contains(t, out, "GH013: Repository rule violations found for refs/heads/x.")
			}
		}
		for _, change := range []string{"x~1:refs/mergexo/x", "+HEAD:refs/mergexo/x", "+x~1:refs/mergexo/x", ":refs/mergexo/x"} {
			c.git("push", "-q", "origin", change) // hidden refs are no branches
		}
		c.git("push", "-q", "-f", "origin", "x")
		w.as("octo", "DELETE", fmt.Sprintf("%s/rulesets/%d", repoPath, id(made)), nil).want(204)
	}
}

// GitHub deletes the branch that its endpoint has merged where it is set to, and gives the pull requests on it the base. What a push
// merges it leaves alone, and what a push deletes takes the pull requests on it along.
func TestTheBranchOfAMergedPullRequest(t *testing.T) {
	w := newTown(t)
	require.Equal(t, true, w.as("octo", "PATCH", repoPath, obj{"delete_branch_on_merge": true}).want(200).obj()["delete_branch_on_merge"])
	c := w.clone("octo")
	stack := func(low, high string) (int, int) {
		c.branch(low, low+".txt", "a\n")
		c.git("checkout", "-q", "-b", high)
		c.commit(high+".txt", "b\n")
		c.git("push", "-q", "origin", high)
		n := w.pull("octo", low)
		return n, int(w.as("octo", "POST", repoPath+"/pulls", obj{"title": high, "head": high, "base": low}).want(201).obj()["number"].(float64))
	}
	shown := func(n int) string {
		p := w.as("octo", "GET", pullPath(n), nil).want(200).obj()
		return fmt.Sprint(p["state"], " ", p["base"].(obj)["ref"])
	}
	low, high := stack("a", "b")
	w.as("octo", "PUT", pullPath(low)+"/merge", obj{}).want(200)
	w.as("octo", "GET", repoPath+"/branches/a", nil).want(404)
	require.Equal(t, "open main", shown(high))

	c.git("fetch", "-q", "origin")
	low, high = stack("c", "d")
	c.git("push", "-q", "origin", "c:main")
	require.Equal(t, "closed main", shown(low))
	w.as("octo", "GET", repoPath+"/branches/c", nil).want(200)
	require.Equal(t, "open c", shown(high))
	w.as("octo", "POST", repoPath+"/pulls", obj{"title": "Again", "head": "d", "base": "main"}).want(201)
	w.as("octo", "PATCH", pullPath(high), obj{"base": "main"}).want(422)
	c.git("push", "-q", "origin", ":c")
	require.Equal(t, "closed c", shown(high))
	w.as("octo", "PATCH", pullPath(high), obj{"state": "open"}).want(422)
}
