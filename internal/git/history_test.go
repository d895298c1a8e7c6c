package git_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
)

func TestRelationInAFullCheckout(t *testing.T) {
	h := newHub(t)
	first := h.tip("main")
	side := h.commit("side", "side", map[string]string{"s.txt": "s"})
	second := h.commit("main", "two", map[string]string{"a.txt": "a"})
	c := h.open(h.workspace("main"))
	require.NoError(t, c.Restore(ctx, "main", "side", second))
	for _, test := range []struct {
		earlier, later string
		want           model.Relation
	}{
		{second, second, model.Identical}, {first, second, model.Ahead}, {second, first, model.Behind}, {second, side, model.Diverged},
		{second, "00000000000000000000000000000000deadbeef", model.Unknown},
	} {
		relation, err := c.Relation(ctx, test.earlier, test.later)
		require.NoError(t, err)
		assert.Equal(t, test.want, relation)
	}
	_, err := c.Relation(ctx, "--all", second)
	assert.ErrorContains(t, err, "not commit ids")
	assert.Equal(t, 1, c.NetworkCalls(), "asking costs nothing")
}

// longHistory makes 60 commits on agent/x, and rewrites main's past so far back that 50 commits do not show it.
func longHistory(t *testing.T) (h *hub, old, head, diverged string) {
	h = newHub(t)
	old = h.commit("agent/x", "old", map[string]string{"a.txt": "old"})
	h.git(h.dev, "checkout", "-q", "-b", "away")
	h.commit("away", "away", nil)
	return h, old, h.grow("agent/x", 60), h.grow("away", 60)
}

func TestShallowHistoryIsUnknownUntilItIsDeepened(t *testing.T) {
	h, old, head, diverged := longHistory(t)
	dir := h.workspace("agent/x", "--depth=1")
	c := h.open(dir)
	require.NoError(t, c.Restore(ctx, "agent/x", "away", head))
	ask := func(earlier, later string) model.Relation {
		t.Helper()
		relation, err := c.Relation(ctx, earlier, later)
		require.NoError(t, err)
		return relation
	}
	assert.Equal(t, model.Unknown, ask(old, head), "the old commit is not here")
	assert.Equal(t, model.Unknown, ask(diverged, head), "both are here, where they part is not: git says no to ancestry, we do not")
	calls := c.NetworkCalls()
	require.NoError(t, c.Deepen(ctx, old, head))
	assert.Equal(t, calls+1, c.NetworkCalls())
	assert.Equal(t, model.Ahead, ask(old, head))
	assert.Equal(t, model.Behind, ask(head, old))
	require.NoError(t, c.Deepen(ctx, diverged, head))
	assert.Equal(t, model.Diverged, ask(diverged, head))
	calls = c.NetworkCalls()
	require.NoError(t, c.Deepen(ctx, old, head))
	assert.Equal(t, calls, c.NetworkCalls(), "what is known is not fetched again")
	assert.Equal(t, "", h.git(dir, "fsck", "--connectivity-only", "--no-dangling", "--no-progress"), "the checkout knows what it got")
	assert.Equal(t, "62", h.git(dir, "rev-list", "--count", "HEAD"))
}

func TestATrueAncestorIsFoundInAShallowHistoryThatShowsIt(t *testing.T) {
	h, _, head, _ := longHistory(t)
	c := h.open(h.workspace("agent/x", "--depth=1"))
	require.NoError(t, c.Restore(ctx, "agent/x", "", head))
	write(t, c.Dir(), map[string]string{"a.txt": "new"})
	sha, made, err := c.Commit(ctx, "on top")
	require.NoError(t, err)
	require.True(t, made)
	relation, err := c.Relation(ctx, head, sha)
	require.NoError(t, err)
	assert.Equal(t, model.Ahead, relation)
	h.agent(c, "commit", "-q", "--amend", "-m", "rewritten below")
	h.agent(c, "reset", "-q", "--hard", head+"~1")
	h.agent(c, "commit", "-q", "--allow-empty", "-m", "instead")
	now, err := c.Head(ctx)
	require.NoError(t, err)
	relation, err = c.Relation(ctx, head, now)
	require.NoError(t, err)
	assert.Equal(t, model.Diverged, relation, "they part above the boundary, so this is certain")
}

func TestRestoreNeverShortensAHistory(t *testing.T) {
	h, _, _, _ := longHistory(t)
	head := h.grow("agent/x", 60)
	dir := h.workspace("agent/x", "--depth=100")
	c := h.open(dir)
	require.NoError(t, c.Restore(ctx, "agent/x", "main", head))
	count, err := strconv.Atoi(h.git(dir, "rev-list", "--count", "HEAD"))
	require.NoError(t, err)
	assert.GreaterOrEqual(t, count, 100)
}

func TestDeepenNamesTheCommitThatTheServerDoesNotHave(t *testing.T) {
	h := newHub(t)
	c := h.open(h.workspace("main", "--depth=1"))
	require.NoError(t, c.Restore(ctx, "main", "", h.tip("main")))
	gone := "00000000000000000000000000000000deadbeef"
	var none *git.ErrNoRef
	require.ErrorAs(t, c.Deepen(ctx, gone, h.tip("main")), &none)
	assert.Equal(t, gone, none.Ref)
}

