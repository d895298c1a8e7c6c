package engine_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// newQueue is a pull request that may go into the merge queue of its base, which takes changes by nothing else.
func newQueue(t *testing.T, more ...string) *world {
	t.Helper()
	w := newMerge(t, append([]string{`strategy = "github-queue"`}, more...)...)
	w.newApp()
	w.token = "sandbox-mergexo-app[bot]"
	w.passed("ci")
	w.protect(object{"ruleset": 42, "queue": "SQUASH", "checks": []string{"ci"}})
	return w
}

// entry is what GitHub's GraphQL shows of the pull request's place in the queue, "" for none, and the commit that is tested there.
func (w *world) entry() (state, group string) {
	w.t.Helper()
	query := fmt.Sprintf(`{ repository(owner: "octo", name: "widgets") { pullRequest(number: %d) { mergeQueueEntry { state enqueuer { login } headCommit { oid } } } } }`, w.number)
	e, in := w.api("octo", "POST", "/api/graphql", object{"query": query}).at("data", "repository", "pullRequest", "mergeQueueEntry").(map[string]any)
	if !in {
		return "", ""
	}
	return e["state"].(string), e["headCommit"].(map[string]any)["oid"].(string)
}

// asPerson puts the pull request into the queue or takes it out as somebody, by GitHub's GraphQL.
func (w *world) asPerson(login, mutation, key string) {
	w.t.Helper()
	node := w.api("octo", "GET", w.pull(""), nil)["node_id"]
	got := w.api(login, "POST", "/api/graphql", object{"query": fmt.Sprintf(`mutation { %s(input: {%s: %q}) { clientMutationId } }`, mutation, key, node)})
	require.Nil(w.t, got["errors"])
}

// queued has the pull request put into the queue.
func (w *world) queued() *world { w.t.Helper(); w.command("carol", "/mergexo merge"); return w }

// groupChecked reports how the check of the queue's commit ended.
func (w *world) groupChecked(conclusion string) (group string) {
	w.t.Helper()
	w.later(10 * time.Minute)
	_, group = w.entry()
	w.api("github-actions[bot]", "POST", w.path("/check-runs"), object{"name": "ci", "head_sha": group, "conclusion": conclusion, "details_url": "https://ci.example/7"})
	return group
}

func TestGitHubsMergeQueueMergesWhatWasApproved(t *testing.T) {
	w := newQueue(t)
	before := w.at("main")
	w.done(w.command("carol", "/mergexo merge"))
	assert.Equal(t, []string{"in_approval IN_QUEUE"}, w.merges())
	state, _ := w.entry()
	require.Equal(t, "AWAITING_CHECKS", state)
	assert.Contains(t, w.request(), "**In GitHub's merge queue:**")
	assert.Equal(t, before, w.at("main"))

	w.gate.revive()
	w.handle(w.delivery("pull_request"))
	assert.Contains(t, w.request(), "It is at position 1, waiting for its checks.")
	w.gate.revive()
	w.handle(w.delivery("pull_request"))
	assert.Zero(t, w.gate.writes, "nothing has changed")

	group := w.groupChecked("success")
	assert.Equal(t, group, w.at("main"))
	w.handle(w.delivery("pull_request"))
	assert.Equal(t, []string{"done"}, w.merges())
	said := w.request()
	assert.Contains(t, said, "**Merged**")
	assert.Contains(t, said, "GitHub's merge queue tested it before it merged it")
	assert.Contains(t, said, group)
	assert.Equal(t, before, w.bare("rev-parse", "main^"), "as one commit, as the queue is set up")
}

// How a request ends that GitHub takes out of its queue, or that is not to be merged any more.
func TestOutOfTheMergeQueue(t *testing.T) {
	type row struct {
		do      func(w *world) model.Event
		request string
		says    string
	}
	each(t, map[string]row{
		"a check fails": {func(w *world) model.Event { w.groupChecked("failure"); return w.delivery("pull_request") },
			"merge_failed CHECKS_FAILED", "https://ci.example/7"},
		"somebody pushes": {func(w *world) model.Event {
			w.write("alice", w.head, "greeting.txt", "hello\nworld\nand more\n")
			return w.delivery("pull_request")
		}, "merge_failed HEAD_MOVED", ""},
		"the command is taken back": {func(w *world) model.Event {
			return w.say("carol", "/mergexo merge cancel")
		}, "merge_failed CANCELLED", "Cancelled"},
		"it is frozen": {func(w *world) model.Event {
			w.send("carol", "POST", w.path(fmt.Sprintf("/issues/%d/labels", w.number)), object{"labels": []string{"mergexo:freeze"}})
			return w.delivery("pull_request")
		}, "in_approval FROZEN", "label"},
	}, func(t *testing.T, _ string, c row) {
		w := newQueue(t)
		before := w.bare("rev-parse", "main")
		w.command("carol", "/mergexo merge")
		ev := c.do(w)
		w.handle(ev)
		merges := w.merges()
		require.NotEmpty(t, merges)
		assert.Equal(t, c.request, merges[len(merges)-1], "%s", w.logged.String())
		said := w.marked("merge", "")
		assert.Contains(t, said[len(said)-1]["body"], c.says)
		state, _ := w.entry()
		assert.Empty(t, state)
		assert.Equal(t, before, w.at("main"))
		w.gate.revive()
		w.handle(ev)
		assert.Zero(t, w.gate.writes, "once is enough")
	})
}

