//go:build all

package engine_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/sandbox"
)

// crowded opens so many pull requests beside that of the story, numbered from 1001, whose branches nobody tracks.
func crowded(t *testing.T, count int) *world {
	t.Helper()
	w := newWorld(t, "", "[sweep]\nconflicts = \"never\"")
	var many []sandbox.SeedPull
	for i := range count {
		number := 1001 + i
		many = append(many, sandbox.SeedPull{Base: "main", Head: fmt.Sprint("topic/", number), SeedIssue: sandbox.SeedIssue{
			Number: number, Title: fmt.Sprint("Number ", number), Author: "octo", CreatedAt: w.now}})
	}
	require.NoError(t, w.sandbox.Seed(func(d *sandbox.Seeder) error { return d.Pulls(repo.String(), many) }))
	w.later(time.Hour)
	return w
}

// points are what the token has spent of this hour's.
func (w *world) points() int {
	w.t.Helper()
	_, out := w.send("actions", "GET", "/api/v3/rate_limit", nil)
	var limits struct {
		Resources struct{ GraphQL struct{ Used int } }
	}
	require.NoError(w.t, json.Unmarshal(out, &limits))
	return limits.Resources.GraphQL.Used
}

// A sweep over 1,000 pull requests leaves half of the hour's points that a workflow's token has.
func TestASweepOverAThousandPullRequestsLeavesHalfOfTheHour(t *testing.T) {
	w := crowded(t, 999)
	w.sweep()
	t.Logf("budget: GraphQL points, sweep over 1,000 pull requests %d of 500", w.points())
	assert.LessOrEqual(t, w.points(), 500)
	assert.Positive(t, w.points())
}

// 10,000 pull requests cost more than the hour of a workflow's token has. Three hourly sweeps see them all, so that nobody waits
// longer.
func TestTenThousandPullRequestsAreSeenInThreeSweeps(t *testing.T) {
	w := crowded(t, 9999)
	waiting := []int{1001, 4001, 7001, 10999}
	for _, number := range waiting {
		w.on(number).talk("carol", "/mergexo status")
	}
	answered := func() bool {
		for _, number := range waiting {
			if w.number = number; len(w.comments()) < 2 {
				return false
			}
		}
		return true
	}
	sweeps := 0
	for ; sweeps < 10 && !answered(); sweeps++ {
		w.sweep()
		require.LessOrEqual(t, w.points(), 1000)
		w.later(time.Hour)
	}
	t.Logf("budget: hourly sweeps, until 10,000 pull requests were all seen %d of 3", sweeps)
	assert.LessOrEqual(t, sweeps, 3)
	assert.Greater(t, sweeps, 1, "one hour's points are too few")
}
