package merging

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/mergetree"
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/model"
)

// evil lists the branch's merge commits that differ from git's merge of their parents: somebody resolved a conflict in
// them, or changed more. Of very many the newest are checked.
func (g *input) evil(ctx context.Context) ([]model.Commit, error) {
	merges := g.merges()
	found, err := evilMerges(ctx, g.c, g.files, merges[max(0, len(merges)-history.MaxListed):])
	if err != nil {
		return nil, err
	}
	return history.Named(ctx, g.c, found)
}

// evilMerges are the merge commits that differ from git's merge of their two parents, with the attributes below files.
func evilMerges(ctx context.Context, c *git.Checkout, files string, merges []commitNode) (found []string, err error) {
	raws, err := rawCommits(ctx, c, merges)
	if err != nil || len(merges) == 0 {
		return nil, err
	}
	var ask strings.Builder
	var asked []commitNode
	for _, t := range merges {
		if len(t.parents) > 2 { // git makes an octopus merge only without conflicts
			continue
		}
		asked = append(asked, t)
		fmt.Fprintf(&ask, "%s %s\n", t.parents[0], t.parents[1])
	}
	args := git.Safely(mergetree.MergeAsAlways, []string{"merge-tree", "--write-tree", "--stdin", "-z", "--no-messages", "--name-only", "--allow-unrelated-histories"})
	env := c.OwnEnv("GIT_WORK_TREE=" + files)
	out, err := c.Run(ctx, git.Spec{Dir: files, Env: env, Args: args, Stdin: []byte(ask.String())})
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

// cleanTrees parses git merge-tree --stdin: for each merge 1 and a tree, or 0, a tree and the conflicts, and an empty
// field. A merge with conflicts becomes "".
func cleanTrees(out []byte, n int) ([]string, error) {
	var trees []string
	part := strings.Split(string(out), "\x00")
	for len(part) > 1 && len(trees) < n {
		if part[0] == "" { // between two results
			part = part[1:]
			continue
		}
		if (part[0] != "0" && part[0] != "1") || !syntax.IsSHA(part[1]) {
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
