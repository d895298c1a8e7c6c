package checkout_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
)

// alone is a person's checkout whose own branches are merged: agent/x is a fast-forward of main, which is checked out.
func alone(t *testing.T) (d *gittest.Desk, c *git.Checkout, met history.Divergence) {
	d = gittest.NewDesk(t)
	d.Git(d.Dir, "branch", "-q", "agent/x", "origin/agent/x")
	d.Git(d.Dir, "remote", "remove", "origin")
	c = d.Open(func(o *git.LocalOptions) { o.Local = true })
	met = gittest.Must(checkout.LocalMergeBase(gittest.Ctx, c, "main", "agent/x"))(t)
	assert.Equal(t, met.MergeBase, met.BaseSHA)
	return d, c, met
}

func TestMeetLocal(t *testing.T) {
	d, c, met := alone(t)
	assert.Equal(t, history.Divergence{BaseSHA: d.Local("main"), HeadSHA: d.Local("agent/x"), MergeBase: d.Local("main")}, met)
	for _, pair := range [][3]string{{"none", "agent/x", "refs/heads/none"}, {"main", "none", "refs/heads/none"}} {
		_, err := checkout.LocalMergeBase(gittest.Ctx, c, pair[0], pair[1])
		assert.Equal(t, pair[2], gittest.As[*git.ErrNoRef](t, err).Ref)
	}
	d.Git(d.Dir, "checkout", "-q", "--orphan", "other")
	d.Git(d.Dir, "commit", "-q", "-m", "other")
	assert.True(t, gittest.Must(checkout.LocalMergeBase(gittest.Ctx, c, "main", "other"))(t).Unrelated)
	assert.ErrorContains(t, gittest.Err(checkout.LocalMergeBase(gittest.Ctx, c, "main", "main")), "not two branches")
	assert.Zero(t, c.NetworkCalls())

	d = gittest.NewDesk(t, "--depth=1", "--no-single-branch")
	d.Git(d.Dir, "branch", "-q", "agent/x", "origin/agent/x")
	assert.ErrorContains(t, gittest.Err(checkout.LocalMergeBase(gittest.Ctx, d.Open(), "main", "agent/x")), "git fetch --unshallow")
}

func TestABaseThatIsCheckedOutIsForwardedWithItsFiles(t *testing.T) {
	d, c, met := alone(t)
	trap, traces := gittest.Canary(t)
	for _, hook := range []string{"post-checkout", "post-merge", "reference-transaction", "post-index-change"} {
		require.NoError(t, os.WriteFile(filepath.Join(d.Dir, ".git", "hooks", hook), []byte("#!/bin/sh\nexec "+trap+"\n"), 0o755))
	}
	d.Config("core.autocrlf", "true")
	d.Config("core.fsmonitor", trap)
	gittest.Write(t, d.Dir, map[string]string{"own.txt": "not tracked\n", "dir/b.txt": "b\n"}) // written, and not changed
	require.NoError(t, checkout.LandLocal(gittest.Ctx, c, "main", met.BaseSHA, met.HeadSHA))
	assert.Equal(t, met.HeadSHA, d.Local("main"))
	assert.Equal(t, "refs/heads/main", d.Git(d.Dir, "symbolic-ref", "HEAD"))
	assert.Equal(t, "new\r\n", gittest.Read(t, d.Dir, "new.txt"), "as the person's own git writes it")
	assert.Equal(t, "?? own.txt", d.Git(d.Dir, "--no-optional-locks", "-c", "core.autocrlf=true", "status", "--porcelain"))
	assert.Contains(t, d.Git(d.Dir, "reflog", "-1", "HEAD"), "mergexo: merge")
	assert.Empty(t, traces())
	require.NoError(t, checkout.LandLocal(gittest.Ctx, c, "main", met.BaseSHA, met.HeadSHA), "it exists already")
}

func TestABaseInALinkedWorktreeIsForwardedThere(t *testing.T) {
	d, c, met := alone(t)
	d.Git(d.Dir, "checkout", "-q", "--detach")
	linked := d.Dir + "-linked"
	d.Git(d.Dir, "worktree", "add", "-q", linked, "main")
	require.NoError(t, checkout.LandLocal(gittest.Ctx, c, "main", met.BaseSHA, met.HeadSHA))
	assert.Equal(t, met.HeadSHA, d.Local("main"))
	assert.Equal(t, "new\n", gittest.Read(t, linked, "new.txt"))
	assert.Empty(t, d.Git(linked, "status", "--porcelain"))
	assert.NoFileExists(t, filepath.Join(d.Dir, "new.txt"))
	assert.Empty(t, d.Git(d.Dir, "status", "--porcelain"))
}

