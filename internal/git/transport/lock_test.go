package transport_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/must"
)

func TestALockIsTakenOnceAndGivenBack(t *testing.T) {
	h := gittest.NewHub(t)
	one, two := h.At(0), h.At(10)
	lock := gittest.Must(transport.AcquireLock(gittest.Ctx, one, "main", gittest.Lease("one", 60)))(t)
	assert.Equal(t, 1, one.NetworkCalls())
	assert.Equal(t, git.Ref{Name: "refs/mergexo/lock/main", SHA: h.Tip("refs/mergexo/lock/main")}, lock.Ref())
	assert.Empty(t, h.Git(h.Bare, "ls-tree", lock.Ref().SHA))
	assert.JSONEq(t, `{"holder":"one","until":"2027-01-15T08:01:00Z","url":"https://example.com/runs/one"}`, h.Git(h.Bare, "log", "-1", "--format=%B", lock.Ref().SHA))

	_, err := transport.AcquireLock(gittest.Ctx, two, "main", gittest.Lease("two", 60))
	locked := gittest.As[*transport.ErrLocked](t, err)
	assert.Equal(t, gittest.Lease("one", 60), locked.Lease)
	assert.Equal(t, lock.Ref(), git.Ref{Name: locked.Ref, SHA: locked.SHA})
	assert.ErrorContains(t, err, "branch main is locked by one until 2027-01-15T08:01:00Z")
	assert.Equal(t, 2, two.NetworkCalls())

	require.NoError(t, transport.Unlock(gittest.Ctx, one, lock))
	assert.Empty(t, h.Tip("refs/mergexo/lock/main"))
	require.NoError(t, transport.Unlock(gittest.Ctx, one, lock), "gone already")
	mine := gittest.Must(transport.AcquireLock(gittest.Ctx, two, "main", gittest.Lease("two", 60)))(t)
	require.NoError(t, transport.Unlock(gittest.Ctx, one, lock), "somebody else's")
	assert.Equal(t, mine.Ref().SHA, h.Tip("refs/mergexo/lock/main"))
}

func TestALockThatHasExpiredOrIsOursIsTakenOver(t *testing.T) {
	t.Parallel()
	type row struct {
		holder string
		now    int64
	}
	must.Each(t, map[string]row{"expired": {"two", 60}, "ours": {"one", 10}}, func(t *testing.T, test row) {
		t.Parallel()
		h := gittest.NewHub(t)
		old := gittest.Must(transport.AcquireLock(gittest.Ctx, h.At(0), "main", gittest.Lease("one", 60)))(t)
		c := h.At(test.now)
		lock := gittest.Must(transport.AcquireLock(gittest.Ctx, c, "main", gittest.Lease(test.holder, 200)))(t)
		assert.Equal(t, 3, c.NetworkCalls())
		assert.NotEqual(t, old.Ref().SHA, lock.Ref().SHA)
		assert.Equal(t, lock.Ref().SHA, h.Tip("refs/mergexo/lock/main"))
	})
}

func TestALockOfTheDeadIsTakenUnderTheTakersName(t *testing.T) {
	t.Parallel()
	h := gittest.NewHub(t)
	c := h.At(10)
	from := h.Dead(c)
	calls := c.NetworkCalls()
	lock := gittest.Must(transport.TakeOverLock(gittest.Ctx, c, from, gittest.Lease("two", 600)))(t)
	assert.Equal(t, calls+1, c.NetworkCalls())
	assert.Equal(t, "two", lock.Holder)
	assert.Equal(t, lock.Ref().SHA, h.Tip("refs/mergexo/lock/main"))
	_, err := transport.AcquireLock(gittest.Ctx, h.At(20), "main", gittest.Lease("dead", 600))
	locked := gittest.As[*transport.ErrLocked](t, err, "the dead one's next run does not take it for its own")
	assert.Equal(t, lock.Lease, locked.Lease)

	_, err = transport.TakeOverLock(gittest.Ctx, c, &transport.ErrLocked{Base: "main", Ref: "refs/heads/main", SHA: from.SHA}, gittest.Lease("two", 600))
	require.ErrorContains(t, err, "is no lock of it")
	_, err = transport.TakeOverLock(gittest.Ctx, c, &transport.ErrLocked{Base: "main", Ref: from.Ref}, gittest.Lease("two", 600))
	require.ErrorContains(t, err, "is no lock of it")
}

