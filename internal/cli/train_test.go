package cli_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/report"
)

// aTrain is a train with all that the manual tells of: cars on one another, a batch, checks that run, who waits, and landings.
func aTrain() model.Train {
	const runs = "https://github.com/octo/widgets/actions/runs/"
	at := func(minute int) time.Time { return time.Date(2026, 3, 20, 14, minute, 0, 0, time.UTC) }
	car := func(n, behind int, lands int, state string, members ...int) model.TrainCar {
		return model.TrainCar{Number: n, Behind: behind, State: state, Members: members, On: strings.Repeat("a", 40), Tip: strings.Repeat("b", 40), Branch: "mergexo/train/main/" + string(rune('0'+n)), Since: at(0), ETA: at(lands)}
	}
	one, two := car(7, 0, 12, "testing", 41), car(8, 7, 24, "testing", 43, 44)
	one.Checks = []model.TrainCheck{{Name: "test", State: model.CheckPassed, URL: runs + "801"}, {Name: "lint", State: model.CheckPending, URL: runs + "802"}}
	two.Checks = []model.TrainCheck{{Name: "test", State: model.CheckPending, URL: runs + "811"}, {Name: "lint", State: model.CheckExpected}}
	return model.Train{
		Base: "main", Cars: []model.TrainCar{one, two},
		Queue: []model.TrainPlace{
			{Position: 1, Number: 41, Car: 7, By: "olga", Asked: at(0), ETA: at(12)}, {Position: 2, Number: 43, Car: 8, Behind: []int{7}, ETA: at(24)}, {Position: 3, Number: 44, Car: 8, Behind: []int{7}, ETA: at(24)},
			{Position: 4, Number: 46, Behind: []int{7, 8}, ETA: at(40)}, {Position: 5, Number: 39, Behind: []int{7, 8}, Why: "it has the label mergexo:freeze"},
		},
		Landed: []model.TrainLanding{{Number: 40, SHA: strings.Repeat("3f9d2c61ab", 4), Asked: at(0).Add(-42 * time.Minute), At: at(0)}, {Number: 38, SHA: strings.Repeat("c07e5b8812", 4), Asked: at(0).Add(-70 * time.Minute), At: at(0).Add(-35 * time.Minute)}},
		Today:  model.TrainDay{Landed: 9, MedianSeconds: 39 * 60},
	}
}

// aShownTrain is what mergexo train prints of it.
func aShownTrain(t *testing.T) string {
	var out bytes.Buffer
	require.NoError(t, report.Trains(&out, []model.Train{aTrain()}))
	return out.String()
}

func TestATrainHoldsItsSchema(t *testing.T) {
	var out bytes.Buffer
	all := aTrain()
	all.Trouble, all.Today.More = "no check is required", true
	all.Cars[1].Try, all.Cars[1].Why, all.Cars[1].Failed = true, "a check did not report", all.Cars[0].Checks
	require.NoError(t, report.Object(&out, map[string]any{"trains": []model.Train{all}}))
	require.NoError(t, against("train.json", out.String()))

	out.Reset()
	standing := model.Status{State: model.StatusIdle, Delegates: []string{}, Train: &model.TrainStanding{Base: "main", TrainPlace: all.Queue[1], State: "testing", With: []int{44}, Checks: all.Cars[1].Checks, Says: "hidden"}}
	require.NoError(t, report.Object(&out, map[string]any{"pull_request": standing, "conditions": []model.Gate{}, "merge_conditions": nil}))
	require.NoError(t, against("why.json", out.String()))
	assert.NotContains(t, out.String(), "hidden")
}

// dayRow is a row of the table of the simulated day, which a test of package trainsim holds.
var dayRow = regexp.MustCompile(`(?m)^\| ([a-z][^|]*) \| ([0-9.]+) \| ([0-9]+) \| ([0-9]+) \| ([0-9.]+) \|$`)

// day is what the manual shows of a way to land the requests of a day.
type day struct {
	name                         string
	landed, median, p95, minutes float64
}

func theDay(t *testing.T) (all []day) {
	t.Helper()
	for _, row := range dayRow.FindAllStringSubmatch(read(t, pages+"merging.md"), -1) {
		d := day{name: row[1]}
		for i, to := range []*float64{&d.landed, &d.median, &d.p95, &d.minutes} {
			n := must.Get(strconv.ParseFloat(row[2+i], 64))(t)
			*to = n
		}
		all = append(all, d)
	}
	require.Len(t, all, 6)
	return all
}

// theDayInBars draws what lands per hour.
func theDayInBars(t *testing.T) string {
	all := theDay(t)
	most := slices.MaxFunc(all, func(a, b day) int { return cmp.Compare(a.landed, b.landed) }).landed
	var out strings.Builder
	for _, d := range all {
		fmt.Fprintf(&out, "%-35s %5.1f %s\n", d.name, d.landed, strings.Repeat("#", int(math.Round(40*d.landed/most))))
	}
	return out.String()
}

// TestTheManualIsHonestAboutTheDay holds what the page says below the table.
func TestTheManualIsHonestAboutTheDay(t *testing.T) {
	page := read(t, pages+"merging.md")
	by := map[string]day{}
	for _, d := range theDay(t) {
		by[d.name] = d
	}
	five, sixteen := by["merge queue of GitHub, 5 builds"], by["merge queue of GitHub, 16 builds"]
	three, twelve := by["merge train, batch 4, speculate 3"], by["merge train, batch 4, speculate 12"]
	ahead := func(a, b day) []bool {
		return []bool{a.landed > b.landed, a.median < b.median, a.p95 < b.p95, a.minutes < b.minutes}
	}
	assert.Contains(t, page, "is ahead of GitHub's queue with 5 builds, its default.")
	assert.Equal(t, []bool{true, true, true, true}, ahead(three, five))
	assert.Contains(t, page, "It is behind GitHub's queue with 16\nbuilds in what lands per hour and in how long that takes, with less than a third of the CI time.")
	assert.Equal(t, []bool{false, false, false, true}, ahead(three, sixteen))
	assert.Less(t, three.minutes, sixteen.minutes/3)
	assert.Contains(t, page, "the train is ahead of that queue in every column, with about half of its CI time.")
	assert.Equal(t, []bool{true, true, true, true}, ahead(twelve, sixteen))
	assert.InDelta(t, 0.5, twelve.minutes/sixteen.minutes, 0.05)
	assert.Equal(t, config.Defaults().Merge.Speculate, 3)
}

// TestTheManualDrawsATrain compares the drawing with that of a job summary, or writes it there.
func TestTheManualDrawsATrain(t *testing.T) {
	page := read(t, pages+"merging.md")
	before, rest, ok := strings.Cut(page, "\n```mermaid\n")
	require.True(t, ok)
	shown, after, ok := strings.Cut("\n"+rest, "\n```\n")
	require.True(t, ok)
	want := report.TrainPicture(aTrain())
	if golden.Update() {
		require.NoError(t, os.WriteFile("../../"+pages+"merging.md", []byte(before+"\n"+want+"\n"+after), 0o600))
		return
	}
	assert.Equal(t, want, "```mermaid"+shown+"\n```")
}
