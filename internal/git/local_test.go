package git_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
)

// desk is a person's clone of the hub's repository by path, with a home of its own.
type desk struct {
	*hub
	dir, home string
}

func newDesk(t *testing.T, more ...string) *desk {
	t.Helper()
	h := newHub(t)
	h.commit("main", "base", map[string]string{"a.txt": lines("a", 10, nil), "dir/b.txt": "b\n"})
	h.commit("agent/x", "work", map[string]string{"a.txt": lines("a", 10, map[int]string{0: "top"}), "new.txt": "new\n"})
	d := &desk{hub: h, dir: filepath.Join(t.TempDir(), "clone"), home: t.TempDir()}
	h.git(filepath.Dir(d.dir), append(append([]string{"clone", "-q"}, more...), "file://"+h.bare, d.dir)...)
	d.config("user.name", "Ada")
	d.config("user.email", "ada@example.com")
	return d
}

func (d *desk) config(key, value string) {
	d.t.Helper()
	d.git(d.dir, "config", "--file", filepath.Join(d.home, ".gitconfig"), key, value)
}

func (d *desk) try(adjust ...func(*git.LocalOptions)) (*git.Checkout, error) {
	opt := git.LocalOptions{
		Dir: d.dir, Temp: d.t.TempDir(), Path: os.Getenv("PATH"), Env: []string{"HOME=" + d.home, "LANG=de_DE.UTF-8", "GIT_DIR=/nowhere"},
		Now: func() time.Time { return time.Unix(1800000000, 0) },
	}
	for _, change := range adjust {
		change(&opt)
	}
	c, err := git.OpenLocal(ctx, opt)
	if err == nil {
		d.t.Cleanup(func() { require.NoError(d.t, c.Close()) })
	}
	return c, err
}

func (d *desk) open(adjust ...func(*git.LocalOptions)) *git.Checkout {
	d.t.Helper()
	c, err := d.try(adjust...)
	require.NoError(d.t, err)
	return c
}

// state is all of a checkout that a merge with the origin leaves alone.
func (d *desk) state() string {
	d.t.Helper()
	said := d.git(d.dir, "for-each-ref") + read(d.t, d.dir, ".git", "HEAD") + read(d.t, d.dir, ".git", "config")
	out := d.git(d.dir, "--no-optional-locks", "status", "--porcelain")
	return said + out + fmt.Sprint(os.Stat(filepath.Join(d.dir, ".git", "FETCH_HEAD")))
}

func TestAPersonsCheckoutMeetsItsOrigin(t *testing.T) {
	t.Parallel()
	for name, adjust := range map[string]func(t *testing.T, d *desk){
		"a working tree":   func(*testing.T, *desk) {},
		"a path":           func(_ *testing.T, d *desk) { d.git(d.dir, "remote", "set-url", "origin", d.bare) },
		"a path from here": func(t *testing.T, d *desk) { d.git(d.dir, "remote", "set-url", "origin", relative(t, d.dir, d.bare)) },
		"below the top":    func(_ *testing.T, d *desk) { d.dir = filepath.Join(d.dir, "dir") },
		"by a name of the person's": func(_ *testing.T, d *desk) {
			d.git(d.dir, "remote", "set-url", "origin", "hub:widgets")
			d.config("url."+d.bare+".insteadOf", "hub:widgets")
		},
		"by a name of the checkouts": func(_ *testing.T, d *desk) {
			d.git(d.dir, "remote", "set-url", "origin", "hub:widgets")
			d.git(d.dir, "config", "url."+d.bare+".insteadOf", "hub:widgets")
		},
		"a bare repository": func(_ *testing.T, d *desk) {
			d.git(d.home, "clone", "-q", "--bare", d.bare, d.dir+".git")
			d.dir += ".git"
		},
		"a linked worktree": func(_ *testing.T, d *desk) {
			d.git(d.dir, "worktree", "add", "-q", d.dir+"-linked")
			d.dir += "-linked"
		},
		"over HTTP with a credential of the person's": func(_ *testing.T, d *desk) {
			d.git(d.dir, "remote", "set-url", "origin", d.url)
			d.config("credential.helper", "!f() { echo username=x; echo password="+token+"; }; f")
		},
		"over HTTP with a credential of the checkout's": func(_ *testing.T, d *desk) {
			d.git(d.dir, "remote", "set-url", "origin", d.url)
			d.git(d.dir, "config", "http.extraheader", header)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			adjust(t, d)
			head := d.tip("agent/x")
			base := d.commit("main", "more", map[string]string{"c.txt": "c\n"})
			c := d.open()
			met, err := c.Meet(ctx, "main", "refs/heads/agent/x")
			require.NoError(t, err)
			assert.Equal(t, git.Met{BaseSHA: base, HeadSHA: head, MergeBase: d.git(d.bare, "rev-parse", "main~1")}, met)
			lock, err := c.Lock(ctx, "main", lease("one", 60))
			require.NoError(t, err)
			assert.Equal(t, "Ada <ada@example.com>", d.git(d.bare, "log", "-1", "--format=%cn <%ce>", lock.Ref().SHA))
			tree := d.git(d.bare, "merge-tree", "--write-tree", base, head)
			merged := d.git(d.bare, "commit-tree", "-m", "merge", "-p", base, "-p", head, tree)
			d.git(d.bare, "update-ref", "refs/heads/tested", merged)
			require.NoError(t, c.Have(ctx, merged))
			require.NoError(t, c.Publish(ctx, git.Publish{Branch: "main", Start: base, SHA: merged, Drop: []git.Ref{lock.Ref()}}))
			assert.Equal(t, merged, d.tip("main"))
			assert.Empty(t, d.tip(lock.Ref().Name))
			require.NoError(t, c.Rewrite(ctx, "agent/x", head, merged))
			assert.Equal(t, 5, c.NetworkCalls())
		})
	}
}

