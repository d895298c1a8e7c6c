package trainsim_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/train"
	"github.com/mergexo/mergexo/internal/train/trainsim"
)

// To simulate random days by hand:
//
//	go test ./internal/train/trainsim -run TestRandomDaysByHand -timeout 0 -seed 1 -days 1000
var (
	fromSeed = flag.Uint64("seed", 0, "the first of the random days that -days asks for")
	byHand   = flag.Uint64("days", 0, "how many random days to live through beside the tests' own ones")
)

// No untested commit lands, no request is lost or lands twice, the order within a priority is kept, a second fold changes
// nothing: whatever goes wrong on a day.
func TestRandomDays(t *testing.T) {
	t.Parallel()
	landed, failed := liveThrough(t, 0, 100)
	assert.Greater(t, landed, 1000, "days that say something")
	assert.Greater(t, failed, 50)
}

// TestRandomDaysByHand does nothing unless it is asked for.
func TestRandomDaysByHand(t *testing.T) {
	t.Parallel()
	for seed := *fromSeed; seed < *fromSeed+*byHand; seed += 100 {
		liveThrough(t, seed, min(100, *fromSeed+*byHand-seed))
		fmt.Fprintf(os.Stderr, "seeds %d to %d\n", *fromSeed, min(seed+100, *fromSeed+*byHand)-1)
	}
}

func liveThrough(t *testing.T, from, days uint64) (landed, failed int) {
	t.Helper()
	for seed := from; seed < from+days; seed++ {
		day, settings := trainsim.RandomDay(seed)
		figures, wrong := trainsim.Train(day, settings)
		require.Empty(t, wrong, "seed %d: %+v %+v", seed, day, settings)
		landed, failed = landed+figures.Landed, failed+figures.Failed
	}
	return landed, failed
}

// The queue here is that of the public simulator: these are the figures in its README, each drawn once from many hours. What it
// draws has a mean of 7.37 landed an hour.
func TestTheQueueIsThePublishedOne(t *testing.T) {
	day := trainsim.Day{CI: 30 * time.Minute, Red: 0.1, Runners: 5}
	five := trainsim.Saturated(1, 10_000, 5, day, 0, 0)
	assert.InDelta(t, 7.3, five.PerHour, 0.1)
	assert.InDelta(t, 48.6, five.Mean, 0.7)
	assert.InDelta(t, 30, five.Median, 0)
	assert.InDelta(t, 2.7, five.Lost, 0.1)
	three := trainsim.Saturated(1, 10_000, 3, day, 2, 0.1)
	assert.InDelta(t, 4.9, three.PerHour, 0.05)
	assert.InDelta(t, 40, three.Mean, 0.5)
	assert.InDelta(t, 30, three.Median, 0)
	assert.InDelta(t, 1.1, three.Lost, 0.05)
}

// Without speculation, batches and chance a train is one request after the other, in the time that this takes.
func TestATrainOfOneIsSerial(t *testing.T) {
	day := trainsim.Day{Seed: 3, Requests: 60, Span: 10 * time.Hour, CI: 20 * time.Minute, Runners: 1}
	s := train.Defaults()
	s.Batch, s.Speculate, s.Retries = 1, 1, 0
	figures, wrong := trainsim.Train(day, s)
	require.Empty(t, wrong)
	serial := trainsim.Queue(day, 1)
	figures.Policy, serial.Policy = "", ""
	assert.Equal(t, serial, figures)
}

func liveTheDay(p trainsim.Policy, seed uint64) trainsim.Figures {
	return p.Live(trainsim.TheDay(seed))
}

// meanOf is the mean of three days.
func meanOf(p trainsim.Policy, live func(trainsim.Policy, uint64) trainsim.Figures) trainsim.Figures {
	const days = 3
	var sum trainsim.Figures
	for seed := range uint64(days) {
		f := live(p, seed+1)
		sum.PerHour, sum.Median, sum.P95, sum.CI = sum.PerHour+f.PerHour, sum.Median+f.Median, sum.P95+f.P95, sum.CI+f.CI
	}
	return trainsim.Figures{PerHour: sum.PerHour / days, Median: sum.Median / days, P95: sum.P95 / days, CI: sum.CI / days}
}

// BenchmarkDay measures what scripts/bench shows: the mean of some days.
func BenchmarkDay(b *testing.B) {
	for _, p := range trainsim.Lineup() {
		b.Run(strings.ReplaceAll(p.Name, " ", "_"), func(b *testing.B) {
			var mean trainsim.Figures
			for b.Loop() {
				mean = meanOf(p, liveTheDay)
			}
			b.ReportMetric(mean.PerHour, "landed/h")
			b.ReportMetric(mean.Median, "min-median")
			b.ReportMetric(mean.P95, "min-p95")
			b.ReportMetric(mean.CI, "min-CI")
		})
	}
}
