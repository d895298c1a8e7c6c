package git_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// odd puts files on main that depend on how they are checked out, with a tag.
func odd(t *testing.T, h *hub) string {
	t.Helper()
	h.git(h.dev, "checkout", "-q", "main")
	require.NoError(t, os.Symlink("README.md", filepath.Join(h.dev, "link")))
	write(t, h.dev, map[string]string{
		".gitattributes": "*.dos text eol=crlf\n*.bin filter=lfs -text\n", "a.dos": "one\r\ntwo\r\n", "x.bin": "version https://git-lfs.github.com/spec/v1\n", "run": "#!/bin/sh\n", "b.txt": "unix\n",
	})
	require.NoError(t, os.Chmod(filepath.Join(h.dev, "run"), 0o755))
	h.git(h.dev, "add", "-A")
	h.git(h.dev, "update-index", "--add", "--cacheinfo", "160000,"+h.tip("main")+",sub")
	h.git(h.dev, "commit", "-q", "-m", "odd files")
	h.git(h.dev, "tag", "-a", "-m", "one", "v1.0")
	h.git(h.dev, "push", "-q", "origin", "main", "v1.0")
	sha := h.git(h.dev, "rev-parse", "HEAD")
	h.git(h.dev, "reset", "-q", "--hard")
	return sha
}

func TestATreeForTestsIsLikeAFreshClone(t *testing.T) {
	h := newHub(t)
	sha := odd(t, h)
	dir := h.workspace("main")
	for key, value := range map[string]string{"core.autocrlf": "true", "core.eol": "crlf", "filter.lfs.smudge": "cat; echo smudged", "filter.lfs.required": "true"} {
		h.git(dir, "config", key, value)
	}
	c := h.open(dir)
	tree, remove, err := c.TestTree(ctx, sha)
	require.NoError(t, err)
	for file, want := range map[string]string{"a.dos": "one\r\ntwo\r\n", "b.txt": "unix\n", "x.bin": "version https://git-lfs.github.com/spec/v1\n", "link": "widgets\n"} {
		assert.Equal(t, want, read(t, tree, file), file)
	}
	info, err := os.Lstat(filepath.Join(tree, "link"))
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&os.ModeSymlink)
	info, err = os.Stat(filepath.Join(tree, "run"))
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&0o100)
	files, err := os.ReadDir(filepath.Join(tree, "sub"))
	require.NoError(t, err)
	assert.Empty(t, files)

	assert.Empty(t, h.git(tree, "status", "--porcelain"))
	assert.Equal(t, "v1.0", h.git(tree, "describe"))
	assert.Equal(t, sha, h.git(tree, "rev-parse", "HEAD"))
	assert.Contains(t, h.git(tree, "ls-files"), "b.txt")
	_, err = h.try(tree, "symbolic-ref", "HEAD")
	assert.Error(t, err, "HEAD is detached")
	assert.NotContains(t, read(t, tree, ".git", "config"), "extraheader")
	assert.Equal(t, "/dev/null", h.git(tree, "config", "core.hooksPath"))
	assert.Zero(t, c.NetworkCalls())
	require.NoError(t, remove())
	assert.NoDirExists(t, tree)
}

func TestWhatTestsDoStaysInTheirTree(t *testing.T) {
	h := newHub(t)
	sha := h.commit("main", "files", map[string]string{"a.txt": "a\n"})
	dir := h.workspace("main")
	assert.Contains(t, read(t, dir, ".git", "config"), "extraheader")
	c := h.open(dir)
	count := func() string {
		return h.git(dir, "count-objects", "-v") + h.git(dir, "for-each-ref") + h.git(dir, "status", "--porcelain") + read(t, dir, ".git", "config")
	}
	tree, remove, err := c.TestTree(ctx, sha)
	require.NoError(t, err)
	assertNoCredential(t, dir)
	before := count()
	write(t, tree, map[string]string{"a.txt": "changed\n", "new.txt": "new\n"})
	h.git(tree, "add", "-A")
	h.git(tree, "commit", "-q", "-m", "by a test")
	h.git(tree, "tag", "by-a-test")
	h.git(tree, "gc", "-q", "--prune=now")
	_, err = h.try(tree, "push", "-q", "origin", "HEAD:main")
	assert.Error(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(tree, "cache", "below"), 0o755))
	require.NoError(t, os.Chmod(filepath.Join(tree, "cache"), 0o500))
	assert.Equal(t, before, count())
	assert.Equal(t, sha, h.tip("main"))
	_, err = c.Head(ctx)
	require.NoError(t, err)
	require.NoError(t, remove())
	assert.NoDirExists(t, tree)
	require.NoError(t, remove(), "once more")
}

func TestATreeForTestsOfAShallowOrPartialClone(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"--depth=1", "--filter=blob:none", ""} {
		t.Run(how, func(t *testing.T) {
			h := newHub(t)
			h.grow("main", 70)
			first := h.commit("main", "files", map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
			h.commit("main", "other files", map[string]string{"a.txt": "other\n", "b.txt": "other\n"})
			dir, calls := "", 1
			if how != "" {
				dir = h.workspace("main", how)
			}
			c := h.open(dir)
			require.NoError(t, c.Have(ctx, first))
			if how == "--filter=blob:none" {
				calls = 1 // the commit is here, its files are not
			}
			tree, remove, err := c.TestTree(ctx, first)
			require.NoError(t, err)
			assert.Equal(t, calls, c.NetworkCalls())
			assert.Equal(t, "b\n", read(t, tree, "b.txt"))
			assert.Empty(t, h.git(tree, "status", "--porcelain"))
			h.git(tree, "log", "--oneline")
			if dir == "" {
				info, err := os.Stat(c.Dir())
				require.NoError(t, err)
				assert.Equal(t, "-rwx--x--x", strings.TrimPrefix(info.Mode().Perm().String(), "d"), "another user gets through to the objects")
			}
			require.NoError(t, remove())
		})
	}
}

func TestNoTreeIsLeftWhereItCannotBeMade(t *testing.T) {
	h := newHub(t)
	c := h.open("")
	for _, sha := range []string{"main", strings.Repeat("12", 20)} {
		_, _, err := c.TestTree(ctx, sha)
		require.Error(t, err)
		left, err := filepath.Glob(filepath.Join(filepath.Dir(c.Dir()), "mergexo-tests-*"))
		require.NoError(t, err)
		assert.Empty(t, left, fmt.Sprint(sha))
	}
}
