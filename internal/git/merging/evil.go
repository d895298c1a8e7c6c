package merging

import (
	"context"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/model"
)

// evil lists the branch's merge commits that differ from git's merge of their parents: somebody resolved a conflict in
// them, or changed more. Of very many the newest are checked.
func (g *input) evil(ctx context.Context) ([]model.Commit, error) {
	merges := merges(g.own)
	found, err := evilMerges(ctx, g.c, g.files, merges[max(0, len(merges)-history.MaxListed):])
	if err != nil {
		return nil, err
	}
	return history.Named(ctx, g.c, found)
}

// evilMerges are the merge commits that differ from git's merge of their two parents, with the attributes below files.
func evilMerges(ctx context.Context, c *git.Checkout, files string, merges []history.Node) (found []string, err error) {
	raws, err := rawCommits(ctx, c, merges)
	if err != nil || len(merges) == 0 {
		return nil, err
	}
	var asked []history.Node
	var pairs [][2]string
	for _, t := range merges {
		if len(t.Parents) == 2 { // git makes an octopus merge only without conflicts
			asked, pairs = append(asked, t), append(pairs, [2]string{t.Parents[0], t.Parents[1]})
		}
	}
	_, err = MergeAll(ctx, c, files, "", pairs, func(i int, made *Result, clean bool) {
		if t := asked[i]; !clean || made.Tree != treeIn(raws[t.SHA]) {
			found = append(found, t.SHA)
		}
	})
	return found, git.Wrap(err, "look into merge commits")
}
