package doctor

import (
	"testing"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox/expression"
)

// commitStatus is what a service says of a commit that a branch is at.
func commitStatus(state, branch string) expression.Object {
	o := event("", person, "User", expression.Object{"state": state, "sha": "x", "context": "ci", "branches": []any{expression.Open{"name": branch}}})
	o["ref"], o["ref_name"] = "refs/heads/main", "main"
	return o
}

// started counts the jobs of a workflow that an event has run. None of them is an agent's.
func started(t *testing.T, w *workflow.Workflow, event string, own expression.Object) (jobs int) {
	t.Helper()
	for _, u := range usesOf(w) {
		met, known, err := u.runs(sampleEvent{event: event}, own)
		require.NoError(t, err)
		assert.True(t, known, u.j.ID)
		if met {
			jobs++
			assert.NotEqual(t, agentPhase, u.phase)
		}
	}
	return jobs
}

// What other services report has one job run, where it is about the merge train or final. No agent works on it. A skipped job costs
// nothing.
func TestTheWorkflowHearsOtherServices(t *testing.T) {
	must.Each(t, map[string]Choice{
		"one job": {Services: true}, "split": {Services: true, Split: true}, "server": {Services: true, Server: true},
		"with a train": {Services: true, App: true, Bases: []string{"main"}}, "split, with a train": {Services: true, App: true, Split: true, Bot: "my-app[bot]", Bases: []string{"main"}},
	}, func(t *testing.T, c Choice) {
		file := workflow.File{Path: WorkflowPath, Text: c.Workflow()}
		w := must.Get(workflow.Read(file))(t)
		check := event("completed", app, "Bot", expression.Object{"check_run": expression.Open{"status": "completed", "app": expression.Open{"slug": "some-ci"}}})
		for _, o := range []struct {
			what, event string
			own         expression.Object
			jobs        int
		}{
			{"pending on a pull request", "status", commitStatus("pending", "agent/greet"), 0},
			{"passed on a pull request", "status", commitStatus("success", "agent/greet"), 1},
			{"failed on a pull request", "status", commitStatus("failure", "agent/greet"), 1},
			{"an error on a pull request", "status", commitStatus("error", "agent/greet"), 1},
			{"pending on the train", "status", commitStatus("pending", trainBranch), 1},
			{"passed on the train", "status", commitStatus("success", trainBranch), 1},
			{"a check of another App", "check_run", check, 1},
		} {
			assert.Equal(t, o.jobs, started(t, w, o.event, o.own), o.what)
		}
		again, there := Chosen(file, workflow.File{Path: SettingsPath})
		require.True(t, there)
		assert.Equal(t, []any{true, len(c.Bases)}, []any{again.Services, len(again.Bases)}, "init writes the same again")
		assert.Empty(t, newExam(Facts{Workflows: []workflow.File{file}}).differing)
	})
	assert.NotContains(t, Choice{}.Workflow(), "  status:")
}

// Who reports a required check is told by its App, else by the workflows.
func TestWhatOtherServicesReport(t *testing.T) {
	files := []workflow.File{{Path: "ci.yml", Text: "on: push\njobs:\n  test: {runs-on: x}\n  build: {runs-on: x, strategy: {matrix: {go: [1, 2]}}}\n"}, {Path: "none.yml", Text: "{"}}
	all := []string{"test", "test@", "test@github-actions", "renamed@github-actions", "build (1)", "ci/slow", "ci/slow@", "test@some-ci"}
	assert.Equal(t, []string{"ci/slow", "ci/slow@", "test@some-ci"}, workflow.Elsewhere(files, all))
	assert.Equal(t, []string{"test", "test", "test", "renamed", "build (1)", "ci/slow", "ci/slow"}, workflow.OfActions(all))
	files[0].Text = "on: push\njobs:\n  test: {name: '${{ matrix.any }}', runs-on: x}\n"
	assert.Equal(t, []string{"test@some-ci"}, workflow.Elsewhere(files, all), "an expression may give any name")
}
