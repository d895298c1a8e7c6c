package git_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
)

// at opens a checkout whose clock stands at so many seconds after the usual one.
func (h *hub) at(seconds int64) *git.Checkout {
	return h.open("", func(o *git.Options) { o.Now = func() time.Time { return time.Unix(1800000000+seconds, 0) } })
}

func lease(holder string, seconds int64) git.Lease {
	return git.Lease{Holder: holder, Until: time.Unix(1800000000+seconds, 0).UTC(), URL: "https://example.com/runs/" + holder}
}

func TestALockIsTakenOnceAndGivenBack(t *testing.T) {
	h := newHub(t)
	one, two := h.at(0), h.at(10)
	lock, err := one.Lock(ctx, "main", lease("one", 60))
	require.NoError(t, err)
	assert.Equal(t, 1, one.NetworkCalls())
	assert.Equal(t, git.Ref{Name: "refs/mergexo/lock/main", SHA: h.tip("refs/mergexo/lock/main")}, lock.Ref())
	assert.Empty(t, h.git(h.bare, "ls-tree", lock.Ref().SHA))
	assert.JSONEq(t, `{"holder":"one","until":"2027-01-15T08:01:00Z","url":"https://example.com/runs/one"}`, h.git(h.bare, "log", "-1", "--format=%B", lock.Ref().SHA))

	var locked *git.ErrLocked
	_, err = two.Lock(ctx, "main", lease("two", 60))
	require.ErrorAs(t, err, &locked)
	assert.Equal(t, lease("one", 60), locked.Lease)
	assert.Equal(t, lock.Ref(), git.Ref{Name: locked.Ref, SHA: locked.SHA})
	assert.ErrorContains(t, err, "branch main is locked by one until 2027-01-15T08:01:00Z")
	assert.Equal(t, 2, two.NetworkCalls())

	require.NoError(t, one.Unlock(ctx, lock))
	assert.Empty(t, h.tip("refs/mergexo/lock/main"))
	require.NoError(t, one.Unlock(ctx, lock), "gone already")
	mine, err := two.Lock(ctx, "main", lease("two", 60))
	require.NoError(t, err)
	require.NoError(t, one.Unlock(ctx, lock), "somebody else's")
	assert.Equal(t, mine.Ref().SHA, h.tip("refs/mergexo/lock/main"))
}

func TestALockThatHasExpiredOrIsOursIsTakenOver(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		holder string
		now    int64
	}{"expired": {"two", 60}, "ours": {"one", 10}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t)
			old, err := h.at(0).Lock(ctx, "main", lease("one", 60))
			require.NoError(t, err)
			c := h.at(test.now)
			lock, err := c.Lock(ctx, "main", lease(test.holder, 200))
			require.NoError(t, err)
			assert.Equal(t, 3, c.NetworkCalls())
			assert.NotEqual(t, old.Ref().SHA, lock.Ref().SHA)
			assert.Equal(t, lock.Ref().SHA, h.tip("refs/mergexo/lock/main"))
		})
	}
}

// dead is what is told of a lock whose holder has died.
func (h *hub) dead(c *git.Checkout) *git.ErrLocked {
	h.t.Helper()
	_, err := h.at(0).Lock(ctx, "main", lease("dead", 600))
	require.NoError(h.t, err)
	_, err = c.Lock(ctx, "main", lease("two", 600))
	var locked *git.ErrLocked
	require.ErrorAs(h.t, err, &locked)
	return locked
}

