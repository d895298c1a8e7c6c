package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// What an agent at work in the checkout can write, it can also take away.
func TestObjectsOfAQuarantineStayOutOfTheCheckout(t *testing.T) {
	h := gittest.NewHub(t)
	c, kept := h.Open(h.Workspace("main")), t.TempDir()
	head := gittest.Must(c.Head(gittest.Ctx))(t)
	add := func(view *git.Checkout, text string) string {
		t.Helper()
		return syntax.Line(gittest.Must(view.Tell(gittest.Ctx, []byte(text), "hash-object", "-w", "--stdin"))(t))
	}
	first, leave, err := git.Quarantine(c, kept)
	require.NoError(t, err)
	id := add(first, "kept apart\n")
	assert.True(t, gittest.Must(first.Present(gittest.Ctx, head))(t), "it sees what the checkout has")
	require.NoError(t, leave())
	assert.NoDirExists(t, first.OwnDir)

	require.Error(t, gittest.Err(c.Ask(gittest.Ctx, "cat-file", "-e", id)), "and the checkout does not see what it has")
	assert.NoFileExists(t, filepath.Join(c.Objects, id[:2], id[2:]))
	again, leave, err := git.Quarantine(c, kept)
	require.NoError(t, err)
	gittest.Must(again.Ask(gittest.Ctx, "cat-file", "-e", id))(t, "a later one has it")
	require.NoError(t, leave())
	assert.DirExists(t, c.OwnDir, "the checkout's own is another")
}

func TestAQuarantineThatGitCouldNotKeepIsRefused(t *testing.T) {
	d := gittest.NewDesk(t)
	_, _, err := git.Quarantine(d.Open(), t.TempDir())
	require.ErrorContains(t, err, "a person's checkout")

	odd := filepath.Join(t.TempDir(), "a\nb")
	require.NoError(t, os.Rename(d.Workspace("main"), odd))
	c := d.Hub.Open("")
	c.Objects = filepath.Join(odd, ".git", "objects")
	_, _, err = git.Quarantine(c, t.TempDir())
	require.ErrorContains(t, err, "cannot be named as an alternate")
}

func TestABranchThatAnOperationReturnsToIsKnown(t *testing.T) {
	r := gittest.NewRepo(t, gittest.GitPath())
	require.NoError(t, os.Remove(filepath.Join(r.Dir, ".gitattributes"))) // by which nothing conflicts
	base := r.Commit("base", gittest.Texts("a.txt", "base\n"))
	theirs := r.Commit("theirs", gittest.Texts("a.txt", "theirs\n"), base)
	r.Git("checkout", "-q", "-b", "agent/x", r.Commit("ours", gittest.Texts("a.txt", "ours\n"), base))
	at := git.Worktree{Top: r.Dir, GitDir: filepath.Join(r.Dir, ".git")}
	assert.False(t, at.Returns("agent/x"), "nothing is in progress")
	for name, c := range map[string]struct {
		begin, end []string
	}{
		"rebase":            {[]string{"rebase", theirs}, []string{"rebase", "--abort"}},
		"rebase by patches": {[]string{"rebase", "--apply", theirs}, []string{"rebase", "--abort"}},
		"bisect":            {[]string{"bisect", "start", "HEAD", "HEAD~1"}, []string{"bisect", "reset"}},
	} {
		_, _ = r.Run(r.Dir, "", c.begin...) // a rebase stops at its conflict
		assert.True(t, at.Returns("agent/x"), name)
		assert.False(t, at.Returns("main"), name)
		r.Git(c.end...)
		assert.False(t, at.Returns("agent/x"), name)
	}
}
