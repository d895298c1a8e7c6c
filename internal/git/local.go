package git

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// LocalOptions say which checkout of a person is worked with.
type LocalOptions struct {
	Dir  string // in a working tree, or a bare repository
	Temp string
	Path string // PATH of the git child
	Now  func() time.Time
	Log  *slog.Logger // nil: nothing is logged
	// Env is the person's environment, as NAME=value: HOME, SSH_AUTH_SOCK, GIT_SSH_COMMAND, proxies. Only the child that
	// talks to the origin gets it, and the one that writes files of the checkout; of the names that begin with GIT_ only those that say
	// how a server is reached are used.
	Env []string
	// Local says that the origin is never asked; it may be missing.
	Local bool
}

// ErrNoIdentity says that a checkout does not know whose commits are made in it.
type ErrNoIdentity struct{ Dir string }

func (e *ErrNoIdentity) Error() string {
	return fmt.Sprintf("%s has no user.name and user.email: set them with git config user.name and git config user.email", e.Dir)
}

// ErrDirty says that a branch is checked out where files stand in its way.
type ErrDirty struct {
	Branch, Dir string
	Why         string   // what is going on there
	Paths       []string // that are changed or in the way; may be empty
}

func (e *ErrDirty) Error() string {
	said := fmt.Sprintf("%s is checked out in %s, where %s", e.Branch, e.Dir, e.Why)
	if len(e.Paths) > 0 {
		said += ": " + quoted(e.Paths)
	}
	return said
}

// ErrCheckedOut says that a branch stays as it is because somebody has it checked out.
type ErrCheckedOut struct{ Branch, Dir string }

func (e *ErrCheckedOut) Error() string {
	return fmt.Sprintf("%s is checked out in %s and stays as it is", e.Branch, e.Dir)
}

// OpenLocal takes a person's checkout. Nothing in it is changed but for objects, and by LandLocal and MoveLocal.
func OpenLocal(ctx context.Context, opt LocalOptions) (*Checkout, error) {
	return nil, errors.ErrUnsupported
}

// MeetLocal is Meet for branches of the checkout itself, by their names without refs/heads/. *ErrNoRef names one that
// is not there.
func (c *Checkout) MeetLocal(ctx context.Context, base, head string) (Met, error) {
	return Met{}, errors.ErrUnsupported
}

// LandLocal fast-forwards a branch of the checkout, with the files where it is checked out, here or in a linked worktree.
// Errors are *ErrDirty, *ErrRewind, *ErrRejected (Stale: the branch is not at from) or *Error; nothing is changed then.
func (c *Checkout) LandLocal(ctx context.Context, base, from, to string) error {
	return errors.ErrUnsupported
}

// MoveLocal moves a branch of the checkout that need not be fast-forwarded. Where it is checked out it stays:
// *ErrCheckedOut. *ErrRejected (Stale) says that it is not at from.
func (c *Checkout) MoveLocal(ctx context.Context, branch, from, to string) error {
	return errors.ErrUnsupported
}
