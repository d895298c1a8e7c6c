package sandbox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
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
	now = c.push("b.txt", "b\n")
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
	w.restart()
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
	for login, shown := range map[string]string{"octo": "open", "actions": "closed"} { // where nothing else is set, people find GitHub caught up
		w := newTown(t)
		if login == "octo" {
			w.as("", "PUT", "/_sandbox/lag", obj{"heads": 1}).want(204)
		}
		c := w.clone(login)
		n, _, _ := w.moved(c)
		c.git("reset", "-q", "--soft", "origin/main")
		c.git("commit", "-q", "-m", "Rebased")
		now := c.git("rev-parse", "HEAD")
		c.git("push", "-q", "-f", "origin", "x")
		c.git("push", "-q", "origin", "x:main")
		state, _ := w.shown(n)
		require.Equal(t, shown, state)
		state, head := w.shown(n)
		require.Equal(t, []string{"closed", now}, []string{state, head})
		w.as("octo", "PATCH", pullPath(n), obj{"state": "open"}).want(422)
	}
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
	w, c := townWithClone(t)
	c.branch("x", "a.txt", "a\n")
	n := w.pull("octo", "x")
	base := func() string { return w.as("", "GET", pullPath(n), nil).obj()["base"].(obj)["sha"].(string) }
	opened := base()
	c.git("checkout", "-q", "main")
	tip := c.push("main.txt", "meanwhile\n")
	require.Equal(t, opened, base(), "as it was when the pull request was opened")
	p := w.ask(fmt.Sprintf(`{ repository(owner: "octo", name: "widgets") { pullRequest(number: %d) { baseRefOid baseRef { target { oid } } } } }`, n))["repository"].(obj)["pullRequest"].(obj)
	require.Equal(t, opened, p["baseRefOid"])
	require.Equal(t, tip, p["baseRef"].(obj)["target"].(obj)["oid"])
	c.git("checkout", "-q", "x")
	c.push("b.txt", "b\n")
	require.Equal(t, tip, base(), "compared anew")
}

// Where nothing is set, a program that has pushed and looks at once sees what was before. People find GitHub caught up.
func TestGitHubIsLateForPrograms(t *testing.T) {
	w := newTown(t)
	c := w.clone("actions")
	was := c.branch("x", "a.txt", "a\n")
	n := w.pull("actions", "x")
	push := func(text string) string {
		t.Helper()
		sha := c.push("b.txt", text)
		return sha
	}
	head := func(login string) string {
		t.Helper()
		return w.as(login, "GET", pullPath(n), nil).want(200).obj()["head"].(obj)["sha"].(string)
	}
	first := push("1")
	require.Equal(t, was, head("actions"))
	require.Equal(t, first, head("actions"))
	require.Equal(t, push("2"), head("octo"), "a person takes longer than that")
	third := push("3")
	require.Contains(t, w.delivered(w.deliveries()-1), "pull_request.synchronize", "so does what GitHub sends")
	require.Equal(t, third, head("actions"))

	push("4")
	w.restart()
	c.git("remote", "set-url", "origin", w.url+"/octo/widgets")
	require.Equal(t, third, head("actions"), "over a restart, too")

	require.NotEqual(t, third, head("actions"))
	c.git("push", "-q", "origin", "x:main")
	merged := func(login string) any {
		t.Helper()
		return w.as(login, "GET", pullPath(n), nil).want(200).obj()["merged"]
	}
	require.Equal(t, []any{false, true}, []any{merged("actions"), merged("actions")})

	pc := w.clone("octo")
	pc.git("checkout", "-q", "-b", "y")
	pc.commit("c.txt", "c\n")
	pc.git("push", "-q", "origin", "y")
	n = w.pull("octo", "y")
	was = head("actions")
	theirs := pc.commit("c.txt", "more\n")
	pc.git("push", "-q", "origin", "y")
	require.Equal(t, []string{was, theirs}, []string{head("actions"), head("actions")}, "of people's pushes, too")
	own := UsualLag()
	own.Own = true
	w.s.mu.Lock()
	w.s.usualLag = own
	w.s.mu.Unlock()
	theirs = pc.commit("c.txt", "more still\n")
	pc.git("push", "-q", "origin", "y")
	require.Equal(t, theirs, head("actions"), "unless that is old by the time that a run begins")
}

// GitHub says later whether a pull request can be merged, and has the commit of the trial then; nobody else writes below refs/pull.
func TestTheMergeForTrial(t *testing.T) {
	w, c := townWithClone(t)
	head := c.branch("x", "a.txt", "a\n")
	n := w.pull("octo", "x")
	ref := fmt.Sprintf("refs/pull/%d/merge", n)
	at := func() string {
		out := c.git("ls-remote", "origin", ref)
		sha, _, _ := strings.Cut(out, "\t")
		return sha
	}
	look := func() (mergeable, commit any) {
		p := w.as("octo", "GET", pullPath(n), nil).want(200).obj()
		return p["mergeable"], p["merge_commit_sha"]
	}
	mergeable, commit := look()
	require.Equal(t, []any{nil, nil, ""}, []any{mergeable, commit, at()})
	mergeable, commit = look()
	require.Equal(t, []any{true, at()}, []any{mergeable, commit})
	c.git("fetch", "-q", "origin", ref)
	require.Equal(t, w.tip("main")+" "+head, c.git("log", "-1", "--format=%P", "FETCH_HEAD"))
	trial := at()
	require.Equal(t, trial, w.as("octo", "GET", repoPath+"/git/"+strings.Replace(ref, "refs/", "ref/", 1), nil).want(200).obj()["object"].(obj)["sha"])

	require.Error(t, must.Err(c.try("push", "-f", "origin", "HEAD:"+ref)))
	w.as("octo", "PATCH", repoPath+"/git/"+ref, obj{"sha": head, "force": true}).want(422)
	w.as("octo", "POST", repoPath+"/git/refs", obj{"ref": "refs/pull/99/merge", "sha": head}).want(422)

	c.git("checkout", "-q", "main")
	c.push("a.txt", "other\n")
	look()
	mergeable, commit = look()
	require.Equal(t, []any{false, nil, trial}, []any{mergeable, commit, at()}, "what cannot be merged keeps the old one")
	w.as("octo", "PATCH", pullPath(n), obj{"state": "closed"}).want(200)
	require.Empty(t, at())
	require.NotEmpty(t, c.git("ls-remote", "origin", fmt.Sprintf("refs/pull/%d/head", n)))
}
