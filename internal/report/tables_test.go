package report

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

func TestTablesAsPeopleReadThem(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	block := model.Blocked{Number: 7, Issue: 3, Reason: "history_rewrite", Expected: oldHead, Observed: newHead, Since: noon, URL: repoURL + "/pull/7#issuecomment-40"}
	standings := []model.Status{
		{Number: 7, Title: "Greet people", URL: repoURL + "/pull/7", Issue: 3, Branch: "agent/greet", State: model.StatusBlocked, Head: newHead, Accepted: oldHead, Pending: 2,
			LastTurn: &model.LastTurn{Phase: model.PhaseDone, At: noon}, Block: &block},
		{Number: 8, Title: "Wait", Branch: "agent/wait", State: model.StatusQueued, Head: newHead, Merge: &model.MergeRequest{State: model.MergeWaiting, Reason: model.CodeApproval, Head: newHead, By: "carol", Since: noon, URL: "u"}},
		{Number: 1200, Title: "::error::\x1b[31mred\n\u202etitle that goes on and on and on and on and on and on until it is cut", Branch: "agent/ünïcode", State: model.StatusTaken, Head: oldHead},
	}
	waiting := []model.Need{
		{Kind: model.NeedBlock, Number: 7, Issue: 3, Title: "Greet people", Headline: "restore the old history, or accept the new one", Who: "an operator", Next: "/mergexo unblock", Reason: block.Reason, Expected: oldHead, Observed: newHead, Since: noon, URL: block.URL},
		{Kind: model.NeedIssue, Number: 12, Issue: 12, Headline: "answer the agent's question", Who: "anybody with write access", Next: "a comment with the answer", Reason: "agent_blocked", Since: noon, URL: "u"},
	}
	standings[0].Need, standings[0].Delegates = &waiting[0], []string{"dave"}
	standings[1].Delegates, standings[2].Delegates = []string{}, []string{}
	gates := []model.Gate{{Name: "open", Met: true, Evidence: "pull request 7 is open"}, {Name: "not_blocked", Evidence: "blocked (history_rewrite), see " + block.URL}}
	for name, write := range map[string]func(io.Writer) error{
		"standings":      func(b io.Writer) error { return Statuses(b, standings, waiting) },
		"standings_none": func(b io.Writer) error { return Statuses(b, nil, nil) },
		"blocked":        func(b io.Writer) error { return Needs(b, waiting) },
		"blocked_none":   func(b io.Writer) error { return Needs(b, nil) },
		"issue": func(b io.Writer) error {
			return Issue(b, model.BoardIssue{Number: 12, Status: model.PhaseWaiting, Need: &waiting[1]}, "issue 12 waits for a person (agent_blocked), see u; a comment there continues, or /mergexo retry")
		},
		"issue_fresh": func(b io.Writer) error {
			return Issue(b, model.BoardIssue{Number: 12}, "nobody has put a label on")
		},
		"why": func(b io.Writer) error {
			return Why(b, standings[0], "**No turn starts here**: blocked, see `x`.", gates, nil, false)
		},
		"why_nothing": func(b io.Writer) error {
			return Why(b, model.Status{Number: 9}, "**Nothing to do.** All feedback is answered. Ignored: bob (no write access).", gates, nil, false)
		},
		"history": func(b io.Writer) error {
			return History(b, []model.LogEntry{
				{At: noon, Number: 7, Kind: "turn", State: "done", What: "answered 2 comments", SHA: newHead, CostUSD: 0.126, RunURL: repoURL + "/actions/runs/5", URL: "u"},
				{At: noon, Number: 1200, Kind: "merge", State: "merge_failed", What: "did not merge into \x1b[31mmain", By: "carol", Why: "PRE_MERGE_FAILED: ::error::no\nmore", URL: "u"},
			})
		},
		"costs": func(b io.Writer) error {
			return Costs(b, []model.LogEntry{{At: noon, Number: 7, CostUSD: 0.5}, {At: noon.Add(-13 * time.Hour), Number: 7, CostUSD: 1}, {At: noon, Number: 3, CostUSD: 0.25}, {At: noon, Number: 7, CostUSD: 0.25}, {At: noon, Number: 9}})
		},
		"costs_none":   func(b io.Writer) error { return Costs(b, []model.LogEntry{{At: noon, Number: 9}}) },
		"history_none": func(b io.Writer) error { return History(b, nil) },
		"why_merge": func(b io.Writer) error {
			return Why(b, standings[0], "**No turn starts here**: blocked.", gates, []model.Gate{{Name: "approved", Evidence: "waiting for 1 approval"}}, true)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, write(&b))
			golden.File(t, name+".table.txt", b.String())
			golden.File(t, name+".80.txt", atTerminal(t, write))
		})
	}
	var b bytes.Buffer
	require.NoError(t, Object(&b, map[string]any{"pull_requests": standings}))
	golden.File(t, "standings.json", b.String())
}

// atTerminal is what a terminal of 80 columns shows: no line is broken by it but one with a link, which stays whole.
func atTerminal(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, write(&Screen{w: &b, columns: 80}))
	for line := range strings.Lines(b.String()) {
		if !strings.Contains(line, "://") {
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, line)
		}
	}
	return b.String()
}

func TestATerminalShowsWordsOfOthersAsTheyAre(t *testing.T) {
	var b bytes.Buffer
	words := "[repo] track \"agent/**\" [x](y) [z]: @octo &#64; <b>"
	require.NoError(t, Why(&b, model.Status{Number: 9}, "**No turn starts here**: "+markdown.Plain(words)+".", nil, nil, false))
	assert.Equal(t, "#9: No turn starts here: "+words+".\n", b.String())
	b.Reset()
	require.NoError(t, Account(&b, model.Report{Said: []model.Saying{{Where: "comment on #9", Text: "**Not merged**: " + markdown.Plain(words) + "."}}}))
	assert.Contains(t, b.String(), "- comment on #9\n  | Not merged: "+words+".\n")
}
