package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
)

const planFile = "docs/roadmaps/2-greet-everywhere.md"

// propose has alice open a pull request with a text for a file, and gives the event of it.
func (w *world) propose(branch, file, text string) model.Event {
	w.t.Helper()
	w.branch(branch)
	w.later(time.Minute)
	w.write("alice", branch, file, text)
	w.api("alice", "POST", w.path("/pulls"), object{"title": "Change the plan", "head": branch, "base": "main"})
	return w.delivery("pull_request")
}

func TestAPersonsRoadmapIsCheckedAtReviewTime(t *testing.T) {
	w := underWay(t, "pair")
	issue := w.number
	good := w.fileOf("main", planFile)
	bad := strings.Replace(strings.Replace(good, "needs: []", "needs: [two]\n    depends: [x]", 1), "flow: small_job", "flow: smalljob", 1)
	ev := w.propose("plan", planFile, bad)
	w.number = ev.Number
	w.beforeWriting(func() { w.handle(ev) }) // two runs at once say it once
	require.Equal(t, model.ResultDone, w.handle(ev).Result)
	w.gate.revive()
	w.handle(ev)
	golden.Text(t, "roadmap/checked.md", w.talkOn(ev.Number))
	w.later(time.Minute)
	w.write("alice", "plan", "notes.txt", "nothing of the plan")
	w.handle(w.delivery("pull_request"))
	assert.Len(t, w.comments(), 1, "another head with the same problems")
	w.later(time.Minute)
	w.write("alice", "plan", planFile, strings.Replace(bad, "depends: [x]", "depends: [y, z]\n    needs: [two]", 1))
	w.handle(w.delivery("pull_request"))
	assert.Len(t, w.comments(), 2)
	w.later(time.Minute)
	w.write("alice", "plan", planFile, strings.Replace(good, "Do two", "Do both", 1))
	w.handle(w.delivery("pull_request"))
	assert.Len(t, w.comments(), 2, "it holds")

	ev = w.propose("second", fmt.Sprintf("docs/roadmaps/%d-v1..v2.md", issue), strings.Replace(good, fmt.Sprintf("issue: %d", issue), "issue: 9", 1))
	w.number = ev.Number
	require.Equal(t, model.ResultDone, w.handle(ev).Result)
	golden.Text(t, "roadmap/second.md", w.talkOn(ev.Number))
	ev = w.propose("other", "docs/readme.md", "Read me.")
	w.number = ev.Number
	w.handle(ev)
	assert.Empty(t, w.comments())
}

func TestAForksRoadmapEndsNoRun(t *testing.T) {
	w := underWay(t, "pair")
	ev := w.propose("plan", planFile, strings.Replace(w.fileOf("main", planFile), "needs: []", "needs: [two]", 1))
	w.put("/_sandbox/permissions", object{"repository": repo.String(), "permissions": object{"contents": "read", "issues": "read", "pull-requests": "read"}})
	w.gives(model.ResultNothing, w.handle(ev))
	w.number = ev.Number
	assert.Empty(t, w.comments())
}
