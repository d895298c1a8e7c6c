package checkout_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
)

// looks is all of a workspace that people see: its files, where it is, and what git thinks of it.
func looks(t *testing.T, h *gittest.Hub, dir string) map[string]string {
	t.Helper()
	found := map[string]string{"(status)": h.Git(dir, "status", "--porcelain"), "(head)": gittest.Read(t, dir, ".git", "HEAD"), "(staged)": h.Git(dir, "diff", "--cached", "--name-only"), "(log)": h.Git(dir, "log", "--format=%H %s")}
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
func prepared(t *testing.T) (h *gittest.Hub, dir string, c *git.Checkout, sha string) {
	h = gittest.NewHub(t)
	h.Commit("main", "first", map[string]string{".gitignore": "node_modules/\n*.log\nlocal.json\ncache\n", "a.txt": "a\n", "b.txt": "b\n", "gone.txt": "x\n", "same.txt": "same\n", "dir/file.txt": "y\n"})
	dir = h.Workspace("main")
	gittest.Write(t, dir, map[string]string{
		"node_modules/dep/index.js": "dep\n", "a.txt": "changed by a step\n", "new/er/file.txt": "untracked\n", "local.json": "mine\n", "x.log": "log\n", "cache": "a file\n", "staged.txt": "staged\n",
	})
	require.NoError(t, os.Remove(filepath.Join(dir, "gone.txt")))
	h.Git(dir, "add", "staged.txt")
	nested := filepath.Join(dir, "nested")
	h.Git(dir, "init", "-q", nested)
	gittest.Write(t, nested, map[string]string{"inner.txt": "inner\n"})
	sha = h.Commit("main", "tip", map[string]string{".gitignore": "node_modules/\n", "a.txt": "tip\n", "local.json": "theirs\n", "cache/deep.txt": "deep\n", "new/er/file.txt": "tracked now\n"})
	c = h.Open("")
	require.NoError(t, checkout.Restore(gittest.Ctx, c, "main", "", sha))
	return h, dir, c, sha
}

func TestTestsInTheWorkspaceFindWhatTheWorkflowHasInstalled(t *testing.T) {
	h, dir, c, sha := prepared(t)
	before, calls := looks(t, h, dir), c.NetworkCalls()
	p := gittest.Must(checkout.InWorkspace(gittest.Ctx, c, dir, sha))(t)
	assert.Equal(t, dir, p.Dir())
	assert.Equal(t, map[string]string{
		"(status)": "", "(head)": sha + "\n", "(staged)": "", "(log)": h.Git(c.Dir(), "log", "--format=%H %s"), ".gitignore": "node_modules/\n", "README.md": before["README.md"],
		"a.txt": "tip\n", "b.txt": "b\n", "gone.txt": "x\n", "same.txt": "same\n", "dir/file.txt": "y\n", "local.json": "theirs\n", "cache/deep.txt": "deep\n", "new/er/file.txt": "tracked now\n",
		"node_modules/dep/index.js": "dep\n",
	}, looks(t, h, dir), "tracked files are the commit's, ignored ones stay, and nothing else is there")
	gittest.AssertNoCredential(t, dir)

	assert.Empty(t, gittest.Must(p.Back(gittest.Ctx))(t))
	assert.Equal(t, before, looks(t, h, dir))
	assert.Equal(t, calls, c.NetworkCalls())
	assert.NoFileExists(t, filepath.Join(dir, ".git", "objects", "info", "alternates"))
}

func TestTheWorkspaceIsAsItWasWhateverTestsDoThere(t *testing.T) {
	h, dir, c, sha := prepared(t)
	before := looks(t, h, dir)
	p := gittest.Must(checkout.InWorkspace(gittest.Ctx, c, dir, sha))(t)
	outside := t.TempDir()
	gittest.Write(t, outside, map[string]string{"file.txt": "outside\n"})
	gittest.Write(t, dir, map[string]string{"a.txt": "spoilt\n", "junk/x": "junk\n", "node_modules/.cache/x": "cache\n", "x.log": "theirs\n", ".git/hooks/post-checkout": "#!/bin/sh\ntouch " + outside + "/hooked\n"})
	require.NoError(t, os.Chmod(filepath.Join(dir, ".git/hooks/post-checkout"), 0o755))
	require.NoError(t, os.Remove(filepath.Join(dir, "b.txt")))
	h.Git(dir, "config", "core.fsmonitor", "touch "+outside+"/watched")
	h.Git(dir, "-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null", "commit", "-q", "-am", "theirs")
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "new")))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "new"))) // where a file goes back to
	require.NoError(t, os.MkdirAll(filepath.Join(outside, "er"), 0o755))
	h.Git(dir, "-c", "core.fsmonitor=", "update-index", "--assume-unchanged", "same.txt")
	gittest.Write(t, dir, map[string]string{"same.txt": "not the same\n"})

	assert.Equal(t, []string{"a.txt", "b.txt", "new/er/file.txt", "same.txt"}, gittest.Must(p.Back(gittest.Ctx))(t))
	assert.Equal(t, before, looks(t, h, dir))
	assert.NoFileExists(t, filepath.Join(outside, "er", "file.txt"))
	assert.NoFileExists(t, filepath.Join(outside, "watched"))
	assert.NoFileExists(t, filepath.Join(outside, "hooked"))
	assert.Equal(t, "outside\n", gittest.Read(t, outside, "file.txt"))
}

