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
	type row struct{ adds, ends string }
	each(t, map[string]row{
		"two approvals":    {"approvals = 2", "in_approval APPROVAL_MISSING"},
		"a check":          {`required_checks = ["ci"]`, "in_approval CHECKS_PENDING"},
		"another strategy": {`strategy = "squash"`, "done"},
	}, func(t *testing.T, _ string, c row) {
		w := whileTested(t, "octo", func(w *world) (method, path, body string) { return w.resettles("[merge]\n", "[merge]\n"+c.adds+"\n") })
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

// The settings of the base name other tests by now, which fail: they are what counts.
func TestMergeRunsTheTestsOfTheBaseThatItLandsOn(t *testing.T) {
	w := whileTested(t, "octo", func(w *world) (method, path, body string) { return w.resettles("tests = [", `tests = ["false"] # [`) })
	rep := w.command("carol", "/mergexo merge")
	require.Len(t, w.merges(), 1)
	assert.Equal(t, "merge_failed PRE_MERGE_FAILED", w.merges()[0], rep.Reason)
	assert.Equal(t, "Set", strings.Split(w.bare("log", "--format=%s", "main"), "\n")[0])
}

// resettles is the request that puts other settings on the base.
func (w *world) resettles(before, after string) (method, path, body string) {
	w.t.Helper()
	file := w.api("octo", "GET", w.path("/contents/.github/mergexo.toml"), nil)
	text := w.settings("main")
	require.Contains(w.t, text, before)
	text = strings.Replace(text, before, after, 1)
	return "PUT", w.path("/contents/.github/mergexo.toml"),
		fmt.Sprintf(`{"branch":"main","message":"Set","sha":%q,"content":%q}`, file["sha"], base64.StdEncoding.EncodeToString([]byte(text)))
}

// Tests may take so long by the settings that no lease lasts until then.
func TestMergeWithTestsThatMayTakeDays(t *testing.T) {
	w := newMerge(t, `tests = ["true"]`, `test_timeout = "12h"`)
	w.done(w.command("carol", "/mergexo merge"))
	assert.Equal(t, []string{"done"}, w.merges())
}
