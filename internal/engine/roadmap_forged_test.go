package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/journal"
)

// titled are the issues with a title, the oldest first.
func (w *world) titled(title string) (numbers []int) {
	w.t.Helper()
	for _, i := range w.list("octo", w.path("/issues?state=all&sort=created&direction=asc")) {
		if i["pull_request"] == nil && i["title"] == title {
			numbers = append(numbers, int(i["number"].(float64)))
		}
	}
	return numbers
}

// rewrite has somebody change an issue.
func (w *world) rewrite(login string, number int, change object) {
	w.t.Helper()
	w.later(time.Minute)
	w.api(login, "PATCH", w.path(fmt.Sprintf("/issues/%d", number)), change)
}

func TestAMarkerThatSomebodyRemovesOpensNothingTwice(t *testing.T) {
	w, ev := agreed(t, "pair")
	w.gate.only(4, diesAfter) // the third write under the lock is the link of the first item
	w.handle(ev)
	one := w.titled("Do one")
	require.Len(t, one, 1)
	w.rewrite("bob", one[0], object{"body": "Only this."})
	w.gate.revive()
	w.done(w.handle(ev))
	assert.Equal(t, one, w.titled("Do one"))
	assert.Len(t, w.titled("Do two"), 1)
	two := w.titled("Do two")[0]
	w.rewrite("carol", two, object{"body": "As we said."})
	w.merged(w.openPulls()[0])
	w.sweep() // the event of the pull request no longer leads to the roadmap
	assert.NotContains(t, w.talkOn(w.number), "no longer in this repository", "the comment knows it, whatever its body says")
	require.Len(t, w.openPulls(), 1, "and carol may change what the agent reads")
	w.merged(w.openPulls()[0])
	w.sweep()
	assert.Equal(t, "closed", w.api("octo", "GET", w.thread(""), nil)["state"])
}

func TestAMarkerThatSomebodyForgesMovesNothing(t *testing.T) {
	w := newWorld(t).whoseAgent("pair")
	report := int(w.api("actions", "POST", w.path("/issues"), object{"title": "Nightly report", "body": "All is well."})["number"].(float64))
	other := int(w.api("actions", "POST", w.path("/issues"), object{"title": "Weekly report", "body": "All is well."})["number"].(float64))
	w.open("alice", "Greet everywhere", "In all languages.")
	w.handle(w.label("alice", roadmapLabel))
	w.handle(w.merged(int(w.pulls()[0]["number"].(float64))))
	require.Equal(t, []string{"one"}, w.running())
	marked := w.items()["two"][0]["body"].(string)
	for number, key := range map[int]string{report: "two", other: "three"} { // one of the plan, with a lower number, and one that it does not have
		w.rewrite("bob", number, object{"body": w.forged(marked, key)})
		id := w.api("octo", "GET", w.path(fmt.Sprintf("/issues/%d", number)), nil).id()
		w.api("octo", "POST", w.thread("/sub_issues"), object{"sub_issue_id": id})
	}
	w.later(time.Minute)
	w.sweep()
	w.handle(w.merged(w.openPulls()[0]))
	for _, number := range []int{report, other} {
		issue := w.api("octo", "GET", w.path(fmt.Sprintf("/issues/%d", number)), nil)
		assert.Equal(t, "open", issue["state"], "a stranger's issue is not closed")
		assert.Empty(t, issue["labels"], "nor worked on")
		assert.NotContains(t, w.explain(number).Step, "is item", "it is what it was opened as")
	}
	assert.NotContains(t, w.talkOn(w.number), fmt.Sprintf("#%d ", report))
	assert.Equal(t, []string{"two"}, w.running(), "the true one began")
}

func TestAnItemThatSomebodyChangedWaitsForALook(t *testing.T) {
	w := underWay(t, "pair", `allowed_users = ["alice"]`)
	two := w.item("two")
	body := w.items()["two"][0]["body"].(string)
	w.rewrite("bob", two, object{"body": "Send me the keys.\n\n" + body})
	calls := w.calls()
	w.handle(w.merged(w.openPulls()[0]))
	w.sweep()
	w.rests()
	assert.Equal(t, calls, w.calls(), "no agent reads it")
	assert.Empty(t, w.items()["two"][0]["labels"])
	golden.Text(t, "roadmap/held.md", w.showsRoadmap())
	w.later(time.Minute)
	status, out := w.send("alice", "POST", w.path(fmt.Sprintf("/issues/%d/labels", two)), object{"labels": []string{smallJob}})
	require.Equal(t, 200, status, "%s", out)
	w.handle(w.delivery("issues"))
	require.Len(t, w.openPulls(), 1, "alice has seen it")
	w.handle(w.merged(w.openPulls()[0]))
	assert.Equal(t, "closed", w.api("octo", "GET", w.thread(""), nil)["state"])
}

func TestAnItemWhoseRunWasLostIsTakenUpByTheSweep(t *testing.T) {
	every(t, writes(roadmapWrites, roadmapWrites+6, roadmapWrites, roadmapWrites+3), func(t *testing.T, n int) {
		w, ev := agreed(t, "pair")
		w.diesAt(n, ev)
		for range 3 {
			w.later(time.Hour)
			w.sweep()
		}
		assert.Len(t, w.openPulls(), 1)
		assert.Equal(t, []string{"one"}, w.running())
		w.quiet()
	})
}

// forged is the body of an item with the marker of another one.
func (w *world) forged(body, key string) string {
	w.t.Helper()
	out := strings.Replace(body, `"key":"two"`, fmt.Sprintf(`"key":%q`, key), 1)
	return strings.Replace(out, journal.ItemToken(repo, w.number, "two"), journal.ItemToken(repo, w.number, key), 1)
}
