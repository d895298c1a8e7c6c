package sandbox

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// shown is how a pull request looks to REST: its state (merged is one) and its head.
func (w *town) shown(n int) (state, head string) {
	w.t.Helper()
	p := w.as("octo", "GET", pullPath(n), nil).want(200).obj()
	state = p["state"].(string)
	if p["merged"] == true {
		state = "merged"
	}
	return state, p["head"].(obj)["sha"].(string)
}

// graphed is the same by GraphQL.
func (w *town) graphed(n int) (state, head string) {
	w.t.Helper()
	p := w.ask(fmt.Sprintf(`{ repository(owner: "octo", name: "widgets") { pullRequest(number: %d) { state headRefOid } } }`, n))["repository"].(obj)["pullRequest"].(obj)
	return p["state"].(string), p["headRefOid"].(string)
}

// moved is a pull request whose branch was pushed again, with the commits before and after.
func (w *town) moved(c *clone) (n int, was, now string) {
	w.t.Helper()
	was = c.branch("x", "a.txt", "a\n")
	n = w.pull("octo", "x")
	now = c.commit("b.txt", "b\n")
	c.git("push", "-q", "origin", "x")
	return n, was, now
}

func TestAHeadIsShownLate(t *testing.T) {
	w := newTown(t)
	w.as("", "PUT", "/_sandbox/lag", obj{"heads": 3}).want(204)
	c := w.clone("octo")
	n, was, now := w.moved(c)
	require.NotContains(t, w.delivered(0), "pull_request.synchronize")
	for range 2 {
		_, head := w.shown(n)
		require.Equal(t, was, head)
	}
	require.NoError(t, w.s.Close())
	w.start()
	c.git("remote", "set-url", "origin", w.url+"/octo/widgets")
	_, head := w.graphed(n)
	require.Equal(t, was, head, "the third reading, by whatever API")
	w.as("octo", "PUT", pullPath(n)+"/merge", obj{"sha": now}).want(409)
	w.as("octo", "PUT", pullPath(n)+"/merge", obj{"sha": was}).want(409)
	_, head = w.graphed(n)
	require.Equal(t, now, head)
	require.Contains(t, w.delivered(0), "pull_request.synchronize")

	c.git("push", "-q", "origin", "x:main")
	state, _ := w.shown(n)
	require.Equal(t, "merged", state)
	require.Equal(t, "octo", w.as("", "GET", pullPath(n), nil).obj()["merged_by"].(obj)["login"])
}

// Who does not wait until GitHub shows the head loses the pull request: https://github.com/Mergifyio/mergify/pull/4718
func TestABaseThatIsFasterThanItsHeadClosesThePullRequest(t *testing.T) {
	w := newTown(t)
	w.as("", "PUT", "/_sandbox/lag", obj{"heads": 1}).want(204)
	c := w.clone("octo")
	n, was, _ := w.moved(c)
	c.git("reset", "-q", "--soft", "origin/main")
	c.git("commit", "-q", "-m", "Rebased")
	now := c.git("rev-parse", "HEAD")
	c.git("push", "-q", "-f", "origin", "x")
	c.git("push", "-q", "origin", "x:main")
	state, head := w.shown(n)
	require.Equal(t, []string{"open", was}, []string{state, head})
	state, head = w.shown(n)
	require.Equal(t, []string{"closed", now}, []string{state, head})
	w.as("octo", "PATCH", pullPath(n), obj{"state": "open"}).want(422)
}

func TestAMergeIsShownLate(t *testing.T) {
	w := newTown(t)
	w.as("", "PUT", "/_sandbox/lag", obj{"merges": 2}).want(204)
	c := w.clone("octo")
	n, _, now := w.moved(c)
	c.git("push", "-q", "origin", "x:main")
	state, _ := w.shown(n)
	require.Equal(t, "open", state)
	w.as("octo", "PUT", pullPath(n)+"/merge", obj{}).want(405)
	state, _ = w.graphed(n)
	require.Equal(t, "OPEN", state)
	state, _ = w.graphed(n)
	require.Equal(t, "MERGED", state)
	require.Equal(t, now, w.as("", "GET", pullPath(n), nil).obj()["merge_commit_sha"])
}

func TestAMergeThatIsNotShownYetCanBeLost(t *testing.T) {
	for name, spoil := range map[string]func(*town, *clone, int){
		"branch deleted":  func(_ *town, c *clone, _ int) { c.git("push", "-q", "origin", ":x") },
		"closed by hand":  func(w *town, _ *clone, n int) { w.as("octo", "PATCH", pullPath(n), obj{"state": "closed"}).want(200) },
		"base taken back": func(_ *town, c *clone, _ int) { c.git("push", "-q", "-f", "origin", "origin/main~1:main") },
	} {
		w := newTown(t)
		w.as("", "PUT", "/_sandbox/lag", obj{"merges": 1}).want(204)
		c := w.clone("octo")
		n, _, _ := w.moved(c)
		c.git("push", "-q", "origin", "x:main")
		c.git("fetch", "-q", "origin")
		spoil(w, c, n)
		for range 3 {
			state, _ := w.shown(n)
			require.NotEqual(t, "merged", state, name)
		}
	}
}

func TestTheRecordedBaseIsNotTheBasesTip(t *testing.T) {
	w := newTown(t)
	c := w.clone("octo")
	c.branch("x", "a.txt", "a\n")
	n := w.pull("octo", "x")
	base := func() string { return w.as("", "GET", pullPath(n), nil).obj()["base"].(obj)["sha"].(string) }
	opened := base()
	c.git("checkout", "-q", "main")
	tip := c.commit("main.txt", "meanwhile\n")
	c.git("push", "-q", "origin", "main")
	require.Equal(t, opened, base(), "as it was when the pull request was opened")
	p := w.ask(fmt.Sprintf(`{ repository(owner: "octo", name: "widgets") { pullRequest(number: %d) { baseRefOid baseRef { target { oid } } } } }`, n))["repository"].(obj)["pullRequest"].(obj)
	require.Equal(t, opened, p["baseRefOid"])
	require.Equal(t, tip, p["baseRef"].(obj)["target"].(obj)["oid"])
	c.git("checkout", "-q", "x")
	c.commit("b.txt", "b\n")
	c.git("push", "-q", "origin", "x")
	require.Equal(t, tip, base(), "compared anew")
}

func TestDeletingABaseClosesWhatWasForIt(t *testing.T) {
	w := newTown(t)
	c := w.clone("octo")
	c.branch("x", "a.txt", "a\n")
	n := w.pull("octo", "x")
	c.commit("b.txt", "b\n")
	c.git("push", "-q", "origin", "HEAD:y")
	stacked := w.as("octo", "POST", repoPath+"/pulls", obj{"title": "y", "head": "y", "base": "x"}).want(201).obj()["number"].(float64)
	w.as("octo", "PUT", pullPath(n)+"/merge", obj{}).want(200)
	w.as("octo", "DELETE", repoPath+"/git/refs/heads/x", nil).want(204)
	state, _ := w.shown(int(stacked))
	require.Equal(t, "closed", state)
	w.as("octo", "PATCH", pullPath(int(stacked)), obj{"state": "open"}).want(422)
}
