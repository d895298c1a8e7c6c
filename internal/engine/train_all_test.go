//go:build all

package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Both cars are green before the first one lands: GitHub merges one pull request at a time, and each only as it was tested.
func TestGitHubMergesEachCarByItself(t *testing.T) {
	w, numbers := boarded(t, []string{`strategy = "api"`}, "one\n", "two\n")
	for _, branch := range []string{"mergexo/train/main/2", "mergexo/train/main/1"} { // the later one first
		sha := w.trains()[branch]
		require.NotEmpty(t, sha)
		w.handle(w.tests(branch, sha))
	}
	w.arrives("merged merged", numbers...)
	assert.NotContains(t, w.logged.String(), "landed_untested")
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
