package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
)

// alone is a person's checkout whose own branches are merged: agent/x is a fast-forward of main, which is checked out.
func alone(t *testing.T) (d *desk, c *git.Checkout, met git.Met) {
	d = newDesk(t)
	d.git(d.dir, "branch", "-q", "agent/x", "origin/agent/x")
	d.git(d.dir, "remote", "remove", "origin")
	c = d.open(func(o *git.LocalOptions) { o.Local = true })
	met, err := c.MeetLocal(ctx, "main", "agent/x")
	require.NoError(t, err)
	assert.Equal(t, met.MergeBase, met.BaseSHA)
	return d, c, met
}

func (d *desk) local(ref string) string { return d.git(d.dir, "rev-parse", ref) }

func TestMeetLocal(t *testing.T) {
	d, c, met := alone(t)
	assert.Equal(t, git.Met{BaseSHA: d.local("main"), HeadSHA: d.local("agent/x"), MergeBase: d.local("main")}, met)
	for _, pair := range [][3]string{{"none", "agent/x", "refs/heads/none"}, {"main", "none", "refs/heads/none"}} {
		_, err := c.MeetLocal(ctx, pair[0], pair[1])
		var none *git.ErrNoRef
		require.ErrorAs(t, err, &none)
		assert.Equal(t, pair[2], none.Ref)
	}
	d.git(d.dir, "checkout", "-q", "--orphan", "other")
	d.git(d.dir, "commit", "-q", "-m", "other")
	met, err := c.MeetLocal(ctx, "main", "other")
	require.NoError(t, err)
	assert.True(t, met.Unrelated)
	_, err = c.MeetLocal(ctx, "main", "main")
	assert.ErrorContains(t, err, "not two branches")
	assert.Zero(t, c.NetworkCalls())

	d = newDesk(t, "--depth=1", "--no-single-branch")
	d.git(d.dir, "branch", "-q", "agent/x", "origin/agent/x")
	_, err = d.open().MeetLocal(ctx, "main", "agent/x")
	assert.ErrorContains(t, err, "git fetch --unshallow")
}

func TestABaseThatIsCheckedOutIsForwardedWithItsFiles(t *testing.T) {
	d, c, met := alone(t)
	trap, traces := canary(t)
	for _, hook := range []string{"post-checkout", "post-merge", "reference-transaction", "post-index-change"} {
		require.NoError(t, os.WriteFile(filepath.Join(d.dir, ".git", "hooks", hook), []byte("#!/bin/sh\nexec "+trap+"\n"), 0o755))
	}
	d.config("core.autocrlf", "true")
	d.config("core.fsmonitor", trap)
	write(t, d.dir, map[string]string{"own.txt": "not tracked\n", "dir/b.txt": "b\n"}) // written, and not changed
	require.NoError(t, c.LandLocal(ctx, "main", met.BaseSHA, met.HeadSHA))
	assert.Equal(t, met.HeadSHA, d.local("main"))
	assert.Equal(t, "refs/heads/main", d.git(d.dir, "symbolic-ref", "HEAD"))
	assert.Equal(t, "new\r\n", read(t, d.dir, "new.txt"), "as the person's own git writes it")
	assert.Equal(t, "?? own.txt", d.git(d.dir, "--no-optional-locks", "-c", "core.autocrlf=true", "status", "--porcelain"))
	assert.Contains(t, d.git(d.dir, "reflog", "-1", "HEAD"), "mergexo: merge")
	assert.Empty(t, traces())
	require.NoError(t, c.LandLocal(ctx, "main", met.BaseSHA, met.HeadSHA), "it is there already")
}

