package doctor

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheNamesOfWorkflowsAreTextsInYAML(t *testing.T) {
	for _, name := range []string{"CI", "Unit tests", ".github/workflows/x.yml", "on", "No", "a: b", "a, b", "#1", "[x]", `say "hi"`, "tést", "1.0", "a  b", " a", "<b>&", "*x", "x'y"} {
		for _, split := range []bool{false, true} {
			w, err := readWorkflow(File{Path: WorkflowPath, Text: Choice{CI: []string{"CI", name}, Split: split}.Workflow()})
			require.NoError(t, err, name)
			_, heard := (&exam{uses: usesOf(w)}).trigger("workflow_run", "completed")
			assert.True(t, heard)
			for _, tr := range w.triggers {
				if tr.event == "workflow_run" {
					assert.Equal(t, []string{"CI", name}, tr.workflows)
				}
			}
		}
	}
	w, err := readWorkflow(File{Path: WorkflowPath, Text: Choice{}.Workflow()})
	require.NoError(t, err)
	assert.False(t, w.hearsPush("main"))
	_, heard := (&exam{uses: usesOf(w)}).trigger("workflow_run", "completed")
	assert.False(t, heard, "no CI, no trigger")
}

func TestAChoiceIsReadBackFromItsFiles(t *testing.T) {
	for _, c := range []Choice{{}, {CI: []string{"CI", "a: b"}}, {Split: true, CI: []string{"CI"}}, {App: true}, {App: true, Split: true}, {Server: true}, {Server: true, Split: true}, {App: true, Server: true}, {App: true, Server: true, Split: true}} {
		got, ok := Chosen(File{Path: WorkflowPath, Text: c.Workflow()}, File{Path: SettingsPath})
		assert.True(t, ok)
		assert.Equal(t, c, got)
		assert.Equal(t, !c.App, strings.Contains(c.Workflow(), withApp), "whoever has an App needs no advice to have one")
	}
	_, ok := Chosen(File{Path: WorkflowPath, Text: "on: push\n"}, File{})
	assert.False(t, ok, "a workflow of somebody else's")
	_, ok = Chosen(File{Path: WorkflowPath, Text: "["}, File{})
	assert.False(t, ok)
}

// Where a run may write it may also fail to push, and then the work is a file on the runner that the workflow has to save.
func TestEveryJobThatMayWriteSavesWhatItCouldNotPush(t *testing.T) {
	for _, c := range []Choice{{}, {Split: true}, {App: true, Split: true}, {Server: true, Split: true}, {Server: true}} {
		w, err := readWorkflow(File{Path: WorkflowPath, Text: c.Workflow()})
		require.NoError(t, err)
		saving := 0
		for _, u := range usesOf(w) {
			if u.phase == agentPhase || u.phase == planPhase {
				continue
			}
			assert.True(t, slices.ContainsFunc(u.j.steps, func(s *step) bool {
				return strings.HasPrefix(s.uses.value, "actions/upload-artifact@") && strings.HasSuffix(s.with["path"], "/mergexo-checkpoint-*.bundle") && s.condition.value == "always()"
			}), "%+v: %s", c, u.j.id)
			saving++
		}
		assert.Equal(t, 2, saving)
	}
}

func TestOthersAreTheWorkflowsOfTheRepository(t *testing.T) {
	assert.Equal(t, []Other{{"CI", "a.yml", true}, {".github/workflows/b.yml", ".github/workflows/b.yml", true}, {"Release", "c.yml", false}, {"Main", "d.yml", false}}, Others([]File{
		{Path: "a.yml", Text: "name: CI\non: [pull_request]\n"}, {Path: ".github/workflows/b.yml", Text: "on: push\n"},
		{Path: "c.yml", Text: "name: Release\non: {push: {tags: [v1]}}\n"}, {Path: "d.yml", Text: "name: Main\non: {push: {branches: [main]}}\n"},
		{Path: WorkflowPath, Text: (Choice{}).Workflow()}, {Path: "e.yml", Text: "["}, {Path: "f.yml", Bad: "too large"},
	}))
}
