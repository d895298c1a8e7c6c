package journal

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// everyKind is a comment for each kind of marker, and for each state that reads differently.
func everyKind(t *testing.T, c Codec) []model.Comment {
	const repo, sha = "octo/widgets", "1f2e3d4c5b6a79881f2e3d4c5b6a79881f2e3d4c"
	turn := func(phase model.Phase, more func(*model.TurnMarker)) *model.TurnMarker {
		m := &model.TurnMarker{Repo: repo, Number: 7, Key: "k", Phase: phase, Events: []string{"7:review:1:2026-01-02T12:00:00Z"}, Lease: model.Lease{RunURL: "https://github.com/octo/widgets/actions/runs/1"}, Attempt: 1, Outbox: &model.Outbox{}}
		if more != nil {
			more(m)
		}
		return m
	}
	issue := func(status model.Phase, more func(*model.IssueMarker)) *model.IssueMarker {
		m := &model.IssueMarker{TurnMarker: *turn(status, nil), Status: status, Flow: model.FlowSmallJob, Branch: "agent/small/7-x", Base: "main"}
		if more != nil {
			more(m)
		}
		return m
	}
	merge := func(state model.MergeState, more func(*model.MergeMarker)) *model.MergeMarker {
		m := &model.MergeMarker{Repo: repo, Number: 7, Command: "c", By: "carol", State: state, Strategy: "rebase", Head: sha, Base: "main"}
		if more != nil {
			more(m)
		}
		return m
	}
	spent := func(day string, usd float64) *model.Spent { return &model.Spent{Day: day, CostUSD: usd} }
	var all []model.Comment
	for i, said := range []struct {
		kind   string
		marker any
	}{
		{KindPR, &model.PRMarker{Repo: repo, Number: 7, Branch: "agent/greet", Agent: "codex", Base: "main", Head: sha}},
		{KindTurn, turn(model.PhaseStarted, nil)},
		{KindTurn, turn(model.PhasePlanned, nil)},
		{KindTurn, turn(model.PhaseDone, func(m *model.TurnMarker) { m.Head, m.CostUSD, m.Spent = sha, 0.25, spent("2026-01-02", 0.25) })},
		{KindTurn, turn(model.PhaseFailed, func(m *model.TurnMarker) {
			m.Reason, m.Attempt, m.Spent = "the agent timed out\nafter 30m", 2, spent("2026-01-02", 0.75)
			m.Events = append(m.Events, "7:actions:9:2026-01-02T12:00:00Z")
		})},
		{KindTurn, turn(model.PhaseDone, func(m *model.TurnMarker) {
			m.Events, m.Spent = []string{"7:actions:9:2026-01-02T12:00:00Z"}, spent("2026-01-03", 0.1)
		})},
		{KindBlock, &model.BlockMarker{Repo: repo, Number: 7, Reason: model.ReasonRewrite, Observed: sha, Phase: model.GuardCrossCycle}},
		{KindUnblock, &model.UnblockMarker{Repo: repo, Number: 7, Head: sha, By: "carol"}},
		{KindCommand, &model.CommandMarker{Repo: repo, Number: 7, Key: "c1", Command: "pause", Result: model.Applied, By: "carol"}},
		{KindIssue, issue(model.PhaseStarted, nil)},
		{KindIssue, issue(model.PhaseWaiting, func(m *model.IssueMarker) { m.Waiting, m.LastCheckpoint = model.ReasonTests, sha })},
		{KindIssue, issue(model.PhaseDone, func(m *model.IssueMarker) { m.Pull = 8 })},
		{KindIssue, issue(model.PhaseFailed, func(m *model.IssueMarker) { m.Reason = "the agent exited with 3" })},
		{KindIssue, issue(model.PhasePlanned, nil)},
		{KindMerge, merge(model.MergeWaiting, func(m *model.MergeMarker) { m.Reason = model.CodeApproval })},
		{KindMerge, merge(model.MergeRunning, nil)},
		{KindMerge, merge(model.MergeFailed, func(m *model.MergeMarker) { m.Reason, m.Detail = model.CodeTests, "make test: exit code 2" })},
		{KindMerge, merge(model.MergeDone, func(m *model.MergeMarker) { m.Landed = sha })},
		{KindExternal, &model.ExternalMarker{Repo: repo, Number: 7, State: model.ExternalLetIn, Head: sha, At: time.Unix(1, 0), By: "octo", Label: "external:accept", Base: "main"}},
		{KindConflicts, &model.ConflictMarker{Repo: repo, Number: 7, Head: sha, Base: "main", BaseSHA: sha, Paths: []string{"a"}, With: []model.ConflictWith{{Number: 9, Head: sha}}}},
		{KindConflicts, &model.ConflictMarker{Repo: repo, Number: 7, Head: sha, Base: "main", BaseSHA: sha}},
		{KindSettings, &model.SettingsMarker{Repo: repo, Number: 7}},
		{KindReview, &model.ReviewMarker{Repo: repo, Number: 7, State: model.ReviewDone, Head: sha, By: "bob", Command: "c", Spent: spent("2026-01-03", 0.4)}},
	} {
		body := must.Get(c.Encode(Body{Text: "words", Kind: said.kind, Marker: said.marker}))(t)
		at := time.Date(2026, 1, 2, 12, i, 0, 0, time.UTC)
		all = append(all, model.Comment{Kind: model.KindIssue, ID: int64(i + 1), Ours: true, Author: model.Actor{Login: "mergexo[bot]", Bot: true}, Body: body, CreatedAt: at, UpdatedAt: at.Add(30 * time.Second), URL: fmt.Sprint("u", i)})
	}
	return all
}

func TestTheLogTellsOfEveryMarker(t *testing.T) {
	scope := Scope{Repo: model.Repo{Owner: "octo", Name: "widgets"}, Number: 7, Viewer: "mergexo[bot]"}
	comments := everyKind(t, Codec{})
	entries := Codec{}.Log(comments, scope)
	require.Len(t, entries, len(comments), "one for each")
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%s %s (%s): %s; by %q, because %q, %.2f, %q, run %q\n", e.At.Format("15:04:05"), e.Kind, e.State, e.What, e.By, e.Why, e.CostUSD, e.SHA, e.RunURL)
	}
	golden.File(t, "log.txt", b.String())
	for _, kind := range []string{KindPR, KindTurn, KindBlock, KindUnblock, KindCommand, KindIssue, KindMerge, KindExternal, KindConflicts, KindSettings, KindReview} {
		assert.Contains(t, b.String(), kind+" (")
	}
}

func TestTheLogBelievesWhatTheStateBelieves(t *testing.T) {
	scope := Scope{Repo: model.Repo{Owner: "octo", Name: "widgets"}, Number: 7, Viewer: "mergexo[bot]"}
	key := Codec{Key: []byte("secret")}
	comments := everyKind(t, key)
	all := len(comments)
	assert.Len(t, key.Log(comments, scope), all)
	assert.Empty(t, Codec{Key: []byte("another")}.Log(comments, scope), "signed with another key")
	scope.Number = 8
	assert.Empty(t, key.Log(comments, scope), "about another number")
	scope.Number = 7
	comments[1].EditedByOther, comments[1].Edited, comments[1].Editor, comments[1].WasMarked = true, true, "eve", true
	comments[2].Ours, comments[2].Author = false, model.Actor{Login: "eve"}
	assert.Len(t, key.Log(comments, scope), all-2, "edited by somebody, and copied by somebody")
}
