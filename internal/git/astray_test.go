package git_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
)

// side commits on another branch of the checkout, as an agent may, and goes back to where it was.
func side(h *hub, c *git.Checkout, branch, from string) string {
	h.t.Helper()
	h.agent(c, "switch", "-q", "-c", branch, from)
	h.agent(c, "commit", "-q", "--allow-empty", "-m", "on "+branch)
	sha := h.agent(c, "rev-parse", "HEAD")
	h.agent(c, "switch", "-q", "-")
	return sha
}

func TestWorkOnOtherBranchesIsFound(t *testing.T) {
	for name, more := range map[string][]string{"full": nil, "shallow": {"--depth=1"}} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			h.grow("main", 60)
			start := h.commit("main", "files", map[string]string{"a.txt": "one\n"})
			dir := h.workspace("main", more...)
			h.git(dir, "branch", "older")
			h.git(dir, "branch", "moved")
			h.git(dir, "checkout", "-q", "-b", "ahead")
			h.git(dir, "commit", "-q", "--allow-empty", "-m", "somebody's, before all this")
			c := h.open(dir)
			_, err := c.Begin(ctx, fresh, "main")
			require.NoError(t, err)
			none, err := c.Astray(ctx, start)
			require.NoError(t, err)
			assert.Empty(t, none, "what was there before is nobody's work")

			h.agent(c, "branch", "same")
			lost := side(h, c, "lost", start)
			odd := side(h, c, "odd;$(id)`", start)
			h.agent(c, "branch", "-q", "-f", "moved", lost)
			h.agent(c, "checkout", "-q", "--orphan", "root")
			h.agent(c, "commit", "-q", "-m", "a root")
			h.agent(c, "switch", "-q", fresh)
			side(h, c, "merged", start)
			h.agent(c, "merge", "-q", "--no-ff", "merged")
			mine := side(h, c, "later", fresh)
			write(t, c.Dir(), map[string]string{".git/refs/heads/broken": strings.Repeat("ab", 20) + "\n"})
			h.agent(c, "replace", "--graft", mine) // which would say that it descends from nothing
			got, err := c.Astray(ctx, start)
			require.NoError(t, err)
			assert.Equal(t, []git.Ref{
				{Name: "refs/heads/later", SHA: mine}, {Name: "refs/heads/lost", SHA: lost}, {Name: "refs/heads/moved", SHA: lost}, {Name: "refs/heads/odd;$(id)`", SHA: odd},
			}, got)

			h.agent(c, "switch", "-q", "lost")
			got, err = c.Astray(ctx, start)
			require.NoError(t, err)
			assert.Len(t, got, 3, "HEAD is on what was lost, and what was merged elsewhere is not in it")
			tip, err := c.Tip(ctx)
			require.NoError(t, err)
			assert.NotEqual(t, start, tip, "and the branch that it was given is for Tip to tell")
			assert.Equal(t, 1, c.NetworkCalls())
		})
	}
}

func TestBranchesAstrayAreBounded(t *testing.T) {
	h, c, start := begun(t)
	sha := side(h, c, "b", start)
	for i := range 30 {
		h.agent(c, "update-ref", fmt.Sprintf("refs/heads/many/%02d", i), sha)
	}
	got, err := c.Astray(ctx, start)
	require.NoError(t, err)
	assert.Len(t, got, 10)
	_, err = c.Astray(ctx, "--all")
	assert.Error(t, err)
	_, err = h.open("").Astray(ctx, start)
	assert.Error(t, err)
}

func TestARescueIsForAPlainClone(t *testing.T) {
	h, c, start := begun(t, "--depth=1")
	plain := filepath.Join(t.TempDir(), "plain")
	h.git(filepath.Dir(plain), "clone", "-q", h.bare, plain)
	write(t, c.Dir(), map[string]string{"a.txt": "two\n"})
	one := snap(t, h, c, "")
	write(t, c.Dir(), map[string]string{"a.txt": "three\n"})
	h.agent(c, "commit", "-q", "-a", "-m", "agent's")
	write(t, c.Dir(), map[string]string{"a.txt": "four\n"})
	two := snap(t, h, c, one)
	calls := c.NetworkCalls()
	file := filepath.Join(t.TempDir(), "rescue.bundle")
	require.NoError(t, c.Rescue(ctx, file, fresh, start, two))
	assert.Equal(t, calls, c.NetworkCalls(), "the server may be the one thing that is not there")
	assert.Equal(t, two+" refs/heads/"+fresh, h.git(plain, "bundle", "list-heads", file))
	h.git(plain, "fetch", "-q", file, fresh)
	assert.Equal(t, two, h.git(plain, "rev-parse", "FETCH_HEAD"))
	assert.Equal(t, "four", h.git(plain, "show", "FETCH_HEAD:a.txt"))
	h.git(plain, "fsck", "--full", "FETCH_HEAD")
	for _, bad := range []string{"", "a..b", "x\nHEAD", "x y"} {
		assert.ErrorContains(t, c.Rescue(ctx, file, bad, start, two), "is not a branch")
	}
	assert.Error(t, c.Rescue(ctx, file, fresh, start, start))
}
