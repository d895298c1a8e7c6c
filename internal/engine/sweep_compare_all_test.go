//go:build all

package engine_test

import (
	"context"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/engine"
	"github.com/mergexo/mergexo/internal/engine/sweeping"
	"github.com/mergexo/mergexo/internal/model"
)

// mostCompared is how many numbers of a world are compared, oneIn says of how many stories one compares: all of them take ten minutes.
const (
	mostCompared = 5
	oneIn        = 24
)

func init() { compares = overlooksNothing }

// overlooksNothing shows that the survey of a sweep leaves nothing out: where it has found nothing at a number, a run finds nothing either.
// It looks at the worlds of some of the stories that sweep, always of the same. Trains and heads that moved are the whole repository's affair.
func overlooksNothing(w *world) {
	w.t.Helper()
	name := fnv.New32a()
	_, _ = name.Write([]byte(w.t.Name()))
	if name.Sum32()%oneIn != 0 {
		return
	}
	var plan sweeping.Swept
	var err error
	w.untraced(func(e *engine.Engine) { plan, err = e.Sweep(context.Background(), repo, sweeping.Options{Plan: true}) })
	due := []int{}
	for _, work := range plan.Work {
		due = append(due, work.Number)
	}
	if err != nil || slices.Contains(due, 0) {
		return
	}
	for _, p := range plan.Board.Pulls[:min(len(plan.Board.Pulls), mostCompared)] {
		if p.Merge != nil && p.Merge.Reason == model.CodeTrain || slices.Contains(due, p.Number) {
			continue
		}
		w.untraced(func(e *engine.Engine) {
			probe := e.Probe()
			_, _ = e.Handle(context.Background(), model.Event{Name: "schedule", Repo: repo, Number: p.Number}) // whatever it waits for
			next := probe.Next()
			if next == "a checkout" || strings.HasPrefix(next, "minimize ") { // it would look further, or hide what is out of date
				return
			}
			assert.Empty(w.t, next, "a run finds work on #%d, which the sweep leaves out", p.Number)
		})
	}
}