func TestABaseThatNobodyHasCheckedOutMovesAlone(t *testing.T) {
	d, c, met := alone(t)
	d.Git(d.Dir, "checkout", "-q", "-b", "elsewhere")
	gittest.Write(t, d.Dir, map[string]string{"a.txt": "changed\n"})
	require.NoError(t, checkout.LandLocal(gittest.Ctx, c, "main", met.BaseSHA, met.HeadSHA))
	assert.Equal(t, met.HeadSHA, d.Local("main"))
	assert.Equal(t, "M a.txt", d.Git(d.Dir, "status", "--porcelain"))

	bare := d.Dir + ".git"
	d.Git(d.Home, "clone", "-q", "--bare", d.Dir, bare)
	d.Git(bare, "update-ref", "refs/heads/main", met.BaseSHA)
	c = d.Open(func(o *git.LocalOptions) { o.Local, o.Dir = true, bare })
	require.NoError(t, checkout.LandLocal(gittest.Ctx, c, "main", met.BaseSHA, met.HeadSHA))
	assert.Equal(t, met.HeadSHA, d.Git(bare, "rev-parse", "main"))
}

// TestADirtyBaseStaysAsItIs: CanLandLocal says what LandLocal says, and changes nothing, not even the index.
func TestADirtyBaseStaysAsItIs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spoil func(d *gittest.Desk)
		say   string // "": it lands
		paths []string
	}{
		"clean": {func(*gittest.Desk) {}, "", nil},
		"not checked out": {func(d *gittest.Desk) {
			d.Git(d.Dir, "checkout", "-q", "--detach")
			gittest.Write(d.T, d.Dir, map[string]string{"a.txt": "changed\n"})
		}, "", nil},
		"a file that was only touched": {func(d *gittest.Desk) {
			require.NoError(d.T, os.Chtimes(filepath.Join(d.Dir, "a.txt"), time.Unix(1e9, 0), time.Unix(1e9, 0)))
		}, "", nil},
		"an index in two parts": {func(d *gittest.Desk) { d.Git(d.Dir, "update-index", "--split-index") }, "", nil},
		"a changed file":        {func(d *gittest.Desk) { gittest.Write(d.T, d.Dir, map[string]string{"dir/b.txt": "changed\n"}) }, "files are changed", []string{"dir/b.txt"}},
		"a deleted file":        {func(d *gittest.Desk) { gittest.Write(d.T, d.Dir, map[string]string{"dir/b.txt": ""}) }, "files are changed", []string{"dir/b.txt"}},
		"a staged file": {func(d *gittest.Desk) {
			gittest.Write(d.T, d.Dir, map[string]string{"s.txt": "s\n"})
			d.Git(d.Dir, "add", "s.txt")
		}, "files are changed", []string{"s.txt"}},
		"a file that git was told not to look at": {func(d *gittest.Desk) {
			d.Git(d.Dir, "update-index", "--assume-unchanged", "a.txt")
			gittest.Write(d.T, d.Dir, map[string]string{"a.txt": "changed\n"})
		}, "files are changed", []string{"a.txt"}},
		"an untracked file in the way": {func(d *gittest.Desk) { gittest.Write(d.T, d.Dir, map[string]string{"new.txt": "mine\n"}) }, "git does not track", []string{"new.txt"}},
		"an ignored file in the way": {func(d *gittest.Desk) {
			gittest.Write(d.T, d.Dir, map[string]string{".git/info/exclude": "new.txt\n", "new.txt": "mine\n"})
		}, "git does not track", []string{"new.txt"}},
		"an untracked directory in the way": {func(d *gittest.Desk) { gittest.Write(d.T, d.Dir, map[string]string{"new.txt/own.txt": "mine\n"}) }, "git does not track", []string{"new.txt/own.txt"}},
		"a merge": {func(d *gittest.Desk) {
			d.Git(d.Dir, "merge", "-q", "--no-ff", "--no-commit", "agent/x")
			d.Git(d.Dir, "reset", "-q", "--hard") // which ends it
			gittest.Write(d.T, d.Dir, map[string]string{".git/MERGE_HEAD": d.Local("agent/x") + "\n"})
		}, "a merge is in progress", nil},
		"a rebase of it": {func(d *gittest.Desk) {
			gittest.Write(d.T, d.Dir, map[string]string{"r.txt": "r\n"})
			d.Git(d.Dir, "checkout", "-q", "--detach")
			gittest.Write(d.T, d.Dir, map[string]string{".git/rebase-merge/head-name": "refs/heads/main\n"})
		}, "a rebase or a bisection of it is in progress", nil},
		"another git": {func(d *gittest.Desk) { gittest.Write(d.T, d.Dir, map[string]string{".git/index.lock": "x"}) }, "another git is in progress", nil},
		"two worktrees": {func(d *gittest.Desk) {
			d.Git(d.Dir, "worktree", "add", "-q", "-f", d.Dir+"-linked", "main")
		}, "not the only place", nil},
		"a worktree that is gone": {func(d *gittest.Desk) {
			d.Git(d.Dir, "checkout", "-q", "--detach")
			d.Git(d.Dir, "worktree", "add", "-q", d.Dir+"-linked", "main")
			require.NoError(d.T, os.RemoveAll(d.Dir+"-linked"))
		}, "git worktree prune", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, c, met := alone(t)
			test.spoil(d)
			state := func() []string {
				left := gittest.Must(filepath.Glob(filepath.Join(d.Dir, ".git", "sharedindex.*")))(t)
				return append(left, gittest.Read(t, d.Dir, ".git", "index"), gittest.Read(t, d.Dir, ".git", "HEAD"), d.Local("main"),
					d.Git(d.Dir, "--no-optional-locks", "status", "--porcelain", "--ignored"))
			}
			before := state()
			told := checkout.CanLandLocal(gittest.Ctx, c, "main", met.BaseSHA, met.HeadSHA)
			assert.Equal(t, before, state())
			err := checkout.LandLocal(gittest.Ctx, c, "main", met.BaseSHA, met.HeadSHA)
			if test.say == "" {
				require.NoError(t, errors.Join(told, err))
				return
			}
			dirty := gittest.As[*checkout.ErrDirty](t, err)
			assert.Equal(t, dirty, gittest.As[*checkout.ErrDirty](t, told))
			assert.Contains(t, dirty.Why, test.say)
			assert.Equal(t, test.paths, dirty.Paths)
			assert.True(t, strings.HasPrefix(dirty.Dir, d.Dir), dirty.Dir)
			assert.Equal(t, met.BaseSHA, d.Local("main"))
			if now := state(); name != "a file that git was told not to look at" { // whose index is refreshed
				assert.Equal(t, before, now)
			}
			assert.NoFileExists(t, filepath.Join(d.Dir, ".git", "refs", "heads", "main.lock"))
		})
	}
}

