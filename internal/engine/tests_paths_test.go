package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// Of two packages, the tests of what a change touches run, before the push of an agent's work and before the merge. What is in neither
// is tested by the tests of the repository.
func TestAChangeIsTestedByWhatItTouches(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	ran := func() []string {
		defer func() { require.NoError(t, os.WriteFile(log, nil, 0o600)) }()
		return strings.Fields(string(contents(t, log)))
	}
	says := func(word string) string { return fmt.Sprintf("echo %s >>%s", word, log) }
	w := newWorld(t, "", fmt.Sprintf("[merge]\ntests = [%q]\n[[tests]]\npaths = [\"greeting.txt\"]\nrun = %q\n[[tests]]\npaths = [\"api/**\"]\nrun = %q\n",
		script(t, says("plain")), says("text"), says("api")+" && test ! -e api/broken"))
	require.Equal(t, model.ResultDone, w.handle(w.remark("alice", "One.")).Result)
	assert.Equal(t, []string{"text"}, ran(), "before the push")
	w.write("octo", "main", "api/a.go", "meanwhile\n")
	w.approve("bob")
	w.done(w.command("carol", "/mergexo merge"))
	assert.Equal(t, []string{"text"}, ran(), "what came onto main meanwhile is no part of the change")

	merged := func(number int, path string) model.Report {
		w.second(fmt.Sprintf("agent/change-%d", number), path)
		w.approve("alice")
		return w.command("carol", "/mergexo merge")
	}
	require.Equal(t, model.ResultDone, merged(1, "README.md").Result)
	assert.Equal(t, []string{"plain"}, ran())
	rep := merged(2, "api/broken")
	require.Equal(t, "PRE_MERGE_FAILED", rep.BlockedReason, rep.Reason)
	assert.Equal(t, []string{"api"}, ran())
	assert.Contains(t, shown(w.request()), "test ! -e api/broken", "the comment names what failed")
	w.write("octo", w.head, "README.md", "more\n")
	w.approve("alice")
	require.Equal(t, "PRE_MERGE_FAILED", w.command("carol", "/mergexo merge").BlockedReason)
	assert.Equal(t, []string{"api"}, ran(), "what fails first ends them")
	require.Equal(t, model.ResultDone, merged(3, ".github/mergexo/setup/action.yml").Result)
	assert.Equal(t, []string{"text", "api", "plain"}, ran(), "a change of how tests are set up is tested by everything")
}
