package engine_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
)

// roadmapWrites are those of a run that opens two items: the lock, the comment, two issues with their links, a label, the comment
// and the lock again, and the workflow that is not there.
const roadmapWrites = 10

func TestADeathAtAnyWriteOfARoadmapIsMadeGood(t *testing.T) {
	w, ev := agreed(t, "pair")
	dead := w.wrecks(func() { require.Equal(t, model.ResultDone, w.handle(ev).Result) })
	require.Equal(t, roadmapWrites+7+1, w.gate.writes, "the roadmap's own, those of the item's agent, and the comment once more: %v", w.gate.seen)
	want := w.showsRoadmap()
	dead.each(t, writes(1, roadmapWrites, 1, 5, roadmapWrites), func(t *testing.T, w *world, _ int) {
		rep := w.recover(ev)
		assert.Contains(t, []model.Result{model.ResultDone, model.ResultNothing}, rep.Result, rep.Reason)
		assert.Equal(t, want, w.showsRoadmap())
		assert.Equal(t, 2, w.calls(), "the plan and the first item")
	})
}

func TestAnItemThatFailsStopsWhatNeedsItAndAsksOnce(t *testing.T) {
	w := underWay(t, "plan")
	w.handle(w.merged(w.openPulls()[0]))
	require.Equal(t, []string{"left", "right"}, w.running())
	left := w.openPulls()[0]
	w.closed(fmt.Sprint(left))
	closed := w.closedEvent(left)
	w.done(w.handle(closed))
	golden.Text(t, "roadmap/failed.md", w.showsRoadmap())
	w.handle(closed)
	w.sweep()
	w.tellsOfTheRoadmap(left)
	assert.Equal(t, 1, strings.Count(w.talkOn(w.number), "has stopped"), "a person is asked once")
	for len(w.openPulls()) > 0 { // the other side goes on
		w.handle(w.merged(w.openPulls()[0]))
	}
	assert.Equal(t, "closed", w.items()["far-right"][0]["state"])
	assert.Empty(t, w.items()["join"][0]["labels"], "it needs what failed")
	w.later(time.Minute)
	w.api("octo", "PATCH", w.path(fmt.Sprintf("/pulls/%d", left)), object{"state": "open"})
	for len(w.openPulls()) > 0 {
		w.handle(w.merged(w.openPulls()[0]))
	}
	assert.Equal(t, "closed", w.api("octo", "GET", w.thread(""), nil)["state"], "and the roadmap is done")
}

// The issue of a dropped item is closed, and no sweep looks there any more.
func TestTwoRunsAtOnceDropAnItemOnce(t *testing.T) {
	w := underWay(t, "plan")
	docs := w.item("docs")
	change := w.changePlan(func(text string) string {
		at := strings.Index(text, "  - key: docs")
		return text[:at] + text[at+strings.Index(text[at:], "\n---\n\n#")+1:]
	})
	w.beforeWriting(func() { w.handle(change) })
	w.handle(change)
	w.gate.revive()
	assert.Equal(t, 1, strings.Count(w.talkOn(docs), "is no longer part of roadmap #"))
}

func TestAPlanThatChangesWhileItemsRun(t *testing.T) {
	w := underWay(t, "plan")
	require.Equal(t, []string{"base"}, w.running())
	w.done(w.handle(w.changePlan(func(text string) string {
		at := strings.Index(text, "  - key: docs")
		end := strings.Index(text, "\n---\n\n#")
		return text[:at] + "  - key: extra\n    title: Do extra\n    flow: bugfix" + text[end:]
	})))
	assert.Equal(t, []string{"base", "extra"}, w.running())
	number := w.item("docs")
	assert.Equal(t, "closed", w.items()["docs"][0]["state"])
	assert.Contains(t, w.talkOn(number), "is no longer part of roadmap #")
	golden.Text(t, "roadmap/changed.md", w.showsRoadmap())
	w.handle(w.setIssue(number, object{"state": "open"}))
	w.sweep()
	assert.Equal(t, "open", w.items()["docs"][0]["state"], "a person wants it, as our comment says they may")
	assert.Equal(t, 1, strings.Count(w.talkOn(number), "is no longer part of roadmap #"))
	circle := func(text string) string { return strings.Replace(text, "needs: [base]", "needs: [join]", 1) }
	straight := func(text string) string { return strings.Replace(text, "needs: [join]", "needs: [base]", 1) }
	w.done(w.handle(w.changePlan(circle)))
	assert.Contains(t, w.talkOn(w.number), "a cycle: left needs join needs far-left needs left")
	assert.Len(t, w.items(), 8, "nothing was opened or dropped")
	w.handle(w.merged(w.openPulls()[0]))
	assert.Empty(t, w.items()["left"][0]["labels"], "nothing begins by a file that does not hold")
	w.handle(w.changePlan(straight))
	assert.Equal(t, []string{"extra", "left", "right"}, w.running())
	assert.Equal(t, "open", w.items()["docs"][0]["state"])

	w.handle(w.changePlan(circle))
	w.put("/_sandbox/issues", object{"repository": repo.String(), "number": w.item("far-right"), "state": "deleted"})
	w.reword("bob", w.roadmapComment(), "Looks good.")
	w.sweep()
	w.handle(w.changePlan(straight))
	assert.Empty(t, w.items()["far-right"], "what may have been deleted is not opened again, also once the file holds")
	assert.Equal(t, []string{"extra", "left", "right"}, w.running())
	assert.Equal(t, "open", w.items()["docs"][0]["state"])
}

