package report

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
)

var noon = time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)

// busyTrain has a car of each state, who waits, and what landed.
func busyTrain() model.Train {
	run := func(n string) string { return repoURL + "/actions/runs/" + n }
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	tip := func(digit string) string { return strings.Repeat(digit, 40) }
	return model.Train{
		Base: "main",
		Cars: []model.TrainCar{
			{Number: 3, State: "landing", Members: []int{7, 8}, Tip: tip("a"), Branch: "mergexo/train/main/3", Checks: []model.TrainCheck{{Name: "ci", State: model.CheckPassed, URL: run("1")}, {Name: "lint", State: model.CheckPassed, URL: run("2")}}, ETA: noon},
			{Number: 4, State: "testing", Members: []int{9}, Behind: 3, Tip: tip("b"), Branch: "mergexo/train/main/4", Checks: []model.TrainCheck{{Name: "ci", State: model.CheckPending, URL: run("3")}, {Name: "lint", State: model.CheckExpected}}, ETA: at(12)},
			{Number: 6, State: "red", Members: []int{10}, Behind: 4, Tip: tip("c"), Branch: "mergexo/train/main/6", Failed: []model.TrainCheck{{Name: "ci", State: model.CheckFailed, URL: run("4")}}, Why: "required check lint did not report within 2h"},
			{Number: 7, State: "building", Members: []int{11}, Behind: 6},
			{Number: 5, State: "testing", Members: []int{12}, Tip: tip("d"), Branch: "mergexo/train/main/5", Try: true},
		},
		Queue: []model.TrainPlace{
			{Position: 1, Number: 7, Car: 3}, {Position: 2, Number: 8, Car: 3}, {Position: 3, Number: 9, Car: 4}, {Position: 4, Number: 10, Car: 6}, {Position: 5, Number: 11, Car: 7},
			{Position: 6, Number: 13, ETA: at(45)}, {Position: 7, Number: 14, Why: "it has the label mergexo:freeze"}, {Position: 8, Number: 12, Car: 5},
		},
		Landed: []model.TrainLanding{{Number: 5, SHA: tip("e"), Asked: at(-95), At: at(-20)}, {Number: 4, SHA: tip("f"), At: at(-50 * 60)}},
		Today:  model.TrainDay{Landed: 1, MedianSeconds: 75 * 60},
	}
}

// hostileTrain has text of others where there may be some.
func hostileTrain() model.Train {
	const evil = "`x`\"] |\n<!-- mergexo-action:aa -->\n::error::no @octo\x1b[31m"
	t := model.Train{Base: evil, Trouble: evil, Today: model.TrainDay{Landed: 30, More: true, MedianSeconds: 59}}
	t.Cars = []model.TrainCar{{Number: 1, State: "red", Members: []int{7}, Tip: evil, Branch: evil, Failed: []model.TrainCheck{{Name: evil, URL: "javascript:alert(1)"}, {Name: "odd", URL: "https://ci.example.com/a b)|\n"}}, Why: evil}}
	t.Queue = []model.TrainPlace{{Position: 1, Number: 7, Car: 1}, {Position: 2, Number: 8, Why: evil}}
	t.Landed = []model.TrainLanding{{Number: 6, SHA: evil, At: noon}}
	return t
}

func TestTrainsAsPeopleSeeThem(t *testing.T) {
	for name, all := range map[string][]model.Train{
		"trains": {busyTrain(), {Base: "release/1", Trouble: "no check is required, so nothing says that a commit was tested"}}, "trains_none": {}, "trains_hostile": {hostileTrain()},
	} {
		var out bytes.Buffer
		require.NoError(t, Trains(&out, all))
		golden.Text(t, name+".table.txt", out.String())
		golden.Text(t, name+".80.txt", atTerminal(t, func(w io.Writer) error { return Trains(w, all) }))
		drawn := ""
		for _, one := range all {
			drawn += TrainMarkdown(one, repoURL) + "\n"
		}
		golden.Text(t, name+".md", drawn)
	}
	assert.NotContains(t, TrainMarkdown(busyTrain(), ""), "](/")
}

// A job summary holds 1 MiB, and Mermaid draws only so much.
func TestALargeTrainIsCut(t *testing.T) {
	big := model.Train{Base: "main"}
	for i := range 500 {
		big.Cars = append(big.Cars, model.TrainCar{Number: i + 1, State: "testing", Behind: i, Members: []int{i}, Why: strings.Repeat("why ", 1000)})
		big.Queue = append(big.Queue, model.TrainPlace{Number: 1000 + i, Why: strings.Repeat("why ", 1000)})
	}
	text := TrainMarkdown(big, repoURL)
	assert.Less(t, len(text), 64<<10)
	assert.Contains(t, text, "and 450 more")
	assert.Contains(t, text, `more["488 more cars"]`)
	assert.Contains(t, text, `waiting["waiting<br/>#1000 #1001 #1002 #1003 #1004 #1005 #1006 #1007 and 492 more"]`)
}
