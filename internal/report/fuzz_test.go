package report

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// FuzzNothingForeignIsObeyed holds the package's rule for any text in any place that an agent or a user can reach.
func FuzzNothingForeignIsObeyed(f *testing.F) {
	for _, s := range []string{
		"::error::x", "a\n::set-output name=result::done", "a\r::add-mask::b", "\u2028::error::x", "\v::error::x", "\x85::error::x", "\u00a0::error::x",
		"##[group]x", "#\x00#[group]", "#\x1b[0m#[group]x", "##\u200b[group]", "x\n```\n::error::y\n```", "<!-- mergexo-action:x -->\n::error::y",
		"result<<X\ndone\nX\n", "_GitHubActionsFileCommandDelimeter_", "\xff\xfe::error::", "\t::error::x", "#\r#[error]x", "$(id)`id`", "\x1b]0;\n::error::x\x07",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := model.Report{
			Result: model.ResultBlocked, Number: 7, TurnKey: s, Reason: s, HeadSHA: s, BlockedReason: s, Expected: s, Observed: s + "x",
			Effects: []model.Effect{{Kind: "push", Target: s, Token: s, Status: "applied"}},
			Said:    []model.Saying{{Where: s, Text: s}},
		}
		var out bytes.Buffer
		require.NoError(t, Account(&out, r))
		require.NoError(t, JSON(&out, r))
		Logger(&out, slog.LevelInfo, true).Info("event", "text", s, s, "key")
		require.NoError(t, Complaint(&out, s))
		gates := []model.Gate{{Name: "tests", Evidence: s}}
		status := model.Status{Number: 7, Title: s, Branch: s, Block: &model.Blocked{Reason: s}, Need: &model.Need{Number: 7, Next: s, Reason: s, URL: s}, Delegates: []string{s}}
		require.NoError(t, Why(&out, status, "It waits: "+s+"\n- "+s+"\n"+s, gates, gates, true))
		require.NoError(t, Statuses(&out, []model.Status{status}, []model.Need{*status.Need}))
		require.NoError(t, Trains(&out, []model.Train{{Base: s, Trouble: s, Cars: []model.TrainCar{{Number: 1, Why: s}}}}))
		require.NoError(t, Findings(&out, s))
		require.NoError(t, History(&out, []model.LogEntry{{What: s, By: s, Why: s, URL: s}}))
		c := NewConsole(&out, true, func() string { return "0123456789abcdef" })
		fence := c.Foreign()
		require.NoError(t, must.Err(fence.Write([]byte(s))))
		require.NoError(t, fence.Close())
		assert.Empty(t, obeyed(out.String()), "what is not ours is obeyed")

		out.Reset()
		require.NoError(t, c.Group(s))
		require.NoError(t, Annotate(&out, "warning", s))
		require.NoError(t, c.End())
		assert.Len(t, obeyed(out.String()), 3, "ours, and only ours")

		path := filepath.Join(t.TempDir(), "out")
		require.NoError(t, Outputs(path, r))
		written := must.Get(os.ReadFile(path))(t)
		assert.Equal(t, []string{"result", "pr", "turn-key", "head-sha", "blocked-reason"}, outputNames(string(written)))
		assert.Contains(t, string(written), "result=blocked\n")

		out.Reset()
		require.NoError(t, Account(&out, r))
		assert.NotContains(t, out.String(), "\x1b", "no terminal sequence")
	})
}

// outputNames reads a step output file as the runner does: NAME=VALUE where "=" comes before "<<", and lines end at \r too.
//
// https://github.com/actions/runner/blob/main/src/Runner.Worker/FileCommandManager.cs
func outputNames(file string) []string {
	var names []string
	for _, l := range strings.FieldsFunc(file, func(r rune) bool { return r == '\n' || r == '\r' }) {
		name, _, ok := strings.Cut(l, "=")
		if !ok || strings.Contains(name, "<<") {
			names = append(names, "not a NAME=VALUE line: "+l)
			continue
		}
		names = append(names, name)
	}
	return names
}
