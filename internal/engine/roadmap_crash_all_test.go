//go:build all

package engine_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/engine/sweeping"
	"github.com/mergexo/mergexo/internal/model"
)

// chapters are what people do with a roadmap of seven items in a diamond: one item fails, and the plan changes while others run.
var chapters = []struct {
	name string
	do   func(*world) model.Event
}{
	{"asked for", func(w *world) model.Event {
		w.open("alice", "Greet everywhere", "In all languages.")
		return w.label("alice", roadmapLabel)
	}},
	{"merged", func(w *world) model.Event { return w.merged(int(w.pulls()[0]["number"].(float64))) }},
	{"the base lands", func(w *world) model.Event { return w.merged(w.pullOf("base")) }},
	{"one side fails", func(w *world) model.Event {
		left := w.pullOf("left")
		w.later(time.Minute)
		w.api("octo", "PATCH", w.path(fmt.Sprintf("/pulls/%d", left)), object{"state": "closed"})
		return w.closedEvent(left)
	}},
	{"the plan does without it", func(w *world) model.Event {
		return w.changePlan(func(text string) string {
			from, to := strings.Index(text, "  - key: left\n"), strings.Index(text, "  - key: right\n")
			text = text[:from] + text[to:]
			text = strings.Replace(text, "needs: [left]", "needs: [base]", 1)
			return strings.Replace(text, "\n---\n\n#", "\n  - key: extra\n    title: Do extra\n    flow: bugfix\n    needs: [far-left]\n---\n\n#", 1)
		})
	}},
	{"the other side lands", func(w *world) model.Event { return w.merged(w.pullOf("right")) }},
	{"the new way lands", func(w *world) model.Event { return w.merged(w.pullOf("far-left")) }},
	{"the new item lands", func(w *world) model.Event { return w.merged(w.pullOf("extra")) }},
	{"the far end lands", func(w *world) model.Event { return w.merged(w.pullOf("far-right")) }},
	{"both sides meet", func(w *world) model.Event { return w.merged(w.pullOf("join")) }},
	{"the last one lands", func(w *world) model.Event { return w.merged(w.pullOf("docs")) }},
}

// upTo is a world in which so many chapters have passed without a death.
func upTo(t *testing.T, n int) *world {
	t.Helper()
	w := begin(t, fmt.Sprintf("a roadmap up to chapter %d", n), func() *world {
		if n == 0 {
			return newWorld(t)
		}
		w := upTo(t, n-1)
		w.settle(chapters[n-1].do(w), true)
		return w
	})
	w.agent = "plan"
	return w
}

// settle handles an event, and sweeps until nothing is due. told says that dry runs go before.
func (w *world) settle(ev model.Event, told bool) {
	w.t.Helper()
	w.takeUp(told, handling(w.t, ev), sweepEvents(w.t, sweeping.Options{}), sweepEvents(w.t, sweeping.Options{}))
}

func (w *world) takeUp(told bool, runs ...doing) {
	w.t.Helper()
	for i, run := range runs {
		if i > 0 {
			if len(w.due()) == 0 {
				return
			}
			w.later(time.Hour)
		}
		if told {
			w.recoverBy(run)
			continue
		}
		run(w.engine())
		w.over(w.runs)
	}
}

// pullRef is the number of a pull request in a list of items: which of two is opened first says nothing.
var pullRef = regexp.MustCompile(`(running|done), #\d+`)

func (w *world) tale() string {
	w.t.Helper()
	return pullRef.ReplaceAllString(w.showsRoadmap(), "$1, #")
}

func TestARoadmapWithADeathAtEveryWrite(t *testing.T) {
	t.Parallel()
	end := upTo(t, len(chapters))
	assert.Equal(t, "closed", end.api("octo", "GET", end.thread(""), nil)["state"])
	assert.Equal(t, 1, strings.Count(end.talkOn(end.number), "has stopped"), "a person was asked once")
	for key, all := range end.items() {
		require.Len(t, all, 1, key)
		assert.Equal(t, "closed", all[0]["state"], key)
		assert.Equal(t, end.number, end.parent(int(all[0]["number"].(float64))), key)
	}
	require.Len(t, end.items(), 8)
	for i, c := range chapters {
		w := upTo(t, i)
		ev := c.do(w)
		dead := w.wrecks(func() { w.handle(ev) })
		writes := w.gate.writes
		want := upTo(t, i+1).tale()
		require.NotZero(t, writes, c.name)
		for n := 1; n <= writes; n++ {
			for name, before := range deathsBy(n) {
				t.Run(fmt.Sprintf("%s/%s write %d", c.name, name, n), func(t *testing.T) {
					t.Parallel()
					w := dead.after(t, n-before)
					if n%2 == 1 { // the event does not come again
						sweep := sweepEvents(t, sweeping.Options{})
						w.takeUp(false, sweep, sweep, sweep)
					} else {
						w.settle(ev, n%4 == 2) // each takes as long as the run that it tells
					}
					assert.Equal(t, want, w.tale())
					w.quiet()
				})
			}
		}
	}
}
