package git

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// evil lists the merge commits of the branch that are not what git makes of their parents: somebody resolved a conflict in
// them, or changed more. Of very many the newest are looked at.
func (g *ground) evil(ctx context.Context) ([]model.Commit, error) {
	merges := g.merges()
	found, err := g.c.evil(ctx, g.files, merges[max(0, len(merges)-maxListed):])
	if err != nil {
		return nil, err
	}
	return g.c.named(ctx, found)
}

// evil are those of the merge commits that are not what git makes of their two parents, with the attributes below files.
func (c *Checkout) evil(ctx context.Context, files string, merges []twig) (found []string, err error) {
	raws, err := c.raws(ctx, merges)
	if err != nil || len(merges) == 0 {
		return nil, err
	}
	var ask strings.Builder
	var asked []twig
	for _, t := range merges {
		if len(t.parents) > 2 { // git merges so many at once only where nothing is to be resolved
			continue
		}
		asked = append(asked, t)
		fmt.Fprintf(&ask, "%s %s\n", t.parents[0], t.parents[1])
	}
	args := concat(shield, offline, mergeAsAlways, []string{"merge-tree", "--write-tree", "--stdin", "-z", "--no-messages", "--name-only", "--allow-unrelated-histories"})
	env := c.env("GIT_DIR="+c.own, "GIT_OBJECT_DIRECTORY="+c.objects, "GIT_WORK_TREE="+files)
	out, err := c.run(ctx, spec{dir: files, env: env, args: args, stdin: []byte(ask.String())})
	if err != nil {
		return nil, fmt.Errorf("look into merge commits: %w", err)
	}
	trees, err := cleanTrees(out, len(asked))
	if err != nil {
		return nil, err
	}
	for i, t := range asked {
		if trees[i] != treeIn(raws[t.sha]) {
			found = append(found, t.sha)
		}
	}
	return found, nil
}

// cleanTrees reads git merge-tree --stdin: for each merge 1 and a tree, or 0, a tree and what is in conflict, and an empty
// field. A merge with conflicts has "".
func cleanTrees(out []byte, n int) ([]string, error) {
	var trees []string
	part := strings.Split(string(out), "\x00")
	for len(part) > 1 && len(trees) < n {
		if part[0] == "" { // between two answers
			part = part[1:]
			continue
		}
		if (part[0] != "0" && part[0] != "1") || !isSHA(part[1]) {
			return nil, fmt.Errorf("look into merge commits: unexpected answer %q", out)
		}
		tree := part[1]
		if part[0] == "0" {
			tree = ""
		}
		trees = append(trees, tree)
		end := slices.Index(part[2:], "")
		if end < 0 {
			break
		}
		part = part[2+end:]
	}
	if len(trees) != n {
		return nil, fmt.Errorf("look into merge commits: unexpected answer %q", out)
	}
	return trees, nil
}
