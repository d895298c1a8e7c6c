package github

import (
	"context"
	"fmt"

	"github.com/mergexo/mergexo/internal/model"
)

// States says whether issues and pull requests are open, closed or merged, by number, and of pull requests since when: 50 a request. A
// number that does not exist is not in the map.
func (c Threads) States(ctx context.Context, repo model.Repo, numbers []int) (map[int]model.PullRef, error) {
	out := map[int]model.PullRef{}
	err := askEach(ctx, c.conn, statesOf, fmt.Sprintf("read what is open of %s", repo), repo, numbers, func(number int, n *threadNode) {
		ref := model.PullRef{Number: number, State: model.PullState(n.State), ClosedAt: n.ClosedAt.UTC()}
		switch {
		case n.State != "":
		case n.Closed:
			ref.State = model.PullClosed
		default:
			ref.State = model.PullOpen
		}
		out[number] = ref
	})
	return out, err
}

// Resolved says who has resolved threads of pull requests, by the comments that begin them: of the newest 50 of each. A thread that
// nobody can be named for is not in the map.
func (c Threads) Resolved(ctx context.Context, repo model.Repo, numbers []int) (map[int64]string, error) {
	out := map[int64]string{}
	err := askEach(ctx, c.conn, threadsOfEach, fmt.Sprintf("read the review threads of %s", repo), repo, numbers, func(_ int, n *threadNode) {
		for _, t := range n.ReviewThreads.Nodes {
			if t.IsResolved && t.ResolvedBy.Login != "" && len(t.Comments.Nodes) > 0 {
				out[t.Comments.Nodes[0].id()] = t.ResolvedBy.Login
			}
		}
	})
	return out, err
}
