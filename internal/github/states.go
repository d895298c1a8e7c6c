package github

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// statesAtOnce is how many numbers one request asks about.
const statesAtOnce = 50

// States says whether issues and pull requests are open, closed or merged, by number, and of pull requests since when: 50 a request. A
// number that does not exist is not in the map.
func (c Threads) States(ctx context.Context, repo model.Repo, numbers []int) (map[int]model.PullRef, error) {
	op := fmt.Sprintf("read what is open of %s", repo)
	if err := checkRepo(repo); err != nil {
		return nil, &Error{Kind: Invalid, Op: op, Message: c.line(err.Error())}
	}
	out := map[int]model.PullRef{}
	if err := askAll(ctx, c.conn, pagesOfStates, numbers, statesAtOnce, func(ctx context.Context, some []int) error {
		return c.states(ctx, op, repo, some, out)
	}); err != nil {
		return nil, err
	}
	return out, nil
}

func (c Threads) states(ctx context.Context, op string, repo model.Repo, numbers []int, out map[int]model.PullRef) error {
	variables := map[string]any{"owner": repo.Owner, "name": repo.Name}
	lacking := aliases(len(numbers))
	for i, number := range numbers {
		variables[fmt.Sprintf("n%d", i)] = number
		lacking[i] = mayLack + lacking[i]
	}
	var data struct {
		Repository map[string]*struct {
			State    string // of a pull request
			ClosedAt *time.Time
			Closed   bool // of an issue
		}
	}
	if _, err := c.query(ctx, op, statesOf.document(len(numbers)), variables, &data, lacking...); err != nil {
		return named(err, Query{Repo: repo})
	}
	for i, number := range numbers {
		n := data.Repository[fmt.Sprintf("p%d", i)]
		if n == nil {
			continue
		}
		ref := model.PullRef{Number: number, State: model.PullState(n.State)}
		switch {
		case n.State != "":
		case n.Closed:
			ref.State = model.PullClosed
		default:
			ref.State = model.PullOpen
		}
		if n.ClosedAt != nil {
			ref.ClosedAt = n.ClosedAt.UTC()
		}
		out[number] = ref
	}
	return nil
}
