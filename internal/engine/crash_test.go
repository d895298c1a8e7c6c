package engine_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

var (
	changing = regexp.MustCompile(`\b[0-9a-f]{10,64}\b|call \d+|runs/\d+|discussion_r\d+|issuecomment-\d+|http://127\.0\.0\.1:\d+`)
	hidden   = regexp.MustCompile(`(?m)^<!-- mergexo-([a-z]+):(.*) -->$`)
	phase    = regexp.MustCompile(`"(?:phase|status)":"([a-z_]+)"`)
)

// shows is all that a person sees of the pull request, without what differs from run to run.
func (w *world) shows() string {
	w.t.Helper()
	var b strings.Builder
	text := shown
	for _, c := range w.comments() {
		fmt.Fprintf(&b, "== %s says\n%s\n", c.at("user", "login"), text(c["body"]))
	}
	for _, c := range w.list("octo", w.pull("/comments")) {
		fmt.Fprintf(&b, "== %s reviews, reply: %t\n%s\n", c.at("user", "login"), c["in_reply_to_id"] != nil, text(c["body"]))
	}
	for _, c := range w.commits() {
		fmt.Fprintf(&b, "== commit %s\n", text(c))
	}
	fmt.Fprintf(&b, "== greeting.txt\n%s== %d stages\n", w.file("greeting.txt"), len(w.stages())/2)
	return b.String()
}

// shown is what a person sees of a comment, without what differs from run to run, and what its markers are.
func shown(body any) string {
	s := hidden.ReplaceAllStringFunc(body.(string), func(m string) string {
		parts := hidden.FindStringSubmatch(m)
		if p := phase.FindStringSubmatch(parts[2]); p != nil {
			return "[" + parts[1] + " " + p[1] + "]"
		}
		return "[" + parts[1] + "]"
	})
	return changing.ReplaceAllString(s, "#")
}

// twoComments is the turn that the tests below interrupt: two replies and one commit.
func twoComments(t *testing.T) (*world, model.Event) {
	w := newWorld(t)
	w.review("alice", "Answer me.")
	return w, w.remark("bob", "And me.")
}

// uninterrupted is how the turn ends when nothing goes wrong, and how many writes that takes.
func uninterrupted(t *testing.T) (string, int) {
	w, ev := twoComments(t)
	w.done(w.handle(ev))
	require.Equal(t, 8, w.gate.writes, "marker, claim, stage, plan, push, two replies, receipt")
	return w.shows(), w.gate.writes
}

// deathsAt are the deaths at write n that leave something of their own: a process that dies before a write leaves what one
// leaves that dies after the write before.
func deathsAt(n int) map[string]fate {
	if n > 1 {
		return map[string]fate{"after": diesAfter}
	}
	return map[string]fate{"before": diesFirst, "after": diesAfter}
}

// deathsBy are the same, each with how many writes less than n the process has made.
func deathsBy(n int) map[string]int {
	if n > 1 {
		return map[string]int{"after": 0}
	}
	return map[string]int{"before": 1, "after": 0}
}

func TestADeathAtAnyWriteIsMadeGoodByTheNextRun(t *testing.T) {
	w, ev := twoComments(t)
	dead := w.wrecks(func() { w.done(w.handle(ev)) })
	want, last := w.shows(), w.gate.writes
	dead.each(t, writes(1, last, writeClaim, 3, writePlan, writePush, last-1), func(t *testing.T, w *world, _ int) {
		recorded := len(w.marked("turn", "planned")) > 0 || len(w.marked("turn", "done")) > 0
		rep := w.recover(ev)
		assert.Contains(t, []model.Result{model.ResultDone, model.ResultNothing}, rep.Result, rep.Reason)
		assert.Equal(t, want, w.shows())
		if recorded {
			assert.Equal(t, 1, w.calls(), "no second call once the plan is recorded")
		}
		assert.Equal(t, model.ResultNothing, w.handle(ev).Result)
	})
}
