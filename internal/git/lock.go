package git

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Lease says who holds a lock, until when, and where that run can be seen.
type Lease struct {
	Holder string    `json:"holder"` // the same for all runs of one request: what died holds up nobody who goes on with it
	Until  time.Time `json:"until"`
	URL    string    `json:"url,omitempty"`
}

// Lock is a lock that we have.
type Lock struct {
	Base string // branch
	Lease
	ref Ref
}

// Ref is what has to be deleted to give the lock back, as Publish takes it.
func (l *Lock) Ref() Ref { return l.ref }

// ErrLocked says that somebody else has the lock.
type ErrLocked struct {
	Base string
	Ref  string
	Lease
}

func (e *ErrLocked) Error() string {
	return fmt.Sprintf("branch %s is locked by %s until %s", e.Base, e.Holder, e.Until.UTC().Format(time.RFC3339))
}

// ErrLockUnreadable says that a lock's ref holds something that no version of us wrote.
type ErrLockUnreadable struct {
	Ref, SHA string
	Err      error
}

func (e *ErrLockUnreadable) Error() string {
	return fmt.Sprintf("%s holds no lock of MergeXO at %s (%v): delete it with git push origin :%s", e.Ref, e.SHA, e.Err, e.Ref)
}
func (e *ErrLockUnreadable) Unwrap() error { return e.Err }

// ErrNoLocks says that the server does not let us make refs for locks.
type ErrNoLocks struct {
	Ref string
	Err error
}

func (e *ErrNoLocks) Error() string { return fmt.Sprintf("make lock %s: %v", e.Ref, e.Err) }
func (e *ErrNoLocks) Unwrap() error { return e.Err }

// Lock takes the lock of a base branch. Errors are *ErrLocked, *ErrLockUnreadable, *ErrNoLocks or *Error.
func (c *Checkout) Lock(ctx context.Context, base string, lease Lease) (*Lock, error) {
	return nil, errors.ErrUnsupported
}

// Unlock gives a lock back. That it is gone, or somebody else's by now, is no error.
func (c *Checkout) Unlock(ctx context.Context, lock *Lock) error { return errors.ErrUnsupported }
