package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// What comes out of the agent's job may be somebody else's word.
func TestAForgedReviewIsRefusedByName(t *testing.T) {
	t.Parallel()
	finding := func(field string, value any) func(*testing.T, *world, string) {
		one := map[string]any{"path": "greeting.txt", "line": 1, "severity": "must", "text": "x", "suggestion": ""}
		one[field] = value
		return inOutcome("findings", []any{one})
	}
	for name, c := range map[string]struct {
		with func(*testing.T, *world, string)
		says string
	}{
		"another repository": {changed("repository", "octo/other"), "handoff refused: repository"},
		"another head":       {changed("start", strings.Repeat("1", 40)), "handoff refused: "},
		"another review":     {changed("turn_key", strings.Repeat("0", 64)), "handoff refused: turn_key"},
		"a commit":           {changed("head", strings.Repeat("2", 40)), "handoff refused: head"},
		"events":             {changed("events", []string{"1:issue:12:2026-01-02T03:04:05Z"}), "handoff refused: events"},
		"a way to end":       {changed("ended", "merged"), "handoff refused: ended"},
		"a reply":            {inOutcome("general_comment", "x"), "handoff refused: "},
		"a path outside":     {finding("path", "../x"), "findings[0].path"},
		"no severity":        {finding("severity", "approve"), "findings[0].severity"},
		"a line below":       {finding("line", -1), "findings[0].line"},
		"a commit of another branch": {edited(func(h map[string]any) {
			h["start"], h["head"], h["turn_key"] = strings.Repeat("3", 40), strings.Repeat("3", 40), journal.Token("review", "1", strings.Repeat("3", 40))
		}), "which the pull request does not have"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.finds(threeFindings())
			w.talk("carol", "/mergexo review")
			ev := w.delivery("issue_comment")
			require.Equal(t, model.ResultDone, w.phase(thread.ApplyPhase, ev, "").Result)
			dir := w.prepared(ev)
			c.with(t, w, dir)
			rep := w.phase(thread.ApplyPhase, ev, dir)
			assert.Equal(t, model.ResultFailed, rep.Result, rep.Reason)
			assert.Contains(t, w.said(), c.says)
			assert.Empty(t, w.reviewed())
			require.Equal(t, model.ResultDone, w.inTwo(w.pullEvent()).Result)
			assert.Contains(t, w.reviewed(), "3 findings")
		})
	}
}