func TestThereIsNoWorkspaceToTestIn(t *testing.T) {
	h, _, c, sha := prepared(t)
	other := t.TempDir()
	h.Git(other, "init", "-q")
	h.Git(other, "remote", "add", "origin", "https://api.example.com/octo/other")
	merging := h.Workspace("main")
	gittest.Write(t, merging, map[string]string{"a.txt": "ours\n"})
	h.Git(merging, "commit", "-qam", "ours")
	h.Git(merging, "checkout", "-q", "-b", "side", "HEAD~1")
	gittest.Write(t, merging, map[string]string{"a.txt": "theirs\n"})
	h.Git(merging, "commit", "-qam", "theirs")
	require.Error(t, gittest.Err(h.Try(merging, "merge", "main")))
	forged := h.Workspace("main")
	gittest.Write(t, filepath.Dir(forged), map[string]string{"keep.txt": "beside it\n"})
	gittest.Write(t, forged, map[string]string{"d/e/f.txt": "f\n", "keep.txt": "in it\n"})
	require.NoError(t, os.Symlink("d/e", filepath.Join(forged, "l")))
	gittest.ForgeIndex(t, forged, "l/../../keep.txt", 0)
	sparse := h.Workspace("main")
	h.Git(sparse, "sparse-checkout", "set", "nothing")
	for workspace, says := range map[string]string{sparse: "is a sparse checkout, which leaves out files of the commit", "": "GITHUB_WORKSPACE is not set", forged: `its index names "l/../../keep.txt"`, t.TempDir(): "is not a checkout of this repository", other: "is not a checkout of this repository", merging: "a merge is in progress there"} {
		_, err := checkout.InWorkspace(gittest.Ctx, c, workspace, sha)
		require.ErrorAs(t, err, new(*checkout.ErrNoWorkspace), workspace)
		assert.True(t, strings.Contains(err.Error(), says), err.Error())
	}
	assert.Equal(t, "beside it\n", gittest.Read(t, filepath.Dir(forged), "keep.txt"))
}

func TestTestsInAShallowWorkspace(t *testing.T) {
	h, _, c, sha := prepared(t)
	h.Git(h.Dev, "push", "-q", "origin", "main~1:refs/heads/older")
	dir := h.Workspace("older", "--depth=1")
	before := looks(t, h, dir)
	p := gittest.Must(checkout.InWorkspace(gittest.Ctx, c, dir, sha))(t)
	assert.Empty(t, h.Git(dir, "status", "--porcelain"))
	assert.Equal(t, "tip", h.Git(dir, "log", "-1", "--format=%s"))
	gittest.Must(p.Back(gittest.Ctx))(t)
	assert.Equal(t, before, looks(t, h, dir))
}

func TestAWorkspaceThatDiffersFromItsCommitAnyway(t *testing.T) {
	for name, row := range map[string]struct {
		raw     map[string]string
		prepare func(h *gittest.Hub, dir string)
	}{
		"CRLF under text":     {map[string]string{".gitattributes": "*.x text\n", "one.x": "x\r\n", "two.x": "y\r\n"}, nil},
		"CRLF under eol=crlf": {map[string]string{".gitattributes": "*.x text eol=crlf\n", "one.x": "x\r\n", "two.x": "y\r\nz\n"}, nil},
		"an ident":            {map[string]string{".gitattributes": "*.x ident\n", "one.x": "$Id: 1 $\n", "two.x": "$Id: 1 $\n"}, nil},
		"a file not to be looked at": {map[string]string{"one.x": "x\n", "two.x": "y\n"}, func(h *gittest.Hub, dir string) {
			h.Git(dir, "update-index", "--assume-unchanged", "one.x")
			h.Git(dir, "update-index", "--skip-worktree", "two.x")
			gittest.Write(h.T, dir, map[string]string{"one.x": "local\n", "two.x": "local\n"})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h := gittest.NewHub(t)
			h.Raw("main", "raw", row.raw)
			dir := h.Workspace("main")
			if row.prepare != nil {
				row.prepare(h, dir)
			}
			sha := h.Raw("main", "tip", map[string]string{"a.txt": "tip\n", "two.x": row.raw["two.x"] + "more\r\n"})
			c := h.Restored("main", "", sha, "")
			before := looks(t, h, dir)
			for _, spoilt := range []string{"", "one.x"} {
				p := gittest.Must(checkout.InWorkspace(gittest.Ctx, c, dir, sha))(t)
				assert.Equal(t, "tip\n", gittest.Read(t, dir, "a.txt"))
				assert.NotContains(t, gittest.Read(t, dir, "one.x"), "local", "the tests see the commit's")
				var want []string
				if spoilt != "" {
					gittest.Write(t, dir, map[string]string{spoilt: "spoilt\n"})
					want = []string{spoilt}
				}
				assert.ElementsMatch(t, want, gittest.Must(p.Back(gittest.Ctx))(t))
				assert.Equal(t, before, looks(t, h, dir))
			}
		})
	}
}
