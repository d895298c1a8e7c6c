package github

import (
	"context"
	"maps"
	"slices"
)

// readPosted adds the first texts of edited comments, where the query wants them and no page told them.
func readPosted(ctx context.Context, c Threads, op string, r *reading) error {
	if r.q.Posted == nil {
		return nil
	}
	asked := map[string]said{}
	for key, one := range r.said {
		if one.Node == "" {
			continue
		}
		text, ask := r.q.Posted(r.of, one)
		if text != "" {
			one.Posted = text
			r.said[key] = one
		} else if ask {
			asked[one.Node] = key
		}
	}
	return c.byID(ctx, op, "posted", slices.Sorted(maps.Keys(asked)), []string{"?nodes", "posted"}, func(n *saidNode) {
		one := r.said[asked[n.ID]]
		one.Posted, one.Node = n.firstText.of("", true), ""
		r.said[asked[n.ID]] = one
	})
}
