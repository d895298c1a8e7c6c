package history

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// Published is what a push of a commit would newly publish where the server has others, listed once for all that looks at
// it. Who has worked in the checkout since may have replaced objects: then it is to be listed again.
type Published struct {
	from, to string
	known    []string
	commits  []string // parents first
	steps    []Step
	sizes    map[string]int64 // of the commits and of all contents

	Pointers []Step   // of Git LFS, once Patches has read all
	Marked   []string // paths of files in which lines are new that have conflict markers, then too
}

// Publishes lists what a push of to would newly publish if the server has from and the known commits. *ErrTreeLimits says
// that one of its trees is too large to be compared. Four processes, whatever the number of commits and files.
func Publishes(ctx context.Context, c *git.Checkout, from, to string, known []string) (*Published, error) {
	return publishes(ctx, c, from, to, known, nil)
}

// publishes is Publishes where the server has further commits, with which nothing is compared.
func publishes(ctx context.Context, c *git.Checkout, from, to string, known, further []string) (*Published, error) {
	commits, trees, err := span(ctx, c, from, to, slices.Concat(known, further))
	if err != nil {
		return nil, err
	}
	return published(ctx, c, from, to, known, commits, trees)
}

// published is Publishes for commits that are listed already, parents first, and their trees.
func published(ctx context.Context, c *git.Checkout, from, to string, known, commits, trees []string) (*Published, error) {
	err := git.CheckTrees(ctx, c, trees)
	if err != nil {
		return nil, err
	}
	p := &Published{from: from, to: to, known: slices.Clone(known), commits: commits}
	if p.steps, err = Steps(ctx, c, commits, append([]string{to, from}, known...)); err != nil {
		return nil, err
	}
	ids := slices.Clone(commits)
	for _, s := range p.steps {
		if s.IsBlob() {
			ids = append(ids, s.Id)
		}
		ids = append(ids, s.before...)
	}
	p.sizes, err = Sizes(ctx, c, ids)
	return p, err
}

// Is reports whether this is what a push of to would newly publish if the server has from and the known commits.
func (p *Published) Is(from, to string, known []string) bool {
	return p != nil && p.from == from && p.to == to && slices.Equal(p.known, known)
}

// Paths are those that one of its commits changes, each once.
func (p *Published) Paths() (paths []string) {
	if p == nil {
		return nil
	}
	for _, s := range p.steps {
		paths = append(paths, s.Path)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// EveryChange lists it commit by commit, oldest first: every path that is not as in one of the commit's parents, so that
// what one commit adds and the next removes is there, what a side branch brings in, and what somebody put into a merge; and
// at the end every other path that is in the pushed commit as in none that the server has, which is how an old version
// shows that a merge took from far back. A path is named as often as it was changed. A merge of a known commit changes only
// what its author changed in it.
func (p *Published) EveryChange(ctx context.Context, c *git.Checkout) ([]Step, error) {
	type state struct{ path, mode, id string }
	made := map[state]bool{}
	steps := slices.DeleteFunc(slices.Clone(p.steps), func(s Step) bool { // what the last commit to change a path made of it
		now := state{s.Path, s.NewMode, s.Id}
		if s.whole {
			return made[now]
		}
		made[now] = true
		return false
	})
	if err := measureSteps(ctx, c, steps, p.sizes); err != nil {
		return nil, fmt.Errorf("measure what changed from %s to %s: %w", p.from, p.to, err)
	}
	return steps, nil
}

// Span lists what is reachable from to and neither from from nor from the known commits, parents first.
func Span(ctx context.Context, c *git.Checkout, from, to string, known []string) ([]string, error) {
	commits, _, err := span(ctx, c, from, to, known)
	return commits, err
}

// span is Span with the trees of the commits.
func span(ctx context.Context, c *git.Checkout, from, to string, known []string) (commits, trees []string, err error) {
	args := []string{"rev-list", "--reverse", "--topo-order", "--no-commit-header", "--format=%H %T", to}
	for _, sha := range append([]string{from, to}, known...) {
		if !syntax.IsSHA(sha) {
			return nil, nil, fmt.Errorf("list commits of %q..%q without %q: not commit ids", from, to, known)
		}
		if sha != to {
			args = append(args, "^"+sha)
		}
	}
	if from == to || slices.Contains(known, to) {
		return nil, nil, nil
	}
	out, err := c.Ask(ctx, args...)
	if err != nil {
		return nil, nil, fmt.Errorf("list commits of %s..%s: %w", from, to, err)
	}
	for row := range strings.Lines(string(out)) {
		commit, tree, _ := strings.Cut(strings.TrimSuffix(row, "\n"), " ")
		commits, trees = append(commits, commit), append(trees, tree)
	}
	return commits, trees, nil
}
