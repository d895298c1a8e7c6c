package doctor

import (
	_ "embed"
	"strings"
)

// WorkflowPath and SettingsPath are where `mergexo init` writes what a Choice makes.
const (
	WorkflowPath = ".github/workflows/mergexo.yml"
	SettingsPath = ".github/mergexo.toml"
)

//go:embed templates/mergexo.yml
var workflowTemplate string

// Workflow is the workflow to start with. This repository's own is identical, byte for byte.
func Workflow() string { return workflowTemplate }

// splitTemplate runs the agent in a job of its own, for repositories that must keep it away from every write token. It goes to the
// same path.
//
//go:embed templates/mergexo-split.yml
var splitTemplate string

// onServer turns a template into what GitHub Enterprise Server runs: the artifact actions of version 4 and later do not run there
// (https://github.com/actions/upload-artifact#ghes-support), and those of version 3 neither overwrite an artifact nor find one by
// a pattern. An artifact of two attempts holds the files of both, so that a handoff is named after its attempt.
var onServer = strings.NewReplacer(
	"actions/upload-artifact@bbbca2ddaa5d8feaa63e36b76fdaad77386f024f # v7.0.0", "actions/upload-artifact@c6a366c94c3e0affe28c06c8df20a878f24da3cf # v3.2.2, for GitHub Enterprise Server",
	"actions/download-artifact@3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c # v8.0.1", "actions/download-artifact@a9bc5e6ef2cb54c177f32aa5726adaa15e7e2d59 # v3.1.0, for GitHub Enterprise Server",
	"          overwrite: true # when the run is rerun\n", "",
	"          overwrite: true\n", "",
	"          name: mergexo-handoff\n", "          name: mergexo-handoff-${{ github.run_attempt }}\n",
	"          pattern: mergexo-handoff\n          merge-multiple: true\n", "          name: mergexo-handoff-${{ needs.agent.outputs.attempt }}\n",
	"        # By pattern, because an artifact that is missing by name is an error.\n", "",
	"\n  agent:\n", "\n  agent:\n    outputs:\n      attempt: ${{ github.run_attempt }} # apply may run again without it\n",
)

// withApp begins the templates' advice to use an App.
const withApp = "\n# With a GitHub App"
