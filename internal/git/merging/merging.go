// Package merging makes the commits that would land a branch on its base, one file for each strategy, shows that they are what
// was reviewed, and lands them in a person's own checkout. Nothing here pushes.
package merging

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
)

// Request says what is to be put onto which commit, and how.
type Request struct {
	Strategy   string // one of model's
	Base, Head string // commits that are here with the history between them
	// Known are former tips of the base branch: what only they and Head have is not the branch's own, the base gave it up.
	// Ids that are not here are ignored.
	Known       []string
	Title, Body string // subject and body of the one commit that a strategy adds to the branch's own
	// Own has one commit that stands for the branch's own say what that says, in place of Title and Body, where it is the only
	// one. Of several it says Title, Body and what git merge --squash offers.
	Own         bool
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

// strategy is one way to land a branch. What is common to all of them is in the input.
type strategy struct {
	// build makes the commits.
	build func(context.Context, *input) (Merged, error)
	// tree is the tree that the commits must have, which Verify checks, with the paths whose conflicts the base won; nil:
	// the tree of the merge.
	tree func(context.Context, *input) (tree string, won []string, err error)
	// omits are the branch's own commits that it may leave out where the merge conflicts; nil: none.
	omits func(context.Context, *input) (map[string]bool, error)
}

// strategies has a row for each strategy, which is in the file of its name.
var strategies = map[string]strategy{
	model.StrategyRebase:     {build: rebase, omits: appliedOnBase},
	model.StrategySquash:     {build: squash},
	model.StrategyNoFF:       {build: noFF},
	model.StrategyCherryPick: {build: cherryPick},
	model.StrategyUnion:      {build: union, tree: unionTree},
	model.StrategyAPI:        {build: noFF}, // only to be tested: GitHub makes one like it
}

// Build makes the commits that would land Head on Base. Nothing refers to them yet, and nothing of the checkout but its
// objects is touched. Errors: *ErrConflict, *ErrUnrelated, *ErrEmpty, *ErrRewound, *ErrFrontmatter, *ErrTooMany, and
// *ErrChanged when commits picked one by one would land something else than their merge.
func Build(ctx context.Context, c *git.Checkout, m Request) (made Merged, err error) {
	way, ok := strategies[m.Strategy]
	if !ok {
		return Merged{}, fmt.Errorf("merge: there is no strategy %q", m.Strategy)
	}
	g, err := readInput(ctx, c, m)
	if err != nil {
		return Merged{}, err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	return way.build(ctx, g)
}
