//go:build all

package merging_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/merging"
)

func TestTheRadarTellsWhoConflictsWithWhom(t *testing.T) {
	gittest.EachGit(t, func(t *testing.T, path string) {
		f := newField(t, path)
		start := f.r.Commit("start", gittest.Texts("a", gittest.Numbers(20), "b", gittest.Numbers(20), "c", "c\n"))
		old := f.r.Commit("old", gittest.Texts("a", gittest.Numbers(20, "1", "old")), start)
		base := f.r.Commit("culprit", gittest.Texts("a", gittest.Numbers(20, "1", "base")), start)
		f.put("refs/heads/main", base)
		f.put("refs/heads/release", start)
		f.pull(1, "main", old)
		b := f.r.Commit("b", gittest.Texts("b", gittest.Numbers(20, "5", "two")), start)
		f.pull(2, "main", b)
		f.pull(3, "main", f.r.Commit("b, too", gittest.Texts("b", gittest.Numbers(20, "5", "three")), base))
		f.pull(4, "main", f.r.Commit("on 2", gittest.Texts("b", gittest.Numbers(20, "5", "four")), b)) // contains 2
		f.pull(5, "main", f.r.Commit("b elsewhere", gittest.Texts("b", gittest.Numbers(20, "18", "five")), start))
		f.pull(6, "main", start) // merged
		f.pull(7, "release", b)  // another base
		f.pull(8, "nowhere", b)  // no base
		f.pull(9, "main", b)     // will move
		f.pull(10, "main", b)    // will go
		f.pull(11, "main", f.r.Commit("another history", gittest.Texts("a", "x\n", "b", "y\n")))
		f.pull(12, "main", f.r.Commit("a directory", gittest.Texts("d/x", "x\n"), start))
		f.pull(13, "main", f.r.Commit("a file", gittest.Texts("d", "x\n"), start))
		f.put("refs/pull/9/head", base)
		f.Git(f.Bare, "update-ref", "-d", "refs/pull/10/head")
		for _, workspace := range []string{"", f.Workspace("main"), f.Workspace("main", "--filter=blob:none", "--no-checkout"), f.Workspace("main", "--depth=1")} {
			c, found := f.look(workspace, 100)
			assert.Equal(t, []merging.Conflict{
				{Number: 1, Paths: []string{"a"}}, {Number: 3, With: 2, Paths: []string{"b"}}, {Number: 4, With: 3, Paths: []string{"b"}},
				{Number: 13, With: 12, Paths: f.merge(f.heads[11].SHA, f.heads[12].SHA)},
			}, found.Conflicts)
			assert.Equal(t, map[string]string{"main": base, "release": start}, found.Bases)
			assert.Equal(t, []int{9, 10}, found.Gone)
			assert.Zero(t, found.Unlooked)
			assert.LessOrEqual(t, c.NetworkCalls(), 4)
			calls := c.NetworkCalls()
			assert.Equal(t, []string{base}, gittest.Shas(gittest.Must(merging.Culprits(gittest.Ctx, c, base, old, []string{"a"}))(t)))
			assert.Equal(t, calls, c.NetworkCalls())
			assert.Empty(t, gittest.Must(filepath.Glob(filepath.Join(filepath.Dir(c.Dir()), "mergexo-radar-*")))(t))
		}
	})
}
