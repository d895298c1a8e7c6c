package merging_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/merging"
)

// TestTheRadarMissesNoConflictWithABase has every kind of change on a base meet every kind on a head, and asks git of each.
func TestTheRadarMissesNoConflictWithABase(t *testing.T) {
	f := newField(t, gittest.GitPath())
	one, two, other := gittest.Numbers(31), gittest.Numbers(32), gittest.Numbers(33)
	start := f.r.Commit("start", gittest.Texts("d/e/1", one, "d/e/2", two, "d/3", other, "f", gittest.Numbers(40), "other", "other\n"))
	edits := [][]string{
		{"f", gittest.Numbers(40, "1", "changed")},
		{"f", gittest.Numbers(40, "30", "changed")},
		{"f", ""},
		{"f", "", "moved", gittest.Numbers(40)},
		{"f", "", "d/e/moved", gittest.Numbers(40)},
		{"f", "", "f/below", gittest.Numbers(40)},
		{"moved", "new\n"},
		{"new", "new\n"},
		{"new/below", "new\n"},
		{"d/e/new", "new\n"},
		{"d/new", "new\n"},
		{"d/e/1", gittest.Numbers(31, "1", "changed")},
		{"d/e/1", ""},
		{"d/e/1", "", "d/e/2", "", "to/1", one, "to/2", two}, // d/e is renamed
		{"d/e/1", "", "d/e/2", "", "d/3", "", "to/e/1", one, "to/e/2", two, "to/3", other}, // d is renamed
		{"d/e/1", "", "d/e/2", "", "d/e", "a file\n"},                                      // d/e is a file
		{"d/e/1", "", "d/e/2", "", "d/3", "", "d", "a file\n"},                             // d is a file
	}
	var tips, main []string
	for i, edit := range edits {
		tips = append(tips, f.r.Commit("edit", gittest.Texts(edit...), start))
		main = append(main, f.r.Commit("after", gittest.Texts("other", "after\n"), tips[i]))
		f.r.Git("push", "-q", f.Bare, fmt.Sprintf("%s:refs/pull/%d/head", tips[i], i), fmt.Sprintf("%s:refs/heads/%d", main[i], i))
	}
	var want []merging.Conflict
	for i, base := range main {
		for k, head := range tips {
			h := merging.PullHead{Number: 100*(i+1) + k, Ref: fmt.Sprintf("refs/pull/%d/head", k), SHA: head, Base: fmt.Sprint(i)}
			f.heads = append(f.heads, h)
			if paths := f.merge(base, head); paths != nil {
				want = append(want, merging.Conflict{Number: h.Number, Paths: paths})
			}
		}
	}
	_, found := f.look("", 0)
	assert.Equal(t, want, found.Conflicts)
	assert.Greater(t, len(want), 60)
}
