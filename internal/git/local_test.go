package git_test

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

func TestAPersonsCheckoutMeetsItsOrigin(t *testing.T) {
	t.Parallel()
	must.Each(t, map[string]func(t *testing.T, d *gittest.Desk){
		"a working tree": func(*testing.T, *gittest.Desk) {},
		"a path":         func(_ *testing.T, d *gittest.Desk) { d.Git(d.Dir, "remote", "set-url", "origin", d.Bare) },
		"a path from here": func(t *testing.T, d *gittest.Desk) {
			d.Git(d.Dir, "remote", "set-url", "origin", gittest.Must(filepath.Rel(d.Dir, d.Bare))(t))
		},
		"below the top": func(_ *testing.T, d *gittest.Desk) { d.Dir = filepath.Join(d.Dir, "dir") },
		"by a name of the person's": func(_ *testing.T, d *gittest.Desk) {
			d.Git(d.Dir, "remote", "set-url", "origin", "hub:widgets")
			d.Config("url."+d.Bare+".insteadOf", "hub:widgets")
		},
		"by a name of the checkouts": func(_ *testing.T, d *gittest.Desk) {
			d.Git(d.Dir, "remote", "set-url", "origin", "hub:widgets")
			d.Git(d.Dir, "config", "url."+d.Bare+".insteadOf", "hub:widgets")
		},
		"a bare repository": func(_ *testing.T, d *gittest.Desk) {
			d.Git(d.Home, "clone", "-q", "--bare", d.Bare, d.Dir+".git")
			d.Dir += ".git"
		},
		"a linked worktree": func(_ *testing.T, d *gittest.Desk) {
			d.Git(d.Dir, "worktree", "add", "-q", d.Dir+"-linked")
			d.Dir += "-linked"
		},
		"over HTTP with a credential of the person's": func(_ *testing.T, d *gittest.Desk) {
			d.Git(d.Dir, "remote", "set-url", "origin", d.Url)
			d.Config("credential.helper", "!f() { echo username=x; echo password="+gittest.Token+"; }; f")
		},
		"over HTTP with a credential of the checkout's": func(_ *testing.T, d *gittest.Desk) {
			d.Git(d.Dir, "remote", "set-url", "origin", d.Url)
			d.Git(d.Dir, "config", "http.extraheader", gittest.Header)
		},
	}, func(t *testing.T, adjust func(t *testing.T, d *gittest.Desk)) {
		t.Parallel()
		d := gittest.NewDesk(t)
		adjust(t, d)
		head := d.Tip("agent/x")
		base := d.Commit("main", "more", map[string]string{"c.txt": "c\n"})
		c := d.Open()
		met := gittest.Must(history.FetchMergeBase(gittest.Ctx, c, "main", "refs/heads/agent/x"))(t)
		assert.Equal(t, history.Divergence{BaseSHA: base, HeadSHA: head, MergeBase: d.Git(d.Bare, "rev-parse", "main~1")}, met)
		lock := gittest.Must(transport.AcquireLock(gittest.Ctx, c, "main", gittest.Lease("one", 60)))(t)
		assert.Equal(t, "Ada <ada@example.com>", d.Git(d.Bare, "log", "-1", "--format=%cn <%ce>", lock.Ref().SHA))
		tree := d.Git(d.Bare, "merge-tree", "--write-tree", base, head)
		merged := d.Git(d.Bare, "commit-tree", "-m", "merge", "-p", base, "-p", head, tree)
		d.Git(d.Bare, "update-ref", "refs/heads/tested", merged)
		require.NoError(t, history.FetchCommits(gittest.Ctx, c, merged))
		require.NoError(t, transport.Publish(gittest.Ctx, c, transport.Update{Branch: "main", Start: base, SHA: merged, Drop: []git.Ref{lock.Ref()}}))
		assert.Equal(t, merged, d.Tip("main"))
		assert.Empty(t, d.Tip(lock.Ref().Name))
		require.NoError(t, transport.Rewrite(gittest.Ctx, c, "agent/x", head, merged))
		assert.Equal(t, 5, c.NetworkCalls())
	})
}

