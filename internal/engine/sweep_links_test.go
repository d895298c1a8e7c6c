package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine/sweeping"
)

// twoMirrors are two pull requests of forks that somebody has mirrored by hand, and the agent's own, with a comment to answer.
func twoMirrors(t *testing.T) *world {
	t.Helper()
	w := newExternal(t)
	w.api("mallory", "POST", "/api/v3/repos/mallory/widgets/git/refs", object{"ref": "refs/heads/Other", "sha": w.theirs()})
	w.contribute("Other", "g.txt", "g\n")
	w.api("mallory", "POST", w.path("/pulls"), object{"title": "Add g", "head": "mallory:Other", "base": "main"})
	for n, branch := range map[int]string{2: "gh-pr-2/feature", 3: "gh-pr-3/Other"} {
		head := w.api("octo", "GET", w.path(fmt.Sprintf("/pulls/%d", n)), nil).at("head", "sha")
		w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/" + branch, "sha": head})
	}
	w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/gh-pr-3/another-head", "sha": w.at("main")})
	w.number, w.head = 1, "agent/greet"
	w.api("octo", "PATCH", w.pull(""), object{"state": "open"})
	w.review("alice", "Answer me.")
	return w
}

// linked are the links of the two.
func (w *world) linked() (texts []string) {
	w.t.Helper()
	at := w.number
	defer func() { w.number = at }()
	for _, w.number = range []int{2, 3} {
		for _, said := range w.marked("external", "") {
			texts = append(texts, shown(said["body"]))
		}
	}
	return texts
}

func TestASweepLinksEveryMirrorBeforeItWorksOnAnyNumber(t *testing.T) {
	w := twoMirrors(t)
	assert.Equal(t, []string{"0 link conflicts", "1 feedback"}, w.due())
	w.gate.revive()
	w.sweepBy(sweeping.Options{Plan: true})
	scanned := len(w.gate.seen)
	w.gate.revive()
	w.sweep()
	require.Greater(t, len(w.gate.seen), scanned+2)
	assert.Equal(t, []string{"POST " + w.path("/issues/2/comments"), "POST " + w.path("/issues/3/comments")}, w.gate.seen[scanned:scanned+2], "what was read of all tells it")
	require.Len(t, w.linked(), 2)
	assert.Contains(t, w.linked()[0], "Mirrored on branch [`gh-pr-2/feature`]")
	assert.Contains(t, w.linked()[1], "Mirrored on branch [`gh-pr-3/Other`]")
	assert.Equal(t, 1, w.calls())
	w.quiet()
	w.number, w.head = 2, "feature"
	w.admits("carol")
	assert.Equal(t, "merged", w.badge(), "what is linked can be let in")
}

// The job for the whole repository does it where numbers have jobs of their own.
func TestTheRepositorysJobLinksMirrors(t *testing.T) {
	w := twoMirrors(t)
	w.sweepBy(sweeping.Options{Only: []int{1, 2, 3}})
	assert.Empty(t, w.linked())
	w.sweepBy(sweeping.Options{Repository: true})
	assert.Len(t, w.linked(), 2)
	w.quiet()
}

func TestADeathWhileMirrorsAreLinkedIsMadeGood(t *testing.T) {
	w := twoMirrors(t)
	dead := w.wrecks(func() { w.sweep() })
	want := w.linked()
	dead.each(t, []int{1, 2}, func(t *testing.T, w *world, _ int) {
		w.sweep()
		assert.Equal(t, want, w.linked())
		w.quiet()
	})
}

func TestAMirrorIsNotLinkedWhereSomebodyEditedOurState(t *testing.T) {
	w := newExternal(t)
	w.letIn("carol")
	w.gate.only(3, diesFirst)
	w.sweepOrDie()
	w.gate.revive()
	said := w.marked("external", "")
	require.Len(t, said, 1)
	w.edits("octo", said[0])
	w.sweep()
	assert.Len(t, w.marked("block", ""), 1)
	assert.NotContains(t, w.said(), "Mirrored on branch")
}
