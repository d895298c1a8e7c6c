package git_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/must"
)

func TestOpenRefusesAURLThatIsNone(t *testing.T) {
	for _, url := range []string{"", "octo/widgets", "https://x:y@github.com/octo/widgets"} {
		assert.ErrorContains(t, gittest.Err(git.Open(gittest.Ctx, git.Options{URL: url, Temp: t.TempDir(), Now: time.Now})), "want https://HOST/OWNER/NAME", url)
	}
}

func TestOpenSaysWhatItLacks(t *testing.T) {
	_, err := git.Open(gittest.Ctx, git.Options{URL: "https://github.com/octo/widgets", Temp: t.TempDir()})
	require.ErrorContains(t, err, "a clock and a temporary directory are needed")
	_, err = git.Open(gittest.Ctx, git.Options{URL: "https://github.com/octo/widgets", Temp: t.TempDir(), Now: time.Now, Path: t.TempDir()})
	require.ErrorContains(t, err, "install git")
}

func TestOnlyACheckoutOfTheRepositoryIsTakenAsAWorkspace(t *testing.T) {
	h := gittest.NewHub(t)
	other, broken, sparse, file := h.Workspace("main"), h.Workspace("main"), h.Workspace("main"), t.TempDir()
	below := filepath.Join(sparse, "below")
	h.Git(other, "remote", "set-url", "origin", "https://github.com/octo/gadgets")
	require.NoError(t, os.Remove(filepath.Join(broken, ".git", "HEAD")))
	gittest.Write(t, file, map[string]string{".git": "nonsense\n"})
	require.NoError(t, os.Mkdir(below, 0o755))
	must.Each(t, map[string]string{
		"none": "", "another repository": other, "no HEAD": broken, "a .git that is nonsense": file, "below a checkout": below,
		"no checkout": t.TempDir(), "missing": filepath.Join(t.TempDir(), "gone"),
	}, func(t *testing.T, workspace string) {
		c := h.Open(workspace)
		assert.True(t, c.OwnClone)
		assert.NotEqual(t, workspace, c.Dir())
		assert.Equal(t, h.Url, h.Git(c.Dir(), "remote", "get-url", "origin"))
		assert.False(t, git.Sparse(c))
		require.ErrorContains(t, gittest.Err(c.Head(gittest.Ctx)), "read HEAD of the checkout", "nothing is fetched yet")
		require.NoError(t, c.Close())
		assert.NoDirExists(t, c.Dir())
		assert.NoDirExists(t, c.OwnDir)
	})
	h.Git(sparse, "sparse-checkout", "set", "sub")
	c := h.Open(sparse)
	assert.Equal(t, sparse, c.Dir())
	assert.True(t, git.Sparse(c))
	require.NoError(t, c.Close())
	assert.DirExists(t, sparse)
}

func TestAnAgentsGitReachesNoServerAndRunsNoHook(t *testing.T) {
	h := gittest.NewHub(t)
	c := h.Open(h.Workspace("main"))
	run, traces := gittest.Canary(t)
	require.NoError(t, os.Symlink(run, filepath.Join(c.Dir(), ".git", "hooks", "pre-commit")))
	for key, value := range map[string]string{"core.fsmonitor": run, "credential.helper": "!" + run, "gpg.program": run, "commit.gpgSign": "true"} {
		h.Git(c.Dir(), "config", key, value)
	}
	for _, args := range [][]string{{"fetch"}, {"push", "origin", "HEAD:refs/heads/x"}, {"ls-remote"}} {
		out, err := h.With(c.Dir(), c.AgentEnv(), args...)
		require.Error(t, err, out)
		assert.Contains(t, out, "transport 'http' not allowed")
	}
	h.Agent(c, "commit", "-q", "--allow-empty", "-m", "agent's")
	assert.Equal(t, "MergeXO <mergexo@example.com> MergeXO <mergexo@example.com>", h.Agent(c, "log", "-1", "--format=%an <%ae> %cn <%ce>"))
	h.Agent(c, "fetch", "-q", h.Bare, "main") // a path is no server
	assert.Empty(t, traces())
	assert.Empty(t, h.Tip("refs/heads/x"))
}

func TestServerThatRefusesIsClassified(t *testing.T) {
	h := gittest.NewHub(t)
	answer := func(code int) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			http.Error(w, "no", code)
			return true
		}
	}
	type row struct {
		refuse func(http.ResponseWriter, *http.Request) bool
		token  string
		want   git.Failure
		fix    string // part of it
	}
	must.Each(t, map[string]row{
		"no credential":    {nil, "", git.Denied, "set GITHUB_TOKEN"},
		"wrong credential": {nil, "wrong-one", git.Denied, "set GITHUB_TOKEN"},
		"403":              {answer(403), gittest.Token, git.Denied, "give the job `permissions: contents: write`"},
		"404":              {answer(404), gittest.Token, git.NotFound, ""},
		"502":              {answer(502), gittest.Token, git.Unreachable, ""},
	}, func(t *testing.T, test row) {
		h.Behave(false, test.refuse)
		c := h.Open("", func(o *git.Options) { o.Token = test.token })
		_, err := history.FetchRef(gittest.Ctx, c, "refs/heads/main")
		failed := gittest.As[*git.Error](t, err)
		assert.Equal(t, test.want, failed.Failure, failed.Stderr)
		assert.Equal(t, 128, failed.Exit)
		assert.Equal(t, test.fix != "", failed.Fix() != "")
		assert.Contains(t, failed.Fix(), test.fix)
		assert.NotContains(t, err.Error(), "wrong-one")
	})
	h.Behave(true, nil)
	c := h.Open("", func(o *git.Options) { o.Token = "" })
	assert.NoError(t, gittest.Err(history.FetchRef(gittest.Ctx, c, "refs/heads/main")), "a public repository is read without a credential")
}
