//go:build all

package engine_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine"
	"github.com/mergexo/mergexo/internal/model"
)

// lifted is the first line of a block that is lifted.
var lifted = regexp.MustCompile(`\*\*Unblocked by [^*]*\*\* Before: ([^\n]*)`)

func TestADeathAtAnyWriteOfBlockedResetIsMadeGood(t *testing.T) {
	t.Parallel()
	scene := func(t *testing.T) *world {
		w, old, _ := rewrittenPull(t)
		second := w.another("agent/second") // at the rewritten head, and then moved away from it
		ev := model.Event{Name: "pull_request", Action: "opened", Repo: repo, Number: second, IsPull: true}
		w.handle(ev)
		w.api("octo", "PATCH", w.path("/git/refs/heads/agent/second"), object{"sha": old, "force": true})
		require.Equal(t, model.ResultBlocked, w.handle(ev).Result)
		w.api("octo", "PATCH", w.path("/git/refs/heads/agent/second"), object{"sha": w.tip(), "force": true})
		w.move(old) // both lineages are restored
		w.gate.revive()
		return w
	}
	w := scene(t)
	require.Len(t, w.reset("sandbox-actions", engine.Reset{}), 2)
	want, last := lifted.ReplaceAllString(w.shows(), "**$1**"), w.gate.writes
	require.Equal(t, 4, last, "each block is lifted, and hidden")
	every(t, writes(1, last), func(t *testing.T, n int) {
		fates := deathsAt(n)
		fates["lost"], fates["unclear"] = lost, unclear
		each(t, fates, func(t *testing.T, _ string, f fate) {
			w := scene(t)
			w.gate.only(n, f)
			w.reset("sandbox-actions", engine.Reset{})
			w.gate.revive()
			w.recoverBy(resetting(t))
			assert.Equal(t, want, lifted.ReplaceAllString(w.shows(), "**$1**"), "a block that a dead run has lifted says so with the next event")
			_, blocked := w.standings("sandbox-actions")
			assert.Empty(t, blocked)
		})
	})
}
