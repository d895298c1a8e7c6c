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
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/git/transport"
)

// behind is a checkout of agent/x at start while the server's branch goes on.
func behind(t *testing.T, files map[string]string) (h *gittest.Hub, c *git.Checkout, start string) {
	h = gittest.NewHub(t)
	start = h.Commit("agent/x", "work", map[string]string{"a.txt": "1\n2\n3\n4\n5\n6\n7\n8\n", "mode.sh": "x\n", "gone.txt": "x\n"})
	c = h.Open(h.Workspace("agent/x", "--depth=1"))
	require.NoError(t, checkout.Restore(gittest.Ctx, c, "agent/x", "main", start))
	h.Commit("agent/x", "by a person", files)
	return h, c, start
}

func TestReplayKeepsWhoWroteWhatWhen(t *testing.T) {
	h, c, start := behind(t, map[string]string{"a.txt": "one\n2\n3\n4\n5\n6\n7\n8\n", "same.txt": "same\n"})
	gittest.Write(t, c.Dir(), map[string]string{"a.txt": "1\n2\n3\n4\n5\n6\n7\neight\n", "bin.dat": "\x00\x01\xff", "gone.txt": ""})
	require.NoError(t, os.Chmod(filepath.Join(c.Dir(), "mode.sh"), 0o755))
	require.NoError(t, os.Symlink("a.txt", filepath.Join(c.Dir(), "link")))
	h.Agent(c, "add", "-A")
	h.Agent(c, "-c", "i18n.commitEncoding=ISO-8859-1", "commit", "-q", "-m", "caf\xe9\n\nbody  \n\n\nTrailer: yes", "--author=Zo\xeb <zoe@example.com>", "--date=1600000000 +0530")
	gittest.Write(t, c.Dir(), map[string]string{"same.txt": "same\n"})
	_, _, err := gittest.Commit(c, "what the person did too")
	require.NoError(t, err)
	gittest.Write(t, c.Dir(), map[string]string{"last.txt": "last\n"})
	head := gittest.Committed(t, c, "last")
	before := h.Git(c.Dir(), "cat-file", "commit", head+"~2")

	onto := gittest.Must(history.FetchRef(gittest.Ctx, c, "refs/heads/agent/x"))(t)
	now := gittest.Must(checkout.Replay(gittest.Ctx, c, start, head, onto))(t)
	assert.Equal(t, "one\n2\n3\n4\n5\n6\n7\neight\n", gittest.Read(t, c.Dir(), "a.txt"))
	assert.Equal(t, "\x00\x01\xff", gittest.Read(t, c.Dir(), "bin.dat"))
	assert.NoFileExists(t, filepath.Join(c.Dir(), "gone.txt"))
	assert.Equal(t, "D\tgone.txt\nA\tbin.dat\nA\tlink\nM\tmode.sh", h.Git(c.Dir(), "diff", "--name-status", "-O"+order(t), onto, now+"~1", "--", "gone.txt", "bin.dat", "link", "mode.sh"))
	assert.Equal(t, now, h.Git(c.Dir(), "rev-parse", "refs/heads/agent/x"))
	assert.Empty(t, h.Git(c.Dir(), "status", "--porcelain"))
	commits := gittest.Must(history.List(gittest.Ctx, c, onto, now))(t)
	require.Len(t, commits, 2, "the commit that changes nothing any more is dropped")
	assert.Equal(t, "last", commits[1].Subject)

	after := h.Git(c.Dir(), "cat-file", "commit", now+"~1")
	for _, kept := range []string{"author Zo\xeb <zoe@example.com> 1600000000 +0530", "encoding ISO-8859-1", "\n\ncaf\xe9\n\nbody"} {
		assert.Contains(t, before, kept)
		assert.Contains(t, after, kept)
	}
	assert.Contains(t, after, "committer MergeXO <mergexo@example.com> 1800000000 +0000")
	require.NoError(t, transport.Publish(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: onto, SHA: now}))
}

// order is a diff order that lists deletions where a reader expects them.
func order(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "order")
	require.NoError(t, os.WriteFile(file, []byte("gone.txt\nbin.dat\nlink\nmode.sh\n"), 0o644))
	return file
}

