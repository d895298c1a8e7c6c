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

// Of two packages, the tests of what a change touches run, before the push of an agent's work and before the merge.
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
	w.second("agent/change", "api/broken")
	w.approve("alice")
	require.Equal(t, "PRE_MERGE_FAILED", w.command("carol", "/mergexo merge").BlockedReason)
	assert.Equal(t, []string{"api"}, ran())
	assert.Contains(t, shown(w.request()), "test ! -e api/broken", "the comment names what failed")
}
