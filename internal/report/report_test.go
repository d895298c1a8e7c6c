package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

const (
	repoURL = "https://github.com/octo/widgets"
	oldHead = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"
	newHead = "f9e8d7c6b5a4f3e2d1c0b9a8f7e6d5c4b3a29180"
	turnKey = "6d6f7265207468616e206f6e63652069732074776963652c20657861637421aa"
)

func done() model.Report {
	return model.Report{
		Result: model.ResultDone, Number: 7, TurnKey: turnKey, HeadSHA: newHead, DurationMS: 2345,
		Calls: model.Calls{REST: 4, GraphQL: 1, Git: 3},
		Effects: []model.Effect{
			{Kind: "comment", Target: "7", Token: "aa", Status: "applied"},
			{Kind: "stage", Target: "refs/mergexo/turn/7/6d6f", Token: "bb", Status: "applied"},
			{Kind: "edit", Target: "901", Token: "cc", Status: "applied"},
			{Kind: "push", Target: "agent/x", Token: "dd", Status: "applied"},
			{Kind: "reply", Target: "101", Token: "ee", Status: "present"},
		},
		Said: []model.Saying{
			{Where: "reply to review comment 101", Text: "Applied in `f9e8d7c6b5`.\n\n<!-- mergexo-action:ee -->"},
			{Where: "comment on #7", Text: "Answered 1 comment.\n\n- `README.md`\n\n<!-- mergexo-action:aa -->\n<!-- mergexo-turn:{\"key\":\"6d6f\"} -->\n"},
		},
	}
}

func stories() map[string]model.Report {
	planned := done()
	for i := range planned.Effects {
		planned.Effects[i].Status = "planned"
	}
	planned.HeadSHA = ""
	return map[string]model.Report{
		"done":    done(),
		"planned": planned,
		"train": {
			Result: model.ResultDone, Calls: model.Calls{REST: 4, GraphQL: 9, Git: 2}, DurationMS: 4100, Trains: []model.Train{busyTrain()},
			Effects: []model.Effect{{Kind: "push", Target: "main", Token: "aa", Status: "applied"}, {Kind: "edit", Target: "901", Token: "bb", Status: "applied"}},
		},
		"nothing": {Result: model.ResultNothing, Number: 7, Reason: "every comment is answered", Calls: model.Calls{GraphQL: 1}, DurationMS: 120},
		"not_ours": {
			Result: model.ResultNothing, Reason: "nothing to do for the event watch", DurationMS: 3,
		},
		"blocked_history": {
			Result: model.ResultBlocked, Exit: 3, Number: 7, TurnKey: turnKey, BlockedReason: "history_rewrite",
			Reason:   "the branch no longer contains the head that was accepted last",
			Expected: oldHead, Observed: newHead, Calls: model.Calls{REST: 1, GraphQL: 1}, DurationMS: 800,
			Effects: []model.Effect{{Kind: "comment", Target: "7", Token: "ff", Status: "applied"}},
		},
		"blocked_agent": {
			Result: model.ResultBlocked, Exit: 3, Number: 7, TurnKey: turnKey, BlockedReason: "agent",
			Reason: "the agent asks:\nwhich of the two licenses is meant?\n", Calls: model.Calls{REST: 2, GraphQL: 1, Git: 1}, DurationMS: 61_000,
			Need: &model.Need{Headline: "answer the agent's question", Who: "anybody with write access", Next: "a comment with the answer", URL: repoURL + "/pull/7#issuecomment-40"},
		},
		"issue_opened": {
			Result: model.ResultDone, Number: 9, IsIssue: true, TurnKey: turnKey, Calls: model.Calls{REST: 5, GraphQL: 4, Git: 3}, DurationMS: 61_000,
			Opened: model.PullRef{Number: 10, HeadSHA: newHead},
			Effects: []model.Effect{
				{Kind: "comment", Target: "9", Token: "aa", Status: "applied"},
				{Kind: "push", Target: "agent/small/9-greet", Token: "bb", Status: "applied"},
				{Kind: "pull_request", Target: "agent/small/9-greet", Token: "cc", Status: "applied"},
			},
			Said: []model.Saying{{Where: "pull request #10", Text: "Greet\n\nFixes #9"}},
		},
		"issue_planned": {
			Result: model.ResultNothing, Number: 9, IsIssue: true, TurnKey: turnKey, Reason: "dry run: small_job for issue 9 would begin: it is labeled",
			Effects: []model.Effect{{Kind: "push", Target: "agent/small/9-greet", Status: "planned"}, {Kind: "pull_request", Target: "agent/small/9-greet", Status: "planned"}},
		},
		"issue_waits": {
			Result: model.ResultBlocked, Exit: 3, Number: 9, IsIssue: true, TurnKey: turnKey, BlockedReason: "tests_failed", Observed: newHead,
			Reason: "issue 9 waits for a person (tests_failed): required tests fail; to continue, comment on the issue, or /mergexo retry", DurationMS: 61_000,
			Effects: []model.Effect{{Kind: "checkpoint", Target: "agent/small/9-greet", Token: "dd", Status: "applied"}},
		},
		"issue_cancelled": {
			Result: model.ResultRetry, Exit: 75, Number: 9, IsIssue: true, TurnKey: turnKey, BlockedReason: "cancelled",
			Reason: "issue 9 waits for a person (cancelled): the workflow run was cancelled; to continue, comment on the issue, or /mergexo retry", DurationMS: 900,
		},
		"issue_failed": {Result: model.ResultFailed, Exit: 1, Number: 9, IsIssue: true, TurnKey: turnKey, Reason: "run agent ./agent: exit status 2", DurationMS: 900},
		"retry":        {Result: model.ResultRetry, Exit: 75, Number: 7, Reason: "rate limit: try again after 12:30:00 UTC", DurationMS: 900},
		"failed": {
			Result: model.ResultFailed, Exit: 1, Number: 7, TurnKey: turnKey, DurationMS: 1_800_000,
			Reason: "run agent ./agent: exit status 2\nTraceback (most recent call last):\n  KeyError: 'x'\n",
			Calls:  model.Calls{REST: 3, GraphQL: 1, Git: 1},
		},
		"hostile": {
			Result: model.ResultBlocked, Exit: 3, Number: 7, TurnKey: turnKey, BlockedReason: "path\nresult=done",
			Expected: oldHead, Observed: "not a sha](https://evil.example) | `x`",
			Reason:  "forbidden path: ````\n</details><script>alert(1)</script>\n::set-output name=result::done\r::error::x\n\x1b]0;title\x07\x1b[31mred ##[add-mask]x @octo",
			Effects: []model.Effect{{Kind: "push", Target: "agent/`a`|b\n::error::x", Token: "1", Status: "planned"}},
			Said:    []model.Saying{{Where: "reply to\n::error::review comment 1", Text: "```\n~~~\n\u202egnp.exe\n::stop-commands::x\n<!-- mergexo-turn:{} --> in the middle\n<!-- mergexo-action:1 -->"}},
		},
	}
}

