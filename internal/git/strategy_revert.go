package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// maxCulprits is how many commits of the base are named as those that conflict.
const maxCulprits = 20

// Culprits lists the commits of the base since its merge base with head that changed one of the paths, newest first, at
// most 20.
func (c *Checkout) Culprits(ctx context.Context, base, head string, paths []string) ([]model.Commit, error) {
	from, err := c.parting(ctx, base, head)
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	args := []string{"log", "-z", "--no-show-signature", "--encoding=UTF-8", "--format=%H%n%an%n%s", fmt.Sprintf("--max-count=%d", maxCulprits), base, "^" + from, "--"}
	out, err := c.ask(ctx, concat(args, paths[:min(len(paths), 200)])...)
	if err != nil {
		return nil, fmt.Errorf("list commits of the base that conflict: %w", err)
	}
	return commitsIn(out)
}

// Revert makes one commit on top of onto that takes back what changed between from and to. *ErrConflict when what came
// later is in the way, *ErrEmpty when it is undone already.
func (c *Checkout) Revert(ctx context.Context, from, to, onto, title, body string) (made Merged, err error) {
	g := &ground{Merge: Merge{Base: onto, Head: to, Title: title, Body: body}, c: c, fork: []string{from}}
	if !isSHA(from) {
		return Merged{}, fmt.Errorf("revert %q..%q: not commit ids", from, to)
	}
	if err := g.trees(ctx); err != nil {
		return Merged{}, err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	if err := g.attributes(ctx); err != nil {
		return Merged{}, err
	}
	out, err := c.ask(ctx, "rev-parse", "--verify", from+"^{tree}")
	if err != nil {
		return Merged{}, fmt.Errorf("revert %s..%s: %w", from, to, err)
	}
	ours, err := c.writeCommit(ctx, c.plain(g.baseTree, []string{to}, "stand-in\n"))
	if err != nil {
		return Merged{}, err
	}
	theirs, err := c.writeCommit(ctx, c.plain(line(out), []string{to}, "stand-in\n"))
	if err != nil {
		return Merged{}, err
	}
	found, clean, err := g.merge(ctx, ours, theirs)
	if err != nil {
		return Merged{}, fmt.Errorf("revert %s..%s: %w", from, to, err)
	}
	if !clean {
		conflict := &ErrConflict{Commit: to, Tree: found.tree, Paths: found.paths(), found: found}
		return Merged{}, errOr(c.describe(ctx, conflict, "now", "before"), conflict)
	}
	tree := found.tree
	if tree == g.baseTree {
		return Merged{}, &ErrEmpty{}
	}
	tip, err := c.writeCommit(ctx, c.plain(tree, []string{onto}, paragraphs(g.title(ctx, g.Title), body)))
	if err != nil {
		return Merged{}, err
	}
	return g.merged(ctx, tip, tree, nil)
}

// LandedRange tells what GitHub's merge of a pull request put on the base: all that changed between from and to, which is
// its merge commit. base and head are commits of the pull request as it was merged, and commits is how many it had. A merge
// commit has the head as its second parent; a squash or a rebase has to change what the pull request changes, or to have
// the tree of its merge. It is an error when it cannot be told.
func (c *Checkout) LandedRange(ctx context.Context, mergeCommit, base, head string, commits int) (from, to string, err error) {
	if !isSHA(mergeCommit) || !isSHA(base) || !isSHA(head) {
		return "", "", fmt.Errorf("find what %q put on %q: not commit ids", mergeCommit, base)
	}
	out, err := c.ask(ctx, "rev-list", "--first-parent", "--parents", fmt.Sprintf("--max-count=%d", max(commits, 1)), mergeCommit)
	if err != nil {
		return "", "", fmt.Errorf("find what %s put on the base: %w", mergeCommit, err)
	}
	rows := strings.Split(strings.TrimSpace(string(out)), "\n")
	ids := strings.Fields(rows[0])
	unknown := fmt.Errorf("it cannot be told what %s put on the base: it is neither a merge of %s nor its changes in one commit or %d", mergeCommit, head, commits)
	if len(ids) > 2 {
		if len(ids) == 3 && ids[2] == head {
			return ids[1], mergeCommit, nil
		}
		return "", "", unknown
	}
	if len(ids) < 2 {
		return "", "", unknown
	}
	if mergeCommit == head { // moved there, by us
		fork, err := c.parting(ctx, base, head)
		if err == nil && fork == head {
			err = unknown
		}
		return fork, mergeCommit, err
	}
	starts := []string{ids[1]}
	if last := strings.Fields(rows[len(rows)-1]); commits > 1 && len(rows) == commits && len(last) == 2 {
		starts = append(starts, last[1])
	}
	return c.landedFrom(ctx, starts, mergeCommit, head, unknown)
}

// landedFrom finds the one of the starts from which a merge commit made by GitHub has what the head changes.
func (c *Checkout) landedFrom(ctx context.Context, starts []string, mergeCommit, head string, unknown error) (from, to string, err error) {
	fork, err := c.parting(ctx, starts[0], head)
	if err != nil {
		return "", "", err
	}
	pairs := [][2]string{{head, fork}}
	for _, start := range starts {
		pairs = append(pairs, [2]string{mergeCommit, start})
	}
	sums, err := c.changes(ctx, pairs)
	if err != nil {
		return "", "", err
	}
	for i, start := range starts {
		if len(sums[0]) > 0 && maps.Equal(sums[0], sums[i+1]) {
			return start, mergeCommit, nil
		}
	}
	for _, start := range starts {
		out, err := c.ask(ctx, "rev-parse", "--verify", mergeCommit+"^{tree}")
		if err != nil {
			return "", "", fmt.Errorf("read tree of %s: %w", mergeCommit, err)
		}
		found, clean, err := c.mergeTrees(ctx, c.own, start, head)
		if err == nil && clean && found.tree == strings.TrimSpace(string(out)) && len(sums[0]) > 0 {
			return start, mergeCommit, nil
		}
	}
	return "", "", unknown
}
