package git

import (
	"context"
	"fmt"

	"github.com/mergexo/mergexo/internal/model"
)

// Merge says what is to be put onto which commit, and how.
type Merge struct {
	Strategy   string // one of model's
	Base, Head string // commits that are here with the history between them
	// Known are former tips of the base branch: what only they and Head have is not the branch's own, the base gave it up.
	// Ids that are not here are ignored.
	Known       []string
	Title, Body string   // subject and body of the one commit that a strategy makes beside the branch's own
	BaseWins    []string // globs: conflicts that lie only in such paths take the base's version
	UnionFields []string // the list fields that frontmatter-union merges
}

// Merged is what came of it: commits that no ref names yet.
type Merged struct {
	Tip, Tree    string
	Commits      []model.Moved  // what is new on top of Base, oldest first; of more than maxListed the newest
	Count        int            // how many are new on top of Base
	Dropped      []model.Commit // the branch's commits whose changes the base had already
	Strategy     string         // what was done: what was asked, or SquashReapply
	Signed       int            // commits whose signatures are lost
	MergeCommits int            // merge commits in the branch
	Evil         []model.Commit // those of them that hold changes of their own: not git's merge of their parents
	BaseWon      []string       // paths whose conflicts the base won
	Notes        []string       // what else people should know: short sentences
}

// SquashReapply is what rebase becomes where the commits do not go over one by one: one commit with the merge's tree.
const SquashReapply = "squash-reapply"

// maxListed is how many commits a list names.
const maxListed = 250

// strategies is the only place that says which strategy is built how.
var strategies = map[string]func(*Checkout, context.Context, Merge) (Merged, error){}

// Build makes the commits that would land Head on Base. Nothing refers to them yet, and nothing of the checkout but its
// objects is touched. Errors: *ErrConflict, *ErrUnrelated, *ErrEmpty, *ErrRewound, *ErrFrontmatter, *ErrTooMany.
func (c *Checkout) Build(ctx context.Context, m Merge) (Merged, error) {
	build, ok := strategies[m.Strategy]
	if !ok {
		return Merged{}, fmt.Errorf("merge: there is no strategy %q", m.Strategy)
	}
	return build(c, ctx, m)
}

// Verify fails with *ErrChanged unless what would land from m.Base to m.Tip is what the branch changes (SameChange), or the
// tree is git's own merge of Base and Head. Paths whose conflicts the base won, and files whose lists were merged, are
// compared with what the strategy makes of them.
func (c *Checkout) Verify(ctx context.Context, m Merge, made Merged) error {
	return fmt.Errorf("verify %s: %w", made.Tip, ctx.Err())
}

// SameChange tells whether what head1 changes since its merge base with base1 is what head2 changes since its own with
// base2: the same bytes of the same lines, wherever they are in the files and whatever is around them.
func (c *Checkout) SameChange(ctx context.Context, base1, head1, base2, head2 string) (bool, error) {
	return false, ctx.Err()
}

// Culprits lists the commits of the base since its merge base with head that changed one of the paths, newest first, at
// most 20.
func (c *Checkout) Culprits(ctx context.Context, base, head string, paths []string) ([]model.Commit, error) {
	return nil, ctx.Err()
}

// Revert makes one commit on top of onto that takes back what changed between from and to. *ErrConflict when what came
// later is in the way, *ErrEmpty when it is undone already.
func (c *Checkout) Revert(ctx context.Context, from, to, onto, title, body string) (Merged, error) {
	return Merged{}, ctx.Err()
}

// LandedRange tells what GitHub's merge of a pull request put on the base: everything after from up to to, which is its
// merge commit. base and head are those of the pull request, and commits is how many it has.
func (c *Checkout) LandedRange(ctx context.Context, mergeCommit, base, head string, commits int) (from, to string, err error) {
	return "", "", ctx.Err()
}
