package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox"
)

// another opens one more pull request from a branch at the same commit, and gives its number.
func (w *world) another(branch string) int {
	w.t.Helper()
	w.api("octo", "POST", w.path("/git/refs"), object{"ref": "refs/heads/" + branch, "sha": w.tip()})
	return int(w.api("octo", "POST", w.path("/pulls"), object{"title": "Greet " + branch, "head": branch, "base": "main"})["number"].(float64))
}

func (w *world) reset(token string, r engine.Reset) []model.Report {
	w.t.Helper()
	r.Repo = repo
	reports := must.Get(w.engineAs(token).Reset(context.Background(), r))(w.t)
	return reports
}

func TestBlockedResetTakesTheRulesOfUnblock(t *testing.T) {
	w, old, head := rewrittenPull(t)
	actions := "sandbox-actions"

	reports := w.reset(actions, engine.Reset{Numbers: []int{w.number}})
	assert.Equal(t, model.ResultBlocked, reports[0].Result)
	assert.Contains(t, reports[0].Reason, "pull request 1 stays blocked: The last accepted head")
	reports = w.reset(actions, engine.Reset{Numbers: []int{w.number}, Head: old[:9]})
	assert.Equal(t, model.ResultBlocked, reports[0].Result)
	assert.Empty(t, w.marked("unblock", ""))

	e := w.engine()
	e.DryRun(true)
	w.gate.revive()
	reports = must.Get(e.Reset(context.Background(), engine.Reset{Repo: repo, Head: head}))(t)
	assert.Contains(t, reports[0].Reason, "dry run: a live run would do this: pull request 1 is unblocked at "+head)
	assert.Equal(t, "planned", reports[0].Effects[0].Status)
	assert.Zero(t, w.gate.writes)

	reports = w.reset(actions, engine.Reset{Head: head[:7]})
	require.Len(t, reports, 1)
	assert.Equal(t, model.ResultDone, reports[0].Result, reports[0].Reason)
	assert.Len(t, w.marked("unblock", ""), 1)
	assert.Contains(t, w.marked("unblock", "")[0]["body"], "By github-actions[bot], from a terminal.")
	assert.Empty(t, w.reset(actions, engine.Reset{}), "nothing is blocked any more")
	reports = w.reset(actions, engine.Reset{Numbers: []int{w.number, w.number}})
	require.Len(t, reports, 1)
	assert.Equal(t, model.ResultNothing, reports[0].Result)

	require.Equal(t, model.ResultDone, w.handle(w.pullEvent()).Result, "what is pending is the next run's")
	w.settled(1, 2, 1)
}

func TestBlockedResetWithAPersonsTokenGivesTheCommand(t *testing.T) {
	w, _, head := rewrittenPull(t)
	before := len(w.comments())
	for range 2 {
		reports := w.reset("sandbox-carol", engine.Reset{Numbers: []int{w.number}, Head: head})
		assert.Contains(t, reports[0].Reason, "carol gave the command on pull request 1")
	}
	require.Len(t, w.comments(), before+1, "and gives it once")
	assert.Equal(t, "/mergexo unblock head_sha="+head, w.comments()[before]["body"])
	w.done(w.handle(w.delivery("issue_comment")))
	w.answered("applied", "by carol")
	w.settled(1, 2, 1)
}

func TestHowThingsStand(t *testing.T) {
	w, old, head := rewrittenPull(t)
	w.another("agent/second")
	w.another("feature") // not ours
	w.later(time.Minute)
	w.api("alice", "POST", w.path("/issues/2/comments"), object{"body": "Answer me."})
	w.api("eve", "POST", w.path("/issues/2/comments"), object{"body": "And me."})
	for _, token := range []string{"sandbox-actions", "sandbox-carol", "sandbox-alice"} {
		all, blocked := w.standings(token)
		require.Len(t, all, 2, token)
		require.Len(t, blocked, 1, token)
		assert.Equal(t, []any{1, 0, "history_rewrite", old, head}, []any{blocked[0].Number, blocked[0].Issue, blocked[0].Reason, blocked[0].Expected, blocked[0].Observed})
		assert.Contains(t, blocked[0].URL, "/pull/1#issuecomment-")
		assert.False(t, blocked[0].Since.IsZero())
		assert.Equal(t, []any{1, model.StatusBlocked, old, head, 1, model.PhaseDone}, []any{all[0].Number, all[0].State, all[0].Accepted, all[0].Head, all[0].Pending, all[0].LastTurn.Phase}, token)
		assert.Equal(t, []any{2, model.StatusPending, "agent/second", 1}, []any{all[1].Number, all[1].State, all[1].Branch, all[1].Pending}, token)
	}
	one, gates, err := w.engineAs("sandbox-carol").Look(context.Background(), repo, 1)
	require.NoError(t, err)
	assert.Equal(t, model.StatusBlocked, one.State)
	assert.Contains(t, fmt.Sprint(gates), "blocked (history_rewrite), see http")
	_, _, err = w.engine().Look(context.Background(), repo, 99)
	require.ErrorContains(t, err, "octo/widgets#99 does not exist")
}

func TestAThousandPullRequestsStandInTwentyThreeCalls(t *testing.T) {
	w := newWorld(t)
	var many []sandbox.SeedPull
	for i := range 999 {
		number := 1001 + i
		many = append(many, sandbox.SeedPull{Base: "main", Head: fmt.Sprint("agent/", number), SeedIssue: sandbox.SeedIssue{
			Number: number, Title: fmt.Sprint("Number ", number), Author: "octo", CreatedAt: w.now}})
	}
	require.NoError(t, w.sandbox.Seed(func(d *sandbox.Seeder) error {
		if err := d.Pulls(repo.String(), many); err != nil {
			return err
		}
		for _, p := range many {
			if err := d.Comment(repo.String(), p.Number, sandbox.SeedComment{Author: []string{"alice", "bob", "carol", "eve"}[p.Number%4], Body: "Answer me."}); err != nil {
				return err
			}
		}
		return nil
	}))
	w.gate.revive()
	all, _ := w.standings("sandbox-actions")
	require.Len(t, all, 1000)
	api, _ := w.gate.counted()
	t.Logf("budget: GitHub calls, status over 1,000 open pull requests %d of 23", api)
	assert.LessOrEqual(t, api, 23)
	pending := 0
	for _, s := range all {
		pending += s.Pending
	}
	assert.InDelta(t, 750, pending, 1, "three of four may steer")
}
