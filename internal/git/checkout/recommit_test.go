package checkout_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/must"
)

func TestCommitsOfAnAgentBecomeOursAndNobodyElsesDo(t *testing.T) {
	h := gittest.NewHub(t)
	h.Commit("feature", "by a person, elsewhere", map[string]string{"feature.txt": "x\n"})
	start := h.Commit("agent/x", "by a person", map[string]string{"a.txt": "1\n"})
	c := h.Open(h.Workspace("agent/x"))
	h.Git(c.Dir(), "fetch", "-q", h.Bare, "+refs/heads/*:refs/remotes/origin/*") // as fetch-depth: 0 has it, before anything runs
	c = h.Open(c.Dir())
	require.NoError(t, checkout.Restore(gittest.Ctx, c, "agent/x", "main", start))
	gittest.Write(t, c.Dir(), map[string]string{"b.txt": "b\n"})
	h.Agent(c, "add", "-A")
	h.Agent(c, "commit", "-q", "-m", "As somebody else [skip ci]", "--author=Ada <ada@example.com>", "--date=1600000000 +0530")
	h.Agent(c, "branch", "beside")
	h.Agent(c, "merge", "-q", "--no-ff", "-m", "Merge", "origin/feature")
	gittest.Write(t, c.Dir(), map[string]string{"c.txt": "c\n"})
	h.Agent(c, "add", "-A")
	h.Agent(c, "commit", "-q", "-m", "As us")
	head, tree := h.Git(c.Dir(), "rev-parse", "HEAD"), h.Git(c.Dir(), "rev-parse", "HEAD^{tree}")

	clean := func(message string) string { return strings.ReplaceAll(message, "[skip ci]", "(skip ci)") }
	done := gittest.Must(checkout.Recommit(gittest.Ctx, c, start, head, history.FetchedTips(c), clean))(t)
	assert.Equal(t, head, h.Git(c.Dir(), "rev-parse", "HEAD"), "nothing is moved yet")
	require.NoError(t, checkout.Follow(gittest.Ctx, c, done))
	assert.Equal(t, done.Head, h.Git(c.Dir(), "rev-parse", "HEAD"))
	assert.Equal(t, "agent/x", h.Git(c.Dir(), "symbolic-ref", "--short", "HEAD"))
	assert.Empty(t, h.Git(c.Dir(), "status", "--porcelain"))
	assert.Equal(t, tree, h.Git(c.Dir(), "rev-parse", "HEAD^{tree}"))
	assert.Equal(t, h.Git(c.Dir(), "rev-parse", "HEAD~2"), h.Git(c.Dir(), "rev-parse", "beside"), "its other branches move along")
	assert.Equal(t, start, h.Git(c.Dir(), "rev-parse", "HEAD~3"), "the head that the turn began at stays")
	assert.Equal(t, h.Tip("feature"), h.Git(c.Dir(), "rev-parse", "HEAD~1^2"), "what a person pushed stays theirs")
	assert.Equal(t, "MergeXO|MergeXO|1600000000 +0530|As somebody else (skip ci)", h.Git(c.Dir(), "log", "-1", "--format=%an|%cn|%ad|%s", "--date=raw", "HEAD~2"))

	assert.Equal(t, done.Head, gittest.Must(checkout.Recommit(gittest.Ctx, c, start, done.Head, history.FetchedTips(c), clean))(t).Head)
	assert.Empty(t, gittest.Must(checkout.LeftBranches(gittest.Ctx, c, start))(t))
	require.NoError(t, transport.Publish(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: start, SHA: done.Head}))
}

