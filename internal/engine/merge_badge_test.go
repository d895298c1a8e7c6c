package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine/sweeping"
	"github.com/mergexo/mergexo/internal/model"
)

const waitsForBadge = "**Landed, but not shown as merged yet**"

// newUnshown is a merge that has landed, and that GitHub shows as open in so many readings more.
func newUnshown(t *testing.T, readings int) *world {
	t.Helper()
	return begin(t, fmt.Sprintf("not shown in %d readings", readings), func() *world {
		w := newMerge(t)
		w.write("octo", "main", "other.txt", "meanwhile\n")
		w.put("/_sandbox/lag", object{"repository": repo.String(), "merges": readings})
		w.done(w.command("carol", "/mergexo merge"))
		require.Equal(t, []string{"done"}, w.merges())
		require.Equal(t, "open", w.badge(), "what is closed would never be shown as merged")
		require.Contains(t, w.request(), waitsForBadge)
		require.Contains(t, w.request(), w.at("main")[:10])
		return w
	})
}

// waits sees that nobody is told that anything waits for a person.
func (w *world) waits() {
	w.t.Helper()
	all, needs, err := w.engine().Standings(context.Background(), repo)
	require.NoError(w.t, err)
	assert.Empty(w.t, needs)
	for _, s := range all {
		assert.Nil(w.t, s.Need)
		assert.Equal(w.t, model.MergeDone, s.Merge.State)
	}
	why := w.explain(w.number)
	require.Len(w.t, why.Merges, 1)
	assert.True(w.t, why.Merges[0].Met)
	assert.Contains(w.t, why.Merges[0].Evidence, "not shown as merged by GitHub")
}

func TestMergeThatGitHubNeverShowsIsClosedAfterAnHour(t *testing.T) {
	w := newUnshown(t, 1000)
	w.waits()
	w.sweep() // the base has moved, which is noted once
	w.later(59 * time.Minute)
	w.quiet()
	assert.Equal(t, "open", w.badge())
	w.later(2 * time.Minute)
	w.sweep()
	assert.Equal(t, "closed", w.badge())
	assert.NotContains(t, w.request(), waitsForBadge)
	w.requested("done", "GitHub did not show this pull request as merged in time, so it was closed.")
	assert.Len(t, w.marked("merge", ""), 1)
	w.quiet()
	w.later(24 * time.Hour)
	w.quiet()
}

func TestMergeThatGitHubShowsLaterIsMerged(t *testing.T) {
	w := newUnshown(t, 20)
	for range 30 {
		if w.badge() == "merged" {
			break
		}
	}
	require.Equal(t, "merged", w.badge())
	w.later(time.Minute)
	w.sweep()
	assert.NotContains(t, w.request(), waitsForBadge)
	assert.NotContains(t, w.request(), "did not show this pull request as merged in time")
	assert.Contains(t, w.request(), "**Merged**")
	assert.Empty(t, w.at(w.head), "the branch is deleted, as after any merge")
	w.quiet()
}

// A sweep that dies while it closes, and one that dies before it says so, leave the next one the rest.
func TestMergeThatGitHubNeverShowsIsClosedOnceWhateverDies(t *testing.T) {
	whole := newUnshown(t, 1000)
	whole.later(61 * time.Minute)
	dead := whole.wrecks(func() { whole.sweep() })
	want := whole.ends()
	require.Positive(t, whole.gate.writes)
	dead.each(t, nil, func(t *testing.T, w *world, _ int) {
		w.later(time.Minute)
		w.recoverBySweep()
		assert.Equal(t, want, w.ends())
		w.quiet()
	})
}

// A run that dies after the base has moved, or before it has said so, is gone on with: it waits for the badge as well.
func TestMergeThatGitHubDoesNotShowYetDeathAfterAnyWriteIsMadeGood(t *testing.T) {
	whole, ev := readyToMerge(t, model.StrategyRebase)
	whole.put("/_sandbox/lag", object{"repository": repo.String(), "merges": 1000})
	dead := whole.wrecks(func() { whole.handle(ev) })
	want, last := whole.ends(), whole.gate.writes
	require.Contains(t, whole.request(), waitsForBadge)
	dead.each(t, writes(1, last, 4, last), func(t *testing.T, w *world, _ int) {
		w.recover(ev)
		assert.Equal(t, want, w.ends())
		assert.Contains(t, w.request(), waitsForBadge)
		assert.Equal(t, model.ResultNothing, w.handle(ev).Result, "nothing is left to do")
		assert.Equal(t, want, w.ends())
	})
}

// A member that GitHub does not show waits by itself, where it is: the rest of the group is done.
func TestMergeGroupOfWhichGitHubNeverShowsOne(t *testing.T) {
	g := newGroup(t)
	g.world.put("/_sandbox/lag", object{"repository": "octo/client", "merges": 1000})
	_, rep := g.request()
	g.done(rep)
	assert.NotContains(t, g.world.request(), waitsForBadge)
	assert.Equal(t, "merged open", g.badges())
	g.toldThere(waitsForBadge)
	g.later(61 * time.Minute)
	for range 2 {
		_, err := g.engineAs("sandbox-octo").Sweep(context.Background(), model.Repo{Owner: "octo", Name: "client"}, sweeping.Options{})
		require.NoError(t, err)
		assert.Equal(t, "merged closed", g.badges())
		g.toldThere("**Merged together with octo/widgets#1**")
		assert.NotContains(t, g.said()[0]["body"], waitsForBadge)
	}
}

// Who pushes more to a branch that has landed wants more of it to land.
func TestMergeThatGitHubNeverShowsStaysOpenForMoreCommits(t *testing.T) {
	w := newUnshown(t, 1000)
	w.write("alice", w.head, "more.txt", "more\n")
	w.later(2 * time.Hour)
	w.sweep()
	assert.Equal(t, "open", w.badge())
	assert.NotContains(t, w.request(), waitsForBadge)
	assert.Contains(t, w.request(), "The branch has newer commits")
	w.quiet()
}
