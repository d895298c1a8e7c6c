package transport

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/relay"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

const (
	lockPrefix = privatePrefix + "lock/"
	lockTries  = 4              // how often a ref that keeps changing is read
	leaseLimit = 24 * time.Hour // no lease is longer
	lockLimit  = 16 << 10       // bytes of a lock's commit
)

// Lease says who holds a lock, until when, and where that run can be seen.
type Lease struct {
	Holder string    `json:"holder"` // the same for all runs of one request, so that a dead run does not block its successor
	Until  time.Time `json:"until"`
	URL    string    `json:"url,omitempty"`
}

// Lock is a lock that we hold.
type Lock struct {
	Base string // branch
	Lease
	ref git.Ref
}

// Ref is what Publish has to delete to release the lock.
func (l *Lock) Ref() git.Ref { return l.ref }

// ErrLocked says that somebody else holds the lock.
type ErrLocked struct {
	Base string
	Ref  string
	SHA  string // what Ref is at
	Lease
}

func (e *ErrLocked) Error() string {
	return fmt.Sprintf("branch %s is locked by %s until %s", e.Base, e.Holder, e.Until.UTC().Format(time.RFC3339))
}

// ErrLockUnreadable says that a lock's ref holds something that MergeXO did not write.
type ErrLockUnreadable struct {
	Ref, SHA string
	Err      error
}

func (e *ErrLockUnreadable) Error() string {
	return fmt.Sprintf("%s at %s is not a lock of MergeXO's (%v): delete it with git push origin :%s", e.Ref, e.SHA, e.Err, e.Ref)
}

func (e *ErrLockUnreadable) Unwrap() error { return e.Err }

// ErrNoLocks says that the server refuses refs for locks.
type ErrNoLocks struct {
	Ref string
	Err error
}

func (e *ErrNoLocks) Error() string {
	return fmt.Sprintf("the server does not let MergeXO create %s: %v", e.Ref, e.Err)
}

func (e *ErrNoLocks) Unwrap() error { return e.Err }

// AcquireLock takes the lock of a base branch, for a day at most: a ref that only one push can create. A lock that has expired by Options.Now
// is taken over with a lease on its commit, and one of the same holder is ours again. It never waits. Errors are
// *ErrLocked, *ErrLockUnreadable, *ErrNoLocks, *ErrUnclear or *Error. One network operation as a rule, three to take over a
// lock.
func AcquireLock(ctx context.Context, c *git.Checkout, base string, lease Lease) (*Lock, error) {
	return lockFrom(ctx, c, base, "", lease)
}

// TakeOverLock is AcquireLock if the holder in from is known to be dead: its lock is replaced by ours, if it is still the
// same. Another *ErrLocked says who was faster. One network operation as a rule.
func TakeOverLock(ctx context.Context, c *git.Checkout, from *ErrLocked, lease Lease) (*Lock, error) {
	if !syntax.IsSHA(from.SHA) || from.Ref != lockRef(from.Base) {
		return nil, fmt.Errorf("lock %q: %q at %q is no lock of it", from.Base, from.Ref, from.SHA)
	}
	return lockFrom(ctx, c, from.Base, from.SHA, lease)
}

// lockFrom takes a lock whose ref is at dead, or missing if that is "".
func lockFrom(ctx context.Context, c *git.Checkout, base, dead string, lease Lease) (*Lock, error) {
	now := c.Opt.Now()
	if !syntax.ValidRef("refs/heads/"+base) || lease.Holder == "" || !lease.Until.After(now) {
		return nil, fmt.Errorf("lock %q: want a branch, a holder and a time to come", base)
	}
	if longest := now.Add(leaseLimit); lease.Until.After(longest) { // by then, only the lease of the push to the base holds
		lease.Until = longest
	}
	lease.Until = lease.Until.UTC().Truncate(time.Second)
	lock := &Lock{Base: base, Lease: lease, ref: git.Ref{Name: lockRef(base)}}
	err := git.InSeparateDir(c, false, func(a *git.Checkout) (err error) {
		if lock.ref.SHA, err = lockCommit(a, lease); err != nil {
			return err
		}
		return tryLock(ctx, a, lock, dead)
	})
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", base, err)
	}
	return lock, nil
}

// lockRef is the ref of a branch's lock.
func lockRef(base string) string { return lockPrefix + flatName(base) }

// flatName is a branch as one part of a ref's name, without a slash, since refs a/b and a exclude each other; a long one ends
// in a digest, since a server may keep it as a file.
func flatName(base string) string {
	var flat strings.Builder
	for _, b := range []byte(base) {
		if b == '/' || b == '%' {
			fmt.Fprintf(&flat, "%%%02X", b)
		} else {
			flat.WriteByte(b)
		}
	}
	name := flat.String()
	if len(name) > 200 {
		sum := sha256.Sum256([]byte(base))
		name = strings.ToValidUTF8(name[:120], "") + "%" + hex.EncodeToString(sum[:])
	}
	return name
}

