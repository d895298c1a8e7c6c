package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// withdraw takes the label off that asked for the merge.
func (w *world) withdraw(login string) {
	w.t.Helper()
	w.later(time.Minute)
	w.takesOff(login, "merge")
}

const labelWithdrew = "label \"merge\", which asked for the merge, was removed"

// A label that is removed takes the request back: while it waits, and whoever puts it on again.
func TestALabelThatIsRemovedTakesItsRequestBack(t *testing.T) {
	w := newWorld(t, "", "[merge]\ntests = \"none\"\nauto = \"label\"")
	w.labels("carol", "merge")
	w.handle(w.delivery("pull_request"))
	require.Equal(t, []string{"in_approval APPROVAL_MISSING"}, w.merges())
	w.withdraw("carol")
	w.labels("alice", "merge")
	w.approve("alice")
	rep := w.handle(w.delivery("pull_request_review"))
	assert.Equal(t, model.ResultDone, rep.Result, "it is no failure: %s", rep.Reason)
	assert.Equal(t, []string{"merge_failed CANCELLED"}, w.merges(), "alice is no operator")
	assert.Contains(t, w.request(), labelWithdrew)
	w.sweep()
	assert.Equal(t, "open", w.badge())
	w.withdraw("alice")
	w.labels("carol", "merge")
	w.sweep()
	assert.Equal(t, "merged", w.badge(), w.logged.String())
}

// Somebody removes the label while the tests run.
func TestALabelThatIsRemovedDuringTheTests(t *testing.T) {
	w := whileTested(t, deed{"octo", "DELETE", "/issues/1/labels/merge", "{}"}, `auto = "label"`)
	w.landsNothing().labels("carol", "merge")
	w.handle(w.delivery("pull_request"))
	w.requested("merge_failed CANCELLED", labelWithdrew)
}

// The train hears of it at the event, and else sees it before it lands anything.
func TestALabelThatIsRemovedAboard(t *testing.T) {
	t.Parallel()
	for _, heard := range []bool{true, false} {
		w := newTrain(t, `auto = "label"`)
		numbers := w.ready("car", "one\n", "two\n")
		for _, n := range numbers {
			w.on(n).labels("carol", "merge")
			w.handle(w.delivery("pull_request"))
		}
		require.Len(t, w.trains(), 2, w.logged.String())
		w.on(numbers[0]).withdraw("carol")
		if heard {
			w.handle(w.delivery("pull_request"))
			assert.Equal(t, []string{"merge_failed CANCELLED"}, w.merges())
		}
		w.arrives("open merged", numbers...)
		w.on(numbers[0]).requested("merge_failed CANCELLED", labelWithdrew)
	}
}

// After a failure an approval that is newer asks again, of somebody who may write, and once.
func TestAnApprovalAsksAgainAfterAFailure(t *testing.T) {
	w := newTrain(t, `auto = "approval"`, "ci_retries = 0")
	w.write("octo", "main", "ci.sh", "exit 1\n")
	w.number = w.ready("car", "one\n")[0]
	w.head = "agent/car0"
	w.endorsed("bob")
	w.wholeTrain()
	w.requested("merge_failed CHECKS_FAILED", "Push a fix, or rerun the check. Then have it approved again.")
	w.later(time.Minute)
	w.sweep()
	w.approve("eve")
	w.sweep()
	assert.Equal(t, []string{"merge_failed CHECKS_FAILED"}, w.merges(), "eve may not write")

	w.write("octo", "main", "ci.sh", "true\n")
	w.approve("alice")
	assert.Contains(t, w.due(), fmt.Sprint(w.number, " merge"))
	w.handle(w.delivery("pull_request_review"))
	assert.Equal(t, []string{"merge_failed CHECKS_FAILED", "in_approval IN_TRAIN"}, w.merges(), w.logged.String())
	w.wholeTrain()
	assert.Equal(t, "merged", w.badge(), w.logged.String())
}

// A try is no request: whatever became of it, an approval asks for the merge, and nobody is told that it was refused.
func TestAnApprovalAsksAfterATry(t *testing.T) {
	w := newTrain(t, `auto = "approval"`)
	w.number = w.second("agent/auto", "auto.txt")
	w.write("octo", "main", "meanwhile.txt", "meanwhile\n")
	w.passed("ci")
	w.command("carol", "/mergexo try")
	w.wholeTrain()
	why := w.explain(w.number)
	assert.NotContains(t, fmt.Sprint(why.Merges), "refused")
	w.endorsed("alice")
	w.wholeTrain()
	assert.Equal(t, "merged", w.badge(), w.logged.String())
}

// retargeted is a world with a pull request into dev that was approved there, and goes to main by now. dev has a commit that nobody
// has looked at.
func retargeted(t *testing.T, more ...string) *world {
	t.Helper()
	w := newMerge(t, more...)
	w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/dev", "sha": w.at("main")})
	w.write("bob", "dev", "unreviewed.txt", "x\n")
	w.head = "agent/late"
	w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/" + w.head, "sha": w.at("dev")})
	w.write("bob", w.head, "late.txt", "late\n")
	w.number = int(w.api("bob", "POST", w.path("/pulls"), object{"title": "Late", "head": w.head, "base": "dev"})["number"].(float64))
	w.approve("alice")
	return w
}

func (w *world) retarget() {
	w.t.Helper()
	w.later(time.Minute)
	w.api("bob", "PATCH", w.pull(""), object{"base": "main"})
	w.later(time.Minute)
}

// An approval is for a head on a base.
func TestAnApprovalIsForABase(t *testing.T) {
	w := retargeted(t)
	w.retarget()
	w.blocked("APPROVAL_STALE", w.command("carol", "/mergexo merge"))
	assert.Contains(t, w.request(), `Waiting for 1 approval of `+w.tip()[:10]+`; alice approved it before its base was changed to "main"`)
	w.approve("alice")
	w.sweep()
	assert.Equal(t, "merged", w.badge(), "approved for that base: %s", w.logged.String())
}

// A request was for the other base, too, and so was a command that no run had answered by then, and a label.
func TestARequestIsForABase(t *testing.T) {
	type row struct {
		asks  func(w *world)
		event string
	}
	each(t, map[string]row{
		"a request that waits": {func(w *world) { w.labels("carol", "mergexo:freeze"); w.command("carol", "/mergexo merge") }, "pull_request"},
		"a command":            {func(w *world) { w.talk("carol", "/mergexo merge") }, "issue_comment"},
		"a label":              {func(w *world) { w.labels("carol", "merge") }, "pull_request"},
	}, func(t *testing.T, _ string, c row) {
		w := retargeted(t, `auto = "label"`)
		c.asks(w)
		w.retarget()
		ev := w.delivery(c.event)
		w.landsNothing().approve("alice")
		w.handle(ev)
		w.sweep()
		assert.Contains(t, fmt.Sprint(w.comments()), "**Not merged: the base of the pull request has changed** (`RETARGETED`)")
	})
}
