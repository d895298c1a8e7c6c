package history_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/model"
)

func TestRelationInAFullCheckout(t *testing.T) {
	h := gittest.NewHub(t)
	first := h.Tip("main")
	side := h.Commit("side", "side", map[string]string{"s.txt": "s"})
	second := h.Commit("main", "two", map[string]string{"a.txt": "a"})
	c := h.Restored("main", "side", second, h.Workspace("main"))
	for _, test := range []struct {
		earlier, later string
		want           model.Relation
	}{
		{second, second, model.Identical}, {first, second, model.Ahead}, {second, first, model.Behind}, {second, side, model.Diverged},
		{second, "00000000000000000000000000000000deadbeef", model.Unknown},
	} {
		assert.Equal(t, test.want, gittest.Must(history.Relation(gittest.Ctx, c, test.earlier, test.later))(t))
	}
	assert.ErrorContains(t, gittest.Err(history.Relation(gittest.Ctx, c, "--all", second)), "not commit ids")
	assert.Equal(t, 1, c.NetworkCalls(), "asking costs nothing")
}

// longHistory makes 60 commits on agent/x, and rewrites main's past so far back that 50 commits do not show it.
func longHistory(t *testing.T) (h *gittest.Hub, old, head, diverged string) {
	h = gittest.NewHub(t)
	old = h.Commit("agent/x", "old", map[string]string{"a.txt": "old"})
	h.Git(h.Dev, "checkout", "-q", "-b", "away")
	h.Commit("away", "away", nil)
	return h, old, h.Grow("agent/x", 60), h.Grow("away", 60)
}

func TestShallowHistoryIsUnknownUntilItIsDeepened(t *testing.T) {
	h, old, head, diverged := longHistory(t)
	dir := h.Workspace("agent/x", "--depth=1")
	c := h.Restored("agent/x", "away", head, dir)
	ask := func(earlier, later string) model.Relation {
		t.Helper()
		return gittest.Must(history.Relation(gittest.Ctx, c, earlier, later))(t)
	}
	assert.Equal(t, model.Unknown, ask(old, head), "the old commit is not here")
	assert.Equal(t, model.Unknown, ask(diverged, head), "both are here, where they part is not: git says no to ancestry, we do not")
	calls := c.NetworkCalls()
	require.NoError(t, history.Deepen(gittest.Ctx, c, old, head))
	assert.Equal(t, calls+1, c.NetworkCalls())
	assert.Equal(t, model.Ahead, ask(old, head))
	assert.Equal(t, model.Behind, ask(head, old))
	require.NoError(t, history.Deepen(gittest.Ctx, c, diverged, head))
	assert.Equal(t, model.Diverged, ask(diverged, head))
	calls = c.NetworkCalls()
	require.NoError(t, history.Deepen(gittest.Ctx, c, old, head))
	assert.Equal(t, calls, c.NetworkCalls(), "what is known is not fetched again")
	assert.Equal(t, "", h.Git(dir, "fsck", "--connectivity-only", "--no-dangling", "--no-progress"), "the checkout knows what it got")
	assert.Equal(t, "62", h.Git(dir, "rev-list", "--count", "HEAD"))
}

func TestATrueAncestorIsFoundInAShallowHistoryThatShowsIt(t *testing.T) {
	h, _, head, _ := longHistory(t)
	c := h.Restored("agent/x", "", head, h.Workspace("agent/x", "--depth=1"))
	gittest.Write(t, c.Dir(), map[string]string{"a.txt": "new"})
	assert.Equal(t, model.Ahead, gittest.Must(history.Relation(gittest.Ctx, c, head, gittest.Committed(t, c, "on top")))(t))
	h.Agent(c, "commit", "-q", "--amend", "-m", "rewritten below")
	h.Agent(c, "reset", "-q", "--hard", head+"~1")
	h.Agent(c, "commit", "-q", "--allow-empty", "-m", "instead")
	now := gittest.Must(c.Head(gittest.Ctx))(t)
	assert.Equal(t, model.Diverged, gittest.Must(history.Relation(gittest.Ctx, c, head, now))(t), "they part above the boundary, so this is certain")
}

func TestRestoreNeverShortensAHistory(t *testing.T) {
	h, _, _, _ := longHistory(t)
	head := h.Grow("agent/x", 60)
	dir := h.Workspace("agent/x", "--depth=100")
	h.Restored("agent/x", "main", head, dir)
	assert.GreaterOrEqual(t, gittest.Must(strconv.Atoi(h.Git(dir, "rev-list", "--count", "HEAD")))(t), 100)
}

func TestDeepenNamesTheCommitThatTheServerDoesNotHave(t *testing.T) {
	h := gittest.NewHub(t)
	c := h.Restored("main", "", h.Tip("main"), h.Workspace("main", "--depth=1"))
	gone := "00000000000000000000000000000000deadbeef"
	assert.Equal(t, gone, gittest.As[*git.ErrNoRef](t, history.Deepen(gittest.Ctx, c, gone, h.Tip("main"))).Ref)
}