// lockCommit makes a lock's commit: it has no files, and the lease is its message.
func lockCommit(c *git.Checkout, lease Lease) (string, error) {
	text, err := json.Marshal(lease)
	if err != nil {
		return "", fmt.Errorf("write lease: %w", err)
	}
	tree, err := git.WriteObject(c, "tree", nil)
	if err != nil {
		return "", fmt.Errorf("write lease: %w", err)
	}
	return git.WriteCommit(c, tree, string(text)+"\n")
}

// tryLock pushes the lock's commit, to a missing ref or to one that may be taken over.
func tryLock(ctx context.Context, c *git.Checkout, lock *Lock, dead string) error {
	was := dead
	var err error
	for range lockTries {
		if err = push(ctx, c, relay.Move{From: cmp.Or(was, relay.ZeroID), To: lock.ref.SHA, Ref: lock.ref.Name}); err == nil {
			return nil
		}
		if rejected := rejection(err); rejected != nil && rejected.Reason != git.Stale {
			return &ErrNoLocks{Ref: lock.ref.Name, Err: rejected}
		}
		if !git.Unsure(err) {
			return err
		}
		var held Lease
		if was, held, err = readLock(ctx, c, lock.ref.Name); err != nil {
			return err
		}
		switch {
		case was == lock.ref.SHA:
			return nil
		case was == "", was == dead, held.Holder == lock.Holder, !held.Until.After(c.Opt.Now()):
		default:
			return &ErrLocked{Base: lock.Base, Ref: lock.ref.Name, SHA: was, Lease: held}
		}
		err = &git.ErrUnclear{Err: fmt.Errorf("%s does not stay as it is", lock.ref.Name)}
	}
	return err
}

// readLock reads the lock at a ref; "" if there is none.
func readLock(ctx context.Context, c *git.Checkout, ref string) (sha string, held Lease, err error) {
	err = fetchPrivate(ctx, c, ref, lockLimit)
	var none *git.ErrNoRef
	if errors.As(err, &none) {
		return "", held, nil
	}
	if err != nil {
		return "", held, fmt.Errorf("read lock: %w", err)
	}
	out, err := c.Ask(ctx, "rev-parse", "--verify", fetchedPrivate)
	if err != nil {
		return "", held, fmt.Errorf("read lock: %w", err)
	}
	sha = syntax.Line(out)
	held, err = readLease(ctx, c, sha)
	if err != nil && ctx.Err() == nil {
		err = &ErrLockUnreadable{Ref: ref, SHA: sha, Err: err}
	}
	return sha, held, err
}

// readLease strictly parses the lease in a commit's message: a foreign one never counts as free.
func readLease(ctx context.Context, c *git.Checkout, sha string) (held Lease, err error) {
	found, err := git.Inspect(ctx, c, sha)
	if err != nil {
		return held, err
	}
	if found[0].Kind != "commit" || found[0].Size > lockLimit {
		return held, errors.New("it is no small commit")
	}
	out, err := c.Ask(ctx, "cat-file", "commit", sha)
	if err != nil {
		return held, err
	}
	_, message, _ := strings.Cut(string(out), "\n\n")
	decoder := json.NewDecoder(strings.NewReader(message))
	if err := decoder.Decode(&held); err != nil {
		return held, errors.New("its message is no lease")
	}
	if held.Holder == "" || held.Until.IsZero() {
		return held, errors.New("its lease names no holder or no time")
	}
	if held.Until.After(c.Opt.Now().Add(2 * leaseLimit)) { // clocks differ, but not by a day
		return held, fmt.Errorf("its lease ends at %s", held.Until.UTC().Format(time.RFC3339))
	}
	held.Holder, held.URL = syntax.Clean(held.Holder), syntax.Clean(held.URL)
	return held, nil
}

// LapsedLocks are those locks' refs whose leases have expired: nobody holds them. Missing refs and foreign ones are left
// out. One network operation each.
func LapsedLocks(ctx context.Context, c *git.Checkout, refs []git.Ref) (dead []git.Ref, err error) {
	for _, ref := range refs {
		sha, held, err := readLock(ctx, c, ref.Name)
		unreadable := (*ErrLockUnreadable)(nil)
		switch {
		case errors.As(err, &unreadable) || err == nil && sha == "":
		case err != nil:
			return dead, err
		case held.Until.Before(c.Opt.Now()):
			dead = append(dead, git.Ref{Name: ref.Name, SHA: sha})
		}
	}
	return dead, nil
}

// Unlock releases a lock. It is no error if it is gone, or somebody else's by now. One network operation as a rule.
func Unlock(ctx context.Context, c *git.Checkout, lock *Lock) error {
	var rejected *git.ErrRejected
	switch err := Delete(ctx, c, lock.ref); {
	case err == nil:
	case errors.As(err, &rejected) && rejected.Reason == git.Stale:
		c.Opt.Log.Warn("lock_lost", "ref", lock.ref.Name, "error", err)
	default:
		return fmt.Errorf("unlock %s: %w", lock.Base, err)
	}
	return nil
}
