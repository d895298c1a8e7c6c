package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine/sweeping"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// hangingTests are required tests that say so and never end.
const hangingTests = `required_tests = ["sh", "-c", "echo tests are running; exec tail -f /dev/null"]`

// everyTime lets as much time pass each time that the word is printed.
func (w *world) everyTime(d time.Duration, word string) {
	w.printed.At(word, func() {
		w.everyTime(d, word)
		w.clock.Advance(d)
	})
}

func TestARequiredTestThatHangsGetsOneRepairRound(t *testing.T) {
	w := newWorld(t, hangingTests, "test_timeout = \"20s\"\n[feedback]\nrepair_rounds = 3")
	w.everyTime(20*time.Second, "tests are running")
	w.blocked("tests_failed", w.handle(w.remark("alice", "Answer me.")))
	assert.Equal(t, 2, w.calls(), "the first answer, and one round to repair it")
	assert.Contains(t, w.marked("block", "")[0]["body"], "test_timeout")
	assert.Contains(t, w.marked("block", "")[0]["body"], "20s")
	w.kept()
}

func TestARunWhoseTimeIsOverSavesItsWorkAndSaysSo(t *testing.T) {
	each(t, map[string]struct{ agent, tests, word string }{
		"in the middle of the agent's work": {"commits+dirty+hangs", "", atWork},
		"in the middle of the tests":        {"commits", hangingTests, "tests are running"},
	}, func(t *testing.T, _ string, c struct{ agent, tests, word string }) {
		w := newWorld(t, c.tests, `run_timeout = "30s"`).whoseAgent(c.agent)
		w.passing(30*time.Second, c.word)
		ev := w.remark("alice", "Answer me.")
		w.ended(model.ResultFailed, "run_timeout", w.handle(ev))
		branch, subjects := w.kept()
		assert.Contains(t, subjects, "Agent's two")
		said := w.saidOnce("turn", "failed")
		assert.Contains(t, said, "run_timeout")
		assert.Contains(t, said, w.linkOf(branch))
		if c.tests == "" {
			w.recovers(ev, false)
		}
	})
}

func TestNoTurnBeginsOnceTheTimeIsOver(t *testing.T) {
	w := newWorld(t, "", `run_timeout = "2m"`)
	ev := w.remark("alice", "Answer me.")
	said := false
	w.gate.after = func(int) {
		if !said && w.calls() == 1 {
			said = true
			w.talk("bob", "And me.")
			w.clock.Advance(2 * time.Minute)
		}
	}
	rep := w.by(w.engine(), ev)
	w.over(w.runs)
	assert.Equal(t, model.ResultRetry, rep.Result, rep.Reason)
	assert.Contains(t, rep.Reason, "run_timeout")
	assert.Equal(t, 1, w.calls())
	assert.Len(t, w.marked("turn", "done"), 1, "what was finished is published all the same")
	assert.Empty(t, w.marked("turn", "started"))
	assert.Empty(t, w.marked("turn", "failed"), "no attempt was made")
	w.gate.revive()
	require.Equal(t, model.ResultDone, w.handle(ev).Result)
	assert.Len(t, w.marked("turn", "done"), 2)
}

func TestAnAttemptThatBeganLateDoesNotCount(t *testing.T) {
	w := newWorld(t, "", `run_timeout = "90s"`)
	ev := w.remark("alice", "Answer me.")
	said := false
	w.gate.after = func(int) {
		if !said && w.calls() == 1 {
			said = true
			w.talk("bob", "And me.")
			w.clock.Advance(60 * time.Second)
			w.agent = "hangs"
		}
	}
	e := w.engine()
	lookup := e.Lookup
	e.Lookup = func(name string) (string, bool) {
		if name == "FAKE_AGENT" {
			return w.agent, true
		}
		return lookup(name)
	}
	w.passing(30*time.Second, atWork)
	rep := w.by(e, ev)
	w.over(w.runs)
	assert.Equal(t, model.ResultRetry, rep.Result, rep.Reason)
	assert.Contains(t, w.saidOnce("turn", "failed"), "does not count")
}

// What a turn has made is brought onto a head that moved meanwhile, and tested there; its plan outlives the run.
func TestTestsOnAHeadThatMovedEndWithTheRun(t *testing.T) {
	w := newWorld(t, `required_tests = ["sh", "-c", "test ! -f other.txt || { echo tests are running; exec tail -f /dev/null; }"]`, `run_timeout = "30s"`)
	w.meanwhile(w.push("bob"))
	w.passing(30*time.Second, "tests are running")
	ev := w.remark("alice", "Answer me.")
	w.ended(model.ResultRetry, "run_timeout", w.handle(ev))
	assert.Len(t, w.marked("turn", "planned"), 1)
	w.write("octo", "main", ".github/mergexo.toml", strings.Replace(w.fileOf("main", ".github/mergexo.toml"), "required_tests", "# required_tests", 1))
	require.Equal(t, model.ResultDone, w.handle(ev).Result)
	assert.Equal(t, 1, w.calls())
	w.settled(1, 1, 2)
}

func TestAnEvaluationEndsWithTheRun(t *testing.T) {
	const hangs = `["sh", "-c", "cat >/dev/null; echo evaluating >&2; exec tail -f /dev/null"]`
	w := newExternal(t, "evaluate = "+hangs)
	w.write("octo", "main", ".github/mergexo.toml", strings.Replace(w.fileOf("main", ".github/mergexo.toml"), `timeout = "1m"`, "timeout = \"1m\"\nrun_timeout = \"30s\"", 1))
	w.letIn("carol")
	w.afterWrite(1, func() { w.clock.Advance(20 * time.Second) }) // this one begins late, and does not count
	w.passing(10*time.Second, "evaluating")
	swept := must.Get(w.engine().Sweep(context.Background(), repo, sweeping.Options{Only: []int{w.number}}))(t)
	w.over(w.runs)
	assert.Equal(t, model.ResultRetry, of(swept, w.number).Result)
	w.gate.revive()
	for n := range 3 {
		w.passing(30*time.Second, "evaluating")
		w.sweepOnly()
		assert.Equal(t, n == 2, strings.Contains(w.said(), "run_timeout"), w.said())
	}
	assert.Equal(t, []string{fmt.Sprint(w.number, " fork failed")}, w.waiting("sandbox-carol"))
}
