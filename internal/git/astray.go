package git

import (
	"context"
	"fmt"
	"strings"
)

// noteStart notes where an agent is going to begin: the commit, and the local branches that are there already.
func (c *Checkout) noteStart(ctx context.Context, sha string) error {
	tips, err := c.localBranches(ctx)
	if err != nil {
		return err
	}
	c.started, c.branches = sha, tips
	return nil
}

// localBranches are the branches of the checkout, by their full names, and their tips.
func (c *Checkout) localBranches(ctx context.Context) (map[string]string, error) {
	out, err := c.inside(ctx, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads")
	if err != nil {
		return nil, fmt.Errorf("list local branches: %w", err)
	}
	tips := map[string]string{}
	for row := range strings.Lines(string(out)) {
		if tip, name, ok := strings.Cut(strings.TrimSuffix(row, "\n"), " "); ok && isSHA(tip) {
			tips[name] = tip
		}
	}
	return tips, nil
}
