package engine_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Where only GitHub may merge, a car of one is tested, GitHub merges the approved head, and what it made is what was tested.
func TestGitHubMergesWhatTheTrainHasTested(t *testing.T) {
	t.Parallel()
	w := newTrain(t, `strategy = "api"`)
	numbers := w.ready("car", "one\n", "two\n")
	w.protect(object{"pull": true, "checks": []string{"ci"}, "ruleset": 42})
	head := w.at("agent/car0")
	w.aboard(numbers, "")
	require.Len(t, w.trains(), 2, "a car for each: %s", w.logged.String())
	tested := w.bare("rev-parse", w.trains()["mergexo/train/main/1"]+"^{tree}")
	assert.Equal(t, 2, w.ciRuns())
	w.wholeTrain()
	assert.Equal(t, "merged merged", w.badges(numbers...), "%s", w.logged.String())
	first := w.bare("log", "--format=%H", "-1", "--merges", "--grep=#2", "main")
	assert.Equal(t, tested, w.bare("rev-parse", first+"^{tree}"), "what landed is what was tested")
	assert.Equal(t, head, w.bare("rev-parse", first+"^2"), "and the approved head itself")
	assert.NotContains(t, w.logged.String(), "landed_untested")
	assert.Empty(t, w.trains())
}

// The base moves while GitHub is about to be asked: nothing is merged, and the car is tested anew.
func TestGitHubIsNotAskedToMergeIntoABaseThatMoved(t *testing.T) {
	t.Parallel()
	w, numbers := boarded(t, []string{`strategy = "api"`}, "one\n")
	w.tested = map[string]bool{}
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

// Both cars are green before the first one lands: GitHub merges one pull request at a time, and each only as it was tested.
func TestGitHubMergesEachCarByItself(t *testing.T) {
	t.Parallel()
	w, numbers := boarded(t, []string{`strategy = "api"`}, "one\n", "two\n")
	w.tested = map[string]bool{}
	for _, branch := range []string{"mergexo/train/main/2", "mergexo/train/main/1"} { // the later one first
		sha := w.trains()[branch]
		require.NotEmpty(t, sha)
		w.tested[sha] = true
		w.handle(w.tests(branch, sha))
	}
	w.wholeTrain()
	assert.Equal(t, "merged merged", w.badges(numbers...), "%s", w.logged.String())
	assert.NotContains(t, w.logged.String(), "landed_untested")
	assert.Empty(t, w.trains())
}

// The settings change to GitHub's own merge while a batch is tested: each is tested alone then, once.
func TestABatchWhoseSettingsChangeToGitHubsMerge(t *testing.T) {
	t.Parallel()
	w, numbers := boardedBehind(t, "one\n", "two\n", "three\n")
	assert.Equal(t, 1, w.ciRuns())
	w.tested = map[string]bool{}
	require.Len(t, w.trains(), 1, "one car of three")
	w.write("octo", "main", ".github/mergexo.toml", w.settings("main")+"strategy = \"api\"\n")
	w.sweep()
	assert.Equal(t, 3, w.wholeTrain(), w.logged.String())
	assert.Equal(t, "merged merged merged", w.badges(numbers...), w.logged.String())
	assert.NotContains(t, w.logged.String(), "train_record_forged")
	assert.Empty(t, w.trains())
}

// A run dies when it has moved the heads of a car of two. The first is closed, and by the settings GitHub merges from now on:
// the head of the second holds the change of the first, and GitHub would merge that with it.
func TestGitHubIsNotAskedToMergeAHeadThatALandingMoved(t *testing.T) {
	t.Parallel()
	w, numbers := boardedBehind(t, "one\n", "two\n")
	require.Equal(t, 1, w.ciRuns())
	ev, head := w.next(), w.at("agent/car1")
	w.gate.revive()
	w.gate.at = func(_ int, r *http.Request) fate {
		if strings.HasSuffix(r.URL.Path, "/git-receive-pack") && w.at("agent/car1") != head {
			return diesFirst
		}
		return passes
	}
	w.handle(ev)
	require.True(t, w.gate.died())
	w.gate.at = nil
	w.gate.revive()
	require.NotEqual(t, head, w.at("agent/car1"))
	w.number = numbers[0]
	w.api("octo", "PATCH", w.pull(""), object{"state": "closed"})
	w.write("octo", "main", ".github/mergexo.toml", w.settings("main")+"strategy = \"api\"\n")
	w.later(time.Hour)
	w.sweep()
	w.wholeTrain()
	for range 3 {
		w.later(time.Hour)
		w.sweep()
		w.wholeTrain()
	}
	assert.Equal(t, "closed open", w.badges(numbers...), w.logged.String())
	assert.NotContains(t, w.bare("ls-tree", "--name-only", "main"), "car0.txt")
	w.number = numbers[1]
	assert.Equal(t, []string{"merge_failed HEAD_MOVED"}, w.merges())
	assert.Empty(t, w.trains())
}
