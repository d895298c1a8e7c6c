package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// whats are the entries of a log in short.
func whats(entries []model.LogEntry) []string {
	var out []string
	for _, e := range entries {
		out = append(out, fmt.Sprintf("#%d %s", e.Number, e.What))
	}
	return out
}

func TestTheLogOfAClosedPullRequest(t *testing.T) {
	w := newWorld(t)
	w.handle(w.remark("alice", "Say it in French, please."))
	began := w.now
	w.later(48 * time.Hour)
	w.handle(w.say("carol", "/mergexo pause"))
	w.api("octo", "PATCH", w.pull(""), object{"state": "closed"})

	e := w.engineAs("sandbox-octo")
	entries := must.Get(e.History(context.Background(), repo, 0, time.Time{}))(t)
	assert.Equal(t, []string{"#1 answered /mergexo pause", "#1 answered 1 comment", "#1 follows the pull request"}, whats(entries))
	assert.Equal(t, []any{"carol", "applied"}, []any{entries[0].By, entries[0].State})
	assert.Equal(t, []any{w.tip(), w.origin + "/octo/widgets/actions/runs/1"}, []any{entries[1].SHA, entries[1].RunURL})
	rest, graphql := e.GitHub.Calls()
	assert.Equal(t, []int{1, 1}, []int{rest, graphql}, "one call for 100 comments, and one for those of ours")

	for _, number := range []int{0, w.number} {
		entries = must.Get(w.engineAs("sandbox-octo").History(context.Background(), repo, number, began.Add(24*time.Hour)))(t)
		assert.Equal(t, []string{"#1 answered /mergexo pause"}, whats(entries))
	}
	assert.ErrorContains(t, must.Err(w.engineAs("sandbox-octo").History(context.Background(), repo, 99, time.Time{})), "octo/widgets#99 does not exist, or the token may not see it")
}
