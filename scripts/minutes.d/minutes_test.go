package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/doctor"
	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/must"
)

const page = "../../internal/manual/cost.md"

func load(t *testing.T, text string) workflow {
	t.Helper()
	return must.Get(read([]byte(text)))(t)
}

// idle is what a month of so many days costs in which nothing happens.
func idle(t *testing.T, w workflow, days int) int {
	t.Helper()
	sweeps := must.Get(w.sweeps(days))(t)
	_, minutes, err := w.sum([]part{{swept, looks}})
	require.NoError(t, err)
	return sweeps * minutes
}

func TestThePageHasWhatTheWorkflowCosts(t *testing.T) {
	w := load(t, doctor.Choice{CI: []string{"CI"}, Seldom: true}.Workflow())
	raw := must.Get(os.ReadFile(page))(t)
	text := string(raw)
	for _, count := range []func(workflow) (string, error){eventTable, totalTable} {
		table := must.Get(count(w))(t)
		if golden.Update() {
			head, _, _ := strings.Cut(table, "\n")
			before, after, found := strings.Cut(text, head)
			require.True(t, found)
			_, after, _ = strings.Cut(after, "\n\n")
			text = before + table + "\n" + after
			continue
		}
		assert.Contains(t, text, "\n"+table+"\n", "go test ./scripts/minutes.d -update")
	}
	if golden.Update() {
		require.NoError(t, os.WriteFile(page, []byte(text), 0o600))
	}
}

func TestAnIdlePrivateRepositoryIsNearlyFree(t *testing.T) {
	assert.Less(t, idle(t, load(t, doctor.Choice{Seldom: true}.Workflow()), 31), 130)
	assert.Less(t, idle(t, load(t, doctor.Choice{Seldom: true, Split: true}.Workflow()), 31), 130)
	assert.Equal(t, 31*doctor.Choice{}.Sweeps(), idle(t, load(t, doctor.Choice{CI: []string{"CI"}}.Workflow()), 31), "what init says")
	assert.Equal(t, 31*doctor.Choice{Seldom: true}.Sweeps(), idle(t, load(t, doctor.Choice{Seldom: true}.Workflow()), 31))
	assert.Equal(t, 1440, idle(t, load(t, string(must.Get(os.ReadFile("testdata/jobs.yml"))(t))), 30), "the count knows jobs that need others")
}

// Its first step is all that an event without work costs: the others have the condition, or take no time.
func TestAnEventWithoutWorkIsOneStep(t *testing.T) {
	w := load(t, doctor.Choice{Key: "K", Setup: true, CI: []string{"CI"}}.Workflow())
	var always []string
	for _, s := range w.Jobs["mergexo"].Steps {
		if s.If == "" {
			name, _, _ := strings.Cut(s.Uses, "@")
			always = append(always, strings.TrimSpace(name+" "+s.With["command"]))
		}
	}
	assert.Equal(t, []string{doctor.Action + " run --plan", ""}, always, "the second one prints the result")
}

func TestTheTimesOfASchedule(t *testing.T) {
	for field, want := range map[string]int{"*": 24, "*/6": 4, "1-23": 23, "6,12,18": 3, "0": 1, "0-23/5": 5} {
		assert.Equal(t, want, must.Get(times(field, 24))(t, field), field)
	}
	for _, field := range []string{"", "x", "5-2", "24", "*/0", "1-"} {
		assert.Error(t, must.Err(times(field, 24)), field)
	}
	assert.ErrorContains(t, must.Err(load(t, "on: {schedule: [{cron: \"0 0 * * 1\"}]}").sweeps(30)), "the same every day")
}

func TestWhatIsNotKnownBeforehandIsNoNumber(t *testing.T) {
	_, err := load(t, "on: {issue_comment: {}}\njobs: {a: {if: steps.x.outputs.y}}").jobs(said("User"))
	assert.ErrorContains(t, err, "jobs.a.if: whether it is met is not known beforehand")
	assert.Zero(t, must.Get(load(t, "on: {issue_comment: {types: [edited]}}\njobs: {a: {}}").jobs(said("User")))(t))
}