// Somebody who may goes past the queue: the report does not claim that the queue has tested it.
func TestAMergePastTheMergeQueueIsToldAsOne(t *testing.T) {
	w := newQueue(t)
	w.command("carol", "/mergexo merge")
	w.put("/_sandbox/protection", object{"repository": repo.String(), "branch": "main", "ruleset": 42, "bypass": []string{"octo"}, "queue": "SQUASH", "checks": []string{"ci"}})
	w.api("octo", "PUT", w.pull("/merge"), object{})
	w.handle(w.delivery("pull_request"))
	w.requested("done", "GitHub does not report that its merge queue merged it")
}

// Two runs that put one pull request into the queue are one, and what the queue did the sweep tells as well as an event.
func TestTheMergeQueueHasOneEntryForTwoRuns(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 3; n++ { // the other one comes before each of the writes
		w := newQueue(t)
		ev := w.say("carol", "/mergexo merge")
		w.gate.revive()
		w.beforeWrite(n, sync.OnceFunc(func() { w.beside(ev) }))
		w.handle(ev)
		w.gate.revive()
		assert.Equal(t, []string{"in_approval IN_QUEUE"}, w.merges(), "before write %d", n)
		state, _ := w.entry()
		assert.Equal(t, "AWAITING_CHECKS", state)
		w.groupChecked("success")
		w.sweep()
		assert.Equal(t, []string{"done"}, w.merges())
	}
}

// A request that is taken back while the queue merges it is merged, and says so.
func TestWhatTheMergeQueueHasMergedIsNotTakenBack(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 2; n++ { // GitHub merges it before each write: the reply to the command, and the way out of the queue
		w := newQueue(t)
		w.command("carol", "/mergexo merge")
		ev := w.say("carol", "/mergexo merge cancel")
		group := ""
		w.gate.revive()
		w.beforeWrite(n, sync.OnceFunc(func() { group = w.groupChecked("success") }))
		w.handle(ev)
		w.gate.revive()
		w.handle(w.delivery("pull_request"))
		require.Equal(t, group, w.at("main"), "before write %d", n)
		assert.Equal(t, []string{"done"}, w.merges(), "before write %d", n)
		assert.Contains(t, w.request(), "GitHub's merge queue tested it before it merged it", "before write %d", n)
	}
}

// What a person has put into the queue is followed, and is left there.
func TestAPersonsPlaceInTheMergeQueueIsTheirs(t *testing.T) {
	w := newQueue(t)
	w.asPerson("octo", "enqueuePullRequest", "pullRequestId")
	w.command("carol", "/mergexo merge")
	w.requested("in_approval IN_QUEUE", "It is at position 1")
	w.command("carol", "/mergexo merge cancel")
	assert.Equal(t, []string{"merge_failed CANCELLED"}, w.merges())
	state, _ := w.entry()
	assert.NotEmpty(t, state)
}

// What GitHub refuses, and what it says nothing of, is looked at before it is told.
func TestTheMergeQueueRefusesOrDoesNotAnswer(t *testing.T) {
	w := newQueue(t)
	w.protect(object{"ruleset": 42, "queue": "SQUASH", "checks": []string{"ci", "never"}})
	w.command("carol", "/mergexo merge")
	w.requested("merge_failed PROTECTED", "GitHub does not accept it into the merge queue")

	w = newQueue(t)
	w.gate.when(unclear, func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/graphql") })
	w.done(w.command("carol", "/mergexo merge"))
	w.requested("in_approval IN_QUEUE", "It is at position 1")

	w = newQueue(t)
	w.gate.when(lost, func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/graphql") })
	w.command("carol", "/mergexo merge")
	assert.Equal(t, []string{"in_approval PUSH_REJECTED"}, w.merges())
	w.gate.revive()
	w.sweep()
	assert.Equal(t, []string{"in_approval IN_QUEUE"}, w.merges(), "the sweep tries again")
}

func TestTheMergeQueueAfterADeathAtAnyWrite(t *testing.T) {
	each(t, map[string]func(w *world) model.Event{
		"into it":    func(w *world) model.Event { return w.say("carol", "/mergexo merge") },
		"landed":     func(w *world) model.Event { w.queued().groupChecked("success"); return w.delivery("pull_request") },
		"red":        func(w *world) model.Event { w.queued().groupChecked("failure"); return w.delivery("pull_request") },
		"taken back": func(w *world) model.Event { return w.queued().say("carol", "/mergexo merge cancel") },
	}, func(t *testing.T, _ string, set func(w *world) model.Event) {
		ends := func(w *world) string {
			state, _ := w.entry()
			return fmt.Sprintf("%s\nin the queue: %q", w.ends(), state)
		}
		w := newQueue(t)
		ev := set(w)
		dead := w.wrecks(func() { w.handle(ev) })
		last, want := w.gate.writes, ends(w)
		require.Positive(t, last)
		dead.each(t, writes(1, last, 1, last-1), func(t *testing.T, w *world, _ int) {
			w.recover(ev)
			assert.Equal(t, want, ends(w), "%s", w.logged.String())
		})
	})
}

// The way into the queue takes one reading and one mutation more than a request that waits; a look at what has not changed takes
// one reading more.
func TestBudgetsOfTheMergeQueue(t *testing.T) {
	w := newQueue(t)
	w.gate.revive()
	w.command("carol", "/mergexo merge")
	in, _ := w.gate.counted()
	w.gate.revive()
	w.handle(w.delivery("pull_request"))
	w.gate.revive()
	w.handle(w.delivery("pull_request"))
	still, git := w.gate.counted()
	assert.Equal(t, "in: 10, still: 3 and 0 of git", fmt.Sprintf("in: %d, still: %d and %d of git", in, still, git))
}
