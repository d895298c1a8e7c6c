package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/sweeping"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// A doing is a run, and gives its reports in order.
type doing func(*engine.Engine) []model.Report

// handling is a run over an event.
func handling(t *testing.T, ev model.Event) doing {
	return func(e *engine.Engine) []model.Report {
		rep := must.Get(e.Handle(context.Background(), ev))(t)
		return []model.Report{rep}
	}
}

// inPhase is a run as one job of two.
func inPhase(run doing, part thread.Phase, dir string) doing {
	return func(e *engine.Engine) []model.Report {
		e.Phase, e.Bundle = part, dir
		return run(e)
	}
}

// resetting unblocks every pull request that is blocked.
func resetting(t *testing.T) doing {
	return func(e *engine.Engine) []model.Report {
		reports := must.Get(e.Reset(context.Background(), engine.Reset{Repo: repo}))(t)
		return reports
	}
}

// sweepEvents is a sweep over the repository.
func sweepEvents(t *testing.T, opt sweeping.Options) doing {
	return func(e *engine.Engine) []model.Report {
		swept := must.Get(e.Sweep(context.Background(), repo, opt))(t)
		return swept.Results
	}
}

// effectsOf are those of all reports.
func effectsOf(reports []model.Report) (all []model.Effect) {
	for _, r := range reports {
		all = append(all, r.Effects...)
	}
	return all
}

// A plan is what a dry run tells: effects, and whether it says that the live run does more, which nobody can know.
type plan struct {
	effects []model.Effect
	ends    bool
}

// plan is what a dry run tells, which writes nothing. Where it ends at one number, nobody knows what the next ones look like.
func (w *world) plan(run doing) plan {
	w.t.Helper()
	before, logged := w.gate.writes, len(w.logged.String())
	e := w.engine()
	e.DryRun(true)
	reports := run(e)
	assert.Equal(w.t, before, w.gate.writes, "a dry run writes nothing: %v", w.gate.seen)
	assert.NotContains(w.t, w.logged.String()[logged:], `error="dry run: `, "where it ends, nothing has failed")
	w.over(w.runs)
	ended := slices.IndexFunc(reports, func(r model.Report) bool {
		return strings.HasPrefix(r.Reason, "dry run: ") && !strings.HasPrefix(r.Reason, "dry run: a live run would do this")
	})
	p := plan{effectsOf(reports), ended >= 0}
	if p.ends {
		p.effects = effectsOf(reports[:ended+1])
	}
	for _, one := range p.effects {
		assert.Contains(w.t, []string{effect.Planned, effect.Present}, one.Status) // present: a run that died has made it
	}
	return p
}

// begins says that a live run did first what a dry run had told, and all of it where that did not say that it ends.
func (w *world) begins(reports []model.Report, p plan) {
	w.t.Helper()
	told := func(e model.Effect) string { // without the id of a comment, which only GitHub gives
		if e.Kind == "edit" || e.Kind == "delete" {
			e.Target = ""
		}
		return strings.Join([]string{e.Kind, e.Target, e.Token}, " ")
	}
	live := effectsOf(reports)
	if at := slices.IndexFunc(p.effects, func(e model.Effect) bool { return e.Kind == "dispatch" }); at >= 0 {
		p = plan{p.effects[:at], true} // GitHub may refuse to start a run, and then this one does its work
	}
	require.GreaterOrEqual(w.t, len(live), len(p.effects), "live %v, plan %v", live, p.effects)
	for i, one := range p.effects {
		assert.Equal(w.t, told(live[i]), told(one), "effect %d of the plan", i)
	}
	if !p.ends {
		assert.Len(w.t, live, len(p.effects), "a plan that is not all says where it ends: live %v, plan %v", live, p.effects)
	}
}

// recover lets a new process take an event after one that died. A dry run goes before it, and tells the beginning of what it does.
func (w *world) recover(ev model.Event) model.Report {
	w.t.Helper()
	plan := w.plan(handling(w.t, ev))
	rep := w.handle(ev)
	w.begins([]model.Report{rep}, plan)
	return rep
}

// recoverInPhase is recover, by one job of a split run.
func (w *world) recoverInPhase(part thread.Phase, ev model.Event, dir string) model.Report {
	w.t.Helper()
	plan := w.plan(inPhase(handling(w.t, ev), part, dir))
	rep := w.phase(part, ev, dir)
	w.begins([]model.Report{rep}, plan)
	return rep
}

// recoverBy is recover, by a run over no event.
func (w *world) recoverBy(run doing) {
	w.t.Helper()
	plan := w.plan(run)
	w.begins(run(w.engine()), plan)
	w.over(w.runs)
}

// recoverBySweep is recover, by a sweep.
func (w *world) recoverBySweep() { w.t.Helper(); w.recoverBy(sweepEvents(w.t, sweeping.Options{})) }