func TestItemsThatPeopleMovedOrChanged(t *testing.T) {
	w, ev := agreed(t, "plan")
	w.handle(ev)
	w.api("octo", "POST", "/api/v3/user/repos", object{"name": "gadgets", "auto_init": true})
	w.later(time.Minute)
	w.put("/_sandbox/issues", object{"repository": repo.String(), "number": w.item("right"), "state": "transferred", "to": "octo/gadgets"})
	w.put("/_sandbox/issues", object{"repository": repo.String(), "number": w.item("far-left"), "state": "deleted"})
	base := w.item("base")
	status, _ := w.send("octo", "DELETE", w.path(fmt.Sprintf("/issues/%d/labels/%s", base, smallJob)), nil)
	require.Equal(t, 200, status)
	w.later(time.Minute)
	w.setIssue(w.item("join"), object{"state": "closed", "state_reason": "completed"})
	w.sweep()
	w.sweep()
	golden.Text(t, "roadmap/moved.md", w.showsRoadmap())
	assert.Empty(t, w.items()["base"][0]["labels"], "what a person took off is not put on again")
	for _, forget := range []func(comment string){
		func(comment string) { w.api("bob", "PATCH", comment, object{"body": "- [x] #4"}) },
		func(comment string) { w.send("bob", "DELETE", comment, nil) },
	} {
		w.later(time.Minute)
		forget(w.path(fmt.Sprintf("/issues/comments/%d", w.roadmapComment())))
		for range 2 {
			w.sweep()
			assert.Empty(t, w.items()["right"], "nobody knows what became of it")
			assert.Empty(t, w.items()["base"][0]["labels"], "and this has begun before")
		}
		w.quiet()
	}
	golden.Text(t, "roadmap/forgotten.md", w.showsRoadmap())
	w.handle(w.merged(w.openPulls()[0]))
	assert.Equal(t, []string{"left"}, slices.DeleteFunc(w.running(), func(k string) bool { return k == "docs" }))
	for _, key := range []string{"right", "far-left"} {
		assert.Empty(t, w.items()[key], "it is not opened again")
	}
	rep := w.gives(model.ResultNothing, w.handle(ev))
	assert.LessOrEqual(t, rep.Calls.GraphQL, 9, "what is gone is not looked for among all issues, and two open pull requests may wait for a person")
}

func TestAnItemThatAPersonRelabelsGoesThatPersonsWay(t *testing.T) {
	w := underWay(t, "plan", "", "[roadmap]\nmax_active = 2")
	relabel := func(key, off, on string) {
		plan := w.number
		w.number = w.item(key)
		if off != "" {
			w.unlabel("alice", off)
		}
		w.handle(w.label("alice", on))
		w.number = plan
	}
	relabel("docs", "", bugfix) // before what it needs is done
	require.Len(t, w.openPulls(), 2)
	w.handle(w.merged(w.openPulls()[0]))
	assert.Equal(t, []string{"docs", "left"}, w.running(), "it is one of the two that run at the same time")
	relabel("left", smallJob, bugfix)
	w.sweep()
	w.rests()
	for _, key := range []string{"docs", "left"} {
		assert.Len(t, w.items()[key][0]["labels"], 1, "no label is added to the person's")
	}
	for len(w.openPulls()) > 0 {
		w.handle(w.merged(w.openPulls()[0]))
	}
	assert.Equal(t, "closed", w.api("octo", "GET", w.thread(""), nil)["state"])
}

func TestAnItemWhoseIssueWasClosedIsDoneOnceItsPullRequestIsMerged(t *testing.T) {
	w := underWay(t, "plan")
	drop := func(key string) model.Event {
		return w.setIssue(w.item(key), object{"state": "closed", "state_reason": "not_planned"})
	}
	w.handle(drop("base"))
	require.Contains(t, w.talkOn(w.number), "**stopped**,")
	w.rests()
	w.merged(w.pullOf("base"))
	w.sweep() // the event of the merge was lost
	require.Equal(t, []string{"left", "right"}, w.running())
	drop("left") // and merged, both before the next look
	w.handle(w.merged(w.pullOf("left")))
	assert.Equal(t, []string{"far-left", "right"}, w.running())
	w.handle(w.merged(w.pullOf("right")))
	assert.NotContains(t, w.talkOn(w.number), "**stopped**,", "what was done stays done")
	w.rests()
}