func TestWhoeverIsFasterHasTheLockOfTheDead(t *testing.T) {
	t.Parallel()
	type row struct {
		meanwhile string // who has it by now
		mine      bool
	}
	must.Each(t, map[string]row{"somebody else": {"three", false}, "we, by another run": {"two", true}, "nobody": {"", true}}, func(t *testing.T, test row) {
		t.Parallel()
		h := gittest.NewHub(t)
		c := h.At(10)
		from := h.Dead(c)
		h.Git(h.Bare, "update-ref", "-d", "refs/mergexo/lock/main")
		if test.meanwhile != "" {
			gittest.Must(transport.AcquireLock(gittest.Ctx, h.At(5), "main", gittest.Lease(test.meanwhile, 500)))(t)
		}
		theirs := h.Tip("refs/mergexo/lock/main")
		lock, err := transport.TakeOverLock(gittest.Ctx, c, from, gittest.Lease("two", 600))
		if test.mine {
			require.NoError(t, err)
			assert.Equal(t, lock.Ref().SHA, h.Tip("refs/mergexo/lock/main"))
			return
		}
		locked := gittest.As[*transport.ErrLocked](t, err)
		assert.Equal(t, transport.ErrLocked{Base: "main", Ref: from.Ref, SHA: theirs, Lease: gittest.Lease(test.meanwhile, 500)}, *locked)
		assert.Equal(t, theirs, h.Tip("refs/mergexo/lock/main"))
	})
}

func TestLocksDoNotStandInEachOthersWay(t *testing.T) {
	t.Parallel()
	h := gittest.NewHub(t)
	c := h.At(0)
	long := strings.Repeat("release/", 30) + "ä"
	refs := map[string]string{}
	for _, base := range []string{"a", "a/b", "a/b/c", "a%2Fb", "release/1.x", "ä/ö", long, long + "x"} {
		lock := gittest.Must(transport.AcquireLock(gittest.Ctx, c, base, gittest.Lease("one", 60)))(t, base)
		assert.Empty(t, refs[lock.Ref().Name], "%s and %s", base, refs[lock.Ref().Name])
		refs[lock.Ref().Name] = base
	}
	assert.Equal(t, "a/b", refs["refs/mergexo/lock/a%2Fb"])
	assert.Equal(t, "release/1.x", refs["refs/mergexo/lock/release%2F1.x"])
}

// race runs two lockers at the same time and gives what each got.
func race(t *testing.T, h *gittest.Hub, base string, now int64) (locks [2]*transport.Lock, errs [2]error) {
	t.Helper()
	var both sync.WaitGroup
	checkouts := [2]*git.Checkout{h.At(now), h.At(now)}
	for i, holder := range []string{"one", "two"} {
		both.Go(func() {
			locks[i], errs[i] = transport.AcquireLock(gittest.Ctx, checkouts[i], base, gittest.Lease(holder, now+60))
		})
	}
	both.Wait()
	return locks, errs
}

func TestOfTwoLockersOneWins(t *testing.T) {
	t.Parallel()
	must.Each(t, map[string]bool{"nothing there": false, "an expired one": true}, func(t *testing.T, expired bool) {
		t.Parallel()
		h := gittest.NewHub(t)
		for range 4 {
			if expired {
				gittest.Must(transport.AcquireLock(gittest.Ctx, h.At(0), "main", gittest.Lease("dead", 60)))(t)
			}
			locks, errs := race(t, h, "main", 100)
			winner := 0
			if errs[0] != nil {
				winner = 1
			}
			require.NoError(t, errs[winner])
			assert.Equal(t, locks[winner].Lease, gittest.As[*transport.ErrLocked](t, errs[1-winner]).Lease)
			assert.Equal(t, locks[winner].Ref().SHA, h.Tip("refs/mergexo/lock/main"))
			h.Git(h.Bare, "update-ref", "-d", "refs/mergexo/lock/main")
		}
	})
}

