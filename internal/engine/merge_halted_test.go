package engine_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

func TestMergeStopsForWhatAnOperatorAsksMeanwhile(t *testing.T) {
	type row struct {
		login, command string
		stops          bool
	}
	every(t, []row{
		{"carol", "/mergexo merge cancel", true}, {"carol", "/mergexo pause", true}, {"bob", "/mergexo merge cancel", false},
	}, func(t *testing.T, c row) {
		w := whileTested(t, deed{c.login, "POST", "/issues/1/comments", fmt.Sprintf(`{"body":%q}`, c.command)})
		before := w.at("main")
		w.command("carol", "/mergexo merge")
		assert.Equal(t, c.stops, before == w.at("main"), "nobody else stops it")
		assert.Equal(t, []string{map[bool]string{true: "in_approval BLOCKED", false: "done"}[c.stops]}, w.merges())
	})
}

func TestMergeCommandOfThePersonWhoseTokenItIs(t *testing.T) {
	w := newMerge(t)
	rep := w.by(w.engineAs("sandbox-octo"), w.say("octo", "/mergexo merge"))
	assert.Equal(t, model.ResultDone, rep.Result, rep.Reason)
	assert.Equal(t, "merged", w.badge())
}

// What tests have seen once is not built upon again: they run as our own user and could have changed it.
func TestMergeIsBuiltAnewElsewhere(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	run := script(t, fmt.Sprintf("cat .git/objects/info/alternates >>%s\n", log))
	w := newMerge(t, fmt.Sprintf("tests = [%q]", run))
	w.clone()
	w.write("octo", "main", "other.txt", "meanwhile\n")
	w.before(func(*http.Request) bool { return assert.FileExists(new(testing.T), log) }, func() { w.write("octo", "main", "again.txt", "again\n") })
	w.done(w.command("carol", "/mergexo merge"))
	places := strings.Fields(string(contents(t, log)))
	require.Len(t, places, 2)
	assert.Contains(t, places[0], w.workdir)
	assert.NotContains(t, places[1], w.workdir)
	assert.Equal(t, "again\n", w.fileOf("main", "again.txt"))
}
