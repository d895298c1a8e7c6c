package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// rebase puts the branch's own commits on top of Base one by one; its merge commits are left out. Where that does not work,
// or does not come to what a merge of the branch comes to (somebody changed something in a merge commit, say), the merge's
// tree becomes one commit.
func rebase(ctx context.Context, g *ground) (Merged, error) {
	done, err := g.carry(ctx, nil)
	var conflict *ErrConflict
	if err != nil && !errors.As(err, &conflict) {
		return Merged{}, err
	}
	if err == nil && done.tip == g.Head { // nothing was written anew, so nothing can be lost
		return g.lands(ctx, done)
	}
	tree, won, failed := g.target(ctx)
	switch {
	case failed == nil && (err != nil || tree != done.tree):
		return g.reapply(ctx, tree, won)
	case failed == nil:
		done.won = won
	case !errors.As(failed, &conflict) || err != nil:
		return Merged{}, failed
	}
	return g.lands(ctx, done)
}

// lands is what came of commits that were put over one by one.
func (g *ground) lands(ctx context.Context, done carried) (Merged, error) {
	if len(done.made) == 0 || done.kept == 0 && len(done.dropped) > 0 {
		return Merged{}, g.nothing(ctx)
	}
	m, err := g.merged(ctx, done.tip, done.tree, done.made)
	if err != nil {
		return Merged{}, err
	}
	m.Signed = done.signed
	slices.Sort(done.won)
	m.BaseWon = slices.Compact(done.won)
	m.Dropped, err = g.c.named(ctx, done.dropped)
	return m, err
}

// reapply makes one commit of the merge's tree, by the author of the branch's first own commit, with a list of what it is
// made of.
func (g *ground) reapply(ctx context.Context, tree string, won []string) (Merged, error) {
	m, err := g.single(ctx, tree, true)
	m.Strategy, m.BaseWon = SquashReapply, won
	return m, err
}

// single makes one commit of all that the branch changes.
func (g *ground) single(ctx context.Context, tree string, listed bool) (Merged, error) {
	if tree == g.baseTree {
		return Merged{}, g.nothing(ctx)
	}
	text, author, signed, err := g.message(ctx, listed)
	if err != nil {
		return Merged{}, err
	}
	us := fmt.Sprintf("%s %d +0000", g.c.opt.Identity, g.c.opt.Now().Unix())
	tip, err := g.c.writeCommit(ctx, object(tree, []string{g.Base}, author, us, text))
	if err != nil {
		return Merged{}, err
	}
	m, err := g.merged(ctx, tip, tree, nil)
	m.Signed = signed
	return m, err
}

// writeCommit writes one commit object.
func (c *Checkout) writeCommit(ctx context.Context, raw []byte) (string, error) {
	out, err := c.tell(ctx, raw, "hash-object", "-t", "commit", "-w", "--stdin")
	if err != nil {
		return "", fmt.Errorf("write commit: %w", err)
	}
	return line(out), nil
}
