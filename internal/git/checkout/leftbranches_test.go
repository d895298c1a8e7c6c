package checkout_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/must"
)

// side commits on another branch of the checkout, as an agent may, and goes back to where it was.
func side(h *gittest.Hub, c *git.Checkout, branch, from string) string {
	h.T.Helper()
	h.Agent(c, "switch", "-q", "-c", branch, from)
	h.Agent(c, "commit", "-q", "--allow-empty", "-m", "on "+branch)
	sha := h.Agent(c, "rev-parse", "HEAD")
	h.Agent(c, "switch", "-q", "-")
	return sha
}

func TestWorkOnOtherBranchesIsFound(t *testing.T) {
	must.Each(t, map[string][]string{"full": nil, "shallow": {"--depth=1"}}, func(t *testing.T, more []string) {
		h := gittest.NewHub(t)
		h.Grow("main", 60)
		start := h.Commit("main", "files", map[string]string{"a.txt": "one\n"})
		dir := h.Workspace("main", more...)
		h.Git(dir, "branch", "older")
		h.Git(dir, "branch", "moved")
		h.Git(dir, "checkout", "-q", "-b", "ahead")
		h.Git(dir, "commit", "-q", "--allow-empty", "-m", "somebody's, before all this")
		c := h.Open(dir)
		gittest.Must(checkout.Begin(gittest.Ctx, c, gittest.Fresh, "main"))(t)
		assert.Empty(t, gittest.Must(checkout.LeftBranches(gittest.Ctx, c, start))(t), "what was there before is nobody's work")

		h.Agent(c, "branch", "same")
		lost := side(h, c, "lost", start)
		odd := side(h, c, "odd;$(id)`", start)
		h.Agent(c, "branch", "-q", "-f", "moved", lost)
		h.Agent(c, "checkout", "-q", "--orphan", "root")
		h.Agent(c, "commit", "-q", "-m", "a root")
		root := h.Agent(c, "rev-parse", "HEAD")
		h.Agent(c, "switch", "-q", gittest.Fresh)
		before := side(h, c, "before", start+"~1")
		side(h, c, "merged", start)
		h.Agent(c, "merge", "-q", "--no-ff", "merged")
		mine := side(h, c, "later", gittest.Fresh)
		gittest.Write(t, c.Dir(), map[string]string{".git/refs/heads/broken": strings.Repeat("ab", 20) + "\n"})
		h.Agent(c, "replace", "--graft", mine) // which would say that it descends from nothing
		got := gittest.Must(checkout.LeftBranches(gittest.Ctx, c, start))(t)
		assert.Equal(t, []git.Ref{
			{Name: "refs/heads/before", SHA: before}, {Name: "refs/heads/later", SHA: mine}, {Name: "refs/heads/lost", SHA: lost}, {Name: "refs/heads/moved", SHA: lost},
			{Name: "refs/heads/odd;$(id)`", SHA: odd}, {Name: "refs/heads/root", SHA: root},
		}, got)

		h.Agent(c, "switch", "-q", "lost")
		got = gittest.Must(checkout.LeftBranches(gittest.Ctx, c, start))(t)
		assert.Len(t, got, 5, "HEAD is on what was lost, and what was merged elsewhere is not in it")
		assert.NotEqual(t, start, gittest.Must(checkout.BranchTip(gittest.Ctx, c, ""))(t), "and the branch that it was given is for Tip to tell")
		assert.Equal(t, 1, c.NetworkCalls())
	})
}

func TestBranchesAstrayAreBounded(t *testing.T) {
	h, c, start := gittest.Begun(t)
	h.Agent(c, "branch", "same")
	got := gittest.Must(checkout.LeftBranches(gittest.Ctx, c, start))(t)
	assert.Empty(t, got, "a branch at HEAD is not astray")

	sha := side(h, c, "b", start)
	for i := range 30 {
		h.Agent(c, "update-ref", fmt.Sprintf("refs/heads/many/%02d", i), sha)
	}
	got = gittest.Must(checkout.LeftBranches(gittest.Ctx, c, start))(t)
	assert.Len(t, got, 10)
	h.Agent(c, "checkout", "-q", "--orphan", "unborn")
	assert.Equal(t, got, gittest.Must(checkout.LeftBranches(gittest.Ctx, c, start))(t), "from a HEAD without a commit nothing is reachable")
	assert.Error(t, gittest.Err(checkout.LeftBranches(gittest.Ctx, c, "--all")))
	assert.Error(t, gittest.Err(checkout.LeftBranches(gittest.Ctx, h.Open(""), start)))
}

