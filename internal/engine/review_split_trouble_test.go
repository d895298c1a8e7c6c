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

// What comes out of the agent's job may be somebody else's word. What else is refused is told by the tests of packages handoff and
// review.
func TestAForgedReviewIsRefusedByName(t *testing.T) {
	t.Parallel()
	outside := map[string]any{"path": "../x", "line": 1, "severity": "must", "text": "x", "suggestion": ""}
	for name, c := range map[string]struct {
		with func(*testing.T, *world, string)
		says string
	}{
		"another repository": {changed("repository", "octo/other"), "handoff refused: repository"},
		"another head":       {changed("start", strings.Repeat("1", 40)), "handoff refused: "},
		"another review":     {changed("turn_key", strings.Repeat("0", 64)), "handoff refused: turn_key"},
		"a path outside":     {inOutcome("findings", []any{outside}), "findings[0].path"},
		"a commit of another branch": {edited(func(h map[string]any) {
			h["start"], h["head"], h["turn_key"] = strings.Repeat("3", 40), strings.Repeat("3", 40), journal.Token("review", "1", strings.Repeat("3", 40))
		}), "which the pull request does not have"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newReview(t)
			ev := w.asksForAReview()
			dir := w.prepared(ev)
			c.with(t, w, dir)
			w.gives(model.ResultFailed, w.phase(thread.ApplyPhase, ev, dir))
			assert.Contains(t, w.said(), c.says)
			assert.Empty(t, w.reviewed())
			if name != "another head" { // after which all is as it was
				return
			}
			require.Equal(t, model.ResultDone, w.inTwo(w.pullEvent()).Result)
			assert.Contains(t, w.reviewed(), "3 findings")
		})
	}
}
