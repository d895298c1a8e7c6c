package git_test

import (
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
)

// field is a server with heads that were made beside one another, and what git itself makes of each merge.
type field struct {
	*hub
	r     *repo
	heads []git.RadarHead
}

func newField(t testing.TB, path string) *field {
	return &field{hub: newHub(t), r: newRepo(t, path)}
}

// put puts a commit on the server.
func (f *field) put(ref, sha string) {
	f.r.git("push", "-q", "-f", f.bare, sha+":"+ref)
}

// pull opens a pull request of a fork.
func (f *field) pull(number int, base, sha string) {
	h := git.RadarHead{Number: number, Ref: fmt.Sprintf("refs/pull/%d/head", number), SHA: sha, Base: base}
	f.put(h.Ref, sha)
	f.heads = append(f.heads, h)
}

// merge is what git says of a single merge: the paths in conflict, none where it is clean.
func (f *field) merge(ours, theirs string) []string {
	dir := f.t.TempDir()
	out, err := f.r.run(dir, "", "--git-dir="+filepath.Join(f.r.dir, ".git"), "--work-tree="+dir, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
	if err == nil {
		return nil
	}
	paths := strings.Split(strings.TrimRight(out, "\x00"), "\x00")[1:]
	sort.Strings(paths)
	return paths
}

// look is the radar in a clone of our own, or a workspace.
func (f *field) look(workspace string, limit int) (*git.Checkout, git.Radar) {
	f.t.Helper()
	c := f.open(workspace, func(o *git.Options) { o.Path = f.r.path })
	found, err := c.Radar(ctx, f.heads, limit)
	require.NoError(f.t, err)
	return c, found
}

func TestTheRadarSaysWhatGitSays(t *testing.T) {
	eachGit(t, func(t *testing.T, path string) {
		f := newField(t, path)
		sub := func(n int) edit { return edit{git.ModeSubmodule, strings.Repeat(fmt.Sprint(n), 40)} }
		binary := "\x00" + strings.Repeat("binary\n", 50)
		start := f.r.commit("start", merged(texts("f", numbers(30), "gone", numbers(9), "x.bin", binary, "dir/1", numbers(31), "dir/2", numbers(32), "dir/3", numbers(33), "old", numbers(40),
			"odd\nname \"\xff", numbers(10), "u", "0\n", ".gitattributes", "u merge=union\n", "deep/.gitattributes", "* merge=union\n", "deep/u", "0\n"), map[string]edit{"s": sub(1), "l": {git.ModeSymlink, "f"}}))
		base := f.r.commit("base", merged(texts("f", numbers(30, "1", "base"), "gone", "", "x.bin", binary+"base", "new", "base\n", "old", "", "renamed", numbers(40), "odd\nname \"\xff", numbers(10, "1", "base"),
			"dir/1", "", "dir/2", "", "dir/3", "", "moved/1", numbers(31), "moved/2", numbers(32), "moved/3", numbers(33), "u", "0\nbase\n", "deep/u", "0\nbase\n", "df", "file\n"),
			map[string]edit{"s": sub(2), "l": {git.ModeSymlink, "base"}}), start)
		f.put("refs/heads/main", base)
		for i, edits := range []map[string]edit{
			texts("f", numbers(30, "1", "head")), texts("f", numbers(30, "20", "head")), texts("gone", numbers(9, "1", "head")), texts("x.bin", binary+"head"),
			texts("new", "head\n"), texts("old", "", "elsewhere", numbers(40)), texts("old", numbers(40, "3", "head")), texts("odd\nname \"\xff", numbers(10, "1", "head")),
			texts("dir/4", "head\n"), texts("dir/1", numbers(31, "1", "head")), texts("u", "0\nhead\n"), texts("deep/u", "0\nhead\n"), texts("df/below", "head\n"),
			{"s": sub(3)}, {"s": {"100644", "no submodule\n"}}, {"l": {git.ModeSymlink, "head"}}, {"f": {"100755", numbers(30, "1", "head")}},
			merged(texts("f", numbers(30, "1", "all"), "x.bin", binary+"all", "new", "all\n"), map[string]edit{"s": sub(4)}), {},
		} {
			f.pull(i+1, "main", f.r.commit(fmt.Sprint("head ", i+1), edits, start))
		}
		var want []git.Clash
		attributes := map[int]bool{11: true, 12: true} // of which git says that they conflict where it sees no attributes
		for i, h := range f.heads {
			if paths := f.merge(base, h.SHA); paths != nil && !attributes[h.Number] {
				want = append(want, git.Clash{Number: h.Number, Paths: paths})
			}
			for _, older := range f.heads[:i] {
				if paths := f.merge(older.SHA, h.SHA); paths != nil && !(attributes[h.Number] && attributes[older.Number]) {
					want = append(want, git.Clash{Number: h.Number, With: older.Number, Paths: paths})
				}
			}
		}
		require.Greater(t, len(want), 15)
		for _, workspace := range []string{"", f.workspace("main"), f.workspace("main", "--filter=blob:none", "--no-checkout")} {
			_, found := f.look(workspace, 1000)
			assert.Equal(t, want, found.Clashes)
			assert.Zero(t, found.Unlooked)
		}
	})
}

// merged are edits of both.
func merged(a, b map[string]edit) map[string]edit {
	for name, e := range b {
		a[name] = e
	}
	return a
}