func TestAnUnclearLockIsLookedAt(t *testing.T) {
	t.Parallel()
	type row struct{ applied, dead bool }
	must.Each(t, map[string]row{
		"applied": {applied: true}, "not applied": {}, "a takeover that is applied": {true, true}, "one that is not": {dead: true},
	}, func(t *testing.T, test row) {
		t.Parallel()
		h := gittest.NewHub(t)
		c := h.At(10)
		take := func() (*transport.Lock, error) {
			return transport.AcquireLock(gittest.Ctx, c, "main", gittest.Lease("one", 600))
		}
		if test.dead {
			from := h.Dead(c)
			take = func() (*transport.Lock, error) {
				return transport.TakeOverLock(gittest.Ctx, c, from, gittest.Lease("two", 600))
			}
		}
		h.Lose("/git-receive-pack", test.applied)
		lock := gittest.Must(take())(t)
		assert.Equal(t, lock.Ref().SHA, h.Tip("refs/mergexo/lock/main"))
		h.Lose("/git-receive-pack", test.applied)
		require.NoError(t, transport.Unlock(gittest.Ctx, c, lock))
		assert.Empty(t, h.Tip("refs/mergexo/lock/main"))
	})
}

func TestALockThatIsNoneNamesItselfAndHowToDeleteIt(t *testing.T) {
	h := gittest.NewHub(t)
	tree := h.Git(h.Bare, "rev-parse", "main^{tree}")
	commit := func(message string) string { return h.Git(h.Bare, "commit-tree", "-m", message, tree) }
	h.Git(h.Dev, "tag", "-a", "-m", `{"holder":"x","until":"2020-01-01T00:00:00Z"}`, "v1")
	h.Git(h.Dev, "push", "-q", "origin", "v1")
	must.Each(t, map[string]string{
		"a person's commit": h.Tip("main"), "a tag": h.Git(h.Bare, "rev-parse", "v1"), "no holder": commit(`{"until":"2020-01-01T00:00:00Z"}`),
		"no time": commit(`{"holder":"x"}`), "a time that is none": commit(`{"holder":"x","until":"soon"}`), "for ever": commit(`{"holder":"x","until":"2999-01-01T00:00:00Z"}`),
		"too large": commit(`{"holder":"` + strings.Repeat("x", 20000) + `","until":"2020-01-01T00:00:00Z"}`),
	}, func(t *testing.T, sha string) {
		h.Git(h.Bare, "update-ref", "refs/mergexo/lock/main", sha)
		c := h.At(0)
		_, err := transport.AcquireLock(gittest.Ctx, c, "main", gittest.Lease("one", 60))
		assert.Equal(t, sha, gittest.As[*transport.ErrLockUnreadable](t, err).SHA)
		assert.ErrorContains(t, err, "git push origin :refs/mergexo/lock/main")
		assert.Equal(t, 2, c.NetworkCalls())
		assert.Equal(t, sha, h.Tip("refs/mergexo/lock/main"))
	})
}

func TestAServerThatRefusesLocksSaysSo(t *testing.T) {
	h := gittest.NewHub(t)
	hook := "#!/bin/sh\ncase $1 in refs/mergexo/lock/*) echo 'GH013: Repository rule violations found' >&2; exit 1;; esac\n"
	require.NoError(t, os.WriteFile(filepath.Join(h.Bare, "hooks", "update"), []byte(hook), 0o755))
	_, err := transport.AcquireLock(gittest.Ctx, h.At(0), "main", gittest.Lease("one", 60))
	assert.Equal(t, "refs/mergexo/lock/main", gittest.As[*transport.ErrNoLocks](t, err).Ref)
	assert.ErrorContains(t, err, "GH013")

	readOnly := h.Open("", func(o *git.Options) { o.Token = "another" })
	_, err = transport.AcquireLock(gittest.Ctx, readOnly, "main", gittest.Lease("one", 60))
	assert.Equal(t, git.Denied, gittest.As[*git.Error](t, err).Failure)
	assert.NotErrorAs(t, err, new(*transport.ErrNoLocks), "only an error of the lock is typed")
}

