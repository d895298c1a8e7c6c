// Package merging merges trees without a working tree, and makes the commits that would land a branch on its base, with one file
// for each strategy. It verifies that these commits are what was reviewed, and finds out which of thousands of pull requests
// conflict with each other. It pushes nothing.
package merging

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
)

// Request says what to merge into which commit, and how.
type Request struct {
	Strategy   string // one of model's
	Base, Head string // commits that are here with the history between them
	// Known are former tips of the base branch: commits that only they and Head have were dropped by the base, and are not
	// the branch's own. Missing IDs are ignored.
	Known []string
	// Title and Body are subject and body of the one commit that a strategy adds to the branch's own, or makes of several ones, whose
	// messages follow. One that replaces a single commit keeps that one's message.
	Title, Body string
	BaseWins    []string // globs of paths whose conflicts the base wins
	UnionFields []string // the list fields that frontmatter-union merges
}

// Merged is the result: commits without a ref.
type Merged struct {
	Tip, Tree string
	Commits   []model.Moved  // the new ones on top of Base, oldest first; the newest maxListed
	Count     int            // number of new ones on top of Base
	Dropped   []model.Commit // the branch's commits whose changes the base had already
	Strategy  string         // the strategy used: the requested one, or SquashReapply
	Signed    int            // commits whose signatures are lost
	Evil      []model.Commit // those with changes of their own: not git's merge of their parents
	BaseWon   []string       // paths whose conflicts the base won
	Notes     []string       // other short sentences for people
}

// SquashReapply is rebase's fallback if the commits do not apply one by one: one commit with the merge's tree.
const SquashReapply = "squash-reapply"

// strategy is one way to land a branch. Shared steps are methods of input. What is to be known before anything is built is in
// model's row.
type strategy struct {
	// build makes the commits.
	build func(context.Context, *input) (Merged, error)
	// message is the new message of a commit that is picked; nil: it stays.
	message func(sha string, raw []byte) []byte
	// tree is the tree that the commits must have, which is verified, with the paths whose conflicts the base won; nil:
	// the merge's tree.
	tree func(context.Context, *input) (tree string, won []string, err error)
	// omits are the branch's own commits that it may omit if the merge conflicts; nil: none.
	omits func(context.Context, *input) (map[string]bool, error)
}

// strategies are those of model, each in its file.
var strategies = map[string]strategy{
	model.StrategyRebase:     {build: rebase, omits: appliedOnBase},
	model.StrategyCherryPick: {build: cherryPick, message: pickedFrom},
	model.StrategySquash:     {build: squash},
	model.StrategyNoFF:       {build: noFF},
	model.StrategyUnion:      {build: union, tree: unionTree},
	model.StrategyAPI:        {build: noFF}, // only for tests: GitHub makes the like
	model.StrategyQueue:      {build: noFF}, // only for a dry run: GitHub makes what its queue says
}

// Build makes the commits that would land Head on Base, and verifies them as Verify does. They have no ref yet, and the checkout
// only gets objects. Errors: those of Verify, and *ErrConflict, *ErrUnrelated, *ErrEmpty, *ErrRewound, *ErrFrontmatter,
// *ErrTooMany, and *ErrChanged if commits picked one by one would land something else than their merge.
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
	if made, err = way.build(ctx, g); err != nil {
		return Merged{}, err
	}
	if err := standsOn(ctx, c, m.Base, made); err != nil {
		return Merged{}, err
	}
	if !g.agreed { // what is to be merged was read a moment ago; how it merges is found once more
		g.applied, g.targetTree, g.targetWon, g.targetErr = nil, "", nil, nil
	}
	if err := verify(ctx, g, made); err != nil {
		return Merged{}, err
	}
	return made, nil
}
