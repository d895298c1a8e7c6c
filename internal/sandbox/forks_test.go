package sandbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fork makes a fork of octo/widgets with a branch that has one commit, and gives a clone of it.
func (w *town) fork(login, branch string) (*clone, string) {
	w.t.Helper()
	w.as(login, "POST", repoPath+"/forks", nil).want(202)
	c := w.clone(login)
	c.git("remote", "set-url", "origin", w.url+"/"+login+"/widgets")
	return c, c.branch(branch, branch+".txt", "by "+login+"\n")
}

// seen is what GraphQL shows of a pull request.
func (w *town) seen(number int) obj {
	w.t.Helper()
	return w.ask(fmt.Sprintf(`{ repository(owner: "octo", name: "widgets") { pullRequest(number: %d) {
		state isCrossRepository headRefOid headRef { name } createdAt updatedAt headRepository { nameWithOwner pushedAt } headRepositoryOwner { login } } } }`, number))["repository"].(obj)["pullRequest"].(obj)
}

func TestAPullRequestOfAFork(t *testing.T) {
	w := newTown(t)
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w.s.SetClock(noon)
	c, first := w.fork("eve", "topic")
	n := w.pull("eve", "eve:topic")
	require.Equal(t, obj{"nameWithOwner": "eve/widgets", "pushedAt": "2026-03-01T12:00:00Z"}, w.seen(n)["headRepository"])

	before := w.deliveries()
	w.s.SetClock(noon.Add(time.Hour))
	w.as("octo", "POST", fmt.Sprintf("%s/issues/%d/labels", repoPath, n), obj{"labels": []string{"question"}}).want(200)
	c.git("commit", "-q", "--amend", "-m", "Another way")
	second := c.git("rev-parse", "HEAD")
	c.git("push", "-q", "-f", "origin", "topic")
	require.Equal(t, []string{"pull_request.labeled", "push", "pull_request.synchronize"}, w.delivered(before))
	moved := w.as("", "GET", "/_sandbox/deliveries", nil).list()[before+2]["payload"].(obj)
	require.Equal(t, []any{first, second, "eve/widgets"}, []any{moved["before"], moved["after"], moved["pull_request"].(obj)["head"].(obj)["repo"].(obj)["full_name"]})
	require.Equal(t, second, strings.Fields(w.clone("octo").git("ls-remote", "origin", fmt.Sprintf("refs/pull/%d/head", n)))[0])
	seen := w.seen(n)
	require.Equal(t, second, seen["headRefOid"])
	require.Equal(t, "2026-03-01T13:00:00Z", seen["updatedAt"])
	require.Equal(t, "2026-03-01T12:00:00Z", seen["createdAt"])
	w.s.SetClock(noon.Add(2 * time.Hour))
	c.git("push", "-q", "origin", "topic:unrelated")
	seen = w.seen(n)
	require.Equal(t, "2026-03-01T14:00:00Z", seen["headRepository"].(obj)["pushedAt"], "of any branch of the fork")
	require.Equal(t, "2026-03-01T13:00:00Z", seen["updatedAt"])

	require.Equal(t, "octo/widgets", w.as("", "GET", "/repos/eve/widgets", nil).want(200).obj()["parent"].(obj)["full_name"])
	require.Equal(t, "eve:topic", w.as("", "GET", pullPath(n), nil).obj()["head"].(obj)["label"])
	require.EqualValues(t, 1, w.as("", "GET", repoPath+"/compare/main...eve:topic", nil).want(200).obj()["ahead_by"])
	w.as("octo", "PUT", pullPath(n)+"/merge", obj{}).want(200)
	require.Equal(t, "CONTRIBUTOR", w.as("eve", "POST", repoPath+"/issues/1/comments", obj{"body": "thanks"}).obj()["author_association"])
}
