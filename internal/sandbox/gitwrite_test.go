package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// gitIn runs git in the first repository of a town, as Ada.
func gitIn(w *town) func(stdin string, args ...string) string {
	return func(stdin string, args ...string) string {
		w.t.Helper()
		env := append(identity("Ada", "ada@example.com", inventedAt), "GIT_INDEX_FILE=index.test")
		return strings.TrimSuffix(string(must.Get(runGit(w.s.git.path(w.s.st.Repositories[0]), env, []byte(stdin), args...))(w.t)), "\n")
	}
}

// What the sandbox writes has the names that git gives it, and git finds nothing wrong with it.
func TestObjectsAreWrittenAsGitWritesThem(t *testing.T) {
	w := newTown(t)
	r, git := w.s.st.Repositories[0], gitIn(w)
	blob := must.Get(w.s.git.writeObject(r, "blob", []byte("one\n")))(t)
	assert.Equal(t, git("one\n", "hash-object", "--stdin"), blob)
	sub := git("100644 blob "+blob+"\tz\n", "mktree")

	edit := func(base string, entries ...string) string { // "mode sha path", or "path" to remove it
		t.Helper()
		var list []treeEntry
		for _, e := range entries {
			if f := strings.Fields(e); len(f) == 3 {
				list = append(list, treeEntry{Mode: f[0], SHA: &f[1], Path: f[2]})
			} else {
				list = append(list, treeEntry{Path: e})
			}
		}
		return must.Get(w.s.trees.edit(r, base, list))(t)
	}
	// index is the same by git's own index, in which a file gives way to a directory and the other way around.
	index := func(base string, entries ...string) string {
		t.Helper()
		git("", "read-tree", base)
		for _, e := range entries {
			if f := strings.Fields(e); len(f) == 3 {
				git(f[0]+" "+f[1]+"\t"+f[2]+"\n", "update-index", "--index-info")
			} else {
				git("0 "+zeroSHA+"\t"+e+"\n", "update-index", "--index-info")
			}
		}
		return git("", "write-tree")
	}
	file, program, link := "100644 "+blob+" ", "100755 "+blob+" ", "120000 "+blob+" "
	base := index("main", file+"a.b", file+"a/b/c", program+"a-", link+"b", "160000 "+git("", "rev-parse", "main")+" module")
	assert.Equal(t, base, edit("main", file+"a.b", file+"a/b/c", program+"a-", link+"b", "160000 "+git("", "rev-parse", "main")+" module"))
	for _, entries := range [][]string{
		{file + "a/b/d"}, {file + "a/b"}, {file + "b/c/d"}, {"a/b/c"}, {"a/b/c", file + "a/b/d"}, {"a"}, {"gone"}, {"b/gone"}, {"gone/gone"},
		{"a/b/c", "a.b", "a-", "b", "module"}, {file + "a/b/d", file + "a"}, {"b", file + "b/c"}, {program + "a.b"},
	} {
		assert.Equal(t, index(base, entries...), edit(base, entries...), "%q", entries)
	}
	assert.Equal(t, emptyTree, edit("", "gone"))
	assert.Equal(t, git("", "rev-parse", edit(base, "040000 "+sub+" a")+":a"), sub)
	for _, e := range []treeEntry{{Mode: "100600", SHA: &blob, Path: "x"}, {Mode: "100644", SHA: &blob, Path: "x/.git/y"}, {Mode: "100644", SHA: &blob, Path: "x/../y"}} {
		require.Error(t, must.Err(w.s.trees.edit(r, base, []treeEntry{e})), "%+v", e)
	}

	ada := signedAt(" A<d>a <, ", "ada@example.com", inventedAt)
	for _, message := range []string{"", "one", "one\n\ntwo ü\n\n"} {
		made := must.Get(w.s.git.commitTree(r, base, []string{git("", "rev-parse", "main")}, message, ada, ada))(t)
		assert.Equal(t, git(message, "commit-tree", "-p", "main", base), made)
	}
	for _, by := range []signature{{"", "x", ada.Date}, {"<>", "x", ada.Date}, {"Ada", "x", "today"}} {
		require.Error(t, must.Err(w.s.git.commitTree(r, base, nil, "one", by, ada)), "%+v", by)
	}
	require.Error(t, must.Err(w.s.git.commitTree(r, base, nil, "one\x00", ada, ada)))
	git("", "fsck", "--strict", "--no-dangling")
}

