package merge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// places are those of requests in the merge train, one of each kind.
func places() map[string]merge.Place {
	at := time.Date(2026, 3, 20, 14, 44, 0, 0, time.UTC)
	run := func(n string) string { return "https://github.com/octo/widgets/actions/runs/" + n }
	ci := model.TrainCheck{Name: "ci", State: model.CheckPending, URL: run("1")}
	lint := model.TrainCheck{Name: "lint", State: model.CheckExpected}
	testing := merge.Place{
		Position: 1, Car: 2, Branch: "mergexo/train/main/2", Tip: c, State: "is being tested", Required: []model.TrainCheck{ci, lint}, ETA: at.Add(20 * time.Minute), At: at,
	}
	more := testing
	more.Position, more.Ahead, more.With = 6, []int{1, 3, 4}, []int{8, 9}
	one := testing
	one.Required, one.ETA, one.With = one.Required[:1], time.Time{}, []int{8}
	red := more
	red.State, red.ETA, red.Checks = "has failed", time.Time{}, []model.Check{{Name: "ci", URL: run("1")}, {Name: "lint |`x` @octo", URL: "javascript:alert(1)"}}
	late := testing
	late.State, late.Why, late.ETA = "has failed", "required check lint did not report within 2h", time.Time{}
	try := testing
	try.Try, try.ETA = true, time.Time{}
	many := testing
	many.Required = nil
	for range 25 {
		many.Required = append(many.Required, lint)
	}
	return map[string]merge.Place{
		"joins": {}, "joins_try": {Try: true}, "waits": {Position: 12, Ahead: []int{1, 2, 3}, ETA: at.Add(24 * time.Hour), At: at}, "held": {Position: 4, Why: "it has the label mergexo:freeze", At: at},
		"testing": testing, "testing_more": more, "testing_one": one, "testing_many": many, "red": red, "late": late, "try": try,
		"unbuilt":  {Position: 3, Car: 5, State: "is being built", Why: "no workflow has a job for required check `ci`", At: at},
		"back":     {Position: 3, Car: 5, Branch: "mergexo/train/main/5", State: "is being tested", Back: "car 4 was taken apart: #7 has left the train: @alice cancelled it", At: at},
		"building": {Position: 3, Car: 5, State: "is being built", Ahead: []int{4}, At: at},
	}
}

func TestAPlaceInTheTrainAsPeopleReadIt(t *testing.T) {
	request := asked()
	request.State = model.MergeWaiting
	for name, at := range places() {
		golden.Text(t, "train_"+name+".md", merge.TrainText(pull(), request, at)+"\n")
	}
	var lines []string
	for _, name := range []string{"waits", "held", "testing_more", "red", "late"} {
		lines = append(lines, merge.PlaceText(pull(), "main", places()[name]))
	}
	golden.Text(t, "train_lines.md", strings.Join(lines, "\n")+"\n")
	golden.Text(t, "train_no.md", merge.NoTrainText(pull())+"\n")
}

func TestATryAsPeopleReadIt(t *testing.T) {
	failed := []model.Check{{Name: "ci", URL: "https://github.com/octo/widgets/actions/runs/1"}}
	golden.Text(t, "train_tried.md", strings.Join([]string{
		merge.TriedText(pull(), asked(), c, "", nil), merge.TriedText(pull(), asked(), c, "", failed), merge.TriedText(pull(), asked(), "", "it conflicts with main in greet.txt", nil),
	}, "\n\n")+"\n")
}

// Each check that a car needs is shown once for each that reports it, and one that nothing reports is expected.
func TestTheChecksThatACarNeeds(t *testing.T) {
	reported := []model.Check{
		{Name: "ci", App: "github-actions", State: model.CheckFailed, At: noon, URL: "u1"}, {Name: "ci", App: "github-actions", State: model.CheckPassed, At: noon.Add(time.Minute), URL: "u2"},
		{Name: "ci", App: "other", State: "odd"}, {Name: "lint", State: model.CheckPending}, {Name: "docs", State: model.CheckPassed},
	}
	for _, row := range []struct {
		name           string
		entries, rules []string
		want           string
	}{
		{"nothing", nil, nil, ""},
		{"one of the settings", []string{"ci@github-actions"}, nil, "ci passed u2"},
		{"one by several", []string{"ci"}, nil, "ci passed u2, ci failed "},
		{"one of the rules", nil, []string{"lint"}, "lint pending "},
		{"one of both", []string{"lint"}, []string{"lint"}, "lint pending "},
		{"one that nothing reports", []string{"deploy"}, []string{"lint"}, "deploy expected , lint pending "},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got []string
			for _, k := range merge.CarRequired(row.entries, row.rules, reported) {
				got = append(got, k.Name+" "+string(k.State)+" "+k.URL)
			}
			assert.Equal(t, row.want, strings.Join(got, ", "))
		})
	}
}

