package engine_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// GitHub takes from the workflow's token no new commits that change workflows. That is known before any test runs, and why says it.
func TestAMergeThatTheTokenMayNotPushEndsBeforeItsTests(t *testing.T) {
	type row struct {
		strategy string
		moved    bool // the base has moved meanwhile
		why      string
		lands    bool
	}
	each(t, map[string]row{
		"a squash":                      {"squash", false, "it changes .github/workflows/ci.yml, and MergeXO's token may not push changes of workflows", false},
		"a rebase onto a newer base":    {"rebase", true, "only the head as it is can land", false},
		"a rebase that changes nothing": {"rebase", false, "only the head as it is can land", true},
		"a merge commit":                {"no-ff", true, "", true},
	}, func(t *testing.T, _ string, c row) {
		log := filepath.Join(t.TempDir(), "log")
		w := newMerge(t, "strategy = \""+c.strategy+"\"", `tests = ["`+script(t, "echo tested >"+log+"\n")+`"]`)
		w.write("octo", w.head, ".github/workflows/ci.yml", "on: push\n")
		w.approve("alice")
		if c.moved {
			w.write("octo", "main", "other.txt", "meanwhile\n")
		}
		said := w.explain(w.number)
		i := slices.IndexFunc(said.Merges, func(g model.Gate) bool { return g.Name == merge.GatePushable })
		assert.Contains(t, said.Merges[i].Evidence, c.why)
		rep := w.command("carol", "/mergexo merge")
		_, err := os.Stat(log)
		if c.lands {
			require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
			assert.NoError(t, err)
			return
		}
		assert.Equal(t, "FORBIDDEN", rep.BlockedReason, rep.Reason)
		assert.Contains(t, rep.Reason, "MergeXO's token may not push changes of workflows")
		assert.ErrorIs(t, err, os.ErrNotExist, "nothing was tested")
	})
}