func TestALockOfTheDeadIsTakenUnderTheTakersName(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	c := h.at(10)
	from := h.dead(c)
	calls := c.NetworkCalls()
	lock, err := c.TakeLock(ctx, from, lease("two", 600))
	require.NoError(t, err)
	assert.Equal(t, calls+1, c.NetworkCalls())
	assert.Equal(t, "two", lock.Holder)
	assert.Equal(t, lock.Ref().SHA, h.tip("refs/mergexo/lock/main"))
	_, err = h.at(20).Lock(ctx, "main", lease("dead", 600))
	var locked *git.ErrLocked
	require.ErrorAs(t, err, &locked, "the dead one's next run does not take it for its own")
	assert.Equal(t, lock.Lease, locked.Lease)

	_, err = c.TakeLock(ctx, &git.ErrLocked{Base: "main", Ref: "refs/heads/main", SHA: from.SHA}, lease("two", 600))
	require.ErrorContains(t, err, "is no lock of it")
	_, err = c.TakeLock(ctx, &git.ErrLocked{Base: "main", Ref: from.Ref}, lease("two", 600))
	require.ErrorContains(t, err, "is no lock of it")
}

func TestWhoeverIsFasterHasTheLockOfTheDead(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		meanwhile string // who has it by now
		mine      bool
	}{"somebody else": {"three", false}, "we, by another run": {"two", true}, "nobody": {"", true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t)
			c := h.at(10)
			from := h.dead(c)
			h.git(h.bare, "update-ref", "-d", "refs/mergexo/lock/main")
			if test.meanwhile != "" {
				_, err := h.at(5).Lock(ctx, "main", lease(test.meanwhile, 500))
				require.NoError(t, err)
			}
			theirs := h.tip("refs/mergexo/lock/main")
			lock, err := c.TakeLock(ctx, from, lease("two", 600))
			if test.mine {
				require.NoError(t, err)
				assert.Equal(t, lock.Ref().SHA, h.tip("refs/mergexo/lock/main"))
				return
			}
			var locked *git.ErrLocked
			require.ErrorAs(t, err, &locked)
			assert.Equal(t, git.ErrLocked{Base: "main", Ref: from.Ref, SHA: theirs, Lease: lease(test.meanwhile, 500)}, *locked)
			assert.Equal(t, theirs, h.tip("refs/mergexo/lock/main"))
		})
	}
}

func TestAnUnclearTakeoverIsLookedAt(t *testing.T) {
	t.Parallel()
	for name, applied := range map[string]bool{"applied": true, "not applied": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t)
			c := h.at(10)
			from := h.dead(c)
			h.lose("/git-receive-pack", applied)
			lock, err := c.TakeLock(ctx, from, lease("two", 600))
			require.NoError(t, err)
			assert.Equal(t, lock.Ref().SHA, h.tip("refs/mergexo/lock/main"))
		})
	}
}

func TestLocksDoNotStandInEachOthersWay(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	c := h.at(0)
	long := strings.Repeat("release/", 30) + "ä"
	refs := map[string]string{}
	for _, base := range []string{"a", "a/b", "a/b/c", "a%2Fb", "release/1.x", "ä/ö", long, long + "x"} {
		lock, err := c.Lock(ctx, base, lease("one", 60))
		require.NoError(t, err, base)
		assert.Empty(t, refs[lock.Ref().Name], "%s and %s", base, refs[lock.Ref().Name])
		refs[lock.Ref().Name] = base
	}
	assert.Equal(t, "a/b", refs["refs/mergexo/lock/a%2Fb"])
	assert.Equal(t, "release/1.x", refs["refs/mergexo/lock/release%2F1.x"])
}

// race runs two lockers at the same time and gives what each got.
func race(t *testing.T, h *hub, base string, now int64) (locks [2]*git.Lock, errs [2]error) {
	t.Helper()
	var both sync.WaitGroup
	checkouts := [2]*git.Checkout{h.at(now), h.at(now)}
	for i, holder := range []string{"one", "two"} {
		both.Go(func() { locks[i], errs[i] = checkouts[i].Lock(ctx, base, lease(holder, now+60)) })
	}
	both.Wait()
	return locks, errs
}

