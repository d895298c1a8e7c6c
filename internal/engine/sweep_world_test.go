package engine_test

import (
	"context"
	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine"
	"github.com/mergexo/mergexo/internal/engine/sweeping"
	"github.com/mergexo/mergexo/internal/model"
)

// compares compares what the survey of a sweep finds with what whole runs find; nil: nothing does.
var compares func(w *world)

// sweep lets a new process sweep the repository, and then tells GitHub that its run is over.
func (w *world) sweep() sweeping.Swept { w.t.Helper(); return w.sweepBy(sweeping.Options{}) }

func (w *world) sweepBy(opt sweeping.Options) sweeping.Swept {
	w.t.Helper()
	return w.sweepWith(w.engine(), opt)
}

func (w *world) sweepWith(e *engine.Engine, opt sweeping.Options) sweeping.Swept {
	w.t.Helper()
	swept, err := e.Sweep(context.Background(), repo, opt)
	require.NoError(w.t, err)
	w.over(w.runs)
	for _, r := range swept.Results {
		w.t.Logf("#%d: %s %s", r.Number, r.Result, r.Reason)
	}
	if compares != nil && !opt.Plan && w.gate.at == nil && !w.alone {
		compares(w)
	}
	return swept
}

// due is what a sweep would do, as "NUMBER reason reason", with 0 for the whole repository.
func (w *world) due() []string {
	w.t.Helper()
	out := []string{}
	for _, work := range w.sweepBy(sweeping.Options{Plan: true}).Work {
		line := fmt.Sprint(work.Number)
		for _, why := range work.Why {
			line += " " + string(why)
		}
		out = append(out, line)
	}
	return out
}

// quiet sweeps until nothing is due, and then shows that a further sweep writes nothing and reads no more than it must.
func (w *world) quiet() {
	w.t.Helper()
	require.Empty(w.t, w.due(), "after the sweep nothing is due")
	w.gate.revive()
	swept := w.sweep()
	api, git := w.gate.counted()
	require.Zero(w.t, w.gate.writes, "the next sweep makes no write")
	require.LessOrEqual(w.t, api, 4, "calls over one page of pull requests: %v", w.gate.seen)
	require.Zero(w.t, git, "git network operations")
	require.Len(w.t, swept.Results, 1, "nothing was visited")
	require.Equal(w.t, model.ResultNothing, swept.Result())
}

// rests sweeps, after which nothing is left to do.
func (w *world) rests() {
	w.t.Helper()
	w.sweep()
	w.quiet()
}

// of is the report about one number; nil where it was not visited.
func of(swept sweeping.Swept, number int) *model.Report {
	for i := range swept.Results {
		if swept.Results[i].Number == number {
			return &swept.Results[i]
		}
	}
	return nil
}

// visited sweeps, and gives the report about the number.
func (w *world) visited() model.Report {
	w.t.Helper()
	rep := of(w.sweep(), w.number)
	require.NotNil(w.t, rep)
	return *rep
}

// sweepOrDie is a sweep by a process that may die.
func (w *world) sweepOrDie() {
	w.t.Helper()
	_, _ = w.engine().Sweep(context.Background(), repo, sweeping.Options{})
	w.over(w.runs)
}

// fail sets the faults of GitHub.
func (w *world) fail(faults ...object) {
	w.t.Helper()
	w.alone = len(faults) > 0
	status, out := w.send("octo", "PUT", "/_sandbox/faults", append([]object{}, faults...))
	require.Equal(w.t, 200, status, "%s", out)
}

// explain is what a person is told of why nothing happens, or what does.
func (w *world) explain(number int) engine.Explanation {
	w.t.Helper()
	why, err := w.engine().Why(context.Background(), repo, number)
	require.NoError(w.t, err)
	return why
}

// board is what the dashboard shows.
func (w *world) board() model.Board {
	w.t.Helper()
	board, err := w.engine().Board(context.Background(), repo)
	require.NoError(w.t, err)
	return board
}
