package sweep_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/sweep"
)

func TestWhichRefsNobodyNeeds(t *testing.T) {
	const sha = "0123456789abcdef0123456789abcdef01234567"
	states := map[int]model.PullState{1: model.PullOpen, 2: model.PullClosed, 3: model.PullMerged}
	known := func(n int) (model.PullState, bool) { s, ok := states[n]; return s, ok }
	for name, gone := range map[string][3]bool{ // of an open, a closed and a merged one
		"refs/mergexo/turn/%d/" + strings.Repeat("a", 64):       {}, // only its receipt says that it may go
		"refs/mergexo/kept/%d/0123456789ab":                     {false, false, true},
		"refs/mergexo/session/%d/" + strings.Repeat("a", 64):    {false, true, true},
		"refs/heads/mergexo/checkpoint/%d/0123456789ab":         {false, false, true},
		"refs/heads/mergexo/checkpoint/%d/wip-0123456789ab":     {false, false, true},
		"refs/heads/mergexo/checkpoint/%d/ffffffffffff":         {}, // somebody went on from there
		"refs/heads/mergexo/checkpoint/%d/wip-0123456789ab-two": {},
		"refs/heads/mergexo/checkpoint/%d/my/own":               {},
		"refs/heads/mergexo/checkpoint/0%d/0123456789ab":        {},
		"refs/heads/agent/bugfix/%d-x":                          {},
		"refs/heads/gh-pr-%d/fix":                               {},
		"refs/heads/gh-pr-%d":                                   {},
		"refs/tags/mergexo/checkpoint/%d/0123456789ab":          {},
		"refs/mergexo/lock/%d":                                  {},
		"refs/mergexo/radar/%d":                                 {},
		"refs/mergexo/sweep/after/%d":                           {},
		"refs/mergexo/turn/%d":                                  {},
		"refs/mergexo/turn/%d/a/b":                              {},
		"refs/pull/%d/head":                                     {},
	} {
		for i, want := range gone {
			ref := model.Ref{Name: fmt.Sprintf(name, i+1), SHA: sha}
			assert.Equal(t, want, len(sweep.Leftovers([]model.Ref{ref}, known)) == 1, "%s of one that is %s", ref.Name, states[i+1])
		}
		assert.Empty(t, sweep.Leftovers([]model.Ref{{Name: fmt.Sprintf(name, 4), SHA: sha}}, known), "nobody asked about it")
	}
	asked := false
	sweep.Leftovers([]model.Ref{{Name: "refs/heads/main"}, {Name: "refs/mergexo/lock/main"}, {Name: "refs/mergexo/turn/7/x"}, {Name: "refs/mergexo/kept/99999999999999999999/x"}},
		func(int) (model.PullState, bool) { asked = true; return model.PullMerged, true })
	assert.False(t, asked, "only numbers that matter are asked about")
}

func TestAnswersThatAreNotThereAnyMore(t *testing.T) {
	receipt := func(phase model.Phase, key, url string, tokens ...string) model.Posted[model.TurnMarker] {
		return model.Posted[model.TurnMarker]{Marker: model.TurnMarker{Key: key, Phase: phase, Tokens: tokens}, URL: url}
	}
	st := model.State{
		Tokens: map[string]int64{"there": 1, "first": 2},
		Turns: []model.Posted[model.TurnMarker]{
			receipt(model.PhaseDone, "k1", page+"#1", "first", "there", "gone", "told"), receipt(model.PhaseDone, "k2", page+"#2", "gone too", "gone"),
			receipt(model.PhaseStarted, "k3", page+"#3", "not said yet"),
		},
	}
	reported := func(token string) bool { return token == "told" }
	lost := sweep.Missing(st, true, reported)
	assert.Equal(t, []sweep.Lost{{"gone", "k1", page + "#1"}, {"gone too", "k2", page + "#2"}}, lost)
	assert.Empty(t, sweep.Missing(st, false, reported), "where not all was read, nothing can be said")
	assert.Empty(t, sweep.Missing(st, true, func(string) bool { return true }))

	golden.Text(t, "drift.md", sweep.DriftText(append(lost, sweep.Lost{Receipt: page + "#1"}), []model.Distrust{{URL: page + "#5", Editor: "eve`"}, {URL: page + "#6", Reason: "not ours"}}))
	golden.Text(t, "drift_one.md", sweep.DriftText(lost[:1], nil))
	var many []sweep.Lost
	var edited []model.Distrust
	for i := range 5000 {
		many, edited = append(many, sweep.Lost{Receipt: fmt.Sprint(page, i)}), append(edited, model.Distrust{URL: page, Editor: "eve"})
	}
	assert.Less(t, len(sweep.DriftText(many, edited)), 10_000)
}