func TestOfTwoLockersOneWins(t *testing.T) {
	t.Parallel()
	for name, expired := range map[string]bool{"nothing there": false, "an expired one": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t)
			for range 4 {
				if expired {
					_, err := h.at(0).Lock(ctx, "main", lease("dead", 60))
					require.NoError(t, err)
				}
				locks, errs := race(t, h, "main", 100)
				winner := 0
				if errs[0] != nil {
					winner = 1
				}
				require.NoError(t, errs[winner])
				var locked *git.ErrLocked
				require.ErrorAs(t, errs[1-winner], &locked)
				assert.Equal(t, locks[winner].Lease, locked.Lease)
				assert.Equal(t, locks[winner].Ref().SHA, h.tip("refs/mergexo/lock/main"))
				h.git(h.bare, "update-ref", "-d", "refs/mergexo/lock/main")
			}
		})
	}
}

func TestAnUnclearLockIsLookedAt(t *testing.T) {
	t.Parallel()
	for name, applied := range map[string]bool{"applied": true, "not applied": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t)
			h.lose("/git-receive-pack", applied)
			c := h.at(0)
			lock, err := c.Lock(ctx, "main", lease("one", 60))
			require.NoError(t, err)
			assert.Equal(t, lock.Ref().SHA, h.tip("refs/mergexo/lock/main"))
			h.lose("/git-receive-pack", applied)
			require.NoError(t, c.Unlock(ctx, lock))
			assert.Empty(t, h.tip("refs/mergexo/lock/main"))
		})
	}
}

// lose takes the answer to the next request of a kind away. Unless it is applied the server breaks down before it.
func (h *hub) lose(path string, applied bool) {
	h.behave(false, func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, path) {
			return false
		}
		h.behave(false, nil)
		if !applied {
			http.Error(w, "something broke", http.StatusInternalServerError)
			return true
		}
		h.ServeHTTP(discard{http.Header{}}, r)
		panic(http.ErrAbortHandler)
	})
}

func TestALockThatIsNoneNamesItselfAndHowToDeleteIt(t *testing.T) {
	h := newHub(t)
	tree := h.git(h.bare, "rev-parse", "main^{tree}")
	commit := func(message string) string { return h.git(h.bare, "commit-tree", "-m", message, tree) }
	h.git(h.dev, "tag", "-a", "-m", `{"holder":"x","until":"2020-01-01T00:00:00Z"}`, "v1")
	h.git(h.dev, "push", "-q", "origin", "v1")
	for name, sha := range map[string]string{
		"a person's commit": h.tip("main"), "a tag": h.git(h.bare, "rev-parse", "v1"), "no holder": commit(`{"until":"2020-01-01T00:00:00Z"}`),
		"no time": commit(`{"holder":"x"}`), "a time that is none": commit(`{"holder":"x","until":"soon"}`), "for ever": commit(`{"holder":"x","until":"2999-01-01T00:00:00Z"}`),
		"too large": commit(`{"holder":"` + strings.Repeat("x", 20000) + `","until":"2020-01-01T00:00:00Z"}`),
	} {
		t.Run(name, func(t *testing.T) {
			h.git(h.bare, "update-ref", "refs/mergexo/lock/main", sha)
			c := h.at(0)
			_, err := c.Lock(ctx, "main", lease("one", 60))
			var unreadable *git.ErrLockUnreadable
			require.ErrorAs(t, err, &unreadable)
			assert.Equal(t, sha, unreadable.SHA)
			assert.ErrorContains(t, err, "git push origin :refs/mergexo/lock/main")
			assert.Equal(t, 2, c.NetworkCalls())
			assert.Equal(t, sha, h.tip("refs/mergexo/lock/main"))
		})
	}
}

func TestAServerThatRefusesLocksSaysSo(t *testing.T) {
	h := newHub(t)
	hook := "#!/bin/sh\ncase $1 in refs/mergexo/lock/*) echo 'GH013: Repository rule violations found' >&2; exit 1;; esac\n"
	require.NoError(t, os.WriteFile(filepath.Join(h.bare, "hooks", "update"), []byte(hook), 0o755))
	_, err := h.at(0).Lock(ctx, "main", lease("one", 60))
	var none *git.ErrNoLocks
	require.ErrorAs(t, err, &none)
	assert.Equal(t, "refs/mergexo/lock/main", none.Ref)
	assert.ErrorContains(t, err, "GH013")

	readOnly := h.open("", func(o *git.Options) { o.Token = "another" })
	_, err = readOnly.Lock(ctx, "main", lease("one", 60))
	var failed *git.Error
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, git.Denied, failed.Failure)
}

