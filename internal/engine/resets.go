package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

// Reset is what an operator at a terminal wants unblocked.
type Reset struct {
	Repo model.Repo
	// Numbers are pull requests; none means every one that is blocked.
	Numbers []int
	// Head is the head that is accepted, or its beginning; empty where the old lineage has to be restored.
	Head string
}

// Reset unblocks pull requests by the rules of the unblock command, and gives one report for each, in their order. With
// the token that MergeXO works with it writes the marker itself; with a person's, whose markers would not count, it gives
// the command as that person, and the next run decides. The error is for what the caller did wrong.
func (e *Engine) Reset(ctx context.Context, r Reset) ([]model.Report, error) {
	numbers := r.Numbers
	if len(numbers) == 0 {
		_, waiting, err := e.Standings(ctx, r.Repo)
		if err != nil {
			return nil, err
		}
		for _, n := range waiting {
			if n.Kind == model.NeedBlock {
				numbers = append(numbers, n.Number)
			}
		}
	}
	reports, wrong := []model.Report{}, error(nil)
	for _, n := range slices.Compact(slices.Sorted(slices.Values(numbers))) {
		rep := model.Report{Result: model.ResultNothing, Number: n, Effects: []model.Effect{}}
		restBefore, graphqlBefore := e.GitHub.Calls()
		began := e.Now()
		p := onlooker(&e.World, r.Repo, n, &rep)
		err := thread.Ended(p.World, p.desk.Reset(ctx, r.Head))
		p.Close()
		rest, graphql := e.GitHub.Calls()
		rep.Calls.REST, rep.Calls.GraphQL = rest-restBefore, graphql-graphqlBefore
		rep.DurationMS = e.Now().Sub(began).Milliseconds()
		mistake := e.Conclude(err, &rep)
		rep.Mistaken, wrong = mistake != nil, errors.Join(wrong, mistake)
		reports = append(reports, rep)
	}
	return reports, wrong
}
