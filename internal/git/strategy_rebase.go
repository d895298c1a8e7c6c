package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// rebase puts the branch's own commits on top of Base one by one; its merge commits are left out. Where that does not work,
// or does not come to what a merge of the branch comes to (somebody changed something in a merge commit, say), the merge's
// tree becomes one commit. Where the merge conflicts and git rebase does not, what git rebase makes lands.
func rebase(ctx context.Context, g *ground) (Merged, error) {
	done, err := g.carry(ctx, order{})
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
		return g.lands(ctx, done)
	case !errors.As(failed, &conflict):
		return Merged{}, failed
	}
	return g.alone(ctx, done, err, failed)
}

// alone lands the commits one by one where their merge is a conflict: failed. done and err are what carry made of them.
func (g *ground) alone(ctx context.Context, done carried, err, failed error) (Merged, error) {
	twins, lost := g.twinsOfBase(ctx)
	if lost != nil {
		return Merged{}, lost
	}
	if len(twins) > 0 {
		done, err = g.carry(ctx, order{without: twins})
	}
	if conflict := (*ErrConflict)(nil); errors.As(err, &conflict) {
		return Merged{}, failed
	}
	if err == nil {
		err = g.tellsAll(ctx, done, failed)
	}
	if err != nil {
		return Merged{}, err
	}
	return g.lands(ctx, done)
}

// tellsAll is the conflict of the merge unless the commits that were put over hold all that the branch has: no merge commit
// has changes of its own, and what the base won is the base's.
func (g *ground) tellsAll(ctx context.Context, done carried, conflict error) error {
	evil, err := g.evil(ctx)
	if err != nil {
		return err
	}
	if len(evil) > 0 {
		return conflict
	}
	err = g.baseHas(ctx, Merged{Tip: done.tip, BaseWon: done.won})
	if changed := (*ErrChanged)(nil); errors.As(err, &changed) {
		return conflict
	}
	return err
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
	if done.tree == g.baseTree {
		m.Notes = append(m.Notes, "The commits cancel each other out: no file is another one than before.")
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
	m, err := g.single(ctx, tree)
	m.Strategy, m.BaseWon = SquashReapply, won
	return m, err
}

// single makes one commit of all that the branch changes.
func (g *ground) single(ctx context.Context, tree string) (Merged, error) {
	if tree == g.baseTree {
		return Merged{}, g.nothing(ctx)
	}
	text, author, signed, err := g.message(ctx)
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