func TestASweepAsTheJobSummaryTellsIt(t *testing.T) {
	pull := func(n int, title string, need *model.Need) model.BoardPull {
		return model.BoardPull{Status: model.Status{Number: n, Title: title, Need: need}}
	}
	b := model.Board{
		Repo: model.Repo{Owner: "octo", Name: "widgets"}, URL: "https://github.com/octo/widgets", Untracked: 4, Left: 3, LeftWhy: "the rate limit\nwas near | @octo",
		Pulls:     []model.BoardPull{pull(7, "Greet", &model.Need{Number: 7, Title: "Greet `people` | <b> @octo\nnow", Headline: "accept the new history", Who: "an operator", Next: "/mergexo unblock", Reason: "history_rewrite", URL: "https://github.com/octo/widgets/pull/7#issuecomment-1"}), pull(8, "Fine", nil)},
		Issues:    []model.BoardIssue{{Number: 3, Title: "Which one?", Need: &model.Need{Number: 3, Title: "Which one?", Headline: "answer the question", Who: "anybody", Next: "a comment", Reason: "agent_blocked", URL: "https://github.com/octo/widgets/issues/3#issuecomment-2"}}},
		Conflicts: []model.BoardConflict{{Number: 7, Paths: []string{"a", "b"}}, {Number: 9, With: 7, Paths: []string{"a"}}, {Number: 9, With: 8}},
	}
	reports := []model.Report{
		{Number: 7, Result: model.ResultBlocked, Reason: "blocked `x` | <!-- y --> @octo\nmore", Effects: []model.Effect{{Kind: "comment", Status: "applied"}}},
		{Number: 8, Result: model.ResultDone, Effects: []model.Effect{{Kind: "reply", Status: "applied"}, {Kind: "reply", Status: "applied"}, {Kind: "push", Status: "applied"}, {Kind: "edit", Status: "present"}}},
		{Number: 3, IsIssue: true, Result: model.ResultDone, Opened: model.PullRef{Number: 11}},
		{Number: 10, Result: model.ResultNothing},
		{Result: model.ResultDone, Effects: []model.Effect{{Kind: "delete", Status: "planned"}}},
	}
	golden.Text(t, "summary.md", sweep.SummaryText(b, reports, "**Merge train of `main`**: as it is drawn", "**Merge train of `next`**: as well"))
	golden.Text(t, "summary_quiet.md", sweep.SummaryText(model.Board{Repo: b.Repo, URL: b.URL}, nil))

	for i := range 20 {
		b.Conflicts = append(b.Conflicts, model.BoardConflict{Number: 20 + i, With: i % 2 * 7, Paths: []string{"a", "b`", "c", "d", "e", "f"}})
	}
	b.Pulls, b.Issues, b.Left = nil, nil, 0
	golden.Text(t, "summary_conflicts.md", sweep.SummaryText(b, nil))

	for i := range 10_000 {
		long := strings.Repeat("ä|`", 30_000)
		if i > 300 {
			long = "x"
		}
		b.Pulls = append(b.Pulls, pull(i, long, &model.Need{Number: i, Title: long, Headline: "decide", Who: "an operator", Next: long, Reason: long, URL: "u"}))
		b.Issues = append(b.Issues, model.BoardIssue{Number: i, Title: long, Need: &model.Need{Number: i, Title: long, Headline: "decide", Who: "an operator", Next: long, Reason: long, URL: "u"}})
		b.Conflicts = append(b.Conflicts, model.BoardConflict{Number: i, With: i + 1, Paths: []string{long, long, long, long, long, long}})
		reports = append(reports, model.Report{Number: i, Result: model.ResultFailed, Reason: long})
	}
	text := sweep.SummaryText(b, reports)
	assert.Less(t, len(text), 1<<20)
	assert.True(t, utf8.ValidString(text))
	assert.Contains(t, text, "and 19800 more")
}
