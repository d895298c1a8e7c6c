package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Where only GitHub may merge, a car of one is tested, GitHub merges the approved head, and what it made is what was tested.
func TestGitHubMergesWhatTheTrainHasTested(t *testing.T) {
	w := newTrain(t, `strategy = "api"`)
	numbers := w.ready("car", "one\n", "two\n")
	w.protect(object{"pull": true, "checks": []string{"ci"}, "ruleset": 42})
	head := w.at("agent/car0")
	w.aboard(numbers, "")
	require.Len(t, w.trains(), 2, "a car for each: %s", w.logged.String())
	tested := w.bare("rev-parse", w.trains()["mergexo/train/main/1"]+"^{tree}")
	assert.Equal(t, 2, w.ciRuns())
	w.arrives("merged merged", numbers...)
	first := w.bare("log", "--format=%H", "-1", "--merges", "--grep=#2", "main")
	assert.Equal(t, tested, w.bare("rev-parse", first+"^{tree}"), "what landed is what was tested")
	assert.Equal(t, head, w.bare("rev-parse", first+"^2"), "and the approved head itself")
	assert.NotContains(t, w.logged.String(), "landed_untested")
	assert.Empty(t, w.trains())
}

// The base moves while GitHub is about to be asked: nothing is merged, and the car is tested anew.
func TestGitHubIsNotAskedToMergeIntoABaseThatMoved(t *testing.T) {
	w, numbers := boarded(t, []string{`strategy = "api"`}, "one\n")
	was := w.trains()["mergexo/train/main/1"]
	ev := w.next()
	w.gate.revive()
	w.beforeEdit(func() { w.write("bob", "main", "pushed.txt", "pushed\n") }) // what is about to land is written down
	w.handle(ev)
	assert.Equal(t, "open", w.badges(numbers...))
	tip := w.trains()
	require.Len(t, tip, 1, "%s", w.logged.String())
	for _, sha := range tip {
		assert.NotEqual(t, was, sha)
		assert.Contains(t, w.bare("ls-tree", "--name-only", sha), "pushed.txt")
	}
	assert.Equal(t, 1, w.wholeTrain())
	assert.Equal(t, "merged", w.badges(numbers...))
	assert.NotContains(t, w.logged.String(), "landed_untested")
}
