package doctor

import (
	"slices"
	"testing"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox/expression"
)

// A workflow for a merge train has one job run for what people do to the base and to the train's branches, and none for what bots
// do, which is mostly MergeXO's own.
func TestTheWorkflowHearsPushesForTheTrain(t *testing.T) {
	pushed := func(login, kind string) expression.Object {
		return event("", login, kind, expression.Object{"ref": "refs/heads/main", "pusher": expression.Object{"name": login}})
	}
	deleted := func(ref, login, kind string) expression.Object {
		return event("", login, kind, expression.Object{"ref": ref, "ref_type": "branch"})
	}
	must.Each(t, map[string]Choice{
		"one job": {App: true, Setup: true, Bases: []string{"main", "release/**"}}, "split": {App: true, Split: true, Bot: "my-app[bot]", Bases: []string{"main", "release/**"}},
		"server": {App: true, Server: true, Bases: []string{"main", "release/**"}},
	}, func(t *testing.T, c Choice) {
		file := workflow.File{Path: WorkflowPath, Text: c.Workflow()}
		w := must.Get(workflow.Read(file))(t)
		for branch, hears := range map[string]bool{"main": true, "release/2": true, trainBranch: true, "agent/small/1-x": false} {
			assert.Equal(t, hears, w.HearsPush(branch), branch)
		}
		for _, o := range []struct {
			what, event string
			own         expression.Object
			jobs        int
		}{
			{"a person pushes", "push", pushed(person, "User"), 1},
			{"a bot pushes", "push", pushed(app, "Bot"), 0},
			{"a person deletes a branch of the train", "delete", deleted(trainBranch, person, "User"), 1},
			{"a person deletes another branch", "delete", deleted("main", person, "User"), 0},
			{"we delete a branch of the train", "delete", deleted(trainBranch, app, "Bot"), 0},
		} {
			assert.Equal(t, o.jobs, started(t, w, o.event, o.own), o.what)
		}
		again, there := Chosen(file, workflow.File{Path: SettingsPath})
		require.True(t, there)
		assert.Equal(t, c.Bases, again.Bases, "init writes the same again")

		f := healthy()
		f.Workflows, f.Settings.Train = []workflow.File{file}, true
		otherWorkflow("name: CI\non:\n  push:\n    branches: [\"mergexo/train/**\"]\njobs:\n  test: {runs-on: ubuntu-latest}\n")(t, &f)
		e := newExam(f)
		assert.Equal(t, []Finding{{Level: OK, Text: "CI tests the branches of the merge train"}}, found(f, train))
		assert.Empty(t, slices.DeleteFunc(e.differing, func(f Finding) bool { return f.Rule != "condition" && f.Rule != "concurrency" }))
	})
	assert.NotContains(t, Choice{}.Workflow(), "  push:")
}
