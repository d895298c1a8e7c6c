package doctor

import (
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
	for _, c := range []Choice{{}, {CI: []string{"CI", "a: b"}}, {Split: true, CI: []string{"CI"}}, {App: true}, {App: true, Split: true}, {Server: true}, {Server: true, Split: true}} {
		got, ok := Chosen(File{Path: WorkflowPath, Text: c.Workflow()}, File{Path: SettingsPath})
		assert.True(t, ok)
		assert.Equal(t, c, got)
	}
	_, ok := Chosen(File{Path: WorkflowPath, Text: "on: push\n"}, File{})
	assert.False(t, ok, "a workflow of somebody else's")
	_, ok = Chosen(File{Path: WorkflowPath, Text: "["}, File{})
	assert.False(t, ok)
}

func TestOthersAreTheWorkflowsOfTheRepository(t *testing.T) {
	assert.Equal(t, []Other{{"CI", "a.yml", true}, {".github/workflows/b.yml", ".github/workflows/b.yml", true}, {"Release", "c.yml", false}, {"Main", "d.yml", false}}, Others([]File{
		{Path: "a.yml", Text: "name: CI\non: [pull_request]\n"}, {Path: ".github/workflows/b.yml", Text: "on: push\n"},
		{Path: "c.yml", Text: "name: Release\non: {push: {tags: [v1]}}\n"}, {Path: "d.yml", Text: "name: Main\non: {push: {branches: [main]}}\n"},
		{Path: WorkflowPath, Text: (Choice{}).Workflow()}, {Path: "e.yml", Text: "["}, {Path: "f.yml", Bad: "too large"},
	}))
}