func TestALeaseHasAHolderAndAnEnd(t *testing.T) {
	h := newHub(t)
	c := h.at(0)
	for _, bad := range []git.Lease{{}, lease("", 60), lease("one", 0), lease("one", 25*3600)} {
		_, err := c.Lock(ctx, "main", bad)
		assert.Error(t, err)
	}
	_, err := c.Lock(ctx, "a b", lease("one", 60))
	assert.Error(t, err)
	assert.Zero(t, c.NetworkCalls())
}

func TestALockIsGivenBackInThePushThatLands(t *testing.T) {
	h, c, start, sha := turn(t)
	lock, err := c.Lock(ctx, "agent/x", lease("one", 60))
	require.NoError(t, err)
	calls := c.NetworkCalls()
	require.NoError(t, c.Publish(ctx, git.Publish{Branch: "agent/x", Start: start, SHA: sha, Drop: []git.Ref{lock.Ref()}}))
	assert.Equal(t, calls+1, c.NetworkCalls())
	assert.Equal(t, sha, h.tip("refs/heads/agent/x"))
	assert.Empty(t, h.tip(lock.Ref().Name))
}

func TestAProtectedBaseSaysSoAndTheLockStays(t *testing.T) {
	for _, name := range []string{"update", "pre-receive"} { // one ref is refused, or the whole push
		t.Run(name, func(t *testing.T) {
			h, c, start, sha := turn(t)
			lock, err := c.Lock(ctx, "agent/x", lease("one", 60))
			require.NoError(t, err)
			hook := "#!/bin/sh\nif [ $# = 0 ]; then grep -q refs/heads/agent/x || exit 0; elif [ $1 != refs/heads/agent/x ]; then exit 0; fi\n" +
				"echo 'GH006: Protected branch update failed for refs/heads/agent/x.' >&2\nexit 1\n"
			require.NoError(t, os.WriteFile(filepath.Join(h.bare, "hooks", name), []byte(hook), 0o755))
			err = c.Publish(ctx, git.Publish{Branch: "agent/x", Start: start, SHA: sha, Drop: []git.Ref{lock.Ref()}})
			var rejected *git.ErrRejected
			require.ErrorAs(t, err, &rejected)
			assert.Equal(t, git.Protected, rejected.Reason)
			assert.Equal(t, "refs/heads/agent/x", rejected.Ref)
			assert.Contains(t, rejected.Message, "GH006")
			assert.Equal(t, start, h.tip("refs/heads/agent/x"))
			assert.Equal(t, lock.Ref().SHA, h.tip(lock.Ref().Name))
		})
	}
}

func TestOnlyAnErrorOfTheLockIsTyped(t *testing.T) {
	h := newHub(t)
	h.behave(false, func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "later", http.StatusServiceUnavailable)
		return true
	})
	_, err := h.at(0).Lock(ctx, "main", lease("one", 60))
	var failed *git.Error
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, git.Unreachable, failed.Failure)
	assert.False(t, errors.As(err, new(*git.ErrLocked)))
}

func TestAPushComesThroughAfterLocksWereLookedAt(t *testing.T) {
	h, c, start, sha := turn(t)
	lock, err := h.at(-100).Lock(ctx, "main", lease("one", -50))
	require.NoError(t, err)
	dead, err := c.Lapsed(ctx, []git.Ref{lock.Ref()})
	require.NoError(t, err)
	assert.Equal(t, []git.Ref{lock.Ref()}, dead)
	require.NoError(t, c.Publish(ctx, git.Publish{Branch: "agent/x", Start: start, SHA: sha, Drop: dead}))
	assert.Equal(t, sha, h.tip("refs/heads/agent/x"))
}
