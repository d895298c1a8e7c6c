//go:build all

package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

func TestARoadmapOfAHundredItemsIsQuiet(t *testing.T) {
	t.Parallel()
	w, ev := agreed(t, "hundred", "", "[roadmap]\nmax_active = 1")
	w.passes = true
	require.Equal(t, model.ResultDone, w.handle(ev).Result)
	require.Len(t, w.items(), 100)
	w.sweep()
	w.sweep()
	w.quiet()
	calls, _ := w.gate.counted()
	plain := newWorld(t)
	plain.sweep()
	plain.quiet()
	without, _ := plain.gate.counted()
	assert.Equal(t, without, calls, "no call beyond the survey's")
}

func TestUnclearAnswersToAnyWriteOfARoadmap(t *testing.T) {
	t.Parallel()
	w, ev := agreed(t, "pair")
	w.handle(ev)
	want := w.showsRoadmap()
	for n := 1; n <= roadmapWrites; n++ {
		for name, f := range map[string]fate{"unclear": unclear, "lost": lost, "before": diesFirst} {
			t.Run(fmt.Sprintf("%s write %d", name, n), func(t *testing.T) {
				t.Parallel()
				w, ev := agreed(t, "pair")
				w.gate.only(n, f)
				w.handle(ev)
				w.gate.revive()
				w.recover(ev)
				assert.Equal(t, want, w.showsRoadmap())
			})
		}
	}
}
