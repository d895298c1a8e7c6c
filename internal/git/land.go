package git

import (
	"context"
	"errors"
)

// Rewrite moves a pull request's branch from one commit to another, which need not descend from it. It happens only if the
// branch is at from, or at to already. Errors are *ErrRejected, *ErrUnclear or *Error. One network operation.
func (c *Checkout) Rewrite(ctx context.Context, branch, from, to string) error {
	return errors.ErrUnsupported
}

// Delete deletes refs of the server, each only where it is at its commit still. One that is gone is no error; of the
// others the first that stayed is an *ErrRejected.
func (c *Checkout) Delete(ctx context.Context, refs ...Ref) error { return errors.ErrUnsupported }

// Where is the commit that a branch of the server is at now, "" when there is no such branch. One network operation.
func (c *Checkout) Where(ctx context.Context, branch string) (sha string, err error) {
	return "", errors.ErrUnsupported
}
