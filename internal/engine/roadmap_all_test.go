//go:build all

package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
)

func TestARoadmapOfAHundredItemsIsQuiet(t *testing.T) {
	w, ev := agreed(t, "hundred", "", "[roadmap]\nmax_active = 1")
	w.passes = true
	require.Equal(t, model.ResultDone, w.handle(ev).Result)
	require.Len(t, w.items(), 100)
	w.sweep()
	w.rests()
	calls, _ := w.gate.counted()
	plain := newWorld(t)
	plain.rests()
	without, _ := plain.gate.counted()
	assert.Equal(t, without, calls, "no call beyond the survey's")
}

func TestUnclearAnswersToAnyWriteOfARoadmap(t *testing.T) {
	w := underWay(t, "pair")
	want := w.showsRoadmap()
	unsure(t, writes(1, roadmapWrites), func(t *testing.T, n int, f fate) {
		w, ev := agreed(t, "pair")
		w.gate.only(n, f)
		w.handle(ev)
		w.gate.revive()
		w.recover(ev)
		assert.Equal(t, want, w.showsRoadmap())
	})
}

func TestARoadmapBySweepsOnly(t *testing.T) {
	w := newRoadmap(t, "plan")
	w.merged(int(w.pulls()[0]["number"].(float64)))
	for round := 0; round < 40; round++ {
		w.sweep()
		open := w.openPulls()
		if len(open) == 0 && len(w.items()) > 0 && w.api("octo", "GET", w.thread(""), nil)["state"] == "closed" {
			break
		}
		assert.LessOrEqual(t, len(w.running()), 3)
		if len(open) > 0 {
			w.merged(open[0])
		}
	}
	golden.Text(t, "roadmap/swept.md", w.showsRoadmap())
	assert.Equal(t, 8, w.calls())
	w.rests()
}