func TestHeadFollowsTheAgentWhereverItWent(t *testing.T) {
	h := gittest.NewHub(t)
	c := h.Restored("main", "", h.Tip("main"), h.Workspace("main"))
	h.Agent(c, "checkout", "-q", "-b", "elsewhere")
	h.Agent(c, "commit", "-q", "--allow-empty", "-m", "mine")
	head := gittest.Must(c.Head(gittest.Ctx))(t)
	assert.Equal(t, h.Git(c.Dir(), "rev-parse", "elsewhere"), head)
	assert.Equal(t, "MergeXO <mergexo@example.com>", h.Git(c.Dir(), "log", "-1", "--format=%cn <%ce>"))

	h.Agent(c, "checkout", "-q", "--detach", "main")
	assert.Equal(t, h.Tip("main"), gittest.Must(c.Head(gittest.Ctx))(t))

	require.NoError(t, os.RemoveAll(filepath.Join(c.Dir(), ".git")))
	assert.ErrorContains(t, gittest.Err(c.Head(gittest.Ctx)), "read HEAD of the checkout")
	h.Git(c.Dir(), "init", "-q")
	h.Agent(c, "commit", "-q", "--allow-empty", "-m", "a repository of its own")
	head = gittest.Must(c.Head(gittest.Ctx))(t)
	relation := gittest.Must(history.Relation(gittest.Ctx, c, h.Tip("main"), head))(t)
	assert.Equal(t, model.Unknown, relation, "the old commit is gone with the old repository")
}

func TestAgentGitIsOffline(t *testing.T) {
	h := gittest.NewHub(t)
	c := h.Restored("main", "", h.Tip("main"), "")
	out, err := h.With(c.Dir(), c.AgentEnv(), "fetch", "origin")
	require.Error(t, err)
	assert.Contains(t, out, "transport 'http' not allowed")
	for _, entry := range c.AgentEnv() {
		assert.NotContains(t, entry, gittest.Token)
	}
}

func TestChangesCommitsAndBlobsAreBytes(t *testing.T) {
	h := gittest.NewHub(t)
	start := h.Commit("main", "base", map[string]string{"mode.sh": "#!/bin/sh\n", "gone.txt": "x\n", "link-to-be": "file\n"})
	c := h.Restored("main", "", start, h.Workspace("main"))
	odd := "caf\xe9 \t\"quoted\"\n.txt"
	gittest.Write(t, c.Dir(), map[string]string{odd: "latin\n", "gone.txt": "", "link-to-be": "", ".github/workflows/ci.yml": "on: push\n", "zero\x01.bin": "\x00\xff\r\n"})
	require.NoError(t, os.Chmod(filepath.Join(c.Dir(), "mode.sh"), 0o755))
	require.NoError(t, os.Symlink("../../etc/passwd", filepath.Join(c.Dir(), "link-to-be")))
	h.Git(c.Dir(), "init", "-q", "vendored")
	h.Git(filepath.Join(c.Dir(), "vendored"), "commit", "-q", "--allow-empty", "-m", "inner")
	h.Agent(c, "add", "vendored")
	sha, made, err := gittest.Commit(c, "# a subject\n\nbody \x00with a NUL\n")
	require.NoError(t, err)
	require.True(t, made)

	listed := gittest.Must(history.Publishes(gittest.Ctx, c, start, sha, nil))(t)
	steps := gittest.Must(listed.EveryChange(gittest.Ctx, c))(t)
	changes := gittest.Must(history.Changes(gittest.Ctx, c, start, sha))(t)
	require.Len(t, changes, len(steps))
	type row struct {
		Old, New, Status string
		Size             int64
		Target           string
	}
	got := map[string]row{}
	for i, ch := range steps {
		got[ch.Path] = row{ch.OldMode, ch.NewMode, ch.Status, ch.Size, ch.Target}
		assert.Equal(t, history.Change{Path: ch.Path, OldMode: ch.OldMode, NewMode: ch.NewMode, Status: ch.Status, Id: ch.Id}, changes[i])
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
	assert.Equal(t, []byte("\x00\xff\r\n"), gittest.Must(history.Blob(gittest.Ctx, c, sha, "zero\x01.bin"))(t))
	assert.Equal(t, "latin\n", string(gittest.Must(history.Blob(gittest.Ctx, c, sha, odd))(t)))
	for _, none := range []string{"gone.txt", ".github", "*", "vendored"} {
		assert.ErrorIs(t, gittest.Err(history.Blob(gittest.Ctx, c, sha, none)), fs.ErrNotExist, none)
	}

	h.Agent(c, "commit", "-q", "--allow-empty", "-m", "second\n\nwith a body", "--author=A U Thor <a@example.com>")
	head := gittest.Must(c.Head(gittest.Ctx))(t)
	commits := gittest.Must(history.List(gittest.Ctx, c, start, head))(t)
	assert.Equal(t, []model.Commit{
		{SHA: sha, Subject: "# a subject", Author: "MergeXO"},
		{SHA: head, Subject: "second", Author: "A U Thor"},
	}, commits)
	assert.Empty(t, gittest.Must(history.Changes(gittest.Ctx, c, head, head))(t))
}
