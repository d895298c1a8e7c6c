package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/git/gittest"
)

// forget deletes a loose object of a checkout, as git's own maintenance does with what nothing refers to.
func forget(t *testing.T, c *git.Checkout, id string) {
	t.Helper()
	require.NoError(t, os.Remove(filepath.Join(c.Objects, id[:2], id[2:])))
}

func TestWhatAnObjectIsIsAskedOnceUntilTheServerIsAsked(t *testing.T) {
	h := gittest.NewHub(t)
	c := h.Open(h.Workspace("main"))
	main, other := h.Tip("refs/heads/main"), strings.TrimSpace(h.Git(c.Dir(), "commit-tree", "-m", "other", "HEAD^{tree}"))
	kind := func(id string) string {
		out, err := c.Recall(gittest.Ctx, []byte(id+"\n"), "cat-file", "--batch-check=%(objecttype)")
		require.NoError(t, err)
		return strings.TrimSpace(string(out))
	}
	related := func() int {
		_, err := c.Recall(gittest.Ctx, nil, "merge-base", "--is-ancestor", main, other)
		return git.ExitCode(err)
	}
	assert.Equal(t, "commit", kind(other))
	assert.Equal(t, 1, related(), "no is an answer")
	forget(t, c, other)
	assert.Equal(t, "commit", kind(other))
	assert.Equal(t, 1, related())
	view, leave, err := git.Quarantine(c, t.TempDir())
	require.NoError(t, err)
	_, err = view.Recall(gittest.Ctx, nil, "merge-base", "--is-ancestor", main, other)
	assert.Equal(t, 128, git.ExitCode(err), "a view is asked for itself")
	require.NoError(t, leave())
	_, err = fetch.Remote(gittest.Ctx, c, "refs/heads/main")
	require.NoError(t, err)
	assert.Equal(t, other+" missing", kind(other))
	assert.Equal(t, 128, related(), "a failure is none")
	h.Git(c.Dir(), "commit-tree", "-m", "other", "HEAD^{tree}")
	assert.Equal(t, "commit", kind(other), "that it was missing is not remembered")
	assert.Equal(t, 1, related())
	c.Boundary = []byte(main + "\n")
	forget(t, c, other)
	assert.Equal(t, 128, related(), "another boundary is another question")
}

func TestALongAnswerIsAskedForAgain(t *testing.T) {
	h := gittest.NewHub(t)
	c := h.Open(h.Workspace("main"))
	gittest.Write(t, c.Dir(), map[string]string{"long": strings.Repeat("x", 65<<10), "short": "x"})
	for name, kept := range map[string]bool{"long": false, "short": true} {
		id := strings.TrimSpace(h.Git(c.Dir(), "hash-object", "-w", name))
		_, err := c.Recall(gittest.Ctx, nil, "cat-file", "blob", id)
		require.NoError(t, err)
		forget(t, c, id)
		_, err = c.Recall(gittest.Ctx, nil, "cat-file", "blob", id)
		assert.Equal(t, kept, err == nil, name)
	}
}
