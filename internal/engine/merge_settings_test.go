package engine_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// While the tests of a merge run, somebody pushes other settings to the base. They are those of the commit that it lands on.
func TestMergeLandsByTheSettingsOfTheBaseThatItLandsOn(t *testing.T) {
	type row struct{ was, now, ends string }
	each(t, map[string]row{
		"two approvals":         {"[merge]", "[merge]\napprovals = 2", "in_approval APPROVAL_MISSING"},
		"another strategy":      {"[merge]", "[merge]\nstrategy = \"squash\"", "done"},
		"other tests that fail": {"tests = [", `tests = ["false"] # [`, "merge_failed PRE_MERGE_FAILED"},
	}, func(t *testing.T, _ string, c row) {
		w := whileTestedBy(t, func(w *world) deed { return w.resettles(c.was, c.now) })
		rep := w.command("carol", "/mergexo merge")
		require.Len(t, w.merges(), 1)
		assert.Equal(t, c.ends, w.merges()[0], rep.Reason)
		newest := strings.Split(w.bare("log", "--format=%s", "main"), "\n")[0]
		if c.ends != "done" {
			assert.Equal(t, "Set", newest, "nothing landed")
			return
		}
		require.Equal(t, model.ResultDone, rep.Result, rep.Reason)
		assert.Equal(t, "Write greeting.txt", newest, "a squash of one commit keeps its message")
	})
}

// resettles is the deed of somebody who puts other settings on the base.
func (w *world) resettles(before, after string) deed {
	w.t.Helper()
	file := w.api("octo", "GET", w.path("/contents/.github/mergexo.toml"), nil)
	text := w.settings("main")
	require.Contains(w.t, text, before)
	text = strings.Replace(text, before, after, 1)
	body := fmt.Sprintf(`{"branch":"main","message":"Set","sha":%q,"content":%q}`, file["sha"], base64.StdEncoding.EncodeToString([]byte(text)))
	return deed{"octo", "PUT", "/contents/.github/mergexo.toml", body}
}

// Tests may take so long by the settings that no lease lasts until then.
func TestMergeWithTestsThatMayTakeDays(t *testing.T) {
	w := newMerge(t, `tests = ["true"]`, `test_timeout = "12h"`)
	w.done(w.command("carol", "/mergexo merge"))
	assert.Equal(t, []string{"done"}, w.merges())
}