func TestHeadFollowsTheAgentWhereverItWent(t *testing.T) {
	h := newHub(t)
	c := h.open(h.workspace("main"))
	require.NoError(t, c.Restore(ctx, "main", "", h.tip("main")))
	h.agent(c, "checkout", "-q", "-b", "elsewhere")
	h.agent(c, "commit", "-q", "--allow-empty", "-m", "mine")
	head, err := c.Head(ctx)
	require.NoError(t, err)
	assert.Equal(t, h.git(c.Dir(), "rev-parse", "elsewhere"), head)
	assert.Equal(t, "MergeXO <mergexo@example.com>", h.git(c.Dir(), "log", "-1", "--format=%cn <%ce>"))

	h.agent(c, "checkout", "-q", "--detach", "main")
	head, err = c.Head(ctx)
	require.NoError(t, err)
	assert.Equal(t, h.tip("main"), head)

	require.NoError(t, os.RemoveAll(filepath.Join(c.Dir(), ".git")))
	_, err = c.Head(ctx)
	assert.ErrorContains(t, err, "read HEAD of the checkout")
	h.git(c.Dir(), "init", "-q")
	h.agent(c, "commit", "-q", "--allow-empty", "-m", "a repository of its own")
	head, err = c.Head(ctx)
	require.NoError(t, err)
	relation, err := c.Relation(ctx, h.tip("main"), head)
	require.NoError(t, err)
	assert.Equal(t, model.Unknown, relation, "the old commit is gone with the old repository")
}

func TestAgentGitIsOffline(t *testing.T) {
	h := newHub(t)
	c := h.open("")
	require.NoError(t, c.Restore(ctx, "main", "", h.tip("main")))
	out, err := h.with(c.Dir(), c.AgentEnv(), "fetch", "origin")
	require.Error(t, err)
	assert.Contains(t, out, "transport 'http' not allowed")
	for _, entry := range c.AgentEnv() {
		assert.NotContains(t, entry, token)
	}
}

func TestChangesCommitsAndBlobsAreBytes(t *testing.T) {
	h := newHub(t)
	start := h.commit("main", "base", map[string]string{"mode.sh": "#!/bin/sh\n", "gone.txt": "x\n", "link-to-be": "file\n"})
	c := h.open(h.workspace("main"))
	require.NoError(t, c.Restore(ctx, "main", "", start))
	odd := "caf\xe9 \t\"quoted\"\n.txt"
	write(t, c.Dir(), map[string]string{odd: "latin\n", "gone.txt": "", "link-to-be": "", ".github/workflows/ci.yml": "on: push\n", "zero\x01.bin": "\x00\xff\r\n"})
	require.NoError(t, os.Chmod(filepath.Join(c.Dir(), "mode.sh"), 0o755))
	require.NoError(t, os.Symlink("../../etc/passwd", filepath.Join(c.Dir(), "link-to-be")))
	h.git(c.Dir(), "init", "-q", "vendored")
	h.git(filepath.Join(c.Dir(), "vendored"), "commit", "-q", "--allow-empty", "-m", "inner")
	sha, made, err := c.Commit(ctx, "# a subject\n\nbody \x00with a NUL\n")
	require.NoError(t, err)
	require.True(t, made)

	changes, err := c.Changes(ctx, start, sha)
	require.NoError(t, err)
	type row struct {
		Old, New, Status string
		Size             int64
		Target           string
	}
	got := map[string]row{}
	for _, ch := range changes {
		got[ch.Path] = row{ch.OldMode, ch.NewMode, ch.Status, ch.Size, ch.Target}
	}
	assert.Equal(t, map[string]row{
		odd:                        {"000000", "100644", "A", 6, ""},
		"gone.txt":                 {"100644", "000000", "D", 0, ""},
		"mode.sh":                  {"100644", "100755", "M", 10, ""},
		"link-to-be":               {"100644", git.ModeSymlink, "T", 16, "../../etc/passwd"},
		"vendored":                 {"000000", git.ModeSubmodule, "A", 0, ""},
		".github/workflows/ci.yml": {"000000", "100644", "A", 9, ""},
		"zero\x01.bin":             {"000000", "100644", "A", 4, ""},
	}, got)
	blob, err := c.Blob(ctx, sha, "zero\x01.bin")
	require.NoError(t, err)
	assert.Equal(t, []byte("\x00\xff\r\n"), blob)
	blob, err = c.Blob(ctx, sha, odd)
	require.NoError(t, err)
	assert.Equal(t, "latin\n", string(blob))
	for _, none := range []string{"gone.txt", ".github", "*", "vendored"} {
		_, err = c.Blob(ctx, sha, none)
		assert.ErrorIs(t, err, fs.ErrNotExist, none)
	}

	h.agent(c, "commit", "-q", "--allow-empty", "-m", "second\n\nwith a body", "--author=A U Thor <a@example.com>")
	head, err := c.Head(ctx)
	require.NoError(t, err)
	commits, err := c.Commits(ctx, start, head)
	require.NoError(t, err)
	assert.Equal(t, []git.Commit{
		{SHA: sha, Subject: "# a subject", Author: git.Identity{Name: "MergeXO", Email: "mergexo@example.com"}},
		{SHA: head, Subject: "second", Author: git.Identity{Name: "A U Thor", Email: "a@example.com"}},
	}, commits)
	same, err := c.Changes(ctx, head, head)
	require.NoError(t, err)
	assert.Empty(t, same)
}
