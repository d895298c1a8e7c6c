package git_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
)

// looks is all of a workspace that people see: its files, where it is, and what git thinks of it.
func looks(t *testing.T, h *hub, dir string) map[string]string {
	t.Helper()
	found := map[string]string{"(status)": h.git(dir, "status", "--porcelain"), "(head)": read(t, dir, ".git", "HEAD"), "(staged)": h.git(dir, "diff", "--cached", "--name-only"), "(log)": h.git(dir, "log", "--format=%H %s")}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		switch {
		case err != nil || entry.IsDir() && name == ".git":
			return filepath.SkipDir
		case entry.Type()&fs.ModeSymlink != 0:
			found[name], err = os.Readlink(path)
		case !entry.IsDir():
			var text []byte
			text, err = os.ReadFile(path)
			found[name] = string(text)
		}
		return err
	}))
	return found
}

// prepared is a workspace in which a workflow has done this and that, a clone of our own, and a commit in that clone which
// is to be tested.
func prepared(t *testing.T) (h *hub, dir string, c *git.Checkout, sha string) {
	h = newHub(t)
	h.commit("main", "first", map[string]string{".gitignore": "node_modules/\n*.log\nlocal.json\ncache\n", "a.txt": "a\n", "b.txt": "b\n", "gone.txt": "x\n", "same.txt": "same\n", "dir/file.txt": "y\n"})
	dir = h.workspace("main")
	write(t, dir, map[string]string{
		"node_modules/dep/index.js": "dep\n", "a.txt": "changed by a step\n", "new/er/file.txt": "untracked\n", "local.json": "mine\n", "x.log": "log\n", "cache": "a file\n", "staged.txt": "staged\n",
	})
	require.NoError(t, os.Remove(filepath.Join(dir, "gone.txt")))
	h.git(dir, "add", "staged.txt")
	nested := filepath.Join(dir, "nested")
	h.git(dir, "init", "-q", nested)
	write(t, nested, map[string]string{"inner.txt": "inner\n"})
	sha = h.commit("main", "tip", map[string]string{".gitignore": "node_modules/\n", "a.txt": "tip\n", "local.json": "theirs\n", "cache/deep.txt": "deep\n", "new/er/file.txt": "tracked now\n"})
	c = h.open("")
	require.NoError(t, c.Restore(ctx, "main", "", sha))
	return h, dir, c, sha
}

func TestTestsInTheWorkspaceFindWhatTheWorkflowHasInstalled(t *testing.T) {
	h, dir, c, sha := prepared(t)
	before, calls := looks(t, h, dir), c.NetworkCalls()
	p, err := c.TestIn(ctx, dir, sha)
	require.NoError(t, err)
	assert.Equal(t, dir, p.Dir())
	assert.Equal(t, map[string]string{
		"(status)": "", "(head)": sha + "\n", "(staged)": "", "(log)": h.git(c.Dir(), "log", "--format=%H %s"), ".gitignore": "node_modules/\n", "README.md": before["README.md"],
		"a.txt": "tip\n", "b.txt": "b\n", "gone.txt": "x\n", "same.txt": "same\n", "dir/file.txt": "y\n", "local.json": "theirs\n", "cache/deep.txt": "deep\n", "new/er/file.txt": "tracked now\n",
		"node_modules/dep/index.js": "dep\n",
	}, looks(t, h, dir), "tracked files are the commit's, ignored ones stay, and nothing else is there")
	assertNoCredential(t, dir)

	changed, err := p.Back(ctx)
	require.NoError(t, err)
	assert.Empty(t, changed)
	assert.Equal(t, before, looks(t, h, dir))
	assert.Equal(t, calls, c.NetworkCalls())
	assert.NoFileExists(t, filepath.Join(dir, ".git", "objects", "info", "alternates"))
}

func TestTheWorkspaceIsAsItWasWhateverTestsDoThere(t *testing.T) {
	h, dir, c, sha := prepared(t)
	before := looks(t, h, dir)
	p, err := c.TestIn(ctx, dir, sha)
	require.NoError(t, err)
	outside := t.TempDir()
	write(t, outside, map[string]string{"file.txt": "outside\n"})
	write(t, dir, map[string]string{"a.txt": "spoilt\n", "junk/x": "junk\n", "node_modules/.cache/x": "cache\n", "x.log": "theirs\n", ".git/hooks/post-checkout": "#!/bin/sh\ntouch " + outside + "/hooked\n"})
	require.NoError(t, os.Chmod(filepath.Join(dir, ".git/hooks/post-checkout"), 0o755))
	require.NoError(t, os.Remove(filepath.Join(dir, "b.txt")))
	h.git(dir, "config", "core.fsmonitor", "touch "+outside+"/watched")
	h.git(dir, "-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null", "commit", "-q", "-am", "theirs")
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "new")))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "new"))) // where a file goes back to
	require.NoError(t, os.MkdirAll(filepath.Join(outside, "er"), 0o755))
	h.git(dir, "-c", "core.fsmonitor=", "update-index", "--assume-unchanged", "same.txt")
	write(t, dir, map[string]string{"same.txt": "not the same\n"})

	changed, err := p.Back(ctx)
	require.NoError(t, err)
	assert.Equal(t, []string{"a.txt", "b.txt", "new/er/file.txt", "same.txt"}, changed)
	after := looks(t, h, dir)
	assert.Equal(t, before, after)
	assert.NoFileExists(t, filepath.Join(outside, "er", "file.txt"))
	assert.NoFileExists(t, filepath.Join(outside, "watched"))
	assert.NoFileExists(t, filepath.Join(outside, "hooked"))
	assert.Equal(t, "outside\n", read(t, outside, "file.txt"))
}

func TestThereIsNoWorkspaceToTestIn(t *testing.T) {
	h, _, c, sha := prepared(t)
	other := t.TempDir()
	h.git(other, "init", "-q")
	h.git(other, "remote", "add", "origin", "https://api.example.com/octo/other")
	merging := h.workspace("main")
	write(t, merging, map[string]string{"a.txt": "ours\n"})
	h.git(merging, "commit", "-qam", "ours")
	h.git(merging, "checkout", "-q", "-b", "side", "HEAD~1")
	write(t, merging, map[string]string{"a.txt": "theirs\n"})
	h.git(merging, "commit", "-qam", "theirs")
	_, err := h.try(merging, "merge", "main")
	require.Error(t, err)
	for workspace, says := range map[string]string{"": "GITHUB_WORKSPACE is not set", t.TempDir(): "no checkout of this repository", other: "no checkout of this repository", merging: "a merge is under way there"} {
		_, err := c.TestIn(ctx, workspace, sha)
		var none *git.ErrNoWorkspace
		require.ErrorAs(t, err, &none, workspace)
		assert.True(t, strings.Contains(err.Error(), says), err.Error())
	}
}

func TestTestsInAShallowWorkspace(t *testing.T) {
	h, _, c, sha := prepared(t)
	h.git(h.dev, "push", "-q", "origin", "main~1:refs/heads/older")
	dir := h.workspace("older", "--depth=1")
	before := looks(t, h, dir)
	p, err := c.TestIn(ctx, dir, sha)
	require.NoError(t, err)
	assert.Empty(t, h.git(dir, "status", "--porcelain"))
	assert.Equal(t, "tip", h.git(dir, "log", "-1", "--format=%s"))
	_, err = p.Back(ctx)
	require.NoError(t, err)
	assert.Equal(t, before, looks(t, h, dir))
}
