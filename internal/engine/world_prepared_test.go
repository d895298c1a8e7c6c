package engine_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/must"
)

// prepared are the worlds that stories begin with, by name. Hundreds of stories begin in the same place, and the way there
// takes as much of git's and GitHub's time as some stories do.
var prepared sync.Map // of func() estate

// estate is a world at rest: what its sandbox has left behind, which one in another place takes up.
type estate struct {
	files fstest.MapFS
	world *world       // as it was
	notes fstest.MapFS // of its agent
}

// estate is what the world leaves behind. Nothing may write to its sandbox meanwhile.
func (w *world) estate() estate {
	w.t.Helper()
	require.Empty(w.t, w.workdir+w.keeps, "what a runner keeps is not taken along")
	return estate{
		files: gittest.FilesOf(w.t, w.state), notes: gittest.FilesOf(w.t, filepath.Dir(w.log)),
		world: &world{
			origin: w.origin, now: w.now, skew: w.skew, number: w.number, head: w.head, agent: w.agent, key: w.key, env: maps.Clone(w.env),
			runs: w.runs, random: w.random, token: w.token, tested: maps.Clone(w.tested), testRuns: w.testRuns,
		},
	}
}

// takeUp is a world of its own that goes on where another one has ended.
func (e estate) takeUp(t *testing.T) *world {
	t.Helper()
	dir, was := t.TempDir(), e.world
	require.NoError(t, os.CopyFS(dir, e.files))
	w := openWorld(t, dir, was.origin)
	w.number, w.head, w.runs, w.random = was.number, was.head, was.runs, was.random
	w.agent, w.key, w.env = was.agent, was.key, maps.Clone(was.env)
	w.token, w.tested, w.testRuns = was.token, maps.Clone(was.tested), was.testRuns
	w.skew = was.skew
	w.later(was.now.Sub(w.now))
	require.NoError(t, os.CopyFS(filepath.Dir(w.log), e.notes))
	return w
}

// alone are the tests that measure what the whole process allocates.
var alone = []string{"TestAFloodIsNotHeldInMemory", "TestNoiseIsNotHeldInMemory"}

// parallel lets a test run beside others, as every story does from its first world on. Further worlds change nothing.
func parallel(t *testing.T) {
	t.Helper()
	if slices.Contains(alone, t.Name()) {
		return
	}
	defer func() {
		if p := recover(); p != nil && p != "testing: t.Parallel called multiple times" {
			panic(p)
		}
	}()
	t.Parallel()
}

// begin is a world of its own, the same as the one that build makes. Equal names are for equal worlds.
func begin(t *testing.T, name string, build func() *world) *world {
	t.Helper()
	parallel(t)
	made, _ := prepared.LoadOrStore(name, sync.OnceValue(func() estate {
		w := build()
		w.close()
		return w.estate()
	}))
	return made.(func() estate)().takeUp(t)
}

// wrecks are what a run leaves behind that dies before its first write, after that one, after the second, and so on to the
// last.
type wrecks []estate

// wrecks lets a process run to its end, and gives all that it would have left if it had died on the way.
func (w *world) wrecks(run func()) wrecks {
	w.t.Helper()
	var all wrecks
	note := func(int) {
		assert.NoError(w.t, w.sandbox.Still(func() error { all = append(all, w.estate()); return nil }))
	}
	w.gate.revive()
	note(0)
	all[0].world.runs++
	w.gate.after = note
	run()
	w.gate.after = nil
	require.Len(w.t, all, w.gate.writes+1)
	return all
}

// after is a world in which a process has died after so many writes. GitHub knows that its run is over.
func (k wrecks) after(t *testing.T, writes int) *world {
	t.Helper()
	parallel(t)
	w := k[writes].takeUp(t)
	w.over(w.runs)
	return w
}

// each has somebody go on in the worlds of a process that died at these writes, or at every one where there are none: after each, and
// before the first.
func (k wrecks) each(t *testing.T, at []int, next func(t *testing.T, w *world, n int)) {
	t.Helper()
	for n := 1; n < len(k); n++ {
		if at != nil && !slices.Contains(at, n) {
			continue
		}
		for name, before := range deathsBy(n) {
			t.Run(fmt.Sprintf("%s write %d of %d", name, n, len(k)-1), func(t *testing.T) { next(t, k.after(t, n-before), n) })
		}
	}
}

// moveOrigin puts the address of one server in the place of another one's, in all that a sandbox has written down.
func moveOrigin(t *testing.T, dir, from, to string) {
	t.Helper()
	for _, e := range must.Get(os.ReadDir(dir))(t) {
		if !strings.Contains(e.Name(), ".json") {
			continue
		}
		raw := contents(t, filepath.Join(dir, e.Name()))
		require.NoError(t, os.WriteFile(filepath.Join(dir, e.Name()), bytes.ReplaceAll(raw, []byte(from), []byte(to)), 0o644))
	}
}

// contents is what a file holds.
func contents(t testing.TB, path string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(path))(t)
}