func TestGolden(t *testing.T) {
	for name, r := range stories() {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, Summary(&b, r, repoURL))
			golden.File(t, name+".summary.md", b.String())
			b.Reset()
			require.NoError(t, Account(&b, r))
			golden.File(t, name+".account.txt", b.String())
			b.Reset()
			require.NoError(t, JSON(&b, r))
			golden.File(t, name+".json", b.String())
			path := filepath.Join(t.TempDir(), "out")
			require.NoError(t, Outputs(path, r))
			golden.File(t, name+".outputs.txt", string(must.Get(os.ReadFile(path))(t)))
		})
	}
}

func TestJSONIsOneCompleteObject(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, JSON(&b, model.Report{Result: model.ResultFailed, Reason: "##[group]\n::error::"}))
	assert.Equal(t, 1, strings.Count(b.String(), "\n"))
	assert.NotContains(t, b.String(), "##[")
	var back map[string]any
	require.NoError(t, json.Unmarshal(b.Bytes(), &back))
	assert.Equal(t, "##[group]\n::error::", back["reason"])
	assert.Equal(t, []any{}, back["effects"])
	for _, field := range []string{"result", "exit", "number", "turn_key", "effects", "calls", "duration_ms", "reason"} {
		assert.Contains(t, back, field)
	}
}

func TestOutputsGoNowhereWithoutAFile(t *testing.T) {
	require.NoError(t, Outputs("", done()))
	require.ErrorContains(t, Outputs(filepath.Join(t.TempDir(), "missing", "out"), done()), "open step outputs")
}

func TestSummaryStaysUnderGitHubsLimit(t *testing.T) {
	r := stories()["hostile"]
	long := strings.Repeat("`|<é☃\n", 3_000)
	r.Reason, r.BlockedReason, r.Expected, r.Observed, r.TurnKey = long, long, long, long+"x", long
	for range 2000 {
		r.Effects = append(r.Effects, model.Effect{Kind: long, Target: long, Status: long})
		r.Said = append(r.Said, model.Saying{Where: long, Text: long})
	}
	var b bytes.Buffer
	require.NoError(t, Summary(&b, r, repoURL))
	assert.LessOrEqual(t, b.Len(), 1<<20)
	assert.Contains(t, b.String(), "bytes more)")
	assert.True(t, strings.HasSuffix(b.String(), "</sub>\n"), "the end is there")
}

func TestSummaryWithoutARepositoryHasNoLinks(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Summary(&b, done(), ""))
	assert.NotContains(t, b.String(), "](")
}

func TestMarkersAreHiddenOnlyAtTheEnd(t *testing.T) {
	assert.Equal(t, "a\n<!-- mergexo-x --> b", visible("a\n<!-- mergexo-x --> b\n\n<!-- mergexo-action:1 -->\n<!-- mergexo-turn:{} -->\n"))
	assert.Equal(t, "<!-- other -->", visible("<!-- other -->"))
	assert.Empty(t, visible("<!-- mergexo-action:1 -->"))
}

func TestLogger(t *testing.T) {
	var b bytes.Buffer
	Logger(&b, slog.LevelInfo, true).Warn("history_rewrite_blocked", "pr_number", 7, "why", "a\n::error::b ##[group]c", "err", errors.New("x\r\n::y"))
	Logger(&b, slog.LevelInfo, true).Debug("quiet")
	assert.Equal(t, `level=WARN msg=history_rewrite_blocked pr_number=7 why="a\n::error::b ## [group]c" err="x\r\n::y"`+"\n", b.String())
	b.Reset()
	Logger(&b, slog.LevelInfo, false).Info("turn_started")
	assert.Regexp(t, `^time=\S+ level=INFO msg=turn_started\n$`, b.String())
}
