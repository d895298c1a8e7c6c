package engine_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git/gittest"
)

// prepared are the worlds that stories begin with, by name. Hundreds of stories begin in the same place, and the way there
// takes as much of git's and GitHub's time as some stories do.
var prepared sync.Map // of func() estate

// estate is a world at rest: what its sandbox has left behind, which one in another place takes up.
type estate struct {
	files fstest.MapFS
	world *world // as it was
	calls []byte // of its agent
}

// begin is a world of its own, the same as the one that build makes. Equal names are for equal worlds.
func begin(t *testing.T, name string, build func() *world) *world {
	t.Helper()
	made, _ := prepared.LoadOrStore(name, sync.OnceValue(func() estate {
		w := build()
		w.close()
		calls, err := os.ReadFile(w.log)
		require.True(t, err == nil || os.IsNotExist(err), "%v", err)
		return estate{calls: calls, files: gittest.FilesOf(t, w.state), world: &world{origin: w.origin, now: w.now, number: w.number, head: w.head, runs: w.runs, random: w.random, token: w.token, tested: w.tested, testRuns: w.testRuns}}
	}))
	e := made.(func() estate)()
	dir, was := t.TempDir(), e.world
	require.NoError(t, os.CopyFS(dir, e.files))
	w := openWorld(t, dir, was.origin)
	w.number, w.head, w.runs, w.random = was.number, was.head, was.runs, was.random
	w.token, w.tested, w.testRuns = was.token, maps.Clone(was.tested), was.testRuns
	w.later(was.now.Sub(w.now))
	if e.calls != nil {
		require.NoError(t, os.WriteFile(w.log, e.calls, 0o600))
	}
	return w
}

// moveOrigin puts the address of one server in the place of another one's, in all that a sandbox has written down.
func moveOrigin(t *testing.T, dir, from, to string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if !strings.Contains(e.Name(), ".json") {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, e.Name()), bytes.ReplaceAll(raw, []byte(from), []byte(to)), 0o644))
	}
}