func TestReplayThatConflictsTouchesNothing(t *testing.T) {
	h, c, start := behind(t, map[string]string{"a.txt": "theirs\n"})
	gittest.Write(t, c.Dir(), map[string]string{"fine.txt": "fine\n"})
	_, _, err := gittest.Commit(c, "applies")
	require.NoError(t, err)
	gittest.Write(t, c.Dir(), map[string]string{"a.txt": "ours\n"})
	head := gittest.Committed(t, c, "does not")
	onto := gittest.Must(history.FetchRef(gittest.Ctx, c, "refs/heads/agent/x"))(t)
	conflict := gittest.As[*merging.ErrConflict](t, gittest.Err(checkout.Replay(gittest.Ctx, c, start, head, onto)))
	assert.Equal(t, head, conflict.Commit)
	assert.Equal(t, []string{"a.txt"}, conflict.Paths)
	assert.Equal(t, head, h.Git(c.Dir(), "rev-parse", "HEAD"))
	assert.Equal(t, "ours\n", gittest.Read(t, c.Dir(), "a.txt"))
	assert.Empty(t, h.Git(c.Dir(), "status", "--porcelain"))
}

func TestReplayTakesAMergeAsWhatItChanged(t *testing.T) {
	h, c, start := behind(t, map[string]string{"b.txt": "b\n"})
	h.Agent(c, "checkout", "-q", "-b", "side")
	gittest.Write(t, c.Dir(), map[string]string{"side.txt": "side\n"})
	h.Agent(c, "add", "-A")
	h.Agent(c, "commit", "-q", "-m", "on the side")
	h.Agent(c, "checkout", "-q", "agent/x")
	h.Agent(c, "merge", "-q", "--no-ff", "-m", "merge the side", "side")
	head := gittest.Must(c.Head(gittest.Ctx))(t)
	onto := gittest.Must(history.FetchRef(gittest.Ctx, c, "refs/heads/agent/x"))(t)
	now := gittest.Must(checkout.Replay(gittest.Ctx, c, start, head, onto))(t)
	commits := gittest.Must(history.List(gittest.Ctx, c, onto, now))(t)
	require.Len(t, commits, 1)
	assert.Equal(t, "merge the side", commits[0].Subject)
	assert.Equal(t, "side\n", gittest.Read(t, c.Dir(), "side.txt"))
	assert.Equal(t, "b\n", gittest.Read(t, c.Dir(), "b.txt"))
}

func TestAMergeIsKeptWhereWorkMovesToAnotherHead(t *testing.T) {
	r, c, start, _ := ours(t)
	linear := r.Commit("linear", gittest.Texts("own.txt", "own\n"), start)
	onto := r.Commit("by a person", gittest.Texts("b.txt", "b\n"), start)
	merge := r.Commit("merge the side", nil, linear, r.Commit("on the side", nil, start))
	r.Git("reset", "-q", "--hard", linear)
	now := gittest.Must(checkout.ReplayOrMerge(gittest.Ctx, c, start, linear, onto, "Merge branch 'agent/x'"))(t)
	assert.Equal(t, onto+" linear", r.Git("log", "-1", "--format=%P %s", now), "without a merge it is replayed")

	r.Git("reset", "-q", "--hard", merge)
	now = gittest.Must(checkout.ReplayOrMerge(gittest.Ctx, c, start, merge, onto, "Merge branch 'agent/x'\n"))(t)
	assert.Equal(t, onto+" "+merge+" Merge branch 'agent/x'", r.Git("log", "-1", "--format=%P %s", now))
	assert.Equal(t, now, r.Git("rev-parse", "refs/heads/main"))
	assert.Equal(t, "own\n", gittest.Read(t, c.Dir(), "own.txt"))
	assert.Equal(t, "b\n", gittest.Read(t, c.Dir(), "b.txt"))
}

func TestMergeBringsTheBaseIn(t *testing.T) {
	h := gittest.NewHub(t)
	start := h.Commit("agent/x", "work", map[string]string{"a.txt": "a\n"})
	base := h.Commit("main", "meanwhile", map[string]string{"b.txt": "b\n"})
	c := h.Restored("agent/x", "main", start, "")
	head := gittest.Must(checkout.MergeInto(gittest.Ctx, c, base, "Merge main into agent/x"))(t)
	assert.Equal(t, start+" "+base, h.Git(c.Dir(), "log", "-1", "--format=%P", head))
	assert.Equal(t, "b\n", gittest.Read(t, c.Dir(), "b.txt"))
	assert.Equal(t, head, gittest.Must(checkout.MergeInto(gittest.Ctx, c, base, "again"))(t), "what is merged already is left alone")

	clash := h.Commit("main", "clash", map[string]string{"a.txt": "other\n"})
	gittest.Must(history.FetchRef(gittest.Ctx, c, "refs/heads/main"))(t)
	_, err := checkout.MergeInto(gittest.Ctx, c, clash, "no")
	assert.Equal(t, []string{"a.txt"}, gittest.As[*merging.ErrConflict](t, err).Paths)
	assert.Equal(t, head, h.Git(c.Dir(), "rev-parse", "HEAD"))
}