func TestARoadmapThatIsDoneGoesOnOnceSomebodyReopensIt(t *testing.T) {
	w := underWay(t, "pair")
	state := func() any { return w.api("octo", "GET", w.thread(""), nil)["state"] }
	w.handle(w.merged(w.openPulls()[0]))
	last := w.merged(w.openPulls()[0])
	finish := func(ev model.Event) {
		w.gate.when(diesFirst, func(r *http.Request) bool {
			return r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, w.thread(""))
		}) // the run dies before it closes the issue
		w.dies(ev)
		w.later(time.Hour)
		w.sweep()
		require.Equal(t, "closed", state())
		w.handle(w.setIssue(w.number, object{"state": "open"}))
		w.sweep()
		require.Equal(t, "open", state(), "whoever reopened it wants it open")
		w.quiet()
	}
	finish(last)
	w.handle(w.setIssue(w.number, object{"state": "closed"}))
	change := w.changePlan(func(text string) string {
		return strings.Replace(text, "\n---\n\n#", "\n  - key: three\n    title: Do three\n    flow: bugfix\n    needs: [two]\n---\n\n#", 1)
	})
	w.handle(change)
	w.handle(change)
	require.Empty(t, w.items()["three"])
	golden.Text(t, "roadmap/closed_changed.md", w.showsRoadmap())
	w.handle(w.setIssue(w.number, object{"state": "open"}))
	require.Equal(t, []string{"three"}, w.running())
	w.handle(w.setIssue(w.item("three"), object{"state": "closed", "state_reason": "not_planned"}))
	require.Equal(t, "open", state())
	finish(w.changePlan(func(text string) string {
		return strings.Replace(text, "\n  - key: three\n    title: Do three\n    flow: bugfix\n    needs: [two]", "", 1)
	}))
}

func TestACircleGoesBackToTheAgentWithItsLine(t *testing.T) {
	w := proposed(t, "record+circle")
	assert.Equal(t, 2, w.calls())
	assert.Contains(t, w.requests()[1].Prompt, "a cycle: base needs docs needs join needs far-left needs left needs base")
	w = newWorld(t, "", "[feedback]\nrepair_rounds = 1").whoseAgent("dizzy")
	w.open("alice", "Greet everywhere", "In all languages.")
	w.ended(model.ResultBlocked, "the roadmap is invalid", w.handle(w.label("alice", roadmapLabel)))
	assert.Contains(t, w.talkOn(w.number), "line 11: a cycle: a needs b needs a")
	assert.Empty(t, w.pulls())
}

func TestTwoRunsOpenEachIssueOnce(t *testing.T) {
	w := underWay(t, "pair")
	want := w.showsRoadmap()
	every(t, writes(1, roadmapWrites, 2, 5, roadmapWrites), func(t *testing.T, n int) {
		w, ev := agreed(t, "pair")
		w.beforeWrite(n, func() { w.by(w.engine(), ev) })
		w.handle(ev)
		w.gate.at = nil
		w.handle(ev)
		assert.Equal(t, want, w.showsRoadmap())
	})
}

func TestAStrangersCopyOfAnItemIsNone(t *testing.T) {
	w := underWay(t, "pair")
	body := w.items()["one"][0]["body"].(string)
	w.later(time.Minute)
	copied := w.api("eve", "POST", w.path("/issues"), object{"title": "Do one", "body": body})
	w.later(time.Minute)
	w.api("eve", "POST", w.path("/issues"), object{"title": "Do two", "body": w.items()["two"][0]["body"]})
	w.done(w.handle(w.merged(w.openPulls()[0])))
	assert.NotContains(t, w.talkOn(w.number), fmt.Sprintf("#%.0f ", copied["number"]))
}

func TestAPlanThatMergeXOMergesBeginsInTheSameRun(t *testing.T) {
	w := newRoadmap(t, "pair", "", "[merge]\napprovals = 0\ntests = \"none\"")
	issue, plan := w.number, w.pulls()[0]
	w.number = int(plan["number"].(float64))
	branch, file := plan.at("head", "ref").(string), "docs/roadmaps/2-greet-everywhere.md"
	good := w.fileOf(branch, file)
	w.write("alice", branch, file, strings.Replace(good, "needs: []", "needs: [two]", 1))
	w.gives(model.ResultBlocked, w.command("carol", "/mergexo merge"))
	assert.Contains(t, w.talkOn(w.number), "ROADMAP_INVALID")
	assert.Contains(t, w.talkOn(w.number), "line 11: a cycle: one needs two needs one")
	w.write("alice", branch, file, good)
	w.done(w.command("carol", "/mergexo merge"))
	w.number = issue
	assert.Equal(t, []string{"one"}, w.running())
	w.number = w.openPulls()[0]
	w.done(w.command("carol", "/mergexo merge"))
	w.number = issue
	assert.Equal(t, []string{"two"}, w.running(), "and so does the next item")
}
