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
	t.Parallel()
	for command, stops := range map[string]bool{"/mergexo merge cancel": true, "/mergexo pause": true, "/mergexo status": false} {
		for login, may := range map[string]bool{"carol": true, "bob": false} {
			if login == "bob" && !strings.HasSuffix(command, "cancel") && !everyRow {
				continue
			}
			t.Run(login+" "+command, func(t *testing.T) {
				w := whileTested(t, login, func(w *world) (string, string, string) {
					return "POST", w.path(fmt.Sprintf("/issues/%d/comments", w.number)), fmt.Sprintf(`{"body":%q}`, command)
				})
				before := w.at("main")
				w.command("carol", "/mergexo merge")
				if stops && may {
					assert.Equal(t, before, w.at("main"))
					assert.Equal(t, []string{"in_approval BLOCKED"}, w.merges())
					return
				}
				assert.NotEqual(t, before, w.at("main"), "nobody else stops it")
				assert.Equal(t, []string{"done"}, w.merges())
			})
		}
	}
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
	text := contents(t, log)
	places := strings.Fields(string(text))
	require.Len(t, places, 2)
	assert.Contains(t, places[0], w.workdir)
	assert.NotContains(t, places[1], w.workdir)
	assert.Equal(t, "again\n", w.fileOf("main", "again.txt"))
}
