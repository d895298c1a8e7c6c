package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
)

// behind is a checkout of agent/x at start while the server's branch goes on.
func behind(t *testing.T, files map[string]string) (h *hub, c *git.Checkout, start string) {
	h = newHub(t)
	start = h.commit("agent/x", "work", map[string]string{"a.txt": "1\n2\n3\n4\n5\n6\n7\n8\n", "mode.sh": "x\n", "gone.txt": "x\n"})
	c = h.open(h.workspace("agent/x", "--depth=1"))
	require.NoError(t, c.Restore(ctx, "agent/x", "main", start))
	h.commit("agent/x", "by a person", files)
	return h, c, start
}

func TestReplayKeepsWhoWroteWhatWhen(t *testing.T) {
	h, c, start := behind(t, map[string]string{"a.txt": "one\n2\n3\n4\n5\n6\n7\n8\n", "same.txt": "same\n"})
	write(t, c.Dir(), map[string]string{"a.txt": "1\n2\n3\n4\n5\n6\n7\neight\n", "bin.dat": "\x00\x01\xff", "gone.txt": ""})
	require.NoError(t, os.Chmod(filepath.Join(c.Dir(), "mode.sh"), 0o755))
	require.NoError(t, os.Symlink("a.txt", filepath.Join(c.Dir(), "link")))
	h.agent(c, "add", "-A")
	h.agent(c, "-c", "i18n.commitEncoding=ISO-8859-1", "commit", "-q", "-m", "caf\xe9\n\nbody  \n\n\nTrailer: yes", "--author=Zo\xeb <zoe@example.com>", "--date=1600000000 +0530")
	write(t, c.Dir(), map[string]string{"same.txt": "same\n"})
	_, _, err := c.Commit(ctx, "what the person did too")
	require.NoError(t, err)
	write(t, c.Dir(), map[string]string{"last.txt": "last\n"})
	head, _, err := c.Commit(ctx, "last")
	require.NoError(t, err)
	before := h.git(c.Dir(), "cat-file", "commit", head+"~2")

	onto, err := c.FetchRef(ctx, "refs/heads/agent/x")
	require.NoError(t, err)
	now, err := c.Replay(ctx, start, head, onto)
	require.NoError(t, err)
	assert.Equal(t, "one\n2\n3\n4\n5\n6\n7\neight\n", read(t, c.Dir(), "a.txt"))
	assert.Equal(t, "\x00\x01\xff", read(t, c.Dir(), "bin.dat"))
	assert.NoFileExists(t, filepath.Join(c.Dir(), "gone.txt"))
	assert.Equal(t, "D\tgone.txt\nA\tbin.dat\nA\tlink\nM\tmode.sh", h.git(c.Dir(), "diff", "--name-status", "-O"+order(t), onto, now+"~1", "--", "gone.txt", "bin.dat", "link", "mode.sh"))
	assert.Equal(t, now, h.git(c.Dir(), "rev-parse", "refs/heads/agent/x"))
	assert.Empty(t, h.git(c.Dir(), "status", "--porcelain"))
	commits, err := c.Commits(ctx, onto, now)
	require.NoError(t, err)
	require.Len(t, commits, 2, "the commit that changes nothing any more is dropped")
	assert.Equal(t, "last", commits[1].Subject)

	after := h.git(c.Dir(), "cat-file", "commit", now+"~1")
	for _, kept := range []string{"author Zo\xeb <zoe@example.com> 1600000000 +0530", "encoding ISO-8859-1", "\n\ncaf\xe9\n\nbody"} {
		assert.Contains(t, before, kept)
		assert.Contains(t, after, kept)
	}
	assert.Contains(t, after, "committer MergeXO <mergexo@example.com> 1800000000 +0000")
	require.NoError(t, c.Publish(ctx, git.Publish{Branch: "agent/x", Start: onto, SHA: now}))
}

