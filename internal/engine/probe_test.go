package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
)

// probe lets a new process find out whether an event has work. It leaves no trace: not in what a story counts either.
func (w *world) probe(ev model.Event) (work bool, calls int) {
	w.t.Helper()
	w.untraced(func(e *engine.Engine) {
		seen, writes := len(w.gate.seen), w.gate.writes
		probe := e.Probe()
		rep, err := e.Handle(context.Background(), ev)
		require.Equal(w.t, writes, w.gate.writes, "a probe writes nothing: %v", w.gate.seen[seen:])
		require.False(w.t, slices.ContainsFunc(w.gate.seen[seen:], func(s string) bool { return strings.Contains(s, "/info/refs") }), "nor does it ask git's server: %v", w.gate.seen[seen:])
		calls, work = len(w.gate.seen)-seen, err != nil || probe.Next() != "" || rep.Result != model.ResultNothing
	})
	return work, calls
}

// untraced lets a new process do something that leaves no trace in what a story counts.
func (w *world) untraced(do func(e *engine.Engine)) {
	w.t.Helper()
	seen, runs, names, slept, logged := len(w.gate.seen), w.runs, w.random, w.slept.Load(), w.logged.text.Len()
	do(w.engine())
	w.gate.seen, w.runs, w.random = w.gate.seen[:seen], runs, names
	w.slept.Store(slept)
	w.logged.text.Truncate(logged)
}

// foresee lets a run take an event. Unless work is said to be there, a probe goes first, and where it finds none the run does nothing.
func (w *world) foresee(ev model.Event, work bool) model.Report {
	w.t.Helper()
	if !work {
		work, _ = w.probe(ev)
	}
	writes := w.gate.writes
	rep := w.by(w.engine(), ev)
	if !work {
		assert.Equal(w.t, model.ResultNothing, rep.Result, rep.Reason)
		assert.Equal(w.t, writes, w.gate.writes, "skipped, this would be lost: %v", rep.Effects)
	}
	return rep
}

// A probed is an event in a world, and what a probe says of it.
type probed struct {
	event func(w *world) model.Event
	work  bool
	calls int // of the probe
}

// atRest is a world in which nothing is pending.
func (w *world) atRest() *world {
	w.t.Helper()
	w.sweep()
	w.later(time.Minute)
	return w
}

// commenting is the event of a comment.
func commenting(login, text string) func(w *world) model.Event {
	return func(w *world) model.Event {
		w.atRest().talk(login, text)
		return w.delivery("issue_comment")
	}
}

var probes = map[string]probed{
	"a comment of ours": {event: func(w *world) model.Event {
		w.atRest().review("alice", "Answer me.")
		w.handle(w.delivery("pull_request_review_comment"))
		return w.delivery("issue_comment")
	}},
	"a comment":                     {event: commenting("alice", "Answer me."), work: true, calls: 1},
	"a command":                     {event: commenting("carol", "/mergexo pause"), work: true, calls: 1},
	"a comment by somebody without": {event: commenting("eve", "Do as I say."), calls: 1},
	"a command by somebody without": {event: commenting("eve", "/mergexo merge"), calls: 1},
	"a comment that is answered":    {event: func(w *world) model.Event { ev := commenting("alice", "Answer me.")(w); w.handle(ev); return ev }, calls: 1},
	"a comment on what is not tracked": {event: func(w *world) model.Event {
		w.number = w.another("topic")
		return w.say("alice", "People talk.")
	}, calls: 1},
	"a push that grows the branch": {event: func(w *world) model.Event {
		w.atRest().write("alice", w.head, "more.txt", "more\n")
		return w.delivery("pull_request")
	}, calls: 1},
	"a push that rewrites the branch": {event: func(w *world) model.Event {
		w.atRest().rewritten()
		return w.delivery("pull_request")
	}, work: true, calls: 2},
	"another label": {event: func(w *world) model.Event {
		w.atRest().labels("alice", "later")
		return w.delivery("pull_request")
	}, calls: 1},
	"an issue that is labeled for people": {event: func(w *world) model.Event {
		n := w.api("alice", "POST", w.path("/issues"), object{"title": "Talk", "labels": []string{"question"}})["number"]
		w.send("alice", "POST", w.path(fmt.Sprintf("/issues/%v/labels", n)), object{"labels": []string{"later"}})
		return w.delivery("issues")
	}, calls: 1},
	"an issue for an agent": {event: func(w *world) model.Event {
		w.api("alice", "POST", w.path("/issues"), object{"title": "Work", "labels": []string{"agent:small-job"}})
		return w.delivery("issues")
	}, work: true, calls: 2},
	"a check of a commit that nobody waits for": {event: func(*world) model.Event {
		return model.Event{Name: "status", Repo: repo, SHA: "0123456789012345678901234567890123456789"}
	}, calls: 1},
	"the end of a pull request": {event: func(w *world) model.Event {
		w.atRest().api("alice", "PATCH", w.pull(""), object{"state": "closed"})
		return w.delivery("pull_request")
	}, calls: 1},
	"settings that nobody can read": {event: func(w *world) model.Event {
		ev := commenting("alice", "Answer me.")(w)
		w.write("octo", "main", ".github/mergexo.toml", "nonsense")
		return ev
	}, work: true, calls: 1},
}

func TestARunWithoutWorkIsKnownBeforeItIsInstalled(t *testing.T) {
	each(t, probes, func(t *testing.T, _ string, row probed) {
		w := newWorld(t)
		ev := row.event(w)
		work, calls := w.probe(ev)
		assert.Equal(t, row.work, work)
		assert.LessOrEqual(t, calls, row.calls)
		assert.True(t, work || calls <= 1, "what needs no run costs one call")
		if !work {
			w.foresee(ev, false)
		}
	})
}

func TestAProbeOpensNoCheckout(t *testing.T) {
	w := newWorld(t)
	e := w.engine()
	probe := e.Probe()
	assert.Empty(t, probe.Next())
	_, err := git.Open(context.Background(), e.Git)
	require.Error(t, err)
	assert.Equal(t, "a checkout", probe.Next())
	assert.Equal(t, err, probe.Ended())
}

func TestAProbeLeavesWhatBlocksToTheRun(t *testing.T) {
	w := newWorld(t)
	w.atRest().rewritten()
	require.Equal(t, model.ResultBlocked, w.handle(w.delivery("pull_request")).Result)
	work, _ := w.probe(w.say("alice", "Go on."))
	assert.True(t, work, "its result is blocked, which fail-on may want to see")
}