func TestACommitIsOursWhateverItsHeadersSay(t *testing.T) {
	h := gittest.NewHub(t)
	start := h.Commit("agent/x", "work", map[string]string{"a.txt": "1\n"})
	c := h.Restored("agent/x", "main", start, h.Workspace("agent/x"))
	tree := h.Git(c.Dir(), "rev-parse", start+"^{tree}")
	must.Each(t, map[string]string{
		"signed":      "author MergeXO <mergexo@example.com> 1 +0000\ncommitter MergeXO <mergexo@example.com> 1 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n",
		"two authors": "author MergeXO <mergexo@example.com> 1 +0000\nauthor Ada <ada@example.com> 1 +0000\ncommitter MergeXO <mergexo@example.com> 1 +0000\n",
		"no date":     "author MergeXO <mergexo@example.com>\ncommitter MergeXO <mergexo@example.com> 99999999999999999999 +0000\n",
		"another":     "author MergeXO <mergexo@example.com> > 1 +0000\ncommitter MergeXO <mergexo@example.com> 1 +0000\n",
		"encoded":     "author MergeXO <mergexo@example.com> 1 +0000\ncommitter MergeXO <mergexo@example.com> 1 +0000\nencoding UTF-16\n",
	}, func(t *testing.T, headers string) {
		raw := "tree " + tree + "\nparent " + start + "\n" + headers + "\nWork\n"
		file := t.TempDir() + "/commit"
		require.NoError(t, os.WriteFile(file, []byte(raw), 0o600))
		head := h.Git(c.Dir(), "hash-object", "-t", "commit", "-w", "--literally", file)
		done := gittest.Must(checkout.Recommit(gittest.Ctx, c, start, head, nil, func(s string) string { return s }))(t)
		now := h.Git(c.Dir(), "cat-file", "commit", done.Head)
		assert.Regexp(t, `\Atree [0-9a-f]{40}\nparent [0-9a-f]{40}\nauthor MergeXO <mergexo@example.com> [0-9]{1,10} \+0000\ncommitter MergeXO <mergexo@example.com> [0-9]{1,10} \+0000\n\nWork\z`, now)
		assert.NotEqual(t, head, done.Head)
	})
	message := t.TempDir() + "/large"
	require.NoError(t, os.WriteFile(message, []byte(strings.Repeat("words ", 200_000)), 0o600))
	large := h.Git(c.Dir(), "commit-tree", tree, "-p", start, "-F", message)
	err := gittest.Err(checkout.Recommit(gittest.Ctx, c, start, large, nil, func(s string) string { return s }))
	assert.ErrorContains(t, gittest.As[*git.ErrTreeLimits](t, err), "is a commit of over 1048576 bytes")
}

// TestACommitIsWhatItsNameSays: git gives what is there, which an agent or its tests may have exchanged.
func TestACommitIsWhatItsNameSays(t *testing.T) {
	r, c, start, sha := ours(t)
	other := r.Commit("another", gittest.Texts("b.txt", "b\n"), start)
	object := func(sha string) string { return filepath.Join(c.Dir(), ".git/objects", sha[:2], sha[2:]) }
	require.NoError(t, os.Rename(object(other), object(sha)))
	shout := func(s string) string { return s + "!" }
	assert.ErrorAs(t, gittest.Err(checkout.Recommit(gittest.Ctx, c, start, sha, nil, shout)), new(*history.ErrUnverified))
}

// ours is a repository with a commit of ours on top of start.
func ours(t *testing.T) (r *gittest.Repo, c *git.Checkout, start, sha string) {
	t.Helper()
	r = gittest.NewRepo(t, gittest.GitPath())
	start = r.Commit("start", gittest.Texts("a.txt", "one\n"))
	r.Git("reset", "-q", "--hard", start)
	sha, made, err := gittest.Commit(r.C, "answer the review")
	require.NoError(t, err)
	require.True(t, made)
	return r, r.C, start, sha
}

func TestOnlyACommitOfOursIsReworded(t *testing.T) {
	r, c, start, sha := ours(t)
	gittest.Write(t, c.Dir(), map[string]string{"b.txt": "b\n"})
	head := gittest.Committed(t, c, "and tests")
	add := func(message string) string { return strings.TrimSpace(message) + "\n\nTurn: 5" }
	for name, kept := range map[string]struct {
		head, from string
		known      []string
		message    func(string) string
	}{
		"the head that the turn began at": {start, start, nil, add},
		"one that the server has":         {head, start, []string{head}, add},
		"one that reads so already":       {head, start, nil, strings.TrimSpace},
	} {
		made := gittest.Must(checkout.Recommit(gittest.Ctx, c, kept.from, kept.head, kept.known, strings.TrimSpace))(t)
		done := gittest.Must(checkout.Reword(gittest.Ctx, c, made, kept.message))(t)
		assert.Equal(t, kept.head, done.Head, name)
		require.NoError(t, checkout.Follow(gittest.Ctx, c, done))
		assert.Equal(t, head, r.Git("rev-parse", "HEAD"), name)
	}

	made := gittest.Must(checkout.Recommit(gittest.Ctx, c, start, head, nil, strings.TrimSpace))(t)
	done := gittest.Must(checkout.Reword(gittest.Ctx, c, made, add))(t)
	require.NoError(t, checkout.Follow(gittest.Ctx, c, done))
	assert.Equal(t, done.Head, r.Git("rev-parse", "refs/heads/main"))
	assert.Equal(t, "and tests\n\nTurn: 5", strings.TrimSpace(r.Git("log", "-1", "--format=%B")))
	assert.Equal(t, sha, r.Git("rev-parse", "HEAD~1"), "the one before it stays as it is")
	assert.Equal(t, r.Git("rev-parse", head+"^{tree}"), r.Git("rev-parse", "HEAD^{tree}"))
}
