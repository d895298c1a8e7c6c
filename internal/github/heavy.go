package github

import "context"

// heavyTries is how often a query that is too heavy is sent: GitHub may have been slow by chance, and each try costs points,
// also one that ends with a timeout.
// https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
const heavyTries = 2

// pageLimits are the most things of a kind that a page asks for: those of the first try, and of each one after a page was
// too heavy.
var pageLimits = [...]int{100, 25, 5, 1}

// hasPages is the mark of a query that can be asked for less, in its context.
type hasPages struct{}

// inPages asks with smaller and smaller pages while the query is too heavy; one of no kind has no pages. Queries of one kind keep to
// the size that was answered. step is an index into pageLimits. The error is that of the last try: TooHeavy where not even the smallest pages are answered, of which nothing is
// remembered.
func (c *conn) inPages(ctx context.Context, kind string, ask func(ctx context.Context, step int) error) error {
	if kind == "" {
		return ask(ctx, 0)
	}
	known, _ := c.steps.Load(kind)
	first, _ := known.(int)
	for step := first; ; step++ {
		err := ask(context.WithValue(ctx, hasPages{}, true), step)
		e, _ := err.(*Error)
		switch heavy := e != nil && e.Kind == TooHeavy; {
		case heavy && step == len(pageLimits)-1:
			e.Message += ", however little it is asked for at once"
		case heavy:
			c.log.WarnContext(ctx, "github_query_too_heavy", "query", kind, "page", pageLimits[step], "smaller", pageLimits[step+1], "error", e.Error())
			continue
		case err == nil && step != first:
			c.steps.Store(kind, step)
		}
		return err
	}
}

// askAll asks about all of a list, at most most at once.
func askAll[T any](ctx context.Context, c *conn, kind string, list []T, most int, ask func(ctx context.Context, some []T) error) error {
	if len(list) == 1 { // which cannot be asked for in smaller parts
		return ask(ctx, list)
	}
	for len(list) > 0 {
		n := 0
		var last error
		if err := c.inPages(ctx, kind, func(ctx context.Context, step int) error {
			if fewer := min(len(list), most, pageLimits[step]); fewer != n { // a short list is not asked about again as it is
				n = fewer
				last = ask(ctx, list[:n])
			}
			return last
		}); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}