func TestALeaseHasAHolderAndAnEnd(t *testing.T) {
	h := gittest.NewHub(t)
	c := h.At(0)
	for _, bad := range []transport.Lease{{}, gittest.Lease("", 60), gittest.Lease("one", 0)} {
		assert.Error(t, gittest.Err(transport.AcquireLock(gittest.Ctx, c, "main", bad)))
	}
	assert.Error(t, gittest.Err(transport.AcquireLock(gittest.Ctx, c, "a b", gittest.Lease("one", 60))))
	assert.Zero(t, c.NetworkCalls())
	lock := gittest.Must(transport.AcquireLock(gittest.Ctx, c, "main", gittest.Lease("one", 25*3600)))(t)
	assert.Equal(t, gittest.Lease("one", 24*3600), lock.Lease, "it lasts a day at most")
}

func TestALockIsGivenBackInThePushThatLands(t *testing.T) {
	h, c, start, sha := gittest.Turn(t)
	lock := gittest.Must(transport.AcquireLock(gittest.Ctx, c, "agent/x", gittest.Lease("one", 60)))(t)
	calls := c.NetworkCalls()
	require.NoError(t, transport.Publish(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: start, SHA: sha, Drop: []git.Ref{lock.Ref()}}))
	assert.Equal(t, calls+1, c.NetworkCalls())
	assert.Equal(t, sha, h.Tip("refs/heads/agent/x"))
	assert.Empty(t, h.Tip(lock.Ref().Name))
}

func TestAProtectedBaseSaysSoAndTheLockStays(t *testing.T) {
	for _, name := range []string{"update", "pre-receive"} { // one ref is refused, or the whole push
		t.Run(name, func(t *testing.T) {
			h, c, start, sha := gittest.Turn(t)
			lock := gittest.Must(transport.AcquireLock(gittest.Ctx, c, "agent/x", gittest.Lease("one", 60)))(t)
			hook := "#!/bin/sh\nif [ $# = 0 ]; then grep -q refs/heads/agent/x || exit 0; elif [ $1 != refs/heads/agent/x ]; then exit 0; fi\n" +
				"echo 'GH006: Protected branch update failed for refs/heads/agent/x.' >&2\nexit 1\n"
			require.NoError(t, os.WriteFile(filepath.Join(h.Bare, "hooks", name), []byte(hook), 0o755))
			err := transport.Publish(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: start, SHA: sha, Drop: []git.Ref{lock.Ref()}})
			rejected := gittest.As[*git.ErrRejected](t, err)
			assert.Equal(t, git.Protected, rejected.Reason)
			assert.Equal(t, "refs/heads/agent/x", rejected.Ref)
			assert.Contains(t, rejected.Message, "GH006")
			assert.Equal(t, start, h.Tip("refs/heads/agent/x"))
			assert.Equal(t, lock.Ref().SHA, h.Tip(lock.Ref().Name))
		})
	}
}

func TestAPushComesThroughAfterLocksWereLookedAt(t *testing.T) {
	h, c, start, sha := gittest.Turn(t)
	lock := gittest.Must(transport.AcquireLock(gittest.Ctx, h.At(-100), "main", gittest.Lease("one", -50)))(t)
	dead := gittest.Must(transport.LapsedLocks(gittest.Ctx, c, []git.Ref{lock.Ref()}))(t)
	assert.Equal(t, []git.Ref{lock.Ref()}, dead)
	require.NoError(t, transport.Publish(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: start, SHA: sha, Drop: dead}))
	assert.Equal(t, sha, h.Tip("refs/heads/agent/x"))
}
