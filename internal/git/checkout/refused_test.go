package checkout_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
)

func TestRestoreRefusesWhatIsNoBranchAndNoCommit(t *testing.T) {
	h := gittest.NewHub(t)
	sha := h.Tip("main")
	c := h.Open("")
	for _, bad := range [][3]string{{"", "", sha}, {"a..b", "", sha}, {"main", "a:b", sha}, {"main", "", "HEAD"}, {"main", "", sha[:10]}, {"main", "main ", sha}} {
		assert.ErrorContains(t, checkout.Restore(gittest.Ctx, c, bad[0], bad[1], bad[2]), "not a branch and a commit id", "%q", bad)
	}
	assert.Zero(t, c.NetworkCalls())
}

func TestFlattenRefusesWhatIsNoSnapshot(t *testing.T) {
	r := gittest.NewRepo(t, gittest.GitPath())
	object := func(text string) string {
		t.Helper()
		file := filepath.Join(t.TempDir(), "commit")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return r.Git("hash-object", "-t", "commit", "-w", "--literally", file)
	}
	tree, gone := strings.Repeat("cd", 20), strings.Repeat("ab", 20)
	const who = "author A <a@example.com> 1 +0000\ncommitter A <a@example.com> 1 +0000\n\nx\n"
	for sha, want := range map[string]string{
		object("parent " + gone + "\n" + who):                    "read commit ",
		object("tree " + tree[:10] + "\nparent " + gone + "\n"):  "read commit ",
		object("tree " + tree + "\nparent " + gone + "\n"):       "read commit ",
		object("tree " + tree + "\n" + who):                      "it has no parent",
		object("tree " + tree + "\nparent " + gone + "\n" + who): "read commit " + gone,
	} {
		_, err := checkout.Flatten(gittest.Ctx, r.C, sha, "Flat")
		require.ErrorContains(t, err, "flatten "+sha)
		require.ErrorContains(t, err, want)
	}
}

func TestABranchWhoseNameIsADirectoryOfOthersIsDetached(t *testing.T) {
	h := gittest.NewHub(t)
	head := h.Commit("agent/x", "work", map[string]string{"a.txt": "one\n"})
	dir := h.Workspace("main")
	h.Git(dir, "branch", "agent/x/y")
	c := h.Restored("agent/x", "main", head, dir)
	assert.Equal(t, "HEAD", h.Git(dir, "rev-parse", "--abbrev-ref", "HEAD"))
	assert.Equal(t, "one\n", gittest.Read(t, dir, "a.txt"))
	h.Agent(c, "commit", "-q", "--allow-empty", "-m", "agent's")
	sha := h.Agent(c, "rev-parse", "HEAD")
	assert.Equal(t, sha, gittest.Must(checkout.BranchTip(gittest.Ctx, c, sha))(t), "there is no branch that could be elsewhere")
	require.NoError(t, checkout.Reset(gittest.Ctx, c, head))
	assert.Equal(t, head, h.Git(dir, "rev-parse", "HEAD"))
	assert.Equal(t, "HEAD", h.Git(dir, "rev-parse", "--abbrev-ref", "HEAD"))
	assert.Equal(t, h.Tip("main"), h.Git(dir, "rev-parse", "refs/heads/agent/x/y"), "the other branch stays")
}
