package git

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/git/syntax"
)

// Head is the checkout's current HEAD; call it after the agent ran. First it restores the configuration that the agent may
// have changed and recreates our own git directory. It fails if the checkout's git directory is missing, broken or without
// the commit.
func (c *Checkout) Head(ctx context.Context) (string, error) {
	if err := c.Recreate(); err != nil {
		return "", err
	}
	// Git is asked in the checkout only if the files do not tell. It also says best what is broken.
	if head := c.ReadHead(); head != "" {
		found, err := Resolve(ctx, c, head+"^{commit}", head+"^{tree}")
		if err == nil && found[0] == head {
			c.Trees[head] = found[1]
		}
		if err != nil || found[0] == head {
			return head, err
		}
	}
	out, err := c.Inside(ctx, "rev-parse", "--verify", "HEAD^{commit}")
	if err != nil {
		return "", fmt.Errorf("read HEAD of the checkout: %w", err)
	}
	head := syntax.Line(out)
	here, err := c.Present(ctx, head)
	if err != nil {
		return "", err
	}
	if !here {
		return "", fmt.Errorf("read HEAD of the checkout: commit %s is not among its objects", head)
	}
	return head, nil
}

// TipOf is what git in the checkout says that a revision names; "" for nothing.
func (c *Checkout) TipOf(ctx context.Context, revision string) (string, error) {
	out, err := c.Inside(ctx, "rev-parse", "--verify", "--quiet", revision)
	if ExitCode(err) == 1 {
		return "", nil
	}
	return syntax.Line(out), Wrap(err, "read %s", revision)
}

// Peel resolves names in our own directory, of refs or objects, to commits; "" for a name that leads to none here.
func (c *Checkout) Peel(ctx context.Context, names ...string) ([]string, error) {
	ask := make([]string, len(names))
	for i, name := range names {
		ask[i] = name + "^{commit}"
	}
	return Resolve(ctx, c, ask...)
}

// Resolve gives the objects that revisions name in our own directory; "" for one that names none here.
func Resolve(ctx context.Context, c *Checkout, revisions ...string) ([]string, error) {
	found, err := Inspect(ctx, c, revisions...)
	ids := make([]string, len(found))
	for i, one := range found {
		ids[i] = one.ID
	}
	return ids, err
}

// Present reports whether all the commits are here.
func (c *Checkout) Present(ctx context.Context, shas ...string) (bool, error) {
	found, err := c.Peel(ctx, shas...)
	return slices.Equal(found, shas), err
}
