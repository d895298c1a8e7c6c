//go:build all

package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine"
	"github.com/mergexo/mergexo/internal/engine/sweeping"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

// handling is a run over an event, and sweeping one over the repository.
func handling(t *testing.T, ev model.Event) func(*engine.Engine) []model.Effect {
	return func(e *engine.Engine) []model.Effect {
		rep, err := e.Handle(context.Background(), ev)
		require.NoError(t, err)
		return rep.Effects
	}
}

func sweepEvents(t *testing.T, opt sweeping.Options) func(*engine.Engine) []model.Effect {
	return func(e *engine.Engine) []model.Effect {
		swept, err := e.Sweep(context.Background(), repo, opt)
		require.NoError(t, err)
		var all []model.Effect
		for _, r := range swept.Results {
			all = append(all, r.Effects...)
		}
		return all
	}
}

// A scene is a world of the crash tables with the run that they kill, and what a dry run tells of it.
type scene struct {
	set   func(t *testing.T) (*world, func(*engine.Engine) []model.Effect)
	tells string
}

var scenes = map[string]scene{
	"turn": {func(t *testing.T) (*world, func(*engine.Engine) []model.Effect) {
		w, ev := twoComments(t)
		return w, handling(t, ev)
	}, "comment comment"},
	"issue": {func(t *testing.T) (*world, func(*engine.Engine) []model.Effect) {
		w := newIssue(t)
		return w, handling(t, w.label("alice", smallJob))
	}, "comment"},
	"flake": {func(t *testing.T) (*world, func(*engine.Engine) []model.Effect) {
		w, ev := flake(t)
		return w, handling(t, ev)
	}, "comment comment"},
	"apply phase": {func(t *testing.T) (*world, func(*engine.Engine) []model.Effect) {
		w, ev, dir := answerOver(t)
		run := handling(t, ev)
		return w, func(e *engine.Engine) []model.Effect {
			e.Phase, e.Bundle = thread.ApplyPhase, dir
			return run(e)
		}
	}, "comment comment"},
	"merge": {func(t *testing.T) (*world, func(*engine.Engine) []model.Effect) {
		w, ev := readyToMerge(t, model.StrategyRebase)
		return w, handling(t, ev)
	}, "react comment react"},
	"group": {func(t *testing.T) (*world, func(*engine.Engine) []model.Effect) {
		g := newGroup(t)
		g.talk("carol", "/mergexo merge")
		return g.world, handling(t, g.delivery("issue_comment"))
	}, "react comment react edit comment push"},
	"revert": {func(t *testing.T) (*world, func(*engine.Engine) []model.Effect) {
		w := merged(t)
		w.talk("carol", "/mergexo revert")
		return w, handling(t, w.delivery("issue_comment"))
	}, "react"},
	"command": {func(t *testing.T) (*world, func(*engine.Engine) []model.Effect) {
		w, head := rewrittenEarly(t)
		w.talk("carol", "/mergexo unblock head_sha="+head)
		return w, handling(t, w.delivery("issue_comment"))
	}, "react comment react comment"},
	"fork": {func(t *testing.T) (*world, func(*engine.Engine) []model.Effect) {
		w := newGuest(t, "evaluate = "+judge("approve", "fine"), "")
		w.letIn("carol")
		return w, sweepEvents(t, sweeping.Options{Only: []int{w.number}})
	}, "comment push"},
	"sweep": {func(t *testing.T) (*world, func(*engine.Engine) []model.Effect) {
		w := newWorld(t)
		w.openBeside("agent/other", "hello\nmoon\n")
		return w, sweepEvents(t, sweeping.Options{})
	}, "comment comment comment comment"},
	"reset": {func(t *testing.T) (*world, func(*engine.Engine) []model.Effect) {
		w, old, _ := rewrittenPull(t)
		w.move(old)
		return w, func(e *engine.Engine) []model.Effect {
			reports, err := e.Reset(context.Background(), engine.Reset{Repo: repo})
			require.NoError(t, err)
			return reports[0].Effects
		}
	}, "comment"},
}

// told is an effect without what only GitHub gives: the id of a comment that was posted in the same run.
func told(e model.Effect) string {
	if e.Kind == "edit" || e.Kind == "delete" {
		e.Target = ""
	}
	return strings.Join([]string{e.Kind, e.Target, e.Token}, " ")
}

// TestADryRunTellsTheBeginningOfALiveRun: what it tells is what a live run does first, up to where an agent, tests or a push
// answers; and it writes nothing.
func TestADryRunTellsTheBeginningOfALiveRun(t *testing.T) {
	t.Parallel()
	for name, s := range scenes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, run := s.set(t)
			w.gate.revive()
			e := w.engine()
			e.Effects = engine.Applier(true)
			plan := run(e)
			assert.Zero(t, w.gate.writes, "%v", w.gate.seen)
			w.over(w.runs)
			var kinds []string
			for _, one := range plan {
				kinds = append(kinds, one.Kind)
				assert.Equal(t, "planned", one.Status)
			}
			assert.Equal(t, s.tells, strings.Join(kinds, " "))
			live := run(w.engine())
			require.GreaterOrEqual(t, len(live), len(plan), "%v", live)
			for i, one := range plan {
				assert.Equal(t, told(live[i]), told(one), "effect %d", i)
			}
		})
	}
}
