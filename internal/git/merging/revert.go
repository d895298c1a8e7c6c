package merging

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// Revert makes one commit on onto that undoes the changes between from and to. *ErrConflict if later changes are in the
// way, *ErrEmpty if it is undone already.
func Revert(ctx context.Context, c *git.Checkout, from, to, onto, title, body string) (made Merged, err error) {
	g := &input{Request: Request{Base: onto, Head: to, Title: title, Body: body}, c: c, fork: []string{from}}
	if !syntax.IsSHA(from) {
		return Merged{}, fmt.Errorf("revert %q..%q: not commit ids", from, to)
	}
	if err := g.trees(ctx); err != nil {
		return Merged{}, err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	if err := g.attributes(ctx); err != nil {
		return Merged{}, err
	}
	was, err := history.TreeOf(ctx, c, from)
	if err != nil {
		return Merged{}, fmt.Errorf("revert %s..%s: %w", from, to, err)
	}
	ours, err := StandIn(c, g.baseTree, to)
	if err != nil {
		return Merged{}, err
	}
	theirs, err := StandIn(c, was, to)
	if err != nil {
		return Merged{}, err
	}
	tree, _, err := g.mergeForBase(ctx, ours, theirs, ours, to, nil)
	if conflict := AsConflict(err); conflict != nil {
		return Merged{}, cmp.Or[error](Describe(ctx, c, conflict, "now", "before"), conflict)
	}
	if err != nil {
		return Merged{}, fmt.Errorf("revert %s..%s: %w", from, to, err)
	}
	if tree == g.baseTree {
		return Merged{}, &ErrEmpty{}
	}
	tip, err := git.WriteCommit(c, tree, paragraphs(g.title(ctx, g.Title), body), onto)
	if err != nil {
		return Merged{}, err
	}
	return g.merged(ctx, tip, tree, nil)
}

// maxAdded is how many commits that were pushed on top of a revert are looked below.
const maxAdded = 50

// Reverted finds the newest commit of a branch, by its tip, whose message has this line, and the one commit that it stands on. ""
// is for none. Anybody who may push can write such a line: it is the one that Revert made only if it also has its tree.
func Reverted(ctx context.Context, c *git.Checkout, tip, line string) (sha, onto string, err error) {
	if !syntax.IsSHA(tip) {
		return "", "", fmt.Errorf("find a revert on %q: not a commit id", tip)
	}
	list, err := history.Log(ctx, c, "%H%n%B", []string{tip}, "--first-parent", fmt.Sprintf("--max-count=%d", maxAdded))
	if err != nil {
		return "", "", fmt.Errorf("find a revert on %s: %w", tip, err)
	}
	for _, part := range list {
		if !slices.Contains(strings.Split(part[1], "\n"), line) {
			continue
		}
		sha := part[0]
		raw, err := c.Ask(ctx, "cat-file", "commit", sha) // which knows the parents also where the history here ends
		if err != nil {
			return "", "", fmt.Errorf("read commit %s: %w", sha, err)
		}
		head, _, _ := strings.Cut(string(raw), "\n\n")
		if _, rest, is := strings.Cut(head, "\nparent "); is && !strings.Contains(rest, "\nparent ") {
			onto, _, _ = strings.Cut(rest, "\n")
			return sha, onto, nil
		}
		return "", "", nil
	}
	return "", "", nil
}

// LandedRange determines what GitHub's merge of a pull request put on the base: the changes between from and to, its merge
// commit. base and head are the pull request's commits as merged, and commits is how many it had. A merge commit has the
// head as its second parent; a squash or a rebase has to change what the pull request changes, or to have the tree of its
// merge. It is an error if that cannot be determined.
func LandedRange(ctx context.Context, c *git.Checkout, mergeCommit, base, head string, commits int) (from, to string, err error) {
	if !syntax.IsSHA(mergeCommit) || !syntax.IsSHA(base) || !syntax.IsSHA(head) {
		return "", "", fmt.Errorf("find what %q put on %q: not commit ids", mergeCommit, base)
	}
	list, err := history.Nodes(ctx, c, []string{mergeCommit}, "--first-parent", fmt.Sprintf("--max-count=%d", max(commits, 1)))
	if err != nil {
		return "", "", fmt.Errorf("find what %s put on the base: %w", mergeCommit, err)
	}
	parents := list[0].Parents
	unknown := fmt.Errorf("it is unclear what %s put on the base: it is neither a merge of %s nor its changes in one commit or %d", mergeCommit, head, commits)
	switch {
	case len(parents) == 2 && parents[1] == head:
		return parents[0], mergeCommit, nil
	case len(parents) != 1:
		return "", "", unknown
	case mergeCommit == head: // we fast-forwarded it
		fork, err := history.KnownMergeBase(ctx, c, base, head)
		if err == nil && fork == head {
			err = unknown
		}
		return fork, mergeCommit, err
	}
	starts := parents
	if last := list[len(list)-1].Parents; commits > 1 && len(list) == commits && len(last) == 1 {
		starts = append(starts, last[0])
	}
	return landedFrom(ctx, c, starts, mergeCommit, head, unknown)
}

// landedFrom finds the start from which GitHub's merge commit has the head's changes.
func landedFrom(ctx context.Context, c *git.Checkout, starts []string, mergeCommit, head string, unknown error) (from, to string, err error) {
	fork, err := history.KnownMergeBase(ctx, c, starts[0], head)
	if err != nil {
		return "", "", err
	}
	pairs := [][2]string{{head, fork}}
	for _, start := range starts {
		pairs = append(pairs, [2]string{mergeCommit, start})
	}
	sums, err := changes(ctx, c, pairs)
	if err != nil {
		return "", "", err
	}
	for i, start := range starts {
		if sums[0] != "" && sums[0] == sums[i+1] {
			return start, mergeCommit, nil
		}
	}
	tree, err := history.TreeOf(ctx, c, mergeCommit)
	if err != nil {
		return "", "", err
	}
	for _, start := range starts {
		found, clean, err := Merge(ctx, c, c.OwnDir, start, head)
		if err == nil && clean && found.Tree == tree && sums[0] != "" {
			return start, mergeCommit, nil
		}
	}
	return "", "", unknown
}
