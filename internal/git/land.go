package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Rewrite moves a pull request's branch from one commit to another, which need not descend from it. It happens only if the
// branch is at from, or at to already. Errors are *ErrRejected, *ErrUnclear or *Error. One network operation.
func (c *Checkout) Rewrite(ctx context.Context, branch, from, to string) error {
	ref := "refs/heads/" + branch
	if !validRef(ref) || !isSHA(from) || !isSHA(to) {
		return fmt.Errorf("rewrite %q from %q to %q: not a branch and commit ids", branch, from, to)
	}
	if err := c.push(ctx, "--force-with-lease="+ref+":"+from, to+":"+ref); err != nil {
		return fmt.Errorf("rewrite %s: %w", branch, err)
	}
	return nil
}

// Delete deletes branches and hidden refs of the server, each only where it is at its commit still. One that is gone is no
// error; of those that stayed the first one is an *ErrRejected, and the others are deleted nevertheless. One network
// operation; one more where something is gone or has moved, or the answer is unclear: then the server is asked what it has.
func (c *Checkout) Delete(ctx context.Context, refs ...Ref) error {
	for _, ref := range refs {
		ours := strings.HasPrefix(ref.Name, "refs/heads/") || hidden(ref.Name) == nil
		if !ours || !validRef(ref.Name) || !isSHA(ref.SHA) {
			return fmt.Errorf("delete %q at %q: not a branch or a hidden ref and a commit id", ref.Name, ref.SHA)
		}
	}
	if err := c.delete(ctx, refs); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	return nil
}

func (c *Checkout) delete(ctx context.Context, refs []Ref) error {
	var stayed error
	for try := 0; len(refs) > 0; try++ {
		leases, deletions := deleting(refs)
		err := c.push(ctx, concat(leases, deletions)...)
		var lost *ErrUnclear
		var rejected *ErrRejected
		// Of one that is gone git says the same as of one that has moved.
		look := errors.As(err, &lost) || errors.As(err, &rejected) && rejected.Reason == Stale
		if err == nil || !look || try == 2 {
			return errors.Join(stayed, err)
		}
		left, moved, err := c.still(ctx, refs)
		if err != nil {
			return errors.Join(stayed, err)
		}
		if moved != nil && stayed == nil {
			stayed = moved
		}
		refs = left
	}
	return stayed
}

// still are those of the refs that are where they were; moved says of one that it is elsewhere.
func (c *Checkout) still(ctx context.Context, refs []Ref) (left []Ref, moved, err error) {
	names := make([]string, 0, len(refs))
	for _, ref := range refs {
		names = append(names, ref.Name)
	}
	now, err := c.Remote(ctx, names...)
	if err != nil {
		return nil, nil, err
	}
	for _, ref := range refs {
		switch at := now[ref.Name]; {
		case at == ref.SHA:
			left = append(left, ref)
		case at != "" && moved == nil:
			moved = &ErrRejected{Ref: ref.Name, Reason: Stale, Message: "it is at " + at + " by now"}
		}
	}
	return left, moved, nil
}

// Where is the commit that a branch of the server is at now, "" when there is no such branch. One network operation.
func (c *Checkout) Where(ctx context.Context, branch string) (sha string, err error) {
	found, err := c.Remote(ctx, "refs/heads/"+branch)
	return found["refs/heads/"+branch], err
}

// DeleteAll deletes refs that are still where they are said to be, all in one push; left are those that are not, or that
// the server keeps.
func (c *Checkout) DeleteAll(ctx context.Context, refs []Ref) (left []Ref, err error) {
	return refs, errors.New("not built yet")
}
