package git

import (
	"context"
	"errors"
	"fmt"
)

// Begin is Restore for a branch that the server does not have yet: it makes the checkout a clean one on a local branch at
// the tip of base, and gives that tip. A local branch of this name that was there is moved. ErrNoRef says that base is not
// there, which is so in an empty repository. One network operation.
func (c *Checkout) Begin(ctx context.Context, branch, base string) (sha string, err error) {
	if !validRef("refs/heads/"+branch) || !validRef("refs/heads/"+base) || branch == base {
		return "", fmt.Errorf("begin branch %q on %q: not two branches", branch, base)
	}
	sha, err = c.begin(ctx, branch, base)
	if !c.broken(ctx, err) {
		return sha, err
	}
	c.opt.Log.Warn("workspace_damaged", "error", err) // as in Restore
	if err := c.leave(ctx); err != nil {
		return "", err
	}
	return c.begin(ctx, branch, base)
}

func (c *Checkout) begin(ctx context.Context, branch, base string) (string, error) {
	again := c.saved != nil
	if err := errors.Join(c.putBack(), c.renew()); err != nil {
		return "", err
	}
	tip, err := c.fetchPull(ctx, base, "")
	if err != nil {
		return "", err
	}
	c.refs[fetchedBase] = tip
	if err := c.prepare(ctx); err != nil {
		return "", err
	}
	if err := c.fillTree(ctx, tip); err != nil {
		return "", err
	}
	// The workspace may know a branch of this name that is gone on the server.
	known := "update refs/remotes/origin/" + base + " " + tip + "\ndelete refs/remotes/origin/" + branch + "\n"
	if _, err := c.insideTold(ctx, []byte(known), "update-ref", "--no-deref", "--stdin"); err != nil {
		c.opt.Log.Debug("tracking_refs_kept", "error", err) // as in nameTips
	}
	if err := c.settle(ctx, "refs/heads/"+branch, tip, again); err != nil {
		return "", fmt.Errorf("begin %s at %s: %w", branch, tip, err)
	}
	return tip, c.noteStart(ctx, tip)
}
