package git

import (
	"context"
	"fmt"
	"maps"
	"strings"
)

// maxCandidates is how many commits of the base are compared with those of the branch.
const maxCandidates = 500

// nothing is *ErrEmpty with what proves it: for each commit of the branch one of the base that changes the same, or one of
// the base for all of them.
func (g *ground) nothing(ctx context.Context) error {
	theirs, sums, err := g.candidates(ctx, g.start(), g.Head)
	if err != nil || len(theirs) == 0 {
		return errOr(err, &ErrEmpty{})
	}
	pairs := [][2]string{{g.Head, g.start()}}
	for _, t := range g.own {
		if len(t.parents) == 1 && len(pairs) <= maxCandidates {
			pairs = append(pairs, [2]string{t.sha, t.parents[0]})
		}
	}
	mine, err := g.c.changes(ctx, pairs)
	if err != nil {
		return err
	}
	if at := same(mine[0], theirs, sums); at != "" {
		return &ErrEmpty{Proof: []string{fmt.Sprintf("all that %s changes is what %s on the base changed", g.Head, at)}}
	}
	proof := &ErrEmpty{}
	for i, pair := range pairs[1:] {
		at := same(mine[i+1], theirs, sums)
		if at == "" && len(mine[i+1]) > 0 {
			return &ErrEmpty{}
		}
		if at != "" {
			proof.Proof = append(proof.Proof, fmt.Sprintf("%s is %s on the base", pair[0], at))
		}
	}
	if len(g.merges())+len(pairs)-1 != len(g.own) { // a first commit of another history, or too many
		return &ErrEmpty{}
	}
	if evil, err := g.evil(ctx); err != nil || len(evil) > 0 {
		return errOr(err, &ErrEmpty{})
	}
	return proof
}

// same is the first of the commits that changes the same, "" when none does or there is nothing to compare.
func same(mine change, commits []string, sums []change) string {
	for i, sum := range sums {
		if len(mine) > 0 && maps.Equal(mine, sum) {
			return commits[i]
		}
	}
	return ""
}

// candidates are the commits of the base that changed one of the paths in which two commits differ, newest first, with
// what they changed.
func (g *ground) candidates(ctx context.Context, from, to string) ([]string, []change, error) {
	out, err := g.c.ask(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to)
	if err != nil {
		return nil, nil, fmt.Errorf("list changed files: %w", err)
	}
	paths := fields(out)
	if len(paths) == 0 {
		return nil, nil, nil
	}
	args := []string{"rev-list", "--no-merges", fmt.Sprintf("--max-count=%d", maxCandidates), g.Base, "^" + g.fork[0], "--"}
	if len(paths) <= 200 {
		args = append(args, paths...)
	}
	if out, err = g.c.ask(ctx, args...); err != nil {
		return nil, nil, fmt.Errorf("list commits of the base: %w", err)
	}
	commits := strings.Fields(string(out))
	if len(commits) == 0 {
		return nil, nil, nil
	}
	var pairs [][2]string
	for _, sha := range commits {
		pairs = append(pairs, [2]string{sha, ""})
	}
	sums, err := g.c.changes(ctx, pairs)
	return commits, sums, err
}

// landed tells whether the base has a commit that changes what this one does, word for word.
func (g *ground) landed(ctx context.Context, t twig) (bool, error) {
	if len(t.parents) != 1 {
		return false, nil
	}
	commits, sums, err := g.candidates(ctx, t.parents[0], t.sha)
	if err != nil {
		return false, err
	}
	mine, err := g.c.changes(ctx, [][2]string{{t.sha, t.parents[0]}})
	return err == nil && same(mine[0], commits, sums) != "", err
}
