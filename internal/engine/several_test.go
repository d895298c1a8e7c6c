package engine_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/handoff"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// several is an event that names two pull requests: nothing waits on one, and an agent fails on the other.
func several(t *testing.T) (w *world, one, other int, event func(numbers ...int) model.Event) {
	w = newWorld(t)
	one = w.number
	other = w.another("agent/other")
	w.write("octo", "agent/other", "other.txt", "other\n")
	w.number = other // which the helpers talk on
	w.agent = "workflow"
	w.talk("alice", "Add a workflow.")
	return w, one, other, func(numbers ...int) model.Event {
		return model.Event{Name: "check_suite", Action: "completed", Repo: repo, Number: numbers[0], Numbers: numbers, IsPull: true}
	}
}

// A commit that was checked can be the head of several pull requests.
func TestTheReportOfSeveralNumbersIsOfTheOneThatNeedsAPerson(t *testing.T) {
	t.Parallel()
	for _, backwards := range []bool{false, true} {
		w, one, other, event := several(t)
		numbers := []int{one, other}
		if backwards {
			slices.Reverse(numbers)
		}
		rep := w.blocked(model.ReasonForbidden, w.handle(event(numbers...)))
		assert.Equal(t, other, rep.Number)
		assert.NotEmpty(t, rep.Effects)
	}
}

// The agent's job goes on to the next number where nothing waits, and hands over once.
func TestAnAgentsJobTakesUpTheNumberWithSomethingToDo(t *testing.T) {
	w, one, other, event := several(t)
	w.agent = "answer"
	dir := filepath.Join(t.TempDir(), "handoff")
	rep := w.done(w.phase(thread.AgentPhase, event(one, other), dir))
	assert.Equal(t, other, rep.Number)
	handed := must.Get(handoff.Read(dir))(t)
	assert.Equal(t, other, handed.Number)

	rep = w.done(w.phase(thread.ApplyPhase, event(one, other), dir))
	assert.Equal(t, other, rep.Number)
	assert.Equal(t, 1, w.calls())

	idle := filepath.Join(t.TempDir(), "handoff")
	w.gives(model.ResultNothing, w.phase(thread.AgentPhase, event(one, other), idle))
	handed = must.Get(handoff.Read(idle))(t)
	assert.Equal(t, handoff.Nothing, handed.Ended)
	assert.NotEmpty(t, handed.Detail)
}