func TestABaseInALinkedWorktreeIsForwardedThere(t *testing.T) {
	d, c, met := alone(t)
	d.git(d.dir, "checkout", "-q", "--detach")
	linked := d.dir + "-linked"
	d.git(d.dir, "worktree", "add", "-q", linked, "main")
	require.NoError(t, c.LandLocal(ctx, "main", met.BaseSHA, met.HeadSHA))
	assert.Equal(t, met.HeadSHA, d.local("main"))
	assert.Equal(t, "new\n", read(t, linked, "new.txt"))
	assert.Empty(t, d.git(linked, "status", "--porcelain"))
	assert.NoFileExists(t, filepath.Join(d.dir, "new.txt"))
	assert.Empty(t, d.git(d.dir, "status", "--porcelain"))
}

func TestABaseThatNobodyHasCheckedOutMovesAlone(t *testing.T) {
	d, c, met := alone(t)
	d.git(d.dir, "checkout", "-q", "-b", "elsewhere")
	write(t, d.dir, map[string]string{"a.txt": "changed\n"})
	require.NoError(t, c.LandLocal(ctx, "main", met.BaseSHA, met.HeadSHA))
	assert.Equal(t, met.HeadSHA, d.local("main"))
	assert.Equal(t, "M a.txt", d.git(d.dir, "status", "--porcelain"))

	bare := d.dir + ".git"
	d.git(d.home, "clone", "-q", "--bare", d.dir, bare)
	d.git(bare, "update-ref", "refs/heads/main", met.BaseSHA)
	c = d.open(func(o *git.LocalOptions) { o.Local, o.Dir = true, bare })
	require.NoError(t, c.LandLocal(ctx, "main", met.BaseSHA, met.HeadSHA))
	assert.Equal(t, met.HeadSHA, d.git(bare, "rev-parse", "main"))
}

func TestADirtyBaseStaysAsItIs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spoil func(d *desk)
		say   string
		paths []string
	}{
		"a changed file": {func(d *desk) { write(d.t, d.dir, map[string]string{"dir/b.txt": "changed\n"}) }, "files are changed", []string{"dir/b.txt"}},
		"a deleted file": {func(d *desk) { write(d.t, d.dir, map[string]string{"dir/b.txt": ""}) }, "files are changed", []string{"dir/b.txt"}},
		"a staged file":  {func(d *desk) { write(d.t, d.dir, map[string]string{"s.txt": "s\n"}); d.git(d.dir, "add", "s.txt") }, "files are changed", []string{"s.txt"}},
		"a file that git was told not to look at": {func(d *desk) {
			d.git(d.dir, "update-index", "--assume-unchanged", "a.txt")
			write(d.t, d.dir, map[string]string{"a.txt": "changed\n"})
		}, "files are changed", []string{"a.txt"}},
		"an untracked file in the way": {func(d *desk) { write(d.t, d.dir, map[string]string{"new.txt": "mine\n"}) }, "git does not track", []string{"new.txt"}},
		"an ignored file in the way": {func(d *desk) {
			write(d.t, d.dir, map[string]string{".git/info/exclude": "new.txt\n", "new.txt": "mine\n"})
		}, "git does not track", []string{"new.txt"}},
		"an untracked directory in the way": {func(d *desk) { write(d.t, d.dir, map[string]string{"new.txt/own.txt": "mine\n"}) }, "git does not track", []string{"new.txt/own.txt"}},
		"a merge": {func(d *desk) {
			d.git(d.dir, "merge", "-q", "--no-ff", "--no-commit", "agent/x")
			d.git(d.dir, "reset", "-q", "--hard") // which ends it
			write(d.t, d.dir, map[string]string{".git/MERGE_HEAD": d.local("agent/x") + "\n"})
		}, "a merge is in progress", nil},
		"a rebase of it": {func(d *desk) {
			write(d.t, d.dir, map[string]string{"r.txt": "r\n"})
			d.git(d.dir, "checkout", "-q", "--detach")
			write(d.t, d.dir, map[string]string{".git/rebase-merge/head-name": "refs/heads/main\n"})
		}, "a rebase or a bisection of it is in progress", nil},
		"another git": {func(d *desk) { write(d.t, d.dir, map[string]string{".git/index.lock": "x"}) }, "another git is in progress", nil},
		"two worktrees": {func(d *desk) {
			d.git(d.dir, "worktree", "add", "-q", "-f", d.dir+"-linked", "main")
		}, "not the only place", nil},
		"a worktree that is gone": {func(d *desk) {
			d.git(d.dir, "checkout", "-q", "--detach")
			d.git(d.dir, "worktree", "add", "-q", d.dir+"-linked", "main")
			require.NoError(d.t, os.RemoveAll(d.dir+"-linked"))
		}, "git worktree prune", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, c, met := alone(t)
			test.spoil(d)
			before := d.git(d.dir, "status", "--porcelain", "--ignored") + read(t, d.dir, ".git", "HEAD")
			err := c.LandLocal(ctx, "main", met.BaseSHA, met.HeadSHA)
			var dirty *git.ErrDirty
			require.ErrorAs(t, err, &dirty)
			assert.Contains(t, dirty.Why, test.say)
			assert.Equal(t, test.paths, dirty.Paths)
			assert.True(t, strings.HasPrefix(dirty.Dir, d.dir), dirty.Dir)
			assert.Equal(t, met.BaseSHA, d.local("main"))
			if name != "another git" {
				assert.Equal(t, before, d.git(d.dir, "status", "--porcelain", "--ignored")+read(t, d.dir, ".git", "HEAD"))
			}
			assert.NoFileExists(t, filepath.Join(d.dir, ".git", "refs", "heads", "main.lock"))
		})
	}
}