// A car lands only if all that it needs has passed, and is given up only for what failed.
func TestACarPassesOnceAllThatItNeedsHasPassed(t *testing.T) {
	red, green := model.Check{Name: "ci", App: "github-actions", State: model.CheckFailed, At: noon}, model.Check{Name: "docs", State: model.CheckPassed}
	odd, pending := model.Check{Name: "odd", State: "stale"}, model.Check{Name: "lint", State: model.CheckPending, Begun: true, At: noon}
	rerun := model.Check{Name: "ci", App: "github-actions", State: model.CheckPassed, At: noon.Add(time.Minute)}
	forged := model.Check{Name: "docs", App: "another", State: model.CheckFailed}
	for name, row := range map[string]struct {
		entries  []string
		rules    string
		reported []model.Check
		want     string
	}{
		"nothing is needed":             {nil, "", []model.Check{green}, "pending [] []"},
		"nothing is reported":           {[]string{"ci"}, "docs", nil, "pending [] [ci docs]"},
		"all have passed":               {[]string{"ci"}, "docs", []model.Check{rerun, green, pending}, "passed [] []"},
		"one has not ended":             {[]string{"lint"}, "docs", []model.Check{green, pending}, "pending [] [lint]"},
		"one is not reported":           {[]string{"deploy"}, "docs", []model.Check{green}, "pending [] [deploy]"},
		"one failed, one has not ended": {[]string{"lint"}, "ci", []model.Check{red, pending}, "failed [ci] [lint]"},
		"one failed and was run again":  {nil, "ci", []model.Check{red, rerun}, "passed [] []"},
		"one failed that is not needed": {nil, "docs", []model.Check{red, green}, "passed [] []"},
		"a state that nobody knows":     {[]string{"odd"}, "docs", []model.Check{odd, green}, "failed [odd] []"},
		"two report it":                 {[]string{"docs"}, "docs", []model.Check{green, forged}, "failed [docs] []"},
		"another App reports it":        {[]string{"ci@other"}, "docs", []model.Check{rerun, green}, "pending [] [ci]"},
	} {
		t.Run(name, func(t *testing.T) {
			var rules []string
			if row.rules != "" {
				rules = []string{row.rules}
			}
			state, failed, open, begun := merge.CarChecks(row.entries, rules, row.reported)
			blamed := []string{}
			for _, check := range failed {
				blamed = append(blamed, check.Name)
			}
			assert.Equal(t, row.want, fmt.Sprintf("%s %v %v", state, blamed, open))
			assert.Equal(t, slices.Contains(open, "lint"), begun.Equal(noon), "when what is at work began")
		})
	}
}

// What landed by the train says which checks passed, and on which commit.
func TestALandingByTheTrainAsPeopleReadIt(t *testing.T) {
	landed := with(func(m *model.MergeMarker) { m.State, m.Tip, m.Landed = model.MergeDone, c, c })
	ci := model.TrainCheck{Name: "ci", State: model.CheckPassed, URL: "https://github.com/octo/widgets/actions/runs/1"}
	var all []string
	for _, car := range []merge.Car{{Tip: c, Checks: []model.TrainCheck{ci}}, {Tip: d, Checks: []model.TrainCheck{ci, {Name: "mergexo/tests"}}}, {}} {
		all = append(all, merge.DoneText(pull(), landed, merge.Landing{Car: &car, Commits: moved}))
	}
	golden.Text(t, "train_landed.md", strings.Join(all, "\n\n")+"\n")
}
