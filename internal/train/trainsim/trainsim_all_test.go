//go:build all

package trainsim_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/train/trainsim"
)

func TestManyRandomDays(t *testing.T) {
	t.Parallel()
	liveThrough(t, 100, 150)
}

var days sync.Map // of func() Figures, by policy and seed

// lived is what a policy makes of the day, which several tests want to know.
func lived(p trainsim.Policy, seed uint64) trainsim.Figures {
	once, _ := days.LoadOrStore(fmt.Sprint(p.Name, " ", seed), sync.OnceValue(func() trainsim.Figures { return liveTheDay(p, seed) }))
	return once.(func() trainsim.Figures)()
}

// The budget of a busy day: ahead in at least two of three, and behind in none by more than a tenth. With the settings that
// each has by itself, and where all runners are used.
func TestATrainIsAheadOnTheDay(t *testing.T) {
	t.Parallel()
	requests := trainsim.TheDay(1).Requests
	figures := map[string]trainsim.Figures{}
	for _, p := range trainsim.Lineup() {
		figures[p.Name] = lived(p, 1)
		assert.Equal(t, requests, figures[p.Name].Landed+figures[p.Name].Failed, p.Name)
	}
	serial := figures["one after the other"]
	for name, queue := range map[string]string{
		"merge train, batch 4, speculate 3":  "merge queue of GitHub, 5 builds",
		"merge train, batch 4, speculate 12": "merge queue of GitHub, 16 builds",
		"merge train, batch 8, speculate 12": "merge queue of GitHub, 16 builds",
	} {
		for _, other := range []trainsim.Figures{serial, figures[queue]} {
			ahead, behind := figures[name].Ahead(other)
			assert.GreaterOrEqual(t, ahead, 2, "%+v %+v", figures[name], other)
			assert.Zero(t, behind, "%+v %+v", figures[name], other)
		}
	}
}

// TestTheManualShowsTheDay compares the table of the manual with what the simulator says, or writes it there. To rewrite the
// table, then its drawing:
//
//	go test -tags all ./internal/train/trainsim -run TestTheManualShowsTheDay -update
//	go test ./internal/cli -run TestTheManual -update
func TestTheManualShowsTheDay(t *testing.T) {
	t.Parallel()
	const page = "../../manual/merging.md"
	var rows strings.Builder
	for _, p := range trainsim.Lineup() {
		f := meanOf(p, lived)
		fmt.Fprintf(&rows, "| %s | %.1f | %.0f | %.0f | %.1f |\n", p.Name, f.PerHour, f.Median, f.P95, f.CI)
	}
	raw := must.Get(os.ReadFile(page))(t)
	table := regexp.MustCompile(`(?m)(^\| \| landed per hour .*\n.*\n)((?:\|.*\n)+)`)
	shown := table.FindStringSubmatch(string(raw))
	require.NotNil(t, shown)
	if golden.Update() {
		require.NoError(t, os.WriteFile(page, []byte(strings.Replace(string(raw), shown[0], shown[1]+rows.String(), 1)), 0o600))
		return
	}
	assert.Equal(t, shown[2], rows.String())
}