func TestABaseThatHasMovedOrWouldBeRewound(t *testing.T) {
	d, c, met := alone(t)
	require.ErrorAs(t, checkout.LandLocal(gittest.Ctx, c, "agent/x", met.HeadSHA, met.BaseSHA), new(*git.ErrRewind))
	d.Git(d.Dir, "commit", "-q", "--allow-empty", "-m", "meanwhile")
	moved := d.Local("main")
	rejected := gittest.As[*git.ErrRejected](t, checkout.LandLocal(gittest.Ctx, c, "main", met.BaseSHA, met.HeadSHA))
	assert.Equal(t, git.Stale, rejected.Reason)
	assert.Equal(t, moved, d.Local("main"))
	gittest.Write(t, d.Dir, map[string]string{".git/refs/heads/main.lock": "x"})
	require.ErrorAs(t, checkout.LandLocal(gittest.Ctx, c, "main", moved, d.Git(d.Dir, "commit-tree", "-p", moved, "-m", "next", moved+"^{tree}")), &rejected)
	assert.Equal(t, git.Stale, rejected.Reason, "somebody holds it")
	assert.Equal(t, moved, d.Local("main"))
}

func TestALocalBranchMovesUnlessSomebodyIsOnIt(t *testing.T) {
	d, c, met := alone(t)
	require.NoError(t, checkout.MoveLocal(gittest.Ctx, c, "agent/x", met.HeadSHA, met.BaseSHA))
	assert.Equal(t, met.BaseSHA, d.Local("agent/x"))
	require.NoError(t, checkout.MoveLocal(gittest.Ctx, c, "agent/x", met.HeadSHA, met.BaseSHA), "it exists already")
	rejected := gittest.As[*git.ErrRejected](t, checkout.MoveLocal(gittest.Ctx, c, "agent/x", met.HeadSHA, d.Local("main~1")))
	assert.Equal(t, git.Stale, rejected.Reason)

	taken := gittest.As[*checkout.ErrCheckedOut](t, checkout.MoveLocal(gittest.Ctx, c, "main", met.BaseSHA, met.HeadSHA))
	assert.Equal(t, d.Dir, taken.Dir)
	assert.Equal(t, met.BaseSHA, d.Local("main"))
	d.Git(d.Dir, "worktree", "add", "-q", d.Dir+"-linked", "agent/x")
	require.ErrorAs(t, checkout.MoveLocal(gittest.Ctx, c, "agent/x", met.BaseSHA, met.HeadSHA), &taken)
	assert.Equal(t, d.Dir+"-linked", taken.Dir)
}