func relative(t *testing.T, from, to string) string {
	t.Helper()
	path, err := filepath.Rel(from, to)
	require.NoError(t, err)
	return path
}

func TestAPersonsFilesStayAsTheyAre(t *testing.T) {
	d := newDesk(t)
	trap, traces := canary(t)
	for _, hook := range []string{"pre-push", "reference-transaction", "post-checkout", "post-merge", "post-index-change"} {
		require.NoError(t, os.WriteFile(filepath.Join(d.dir, ".git", "hooks", hook), []byte("#!/bin/sh\nexec "+trap+"\n"), 0o755))
	}
	write(t, d.dir, map[string]string{"a.txt": "changed\n", "own.txt": "not tracked\n"})
	before := d.state()
	c := d.open()
	met, err := c.Meet(ctx, "main", "refs/heads/agent/x")
	require.NoError(t, err)
	tree, remove, err := c.TestTree(ctx, met.HeadSHA)
	require.NoError(t, err)
	assert.Equal(t, "new\n", read(t, tree, "new.txt"))
	require.NoError(t, remove())
	require.NoError(t, c.Publish(ctx, git.Publish{Branch: "main", Start: met.BaseSHA, SHA: met.HeadSHA}))
	require.NoError(t, c.Close())
	assert.Equal(t, before, d.state())
	assert.Equal(t, "changed\n", read(t, d.dir, "a.txt"))
	for _, trace := range traces() {
		assert.NotContains(t, read(t, trace), d.dir+"/.git", "a hook of the checkout ran")
	}
	assert.Empty(t, traces())
}

func TestAPersonsShallowAndPartialClones(t *testing.T) {
	for _, how := range []string{"--depth=1", "--filter=blob:none"} {
		t.Run(how, func(t *testing.T) {
			d := newDesk(t, how)
			d.grow("main", 60)
			c := d.open()
			met, err := c.Meet(ctx, "main", "refs/heads/agent/x")
			require.NoError(t, err)
			assert.Equal(t, d.git(d.bare, "merge-base", "main", "agent/x"), met.MergeBase)
			assert.Equal(t, 2, c.NetworkCalls())
			d.git(d.dir, "fsck", "--connectivity-only")
		})
	}
}

func TestWhatACheckoutLacksIsSaid(t *testing.T) {
	d := newDesk(t)
	d.git(d.dir, "config", "--file", filepath.Join(d.home, ".gitconfig"), "--unset", "user.email")
	_, err := d.try()
	var nobody *git.ErrNoIdentity
	require.ErrorAs(t, err, &nobody)
	assert.ErrorContains(t, err, "git config --global user.email")
	d.git(d.dir, "config", "user.email", "ada@work.example.com")
	d.open()

	d.git(d.dir, "remote", "rename", "origin", "upstream")
	_, err = d.try()
	var nowhere *git.ErrNoOrigin
	require.ErrorAs(t, err, &nowhere)
	d.open(func(o *git.LocalOptions) { o.Local = true })

	_, err = d.try(func(o *git.LocalOptions) { o.Dir = d.home })
	require.ErrorIs(t, err, git.ErrNoRepository)
	_, err = d.try(func(o *git.LocalOptions) { o.Dir = filepath.Join(d.home, "none") })
	assert.ErrorContains(t, err, "not a directory")
}

func TestAnOriginThatIsNotThereOrAsksForAPassword(t *testing.T) {
	d := newDesk(t)
	for url, want := range map[string]git.Failure{d.home + "/none.git": git.NotFound, d.url: git.Denied} {
		d.git(d.dir, "remote", "set-url", "origin", url)
		_, err := d.open().Meet(ctx, "main", "refs/heads/agent/x")
		var failed *git.Error
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, want, failed.Failure, strings.TrimSpace(failed.Stderr))
	}
}

func TestAPersonsOwnSSHIsUsedForTheOriginAlone(t *testing.T) {
	d := newDesk(t)
	script := filepath.Join(d.home, "ssh")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\necho \"$@ agent=$SSH_AUTH_SOCK\" >>"+d.home+"/asked\nshift $(($# - 1))\nexec sh -c \"$1\"\n"), 0o755))
	d.git(d.dir, "remote", "set-url", "origin", "ssh://git@hub.example.com"+d.bare)
	c := d.open(func(o *git.LocalOptions) {
		o.Env = append(o.Env, "GIT_SSH_COMMAND="+script, "GIT_SSH_VARIANT=ssh", "SSH_AUTH_SOCK=/sock", "PATH=/nowhere", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.version", "GIT_CONFIG_VALUE_0=1")
	})
	_, err := c.Meet(ctx, "main", "refs/heads/agent/x")
	require.NoError(t, err)
	asked := read(t, d.home, "asked")
	assert.Contains(t, asked, "git@hub.example.com")
	assert.Contains(t, asked, "agent=/sock")
	assert.Equal(t, 1, strings.Count(asked, "\n"))
}
