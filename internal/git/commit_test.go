package git_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
)

func TestCommitTakesEverythingThatIsNotIgnored(t *testing.T) {
	h := newHub(t)
	start := h.commit("agent/x", "work", map[string]string{"a.txt": "one\n", "b.txt": "b\n"})
	c := h.open(h.workspace("agent/x"))
	require.NoError(t, c.Restore(ctx, "agent/x", "main", start))
	sha, made, err := c.Commit(ctx, "nothing")
	require.NoError(t, err)
	assert.False(t, made)
	assert.Equal(t, start, sha)
	write(t, c.Dir(), map[string]string{"build.log": "noise\n"})
	dirty, err := c.Dirty(ctx)
	require.NoError(t, err)
	assert.False(t, dirty, "ignored files do not count")

	write(t, c.Dir(), map[string]string{"a.txt": "two\n", "b.txt": "", "deep/new.txt": "new\n"})
	h.agent(c, "add", "a.txt")
	dirty, err = c.Dirty(ctx)
	require.NoError(t, err)
	assert.True(t, dirty)
	sha, made, err = c.Commit(ctx, "  Say two\r\n\r\n# not a comment\r\n")
	require.NoError(t, err)
	assert.True(t, made)
	assert.Equal(t, sha, h.git(c.Dir(), "rev-parse", "refs/heads/agent/x"))
	assert.Equal(t, "Say two\n\n# not a comment", h.git(c.Dir(), "log", "-1", "--format=%B"))
	assert.Equal(t, "MergeXO mergexo@example.com 1800000000 MergeXO mergexo@example.com 1800000000", h.git(c.Dir(), "log", "-1", "--format=%an %ae %at %cn %ce %ct"))
	assert.Equal(t, "M\ta.txt\nD\tb.txt\nA\tdeep/new.txt", h.git(c.Dir(), "diff", "--name-status", start, sha))
	dirty, err = c.Dirty(ctx)
	require.NoError(t, err)
	assert.False(t, dirty)
	assert.Empty(t, h.git(c.Dir(), "status", "--porcelain"), "the checkout's own index agrees")
	_, _, err = c.Commit(ctx, " \n")
	assert.ErrorContains(t, err, "the message is empty")
}

func TestCommitConcludesAMergeAndRefusesConflicts(t *testing.T) {
	h := newHub(t)
	h.commit("main", "base", map[string]string{"a.txt": "base\n"})
	start := h.commit("agent/x", "ours", map[string]string{"a.txt": "ours\n"})
	theirs := h.commit("main", "theirs", map[string]string{"a.txt": "theirs\n", "c.txt": "c\n"})
	c := h.open(h.workspace("agent/x"))
	require.NoError(t, c.Restore(ctx, "agent/x", "main", start))
	_, err := h.with(c.Dir(), c.AgentEnv(), "merge", "origin/main")
	require.Error(t, err, "it conflicts")
	_, _, err = c.Commit(ctx, "half-done")
	var unmerged *git.ErrUnmerged
	require.ErrorAs(t, err, &unmerged)
	assert.Equal(t, []string{"a.txt"}, unmerged.Paths)

	write(t, c.Dir(), map[string]string{"a.txt": "both\n"})
	h.agent(c, "add", "a.txt")
	dirty, err := c.Dirty(ctx)
	require.NoError(t, err)
	assert.True(t, dirty)
	sha, made, err := c.Commit(ctx, "Merge main")
	require.NoError(t, err)
	assert.True(t, made)
	assert.Equal(t, start+" "+theirs, h.git(c.Dir(), "log", "-1", "--format=%P", sha))
	assert.NotContains(t, h.git(c.Dir(), "status"), "merging")
	assert.Equal(t, "c\n", read(t, c.Dir(), "c.txt"))
}

func TestCommitUsesTheFiltersTheWorkflowSetUp(t *testing.T) {
	h := newHub(t)
	start := h.commit("agent/x", "attributes", map[string]string{".gitattributes": "*.up filter=up\n"})
	dir := h.workspace("agent/x")
	h.git(dir, "config", "filter.up.clean", "tr a-z A-Z")
	h.git(dir, "config", "filter.up.smudge", "tr A-Z a-z")
	c := h.open(dir)
	require.NoError(t, c.Restore(ctx, "agent/x", "", start))
	write(t, dir, map[string]string{"x.up": "loud\n"})
	sha, _, err := c.Commit(ctx, "filtered")
	require.NoError(t, err)
	blob, err := c.Blob(ctx, sha, "x.up")
	require.NoError(t, err)
	assert.Equal(t, "LOUD\n", string(blob))
}

func TestASplitIndexIsRead(t *testing.T) {
	h := newHub(t)
	start := h.commit("agent/x", "work", map[string]string{"a.txt": "one\n"})
	dir := h.workspace("agent/x")
	h.git(dir, "update-index", "--split-index")
	c := h.open(dir)
	require.NoError(t, c.Restore(ctx, "agent/x", "", start))
	h.agent(c, "update-index", "--split-index")
	shared, err := filepath.Glob(filepath.Join(dir, ".git", "sharedindex.*"))
	require.NoError(t, err)
	require.NotEmpty(t, shared)
	write(t, dir, map[string]string{"a.txt": "two\n"})
	_, made, err := c.Commit(ctx, "two")
	require.NoError(t, err)
	assert.True(t, made)
	assert.Empty(t, h.git(dir, "status", "--porcelain"))
}
