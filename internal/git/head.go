package git

import (
	"context"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/git/syntax"
)

// Head is the checkout's current HEAD; call it after the agent ran. First it restores the configuration that the agent may
// have changed and recreates our own git directory. It fails if the checkout's git directory is missing, broken or without
// the commit.
func (c *Checkout) Head(ctx context.Context) (string, error) {
	if err := c.PutBack(); err != nil {
		return "", err
	}
	if err := c.NewOwnDir(); err != nil {
		return "", err
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

// Present reports whether all the commits are here.
func (c *Checkout) Present(ctx context.Context, shas ...string) (bool, error) {
	out, err := c.Tell(ctx, []byte(strings.Join(shas, "\n")+"\n"), "cat-file", "--batch-check=%(objecttype)")
	if err != nil {
		return false, fmt.Errorf("look for commits: %w", err)
	}
	for row := range strings.Lines(string(out)) {
		if row != "commit\n" {
			return false, nil
		}
	}
	return true, nil
}
