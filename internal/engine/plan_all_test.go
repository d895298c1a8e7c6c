//go:build all

package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/engine/sweeping"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

// A scene is a world of the crash tables with the run that they kill, and what a dry run tells of it.
type scene struct {
	set   func(t *testing.T) (*world, doing)
	tells string
}

var scenes = map[string]scene{
	"turn": {func(t *testing.T) (*world, doing) {
		w, ev := twoComments(t)
		return w, handling(t, ev)
	}, "comment comment"},
	"issue": {func(t *testing.T) (*world, doing) {
		w := newIssue(t)
		return w, handling(t, w.label("alice", smallJob))
	}, "comment"},
	"flake": {func(t *testing.T) (*world, doing) {
		w, ev := flake(t)
		return w, handling(t, ev)
	}, "comment comment"},
	"apply phase": {func(t *testing.T) (*world, doing) {
		w, ev, dir := answerOver(t)
		return w, inPhase(handling(t, ev), thread.ApplyPhase, dir)
	}, "comment comment"},
	"merge": {func(t *testing.T) (*world, doing) {
		w, ev := readyToMerge(t, model.StrategyRebase)
		return w, handling(t, ev)
	}, "react comment react"},
	"group": {func(t *testing.T) (*world, doing) {
		g := newGroup(t)
		return g.world, handling(t, g.say("carol", "/mergexo merge"))
	}, "react comment react edit comment push"},
	"revert": {func(t *testing.T) (*world, doing) {
		w := merged(t)
		return w, handling(t, w.say("carol", "/mergexo revert"))
	}, "react"},
	"command": {func(t *testing.T) (*world, doing) {
		w, head := rewrittenEarly(t)
		return w, handling(t, w.say("carol", "/mergexo unblock head_sha="+head))
	}, "react comment minimize react comment"},
	"fork": {func(t *testing.T) (*world, doing) {
		w := newExternal(t, "evaluate = "+evaluates("approve", "fine"), "")
		w.letIn("carol")
		return w, sweepEvents(t, sweeping.Options{Only: []int{w.number}})
	}, "comment push"},
	"sweep": {func(t *testing.T) (*world, doing) {
		w := newWorld(t)
		w.openBeside("agent/other", "hello\nmoon\n")
		return w, sweepEvents(t, sweeping.Options{})
	}, "comment comment comment comment"},
	"sweep over a command": {func(t *testing.T) (*world, doing) {
		w, _ := twoComments(t)
		w.talk("carol", "/mergexo status")
		return w, sweepEvents(t, sweeping.Options{})
	}, "react comment react comment comment"},
	"sweep over a train": {func(t *testing.T) (*world, doing) {
		w := carOfTwo(t, "train lands", "three\n")
		w.next() // the checks have passed, and the event is lost
		return w, sweepEvents(t, sweeping.Options{})
	}, "comment push"},
	"roadmap": {func(t *testing.T) (*world, doing) {
		w, ev := agreed(t, "pair")
		return w, handling(t, ev)
	}, "comment issue"},
	"review": {func(t *testing.T) (*world, doing) {
		w := newReview(t, "", "")
		return w, handling(t, w.say("carol", "/mergexo review"))
	}, "comment react"},
	"reset": {func(t *testing.T) (*world, doing) {
		w, old, _ := rewrittenPull(t)
		w.move(old)
		return w, resetting(t)
	}, "comment minimize"},
}

// TestADryRunTellsTheBeginningOfALiveRun: what it tells is what a live run does first, up to where an agent, tests or a push
// answers; and it writes nothing.
func TestADryRunTellsTheBeginningOfALiveRun(t *testing.T) {
	each(t, scenes, func(t *testing.T, _ string, s scene) {
		w, run := s.set(t)
		w.gate.revive()
		plan := w.plan(run)
		var kinds []string
		for _, one := range plan.effects {
			kinds = append(kinds, one.Kind)
		}
		assert.Equal(t, s.tells, strings.Join(kinds, " "))
		w.begins(run(w.engine()), plan)
	})
}
