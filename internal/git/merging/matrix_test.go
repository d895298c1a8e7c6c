package merging_test

import (
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/merging"
)

// field is a server with heads that were made beside one another, and what git itself makes of each merge.
type field struct {
	*gittest.Hub
	r     *gittest.Repo
	heads []merging.PullHead
}

func newField(t testing.TB, path string) *field {
	return &field{Hub: gittest.NewHub(t), r: gittest.NewRepo(t, path)}
}

// put puts a commit on the server.
func (f *field) put(ref, sha string) {
	f.r.Git("push", "-q", "-f", f.Bare, sha+":"+ref)
}

// pull opens a pull request of a fork.
func (f *field) pull(number int, base, sha string) {
	h := merging.PullHead{Number: number, Ref: fmt.Sprintf("refs/pull/%d/head", number), SHA: sha, Base: base}
	f.put(h.Ref, sha)
	f.heads = append(f.heads, h)
}

// merge is what git says of a single merge: the paths in conflict, none where it is clean.
func (f *field) merge(ours, theirs string) []string {
	dir := f.T.TempDir()
	out, err := f.r.Run(dir, "", "--git-dir="+filepath.Join(f.r.Dir, ".git"), "--work-tree="+dir, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
	if err == nil {
		return nil
	}
	paths := strings.Split(strings.TrimRight(out, "\x00"), "\x00")[1:]
	sort.Strings(paths)
	return paths
}

// look runs Find in a clone of our own, or a workspace.
func (f *field) look(workspace string, limit int) (*git.Checkout, merging.Matrix) {
	f.T.Helper()
	c := f.Open(workspace, func(o *git.Options) { o.Path = f.r.Path })
	return c, gittest.Must(merging.FindConflicts(gittest.Ctx, c, f.heads, limit))(f.T)
}

func TestTheRadarSaysWhatGitSays(t *testing.T) {
	gittest.EachGit(t, func(t *testing.T, path string) {
		f := newField(t, path)
		sub := func(n int) gittest.Edit {
			return gittest.Edit{Mode: git.ModeSubmodule, Text: strings.Repeat(fmt.Sprint(n), 40)}
		}
		binary := "\x00" + strings.Repeat("binary\n", 50)
		start := f.r.Commit("start", merged(gittest.Texts("f", gittest.Numbers(30), "gone", gittest.Numbers(9), "x.bin", binary, "dir/1", gittest.Numbers(31), "dir/2", gittest.Numbers(32), "dir/3", gittest.Numbers(33), "old", gittest.Numbers(40),
			"odd\nname \"\xff", gittest.Numbers(10), "u", "0\n", ".gitattributes", "u merge=union\n", "deep/.gitattributes", "* merge=union\n", "deep/u", "0\n"), map[string]gittest.Edit{"s": sub(1), "l": {Mode: git.ModeSymlink, Text: "f"}}))
		base := f.r.Commit("base", merged(gittest.Texts("f", gittest.Numbers(30, "1", "base"), "gone", "", "x.bin", binary+"base", "new", "base\n", "old", "", "renamed", gittest.Numbers(40), "odd\nname \"\xff", gittest.Numbers(10, "1", "base"),
			"dir/1", "", "dir/2", "", "dir/3", "", "moved/1", gittest.Numbers(31), "moved/2", gittest.Numbers(32), "moved/3", gittest.Numbers(33), "u", "0\nbase\n", "deep/u", "0\nbase\n", "df", "file\n"),
			map[string]gittest.Edit{"s": sub(2), "l": {Mode: git.ModeSymlink, Text: "base"}}), start)
		f.put("refs/heads/main", base)
		for i, edits := range []map[string]gittest.Edit{
			gittest.Texts("f", gittest.Numbers(30, "1", "head")), gittest.Texts("f", gittest.Numbers(30, "20", "head")), gittest.Texts("gone", gittest.Numbers(9, "1", "head")), gittest.Texts("x.bin", binary+"head"),
			gittest.Texts("new", "head\n"), gittest.Texts("old", "", "elsewhere", gittest.Numbers(40)), gittest.Texts("old", gittest.Numbers(40, "3", "head")), gittest.Texts("odd\nname \"\xff", gittest.Numbers(10, "1", "head")),
			gittest.Texts("dir/4", "head\n"), gittest.Texts("dir/1", gittest.Numbers(31, "1", "head")), gittest.Texts("u", "0\nhead\n"), gittest.Texts("deep/u", "0\nhead\n"), gittest.Texts("df/below", "head\n"),
			{"s": sub(3)}, {"s": {Mode: "100644", Text: "no submodule\n"}}, {"l": {Mode: git.ModeSymlink, Text: "head"}}, {"f": {Mode: "100755", Text: gittest.Numbers(30, "1", "head")}},
			merged(gittest.Texts("f", gittest.Numbers(30, "1", "all"), "x.bin", binary+"all", "new", "all\n"), map[string]gittest.Edit{"s": sub(4)}), {},
		} {
			f.pull(i+1, "main", f.r.Commit(fmt.Sprint("head ", i+1), edits, start))
		}
		var want []merging.Conflict
		attributes := map[int]bool{11: true, 12: true} // of which git says that they conflict where it sees no attributes
		for i, h := range f.heads {
			if paths := f.merge(base, h.SHA); paths != nil && !attributes[h.Number] {
				want = append(want, merging.Conflict{Number: h.Number, Paths: paths})
			}
			for _, older := range f.heads[:i] {
				if paths := f.merge(older.SHA, h.SHA); paths != nil && !(attributes[h.Number] && attributes[older.Number]) {
					want = append(want, merging.Conflict{Number: h.Number, With: older.Number, Paths: paths})
				}
			}
		}
		require.Greater(t, len(want), 15)
		for _, workspace := range []string{"", f.Workspace("main"), f.Workspace("main", "--filter=blob:none", "--no-checkout")} {
			_, found := f.look(workspace, 1000)
			assert.Equal(t, want, found.Conflicts)
			assert.Zero(t, found.Unlooked)
		}
	})
}

// merged are edits of both.
func merged(a, b map[string]gittest.Edit) map[string]gittest.Edit {
	for name, e := range b {
		a[name] = e
	}
	return a
}
