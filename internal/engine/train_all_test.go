//go:build all

package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What was tested on a car that fails is built and tested again without it, and only that.
func TestWhatStandsBehindACulpritIsTestedWithoutIt(t *testing.T) {
	w, numbers := boarded(t, []string{"ci_retries = 0", "batch = 1"}, "one\n", "broken\n", "three\n")
	was := w.trains()
	require.Len(t, was, 3)
	for _, car := range []string{"3", "2", "1"} {
		w.handle(w.tests("mergexo/train/main/"+car, was["mergexo/train/main/"+car]))
	}
	assert.Equal(t, was["mergexo/train/main/1"], w.at("main"), w.logged.String())
	now := w.trains()
	require.Len(t, now, 1, "the third, on the first")
	for branch, sha := range now {
		assert.Equal(t, "mergexo/train/main/4", branch)
		assert.Equal(t, was["mergexo/train/main/1"], w.bare("rev-parse", sha+"~2"))
	}
	assert.Equal(t, 1, w.wholeTrain(), "four runs in all")
	assert.Equal(t, "merged open merged", w.badges(numbers...))
}

// What is still under test when the car before it lands stays as it is: it stands on the very commit that the base is at then.
func TestWhatIsUnderTestBehindACarThatLandsStays(t *testing.T) {
	w, numbers := boarded(t, nil, "one\n", "two\n")
	was := w.trains()
	require.Len(t, was, 2)
	w.handle(w.tests("mergexo/train/main/1", was["mergexo/train/main/1"]))
	assert.Equal(t, was["mergexo/train/main/1"], w.at("main"), w.logged.String())
	assert.Equal(t, map[string]string{"mergexo/train/main/2": was["mergexo/train/main/2"]}, w.trains())
	w.handle(w.tests("mergexo/train/main/2", was["mergexo/train/main/2"]))
	assert.Equal(t, was["mergexo/train/main/2"], w.at("main"), w.logged.String())
	assert.Equal(t, "merged merged", w.badges(numbers...))
}

// Both cars are green before the first one lands: GitHub merges one pull request at a time, and each only as it was tested.
func TestGitHubMergesEachCarByItself(t *testing.T) {
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
	w, numbers := halfLanded(t)
	w.write("octo", "main", ".github/mergexo.toml", w.settings("main")+"strategy = \"api\"\n")
	w.trainRests()
	assert.Equal(t, "closed open", w.badges(numbers...), w.logged.String())
	assert.NotContains(t, w.bare("ls-tree", "--name-only", "main"), "car0.txt")
	w.number = numbers[1]
	assert.Equal(t, []string{"merge_failed HEAD_MOVED"}, w.merges())
	assert.Empty(t, w.trains())
}
