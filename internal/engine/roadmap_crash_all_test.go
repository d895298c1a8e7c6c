//go:build all

package engine_test

import (
	"fmt"
	"net/http"
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
// In some of them a run writes the same as in an earlier one, and dies in that one only.
var chapters = []struct {
	name string
	do   func(*world) model.Event
	as   string // the earlier one
}{
	{name: "asked for", do: func(w *world) model.Event {
		w.open("alice", "Greet everywhere", "In all languages.")
		return w.label("alice", roadmapLabel)
	}},
	{name: "merged", do: func(w *world) model.Event { return w.merged(int(w.pulls()[0]["number"].(float64))) }},
	{name: "the base lands", do: func(w *world) model.Event { return w.merged(w.pullOf("base")) }},
	{name: "one side fails", do: func(w *world) model.Event {
		left := w.pullOf("left")
		w.closed(fmt.Sprint(left))
		return w.closedEvent(left)
	}},
	{name: "the plan does without it", do: func(w *world) model.Event {
		return w.changePlan(func(text string) string {
			from, to := strings.Index(text, "  - key: left\n"), strings.Index(text, "  - key: right\n")
			text = text[:from] + text[to:]
			text = strings.Replace(text, "needs: [left]", "needs: [base]", 1)
			return strings.Replace(text, "\n---\n\n#", "\n  - key: extra\n    title: Do extra\n    flow: bugfix\n    needs: [far-left]\n---\n\n#", 1)
		})
	}},
	{name: "the other side lands", do: func(w *world) model.Event { return w.merged(w.pullOf("right")) }},
	{name: "the new way lands", do: func(w *world) model.Event { return w.merged(w.pullOf("far-left")) }, as: "the other side lands"},
	{name: "the new item lands", do: func(w *world) model.Event { return w.merged(w.pullOf("extra")) }},
	{name: "the far end lands", do: func(w *world) model.Event { return w.merged(w.pullOf("far-right")) }, as: "the other side lands"},
	{name: "both sides meet", do: func(w *world) model.Event { return w.merged(w.pullOf("join")) }, as: "the other side lands"},
	{name: "the last one lands", do: func(w *world) model.Event { return w.merged(w.pullOf("docs")) }},
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

// ids are what differs in the paths of two requests for the same.
var ids = regexp.MustCompile(`\d+`)

func TestARoadmapWithADeathAtEveryWrite(t *testing.T) {
	end := upTo(t, len(chapters))
	assert.Equal(t, "closed", end.api("octo", "GET", end.thread(""), nil)["state"])
	assert.Equal(t, 1, strings.Count(end.talkOn(end.number), "has stopped"), "a person was asked once")
	for key, all := range end.items() {
		require.Len(t, all, 1, key)
		assert.Equal(t, "closed", all[0]["state"], key)
		assert.Equal(t, end.number, end.parent(int(all[0]["number"].(float64))), key)
	}
	require.Len(t, end.items(), 8)
	sent := map[string][]string{}
	for i, c := range chapters {
		w := upTo(t, i)
		ev := c.do(w)
		dead := w.wrecks(func() {
			w.gate.at = func(_ int, r *http.Request) fate {
				sent[c.name] = append(sent[c.name], ids.ReplaceAllString(r.Method+" "+r.URL.Path, "#"))
				return passes
			}
			w.handle(ev)
		})
		if c.as != "" {
			assert.Equal(t, sent[c.as], sent[c.name], c.name)
			continue
		}
		want := upTo(t, i+1).tale()
		require.NotZero(t, w.gate.writes, c.name)
		t.Run(c.name, func(t *testing.T) {
			dead.each(t, nil, func(t *testing.T, w *world, n int) {
				if n%2 == 1 { // the event does not come again
					sweep := sweepEvents(t, sweeping.Options{})
					w.takeUp(false, sweep, sweep, sweep)
				} else {
					w.settle(ev, n%4 == 2) // each takes as long as the run that it tells
				}
				assert.Equal(t, want, w.tale())
				w.quiet()
			})
		})
	}
}
