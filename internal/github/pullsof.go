package github

import (
	"context"
	"fmt"
	"net/url"

	"github.com/mergexo/mergexo/internal/model"
)

// OfCommits says which pull requests of the repository each commit belongs to, by SHA: 20 commits a request. A commit on the
// default branch belongs to the merged pull request that brought it, any other one to all that have it. A commit that GitHub
// does not have, or that came without any, is not in the map.
// https://docs.github.com/graphql/reference/objects#commit
func (c Pulls) OfCommits(ctx context.Context, repo model.Repo, shas []string) (map[string][]model.PullRef, error) {
	out := map[string][]model.PullRef{}
	err := askEach(ctx, c.conn, pullsOfCommits, fmt.Sprintf("read which pull requests commits of %s came with", repo), repo, shas, func(sha string, commit *commitNode) {
		for _, n := range commit.AssociatedPullRequests.Nodes {
			if n != nil && n.isIn(repo) {
				out[sha] = append(out[sha], n.ref())
			}
		}
	})
	return out, err
}

// FromBranch gives the pull requests of the repository from its own branch of that name, the oldest first: the open ones, or those
// in the given states. Those of forks are left out.
func (c Pulls) FromBranch(ctx context.Context, repo model.Repo, branch string, states ...model.PullState) ([]model.PullRef, error) {
	op := fmt.Sprintf("read the pull requests from %s in %s", oneLine(branch), repo)
	q := question{op: op, document: documents["pullsfrom"], repo: repo}
	got, err := c.ask(ctx, q, func(int) map[string]any {
		variables := map[string]any{"branch": branch}
		if len(states) > 0 {
			variables["states"] = states
		}
		return variables
	})
	if err != nil {
		return nil, err
	}
	return ownPulls(got.Repository.PullRequests.Nodes), nil
}

// FromBranches gives the pull requests of the repository from its own branches of these names, in whatever state, by branch, the
// newest first: 20 of each, 100 branches a request. The branches need not be there any more. Those of forks are left out.
func (c Pulls) FromBranches(ctx context.Context, repo model.Repo, branches []string) (map[string][]model.PullRef, error) {
	op := fmt.Sprintf("read the pull requests from %d branches of %s", len(branches), repo)
	out := map[string][]model.PullRef{}
	err := askEach(ctx, c.conn, pullsFromEach, op, repo, branches, func(branch string, n *threads) {
		if own := ownPulls(n.Nodes); len(own) > 0 {
			out[branch] = own
		}
	})
	return out, err
}

// ownPulls are the pull requests that are not of forks.
func ownPulls(nodes []*threadNode) (out []model.PullRef) {
	for _, n := range nodes {
		if n != nil && !n.IsCrossRepository {
			out = append(out, n.ref())
		}
	}
	return out
}

// InUse are the branches that open pull requests go from or to, those of forks included.
// https://docs.github.com/rest/pulls/pulls#list-pull-requests
func (c Pulls) InUse(ctx context.Context, repo model.Repo) (map[string]bool, error) {
	type side struct{ Ref string }
	op := fmt.Sprintf("list the open pull requests of %s", repo)
	all, err := listOf[struct{ Head, Base side }](ctx, c.conn, op, repo, "pulls", url.Values{"state": {"open"}}, mostRefPages)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for _, p := range all {
		used[p.Head.Ref], used[p.Base.Ref] = true, true
	}
	return used, nil
}
