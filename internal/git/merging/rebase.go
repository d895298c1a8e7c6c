package merging

import (
	"context"
	"errors"
	"slices"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
)

// rebase puts the branch's own commits on top of Base one by one; its merge commits are left out. Where that does not work,
// or the result is not that of a merge of the branch (somebody changed something in a merge commit, say), the merge's
// tree becomes one commit. Where the merge conflicts and git rebase does not, what git rebase makes lands.
func rebase(ctx context.Context, g *input) (Merged, error) {
	done, err := g.pickOwn(ctx, pickOptions{})
	if err != nil && AsConflict(err) == nil {
		return Merged{}, err
	}
	if err == nil && done.tip == g.Head { // nothing was rewritten, so nothing can be lost
		return g.landPicked(ctx, done)
	}
	tree, won, failed := target(ctx, g)
	switch conflict := AsConflict(failed); {
	case failed == nil && (err != nil || tree != done.tree):
		m, err := g.single(ctx, tree) // with a list of what it is made of
		m.Strategy, m.BaseWon = SquashReapply, won
		return m, err
	case failed != nil && conflict == nil:
		return Merged{}, failed
	case failed != nil:
		twins, lost := appliedOnBase(ctx, g)
		if lost != nil {
			return Merged{}, lost
		}
		if len(twins) > 0 {
			done, err = g.pickOwn(ctx, pickOptions{without: twins})
		}
		if AsConflict(err) != nil {
			return Merged{}, failed
		}
	}
	return g.landAsMerged(ctx, done, err)
}

// landAsMerged lands picked commits if they are what a merge of the branch would be, as far as that makes a tree. err is how they were
// picked. *ErrChanged if the result is another one; the conflict of the merge where they may lack something.
func (g *input) landAsMerged(ctx context.Context, done picked, err error) (Merged, error) {
	if err != nil {
		return Merged{}, err
	}
	tree, won, failed := target(ctx, g)
	switch {
	case AsConflict(failed) != nil:
		if err := g.holdsAll(ctx, done, failed); err != nil {
			return Merged{}, err
		}
	case failed != nil:
		return Merged{}, failed
	case tree != done.tree:
		return Merged{}, changedFrom(ctx, g, tree, done.tree)
	default:
		done.won, g.agreed = won, true
	}
	return g.landPicked(ctx, done)
}

// holdsAll returns the conflict of the merge unless the picked commits hold everything that the branch has: no merge commit
// has changes of its own, and what the base won is the base's.
func (g *input) holdsAll(ctx context.Context, done picked, conflict error) error {
	evil, err := g.evil(ctx)
	if err != nil {
		return err
	}
	if len(evil) > 0 {
		return conflict
	}
	err = baseHas(ctx, g, Merged{Tip: done.tip, BaseWon: done.won})
	if changed := (*ErrChanged)(nil); errors.As(err, &changed) {
		return conflict
	}
	return err
}

// landPicked is the result of commits that were picked one by one. Where all that they changed was dropped, commits that were
// made empty do not land alone, though git rebase would land them: *ErrEmpty.
func (g *input) landPicked(ctx context.Context, done picked) (Merged, error) {
	if len(done.made) == 0 || done.kept == 0 && len(done.dropped) > 0 {
		return Merged{}, g.emptyError(ctx)
	}
	m, err := g.merged(ctx, done.tip, done.tree, done.made)
	if err != nil {
		return Merged{}, err
	}
	if done.tree == g.baseTree {
		m.Notes = append(m.Notes, "The commits cancel each other out: no file changes.")
	}
	m.Signed = done.signed
	slices.Sort(done.won)
	m.BaseWon = slices.Compact(done.won)
	m.Dropped, err = history.Named(ctx, g.c, done.dropped)
	return m, err
}

// single makes one commit of all that the branch changes, by the author of its first own commit.
func (g *input) single(ctx context.Context, tree string) (Merged, error) {
	if tree == g.baseTree {
		return Merged{}, g.emptyError(ctx)
	}
	text, author, signed, err := g.message(ctx)
	if err != nil {
		return Merged{}, err
	}
	tip, err := git.WriteObject(g.c, "commit", git.CommitObject(tree, []string{g.Base}, author, git.Us(g.c), text))
	if err != nil {
		return Merged{}, err
	}
	m, err := g.merged(ctx, tip, tree, nil)
	m.Signed = signed
	return m, err
}
