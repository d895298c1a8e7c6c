package checkout_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
)

// odd puts files on main that depend on how they are checked out, with a tag.
func odd(t *testing.T, h *gittest.Hub) string {
	t.Helper()
	h.Git(h.Dev, "checkout", "-q", "main")
	require.NoError(t, os.Symlink("README.md", filepath.Join(h.Dev, "link")))
	gittest.Write(t, h.Dev, map[string]string{
		".gitattributes": "*.dos text eol=crlf\n*.bin filter=lfs -text\n", "a.dos": "one\r\ntwo\r\n", "x.bin": "version https://git-lfs.github.com/spec/v1\n", "run": "#!/bin/sh\n", "b.txt": "unix\n",
	})
	require.NoError(t, os.Chmod(filepath.Join(h.Dev, "run"), 0o755))
	h.Git(h.Dev, "add", "-A")
	h.Git(h.Dev, "update-index", "--add", "--cacheinfo", "160000,"+h.Tip("main")+",sub")
	h.Git(h.Dev, "commit", "-q", "-m", "odd files")
	h.Git(h.Dev, "tag", "-a", "-m", "one", "v1.0")
	h.Git(h.Dev, "push", "-q", "origin", "main", "v1.0")
	sha := h.Git(h.Dev, "rev-parse", "HEAD")
	h.Git(h.Dev, "reset", "-q", "--hard")
	return sha
}

func TestATreeForTestsIsLikeAFreshClone(t *testing.T) {
	h := gittest.NewHub(t)
	sha := odd(t, h)
	dir := h.Workspace("main")
	for key, value := range map[string]string{"core.autocrlf": "true", "core.eol": "crlf", "filter.lfs.smudge": "cat; echo smudged", "filter.lfs.required": "true"} {
		h.Git(dir, "config", key, value)
	}
	c := h.Open(dir)
	tree, remove, err := checkout.TestTree(gittest.Ctx, c, sha)
	require.NoError(t, err)
	for file, want := range map[string]string{"a.dos": "one\r\ntwo\r\n", "b.txt": "unix\n", "x.bin": "version https://git-lfs.github.com/spec/v1\n", "link": "widgets\n"} {
		assert.Equal(t, want, gittest.Read(t, tree, file), file)
	}
	assert.NotZero(t, gittest.Must(os.Lstat(filepath.Join(tree, "link")))(t).Mode()&os.ModeSymlink)
	assert.NotZero(t, gittest.Must(os.Stat(filepath.Join(tree, "run")))(t).Mode()&0o100)
	files := gittest.Must(os.ReadDir(filepath.Join(tree, "sub")))(t)
	assert.Empty(t, files)

	assert.Empty(t, h.Git(tree, "status", "--porcelain"))
	assert.Equal(t, "v1.0", h.Git(tree, "describe"))
	assert.Equal(t, sha, h.Git(tree, "rev-parse", "HEAD"))
	assert.Contains(t, h.Git(tree, "ls-files"), "b.txt")
	assert.Error(t, gittest.Err(h.Try(tree, "symbolic-ref", "HEAD")), "HEAD is detached")
	assert.NotContains(t, gittest.Read(t, tree, ".git", "config"), "extraheader")
	assert.Error(t, gittest.Err(h.Try(tree, "config", "core.hooksPath")), "a tool that installs hooks refuses to work with one")
	assert.Zero(t, c.NetworkCalls())
	require.NoError(t, remove())
	assert.NoDirExists(t, tree)
}

func TestWhatTestsDoStaysInTheirTree(t *testing.T) {
	h := gittest.NewHub(t)
	sha := h.Commit("main", "files", map[string]string{"a.txt": "a\n"})
	dir := h.Workspace("main")
	assert.Contains(t, gittest.Read(t, dir, ".git", "config"), "extraheader")
	c := h.Open(dir)
	count := func() string {
		return h.Git(dir, "count-objects", "-v") + h.Git(dir, "for-each-ref") + h.Git(dir, "status", "--porcelain") + gittest.Read(t, dir, ".git", "config")
	}
	tree, remove, err := checkout.TestTree(gittest.Ctx, c, sha)
	require.NoError(t, err)
	gittest.AssertNoCredential(t, dir)
	before := count()
	gittest.Write(t, tree, map[string]string{"a.txt": "changed\n", "new.txt": "new\n"})
	h.Git(tree, "add", "-A")
	h.Git(tree, "commit", "-q", "-m", "by a test")
	h.Git(tree, "tag", "by-a-test")
	h.Git(tree, "gc", "-q", "--prune=now")
	assert.Error(t, gittest.Err(h.Try(tree, "push", "-q", "origin", "HEAD:main")))
	require.NoError(t, os.MkdirAll(filepath.Join(tree, "cache", "below"), 0o755))
	require.NoError(t, os.Chmod(filepath.Join(tree, "cache"), 0o500))
	assert.Equal(t, before, count())
	assert.Equal(t, sha, h.Tip("main"))
	gittest.Must(c.Head(gittest.Ctx))(t)
	require.NoError(t, remove())
	assert.NoDirExists(t, tree)
	require.NoError(t, remove(), "once more")
}

func TestATreeForTestsOfAShallowOrPartialClone(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"--depth=1", "--filter=blob:none", ""} {
		t.Run(how, func(t *testing.T) {
			h := gittest.NewHub(t)
			h.Grow("main", 70)
			first := h.Commit("main", "files", map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
			h.Commit("main", "other files", map[string]string{"a.txt": "other\n", "b.txt": "other\n"})
			dir, calls := "", 1
			if how != "" {
				dir = h.Workspace("main", how)
			}
			c := h.Open(dir)
			require.NoError(t, history.FetchCommits(gittest.Ctx, c, first))
			if how == "--filter=blob:none" {
				calls = 1 // the commit is here, its files are not
			}
			tree, remove, err := checkout.TestTree(gittest.Ctx, c, first)
			require.NoError(t, err)
			assert.Equal(t, calls, c.NetworkCalls())
			assert.Equal(t, "b\n", gittest.Read(t, tree, "b.txt"))
			assert.Empty(t, h.Git(tree, "status", "--porcelain"))
			h.Git(tree, "log", "--oneline")
			if dir == "" {
				info := gittest.Must(os.Stat(c.Dir()))(t)
				assert.Equal(t, "-rwx--x--x", strings.TrimPrefix(info.Mode().Perm().String(), "d"), "another user gets through to the objects")
			}
			require.NoError(t, remove())
		})
	}
}

func TestNoTreeIsLeftWhereItCannotBeMade(t *testing.T) {
	h := gittest.NewHub(t)
	c := h.Open("")
	for _, sha := range []string{"main", strings.Repeat("12", 20)} {
		_, _, err := checkout.TestTree(gittest.Ctx, c, sha)
		require.Error(t, err)
		assert.Empty(t, gittest.Must(filepath.Glob(filepath.Join(filepath.Dir(c.Dir()), "mergexo-tests-*")))(t), fmt.Sprint(sha))
	}
}