// TestWhereNobodyCouldLookNothingIsAstray: that git cannot start says nothing about HEAD, which may have the branch.
func TestWhereNobodyCouldLookNothingIsAstray(t *testing.T) {
	h := gittest.NewHub(t)
	start := h.Commit("main", "files", map[string]string{"a.txt": "one\n"})
	program := gittest.Must(exec.LookPath("git"))(t)
	bin := t.TempDir()
	script := "#!/bin/sh\ncase \"$*\" in *'batch-check=%(objectname)'*) if [ -e " + bin + "/full ]; then echo 'fatal: cannot fork: Resource temporarily unavailable' >&2; exit 128; fi;; esac\nexec " + program + " \"$@\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o755))
	c := h.Open(h.Workspace("main"), func(o *git.Options) { o.Path = bin + ":" + o.Path })
	gittest.Must(checkout.Begin(gittest.Ctx, c, gittest.Fresh, "main"))(t)
	h.Agent(c, "commit", "-q", "--allow-empty", "-m", "agent's")
	h.Agent(c, "branch", "backup")
	h.Agent(c, "commit", "-q", "--allow-empty", "-m", "agent's, too")
	require.NoError(t, os.WriteFile(filepath.Join(bin, "full"), nil, 0o600))
	got, err := checkout.LeftBranches(gittest.Ctx, c, start)
	assert.True(t, git.Exhausts(err), "%v %v", got, err)
	require.NoError(t, os.Remove(filepath.Join(bin, "full")))
	assert.Empty(t, gittest.Must(checkout.LeftBranches(gittest.Ctx, c, start))(t), "HEAD has it")
}

func TestARescueIsForAPlainClone(t *testing.T) {
	h, c, start := gittest.Begun(t, "--depth=1")
	plain := filepath.Join(t.TempDir(), "plain")
	h.Git(filepath.Dir(plain), "clone", "-q", h.Bare, plain)
	gittest.Write(t, c.Dir(), map[string]string{"a.txt": "two\n"})
	one := gittest.Snap(t, h, c, "")
	gittest.Write(t, c.Dir(), map[string]string{"a.txt": "three\n"})
	h.Agent(c, "commit", "-q", "-a", "-m", "agent's")
	gittest.Write(t, c.Dir(), map[string]string{"a.txt": "four\n"})
	two := gittest.Snap(t, h, c, one)
	calls := c.NetworkCalls()
	file := filepath.Join(t.TempDir(), "rescue.bundle")
	require.NoError(t, transport.WriteBundleForPerson(gittest.Ctx, c, file, gittest.Fresh, start, two))
	assert.Equal(t, calls, c.NetworkCalls(), "the server may be the one thing that is not there")
	assert.Equal(t, two+" refs/heads/"+gittest.Fresh, h.Git(plain, "bundle", "list-heads", file))
	h.Git(plain, "fetch", "-q", file, gittest.Fresh)
	assert.Equal(t, two, h.Git(plain, "rev-parse", "FETCH_HEAD"))
	assert.Equal(t, "four", h.Git(plain, "show", "FETCH_HEAD:a.txt"))
	h.Git(plain, "fsck", "--full", "FETCH_HEAD")
	for _, bad := range []string{"", "a..b", "x\nHEAD", "x y"} {
		assert.ErrorContains(t, transport.WriteBundleForPerson(gittest.Ctx, c, file, bad, start, two), "is not a branch")
	}
	assert.Error(t, transport.WriteBundleForPerson(gittest.Ctx, c, file, gittest.Fresh, start, start))
}
