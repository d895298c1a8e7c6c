package checkout_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
)

func TestCommitTakesEverythingThatIsNotIgnored(t *testing.T) {
	h := gittest.NewHub(t)
	start := h.Commit("agent/x", "work", map[string]string{"a.txt": "one\n", "b.txt": "b\n"})
	c := h.Restored("agent/x", "main", start, h.Workspace("agent/x"))
	sha, made, err := gittest.Commit(c, "nothing")
	require.NoError(t, err)
	assert.False(t, made)
	assert.Equal(t, start, sha)
	gittest.Write(t, c.Dir(), map[string]string{"build.log": "noise\n"})
	assert.False(t, gittest.Must(gittest.Dirty(c))(t), "ignored files do not count")

	gittest.Write(t, c.Dir(), map[string]string{"a.txt": "two\n", "b.txt": "", "deep/new.txt": "new\n"})
	h.Agent(c, "add", "a.txt")
	assert.True(t, gittest.Must(gittest.Dirty(c))(t))
	sha = gittest.Committed(t, c, "  Say two\r\n\r\n# not a comment\r\n")
	assert.Equal(t, sha, h.Git(c.Dir(), "rev-parse", "refs/heads/agent/x"))
	assert.Equal(t, "Say two\n\n# not a comment", h.Git(c.Dir(), "log", "-1", "--format=%B"))
	assert.Equal(t, "MergeXO mergexo@example.com 1800000000 MergeXO mergexo@example.com 1800000000", h.Git(c.Dir(), "log", "-1", "--format=%an %ae %at %cn %ce %ct"))
	assert.Equal(t, "M\ta.txt\nD\tb.txt\nA\tdeep/new.txt", h.Git(c.Dir(), "diff", "--name-status", start, sha))
	assert.False(t, gittest.Must(gittest.Dirty(c))(t))
	assert.Empty(t, h.Git(c.Dir(), "status", "--porcelain"), "the checkout's own index agrees")
	_, _, err = gittest.Commit(c, " \n")
	assert.ErrorContains(t, err, "the message is empty")
}

func TestCommitConcludesAMergeAndRefusesConflicts(t *testing.T) {
	h := gittest.NewHub(t)
	h.Commit("main", "base", map[string]string{"a.txt": "base\n"})
	start := h.Commit("agent/x", "ours", map[string]string{"a.txt": "ours\n"})
	theirs := h.Commit("main", "theirs", map[string]string{"a.txt": "theirs\n", "c.txt": "c\n"})
	c := h.Restored("agent/x", "main", start, h.Workspace("agent/x"))
	require.Error(t, gittest.Err(h.With(c.Dir(), c.AgentEnv(), "merge", "origin/main")), "it conflicts")
	_, _, err := gittest.Commit(c, "half-done")
	assert.Equal(t, []string{"a.txt"}, gittest.As[*git.ErrUnmerged](t, err).Paths)

	gittest.Write(t, c.Dir(), map[string]string{"a.txt": "both\n"})
	h.Agent(c, "add", "a.txt")
	assert.True(t, gittest.Must(gittest.Dirty(c))(t))
	sha := gittest.Committed(t, c, "Merge main")
	assert.Equal(t, start+" "+theirs, h.Git(c.Dir(), "log", "-1", "--format=%P", sha))
	assert.NotContains(t, h.Git(c.Dir(), "status"), "merging")
	assert.Equal(t, "c\n", gittest.Read(t, c.Dir(), "c.txt"))
}

func TestOfFiltersOnlyThatOfGitLFSIsRun(t *testing.T) {
	h := gittest.NewHub(t)
	start := h.Commit("agent/x", "attributes", map[string]string{".gitattributes": "*.up filter=lfs\n*.ipynb filter=tool\n"})
	dir, programs := h.Workspace("agent/x"), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(programs, "git-lfs"), []byte("#!/bin/sh\ncase $1 in clean) tr a-z A-Z;; *) tr A-Z a-z;; esac\n"), 0o755))
	run, traces := gittest.Canary(t)
	for key, value := range map[string]string{
		"filter.lfs.clean": "git-lfs clean -- %f", "filter.lfs.smudge": "git-lfs smudge -- %f", "filter.lfs.required": "true",
		"filter.tool.clean": "sh tool.sh", "filter.tool.smudge": run, "filter.tool.process": run + "; git-lfs filter-process", "filter.tool.required": "false",
	} {
		h.Git(dir, "config", key, value)
	}
	open := func() *git.Checkout {
		return h.Open(dir, func(o *git.Options) { o.Path = programs + ":" + os.Getenv("PATH") })
	}
	c := open()
	require.NoError(t, checkout.Restore(gittest.Ctx, c, "agent/x", "", start))
	gittest.Write(t, dir, map[string]string{"x.up": "loud\n", "a.txt": "one\n", "tool.sh": run})
	sha, _, err := gittest.Commit(c, "filtered")
	require.NoError(t, err)
	for path, want := range map[string]string{"x.up": "LOUD\n", "a.txt": "one\n"} {
		assert.Equal(t, want, string(gittest.Must(history.Blob(gittest.Ctx, c, sha, path))(t)))
	}

	const fix = "; of a job's filters, MergeXO runs only those of Git LFS: remove filter.tool from the job's git configuration"
	gittest.Write(t, dir, map[string]string{"a.ipynb": "with a secret that the filter takes out\n"})
	_, _, err = gittest.Commit(c, "a notebook")
	require.ErrorContains(t, err, "clean filter 'tool' failed"+fix)
	notebook := h.Commit("agent/x", "a notebook", map[string]string{"b.ipynb": "clean\n"})
	c = open()
	require.ErrorContains(t, checkout.Restore(gittest.Ctx, c, "agent/x", "", notebook), "smudge filter tool failed"+fix)
	assert.False(t, c.OwnClone, "a clone would do without the filter")
	assert.Empty(t, traces())

	require.NoError(t, os.Remove(filepath.Join(programs, "git-lfs")))
	gittest.Write(t, dir, map[string]string{"y.up": "loud\n"})
	require.NoError(t, os.Remove(filepath.Join(dir, "a.ipynb")))
	_, _, err = gittest.Commit(c, "without Git LFS")
	require.ErrorContains(t, err, "clean filter 'lfs' failed")
	assert.NotContains(t, err.Error(), "remove filter")
}

func TestASplitIndexIsRead(t *testing.T) {
	h := gittest.NewHub(t)
	start := h.Commit("agent/x", "work", map[string]string{"a.txt": "one\n"})
	dir := h.Workspace("agent/x")
	h.Git(dir, "update-index", "--split-index")
	c := h.Restored("agent/x", "", start, dir)
	h.Agent(c, "update-index", "--split-index")
	require.NotEmpty(t, gittest.Must(filepath.Glob(filepath.Join(dir, ".git", "sharedindex.*")))(t))
	gittest.Write(t, dir, map[string]string{"a.txt": "two\n"})
	_, made, err := gittest.Commit(c, "two")
	require.NoError(t, err)
	assert.True(t, made)
	assert.Empty(t, h.Git(dir, "status", "--porcelain"))
}
