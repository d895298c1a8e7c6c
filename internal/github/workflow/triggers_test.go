package workflow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/github/workflow"
)

// The CI of the engine's stories runs by this as well.
func TestAWorkflowHearsThePushesThatItsTriggersName(t *testing.T) {
	t.Parallel()
	for on, hears := range map[string]bool{
		"push":                 true,
		"[pull_request, push]": true,
		"{push: }":             true,
		"{push: {branches: ['mergexo/train/**']}}":                     true,
		"{push: {branches: [main, '**', '!mergexo/train/release/*']}}": true,
		"{push: {branches-ignore: [main]}}":                            true,
		"{push: {branches: ['mergexo/train/*']}}":                      false,
		"{push: {branches: [main]}}":                                   false,
		"{push: {branches: ['**', '!mergexo/**']}}":                    false,
		"{push: {branches-ignore: ['mergexo/**']}}":                    false,
		"pull_request": false,
	} {
		file := workflow.File{Path: ".github/workflows/ci.yml", Text: "on: " + on + "\njobs: {test: {name: ci}}\n"}
		assert.Equal(t, hears, workflow.HearsPush([]workflow.File{file}, "mergexo/train/main/1"), on)
	}
}