func TestABaseThatHasMovedOrWouldBeRewound(t *testing.T) {
	d, c, met := alone(t)
	var rewind *git.ErrRewind
	require.ErrorAs(t, c.LandLocal(ctx, "agent/x", met.HeadSHA, met.BaseSHA), &rewind)
	d.git(d.dir, "commit", "-q", "--allow-empty", "-m", "meanwhile")
	moved := d.local("main")
	var rejected *git.ErrRejected
	require.ErrorAs(t, c.LandLocal(ctx, "main", met.BaseSHA, met.HeadSHA), &rejected)
	assert.Equal(t, git.Stale, rejected.Reason)
	assert.Equal(t, moved, d.local("main"))
	write(t, d.dir, map[string]string{".git/refs/heads/main.lock": "x"})
	require.ErrorAs(t, c.LandLocal(ctx, "main", moved, d.git(d.dir, "commit-tree", "-p", moved, "-m", "next", moved+"^{tree}")), &rejected)
	assert.Equal(t, git.Stale, rejected.Reason, "somebody holds it")
	assert.Equal(t, moved, d.local("main"))
}

func TestALocalBranchMovesUnlessSomebodyIsOnIt(t *testing.T) {
	d, c, met := alone(t)
	require.NoError(t, c.MoveLocal(ctx, "agent/x", met.HeadSHA, met.BaseSHA))
	assert.Equal(t, met.BaseSHA, d.local("agent/x"))
	require.NoError(t, c.MoveLocal(ctx, "agent/x", met.HeadSHA, met.BaseSHA), "it is there already")
	var rejected *git.ErrRejected
	require.ErrorAs(t, c.MoveLocal(ctx, "agent/x", met.HeadSHA, d.local("main~1")), &rejected)
	assert.Equal(t, git.Stale, rejected.Reason)

	var taken *git.ErrCheckedOut
	require.ErrorAs(t, c.MoveLocal(ctx, "main", met.BaseSHA, met.HeadSHA), &taken)
	assert.Equal(t, d.dir, taken.Dir)
	assert.Equal(t, met.BaseSHA, d.local("main"))
	d.git(d.dir, "worktree", "add", "-q", d.dir+"-linked", "agent/x")
	require.ErrorAs(t, c.MoveLocal(ctx, "agent/x", met.BaseSHA, met.HeadSHA), &taken)
	assert.Equal(t, d.dir+"-linked", taken.Dir)
}
