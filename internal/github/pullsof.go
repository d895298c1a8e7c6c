package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// OfCommits says which pull requests of the repository each commit belongs to, by SHA: 20 commits a request. A commit on the
// default branch belongs to the merged pull request that brought it, any other one to all that have it. A commit that GitHub
// does not have, or that came without any, is not in the map.
// https://docs.github.com/graphql/reference/objects#commit
func (c Pulls) OfCommits(ctx context.Context, repo model.Repo, shas []string) (map[string][]model.PullRef, error) {
	type commitNode struct {
		AssociatedPullRequests *connection[struct {
			branchPullNode
			Repository struct{ NameWithOwner string }
		}]
	}
	out := map[string][]model.PullRef{}
	err := askEach(ctx, c.conn, pullsOfCommits, fmt.Sprintf("read which pull requests commits of %s came with", repo), repo, shas, func(sha string, commit *commitNode) {
		if commit.AssociatedPullRequests == nil {
			return
		}
		for _, n := range commit.AssociatedPullRequests.Nodes {
			if n.Number != 0 && strings.EqualFold(n.Repository.NameWithOwner, repo.String()) {
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
	if err := checkRepo(repo); err != nil {
		return nil, &Error{Kind: Invalid, Op: op, Message: c.line(err.Error())}
	}
	var data struct {
		Repository *struct{ PullRequests connection[branchPullNode] }
	}
	variables := map[string]any{"owner": repo.Owner, "name": repo.Name, "branch": branch}
	if len(states) > 0 {
		variables["states"] = states
	}
	_, err := c.query(ctx, op, pullsFromDocument, variables, &data)
	if err == nil && data.Repository == nil {
		err = &Error{Kind: NotFound, Op: op, Status: http.StatusNotFound, Message: "Repository", Fix: fixHidden}
	}
	if err != nil {
		return nil, named(err, Query{Repo: repo})
	}
	var out []model.PullRef
	for _, n := range data.Repository.PullRequests.Nodes {
		if n.Number != 0 && !n.IsCrossRepository {
			out = append(out, n.ref())
		}
	}
	return out, nil
}

// FromBranches gives the pull requests of the repository from its own branches of these names, in whatever state, by branch, the
// newest first: 20 of each, in one request. The branches need not be there any more. Those of forks are left out.
func (c Pulls) FromBranches(ctx context.Context, repo model.Repo, branches []string) (map[string][]model.PullRef, error) {
	op := fmt.Sprintf("read the pull requests from %d branches of %s", len(branches), repo)
	if err := checkRepo(repo); err != nil {
		return nil, &Error{Kind: Invalid, Op: op, Message: c.line(err.Error())}
	}
	variables := map[string]any{"owner": repo.Owner, "name": repo.Name}
	for i, branch := range branches {
		variables[fmt.Sprintf("b%d", i)] = branch
	}
	var data struct {
		Repository map[string]connection[branchPullNode]
	}
	_, err := c.query(ctx, op, pullsFromEach.document(len(branches)), variables, &data)
	if err == nil && data.Repository == nil {
		err = &Error{Kind: NotFound, Op: op, Status: http.StatusNotFound, Message: "Repository", Fix: fixHidden}
	}
	if err != nil {
		return nil, named(err, Query{Repo: repo})
	}
	out := map[string][]model.PullRef{}
	for i, branch := range branches {
		for _, n := range data.Repository[fmt.Sprintf("p%d", i)].Nodes {
			if n.Number != 0 && !n.IsCrossRepository {
				out[branch] = append(out[branch], n.ref())
			}
		}
	}
	return out, nil
}

// InUse are the branches that open pull requests go from or to, those of forks included.
// https://docs.github.com/rest/pulls/pulls#list-pull-requests
func (c Pulls) InUse(ctx context.Context, repo model.Repo) (map[string]bool, error) {
	type side struct{ Ref string }
	pages, err := pagesOf[[]struct{ Head, Base side }](ctx, c.conn, fmt.Sprintf("repos/%s/pulls", repo), url.Values{"state": {"open"}}, mostRefPages)
	if err != nil {
		return nil, c.fail(fmt.Sprintf("list the open pull requests of %s", repo), err)
	}
	used := map[string]bool{}
	for _, page := range pages {
		for _, p := range page {
			used[p.Head.Ref], used[p.Base.Ref] = true, true
		}
	}
	return used, nil
}