// A commit in another encoding, with a signature and without a name, reads as git log shows it.
func TestCommitsAreReadAsGitReadsThem(t *testing.T) {
	w := newTown(t)
	r, git := w.s.st.Repositories[0], gitIn(w)
	head := "tree " + emptyTree + "\nparent " + git("", "rev-parse", "main") + "\n"
	for _, text := range []string{
		head + "author Zo\xeb <zoe@example.com> 1600000000 +0530\ncommitter Zo\xeb <> 1600000001 -0100\nencoding ISO-8859-1\n\ncaf\xe9\n\nbody  \n\n",
		head + "author  <a@b> 1600000000 +0000\ncommitter C D <c d> 1600000000 +0000\ngpgsig -----BEGIN\n \n abc\n -----END\n\n\n\n two\n",
		head + "author A <a@b> 1600000000 +0000\ncommitter A <a@b> 1600000000 +0000\n\n",
	} {
		sha := git(text, "hash-object", "-t", "commit", "-w", "--literally", "--stdin")
		want := strings.Split(git("", "log", "-1", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "--format=%T%x1f%P%x1f%an%x1f%ae%x1f%ad%x1f%cn%x1f%ce%x1f%cd%x1f%B", sha), "\x1f")
		c := must.Get(w.s.git.commitOf(r, sha))(t)
		assert.Equal(t, &commitInfo{SHA: sha, Tree: want[0], Parents: strings.Fields(want[1]), Author: signature{want[2], want[3], want[4]},
			Committer: signature{want[5], want[6], want[7]}, Message: strings.TrimRight(want[8], "\n")}, c)
	}
	require.Error(t, must.Err(w.s.git.commitOf(r, emptyTree)))
}

func TestARefIsMovedAsGitMovesIt(t *testing.T) {
	w := newTown(t)
	r, git := w.s.st.Repositories[0], gitIn(w)
	main, next := git("", "rev-parse", "main"), git("", "commit-tree", "-p", "main", "-m", "next", "main^{tree}")
	blob := must.Get(w.s.git.writeObject(r, "blob", []byte("one\n")))(t)
	set := func(ref, old, now string) error { return w.s.git.setRef(r, refChange{"refs/" + ref, old, now}) }
	require.NoError(t, set("heads/a/b", "", main))
	require.NoError(t, set("heads/packed/x", "", main))
	git("", "pack-refs", "--all")
	require.NoError(t, set("heads/a/b", main, next))
	require.NoError(t, set("tags/blob", "", blob))
	assert.Equal(t, next, git("", "rev-parse", "refs/heads/a/b"))
	for _, c := range []refChange{
		{"heads/a/b", main, main}, {"heads/a/b", "", main}, {"heads/new", main, next}, // it is elsewhere
		{"heads/a", "", main}, {"heads/a/b/c", "", main}, {"heads/main/c", "", main}, {"heads/packed", "", main}, // another one is in the way, which git packed
		{"heads/new", "", blob}, {"heads/new", "", strings.Repeat("1", 40)},
	} {
		require.Error(t, set(c.ref, c.old, c.now), "%v", c)
	}
	require.NoError(t, set("heads/a/b", next, next), "no lock of ours is left")
	lock := filepath.Join(w.s.git.path(r), "refs/heads/a/b.lock")
	require.NoError(t, os.WriteFile(lock, nil, 0o600))
	require.Error(t, set("heads/a/b", next, main), "git is at it")
	require.NoError(t, os.Remove(lock))
	require.NoError(t, set("heads/a/b", next, main))
}