func TestAPersonsFilesStayAsTheyAre(t *testing.T) {
	d := gittest.NewDesk(t)
	trap, traces := gittest.Canary(t)
	for _, hook := range []string{"pre-push", "reference-transaction", "post-checkout", "post-merge", "post-index-change"} {
		require.NoError(t, os.WriteFile(filepath.Join(d.Dir, ".git", "hooks", hook), []byte("#!/bin/sh\nexec "+trap+"\n"), 0o755))
	}
	gittest.Write(t, d.Dir, map[string]string{"a.txt": "changed\n", "own.txt": "not tracked\n"})
	before := d.State()
	c := d.Open()
	met := gittest.Must(history.FetchMergeBase(gittest.Ctx, c, "main", "refs/heads/agent/x"))(t)
	tree, remove, err := checkout.TestTree(gittest.Ctx, c, met.HeadSHA)
	require.NoError(t, err)
	assert.Equal(t, "new\n", gittest.Read(t, tree, "new.txt"))
	require.NoError(t, remove())
	require.NoError(t, transport.Publish(gittest.Ctx, c, transport.Update{Branch: "main", Start: met.BaseSHA, SHA: met.HeadSHA}))
	require.NoError(t, c.Close())
	assert.Equal(t, before, d.State())
	assert.Equal(t, "changed\n", gittest.Read(t, d.Dir, "a.txt"))
	for _, trace := range traces() {
		assert.NotContains(t, gittest.Read(t, trace), d.Dir+"/.git", "a hook of the checkout ran")
	}
	assert.Empty(t, traces())
}

func TestAPersonsShallowAndPartialClones(t *testing.T) {
	for _, how := range []string{"--depth=1", "--filter=blob:none"} {
		t.Run(how, func(t *testing.T) {
			d := gittest.NewDesk(t, how)
			d.Grow("main", 60)
			c := d.Open()
			met := gittest.Must(history.FetchMergeBase(gittest.Ctx, c, "main", "refs/heads/agent/x"))(t)
			assert.Equal(t, d.Git(d.Bare, "merge-base", "main", "agent/x"), met.MergeBase)
			assert.Equal(t, 2, c.NetworkCalls())
			d.Git(d.Dir, "fsck", "--connectivity-only")
		})
	}
}

func TestWhatACheckoutLacksIsSaid(t *testing.T) {
	d := gittest.NewDesk(t)
	d.Git(d.Dir, "config", "--file", filepath.Join(d.Home, ".gitconfig"), "--unset", "user.email")
	_, err := d.Try()
	require.ErrorAs(t, err, new(*git.ErrNoIdentity))
	assert.ErrorContains(t, err, "git config --global user.email")
	d.Git(d.Dir, "config", "user.email", "ada@work.example.com")
	d.Open()

	d.Git(d.Dir, "remote", "rename", "origin", "upstream")
	require.ErrorAs(t, gittest.Err(d.Try()), new(*git.ErrNoOrigin))
	d.Open(func(o *git.LocalOptions) { o.Local = true })

	require.ErrorIs(t, gittest.Err(d.Try(func(o *git.LocalOptions) { o.Dir = d.Home })), git.ErrNoRepository)
	assert.ErrorContains(t, gittest.Err(d.Try(func(o *git.LocalOptions) { o.Dir = filepath.Join(d.Home, "none") })), "not a directory")
}

func TestAnOriginThatIsNotThereOrAsksForAPassword(t *testing.T) {
	d := gittest.NewDesk(t)
	for url, want := range map[string]git.Failure{d.Home + "/none.git": git.NotFound, d.Url: git.Denied} {
		d.Git(d.Dir, "remote", "set-url", "origin", url)
		failed := gittest.As[*git.Error](t, gittest.Err(history.FetchMergeBase(gittest.Ctx, d.Open(), "main", "refs/heads/agent/x")))
		assert.Equal(t, want, failed.Failure, strings.TrimSpace(failed.Stderr))
	}
}

func TestAPersonsOwnSSHIsUsedForTheOriginAlone(t *testing.T) {
	d := gittest.NewDesk(t)
	script := filepath.Join(d.Home, "ssh")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\necho \"$@ agent=$SSH_AUTH_SOCK\" >>"+d.Home+"/asked\nshift $(($# - 1))\nexec sh -c \"$1\"\n"), 0o755))
	d.Git(d.Dir, "remote", "set-url", "origin", "ssh://git@hub.example.com"+d.Bare)
	c := d.Open(func(o *git.LocalOptions) {
		o.Env = append(o.Env, "GIT_SSH_COMMAND="+script, "GIT_SSH_VARIANT=ssh", "SSH_AUTH_SOCK=/sock", "PATH=/nowhere", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.version", "GIT_CONFIG_VALUE_0=1")
	})
	gittest.Must(history.FetchMergeBase(gittest.Ctx, c, "main", "refs/heads/agent/x"))(t)
	asked := gittest.Read(t, d.Home, "asked")
	assert.Contains(t, asked, "git@hub.example.com")
	assert.Contains(t, asked, "agent=/sock")
	assert.Equal(t, 1, strings.Count(asked, "\n"))
}