// order is a diff order that lists deletions where a reader expects them.
func order(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "order")
	require.NoError(t, os.WriteFile(file, []byte("gone.txt\nbin.dat\nlink\nmode.sh\n"), 0o644))
	return file
}

func TestReplayThatConflictsTouchesNothing(t *testing.T) {
	h, c, start := behind(t, map[string]string{"a.txt": "theirs\n"})
	write(t, c.Dir(), map[string]string{"fine.txt": "fine\n"})
	_, _, err := c.Commit(ctx, "applies")
	require.NoError(t, err)
	write(t, c.Dir(), map[string]string{"a.txt": "ours\n"})
	head, _, err := c.Commit(ctx, "does not")
	require.NoError(t, err)
	onto, err := c.FetchRef(ctx, "refs/heads/agent/x")
	require.NoError(t, err)
	_, err = c.Replay(ctx, start, head, onto)
	var conflict *git.ErrConflict
	require.ErrorAs(t, err, &conflict)
	assert.Equal(t, head, conflict.Commit)
	assert.Equal(t, []string{"a.txt"}, conflict.Paths)
	assert.Equal(t, head, h.git(c.Dir(), "rev-parse", "HEAD"))
	assert.Equal(t, "ours\n", read(t, c.Dir(), "a.txt"))
	assert.Empty(t, h.git(c.Dir(), "status", "--porcelain"))
}

func TestReplayTakesAMergeAsWhatItChanged(t *testing.T) {
	h, c, start := behind(t, map[string]string{"b.txt": "b\n"})
	h.agent(c, "checkout", "-q", "-b", "side")
	write(t, c.Dir(), map[string]string{"side.txt": "side\n"})
	h.agent(c, "add", "-A")
	h.agent(c, "commit", "-q", "-m", "on the side")
	h.agent(c, "checkout", "-q", "agent/x")
	h.agent(c, "merge", "-q", "--no-ff", "-m", "merge the side", "side")
	head, err := c.Head(ctx)
	require.NoError(t, err)
	onto, err := c.FetchRef(ctx, "refs/heads/agent/x")
	require.NoError(t, err)
	now, err := c.Replay(ctx, start, head, onto)
	require.NoError(t, err)
	commits, err := c.Commits(ctx, onto, now)
	require.NoError(t, err)
	require.Len(t, commits, 1)
	assert.Equal(t, "merge the side", commits[0].Subject)
	assert.Equal(t, "side\n", read(t, c.Dir(), "side.txt"))
	assert.Equal(t, "b\n", read(t, c.Dir(), "b.txt"))
}

func TestMergeBringsTheBaseIn(t *testing.T) {
	h := newHub(t)
	start := h.commit("agent/x", "work", map[string]string{"a.txt": "a\n"})
	base := h.commit("main", "meanwhile", map[string]string{"b.txt": "b\n"})
	c := h.open("")
	require.NoError(t, c.Restore(ctx, "agent/x", "main", start))
	head, err := c.Merge(ctx, base, "Merge main into agent/x")
	require.NoError(t, err)
	assert.Equal(t, start+" "+base, h.git(c.Dir(), "log", "-1", "--format=%P", head))
	assert.Equal(t, "b\n", read(t, c.Dir(), "b.txt"))
	again, err := c.Merge(ctx, base, "again")
	require.NoError(t, err)
	assert.Equal(t, head, again, "what is merged already is left alone")

	clash := h.commit("main", "clash", map[string]string{"a.txt": "other\n"})
	_, err = c.FetchRef(ctx, "refs/heads/main")
	require.NoError(t, err)
	var conflict *git.ErrConflict
	_, err = c.Merge(ctx, clash, "no")
	require.ErrorAs(t, err, &conflict)
	assert.Equal(t, []string{"a.txt"}, conflict.Paths)
	assert.Equal(t, head, h.git(c.Dir(), "rev-parse", "HEAD"))
}
