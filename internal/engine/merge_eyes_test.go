package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// opened is a world with a pull request that MergeXO's account opened.
func opened(t *testing.T, more ...string) *world {
	t.Helper()
	w := newMerge(t, more...)
	w.head = "agent/eyes"
	w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/" + w.head, "sha": w.at("main")})
	w.write("actions", w.head, "eyes.txt", "two\n")
	w.number = int(w.api("actions", "POST", w.path("/pulls"), object{"title": "Eyes", "head": w.head, "base": "main"})["number"].(float64))
	return w
}

// writeAs has login push a commit whose author is somebody else.
func (w *world) writeAs(login, author, path string) {
	w.t.Helper()
	by := object{"name": author, "email": author + "@users.noreply.github.com"}
	w.api(login, "PUT", w.path("/contents/"+path), object{"message": "Write", "branch": w.head, "content": "bWluZQo=", "author": by, "committer": by})
}

// Who may write pushes to a pull request of MergeXO's, and approves that: GitHub allows it, since they did not open it.
func TestWhoPushedToOurPullRequestDoesNotApproveIt(t *testing.T) {
	w := opened(t)
	w.writeAs("alice", "octo", "evil.txt")
	w.approve("alice")
	w.command("carol", "/mergexo merge")
	why := fmt.Sprintf("waiting for 1 approval of %s; the approval by alice does not count, since alice pushed to it, and nobody else has approved that", w.tip()[:10])
	assert.Equal(t, "open", w.badge(), w.logged.String())
	w.requested("in_approval APPROVAL_MISSING", why)
	said := w.explain(w.number)
	assert.Contains(t, fmt.Sprint(said.Merges), why)
	w.endorsed("bob")
	assert.Equal(t, "merged", w.badge(), w.logged.String())
}

// With auto = "approval" such an approval asks for nothing, and another one does, in the name of who gave it.
func TestWhoPushedDoesNotAskByTheirApproval(t *testing.T) {
	w := opened(t, `auto = "approval"`)
	before := w.tip()
	w.write("alice", w.head, "evil.txt", "mine\n")
	w.endorsed("alice")
	w.sweep()
	assert.Equal(t, "open", w.badge(), w.logged.String())
	assert.Empty(t, w.merges())
	w.approve("bob")
	w.later(time.Minute)
	w.api("alice", "POST", w.pull("/reviews"), object{"event": "APPROVE", "commit_id": before})
	w.handle(w.delivery("pull_request_review"))
	assert.Equal(t, "merged", w.badge(), w.logged.String())
	assert.Contains(t, w.request(), "requested by the approval of bob")
}

// Where GitHub does not tell who pushed, the authors of the commits decide.
func TestWhoElseApproves(t *testing.T) {
	w := opened(t)
	w.writeAs("alice", "octo", "a.txt")
	w.fail(object{"match": object{"path": "*/octo/widgets/activity"}, "status": 404, "body": object{"message": "Not Found"}})
	w.approve("alice")
	w.command("carol", "/mergexo merge")
	assert.Equal(t, "merged", w.badge(), w.logged.String())
	assert.Equal(t, 1, strings.Count(strings.Join(w.gate.seen, "\n"), "/activity"), "who pushed is asked once")
}

// With four_eyes = "strict" the agent's commits count as those of who asked for them.
func TestWhoAskedTheAgentDoesNotApprove(t *testing.T) {
	w := opened(t, `four_eyes = "strict"`)
	id := w.talk("alice", "Say hello")
	before := w.tip()
	w.handle(w.delivery("issue_comment"))
	require.NotEqual(t, before, w.tip(), w.logged.String())
	w.approve("alice")
	w.command("carol", "/mergexo merge")
	assert.Contains(t, w.request(), "since alice asked the agent for it")
	w.api("alice", "DELETE", w.path(fmt.Sprintf("/issues/comments/%d", id)), nil)
	w.alone = true // no survey shows what was deleted: the next day's does
	w.sweep()
	w.handle(w.delivery("pull_request_review"))
	assert.Equal(t, "open", w.badge(), w.logged.String())
	assert.Contains(t, w.request(), "since nobody can tell who asked the agent for it")
	w.endorsed("bob")
	assert.Equal(t, "merged", w.badge(), w.logged.String())
}

// Who opened the issue and who had the agent begin asked for all that nobody else has approved; a label of another kind asks for nothing.
func TestWhoHadTheAgentBeginDoesNotApprove(t *testing.T) {
	w := opened(t, `four_eyes = "strict"`)
	issue := int(w.api("bob", "POST", w.path("/issues"), object{"title": "See", "body": "It does not."})["number"].(float64))
	for login, label := range map[string]string{"carol": "agent:bugfix", "alice": "soon"} {
		status, out := w.send(login, "POST", w.path(fmt.Sprintf("/issues/%d/labels", issue)), object{"labels": []string{label}})
		require.Equal(t, 200, status, "%s", out)
	}
	w.api("actions", "PATCH", w.pull(""), object{"body": fmt.Sprintf("Fixes #%d", issue)})
	for _, login := range []string{"bob", "carol"} {
		id := w.opinion(login, "APPROVE")
		w.command("carol", "/mergexo merge dry-run")
		assert.Contains(t, fmt.Sprint(w.comments()), "since "+login+" asked the agent for it")
		w.api("octo", "PUT", w.pull(fmt.Sprintf("/reviews/%d/dismissals", id)), object{"message": "not yet"})
	}
	w.approve("alice")
	w.command("carol", "/mergexo merge")
	assert.Equal(t, "merged", w.badge(), w.logged.String())
}
