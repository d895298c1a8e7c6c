package doctor

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// WorkflowPath and SettingsPath are where `mergexo init` writes Workflow and SettingsFile.
const (
	WorkflowPath = ".github/workflows/mergexo.yml"
	SettingsPath = ".github/mergexo.toml"
)

//go:embed templates/mergexo.yml
var workflowTemplate string

// Workflow is the workflow to start with. This repository's own is identical, byte for byte.
func Workflow() string { return workflowTemplate }

//go:embed templates/mergexo-split.yml
var splitTemplate string

// SplitWorkflow runs the agent in a job of its own, for repositories that must keep it away from every write token. It goes
// to the same path.
func SplitWorkflow() string { return splitTemplate }

// onServer turns a template into what GitHub Enterprise Server runs: the artifact actions of version 4 and later do not run there
// (https://github.com/actions/upload-artifact#ghes-support), and those of version 3 neither overwrite an artifact nor find one by
// a pattern. An artifact of two attempts holds the files of both, so that a handoff is named after its attempt.
var onServer = strings.NewReplacer(
	"actions/upload-artifact@bbbca2ddaa5d8feaa63e36b76fdaad77386f024f # v7.0.0", "actions/upload-artifact@c6a366c94c3e0affe28c06c8df20a878f24da3cf # v3.2.2, for GitHub Enterprise Server",
	"actions/download-artifact@3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c # v8.0.1", "actions/download-artifact@a9bc5e6ef2cb54c177f32aa5726adaa15e7e2d59 # v3.1.0, for GitHub Enterprise Server",
	"          overwrite: true # by a later attempt of this run\n", "",
	"          overwrite: true\n", "",
	"          name: mergexo-handoff\n", "          name: mergexo-handoff-${{ github.run_attempt }}\n",
	"          pattern: mergexo-handoff\n          merge-multiple: true\n", "          name: mergexo-handoff-${{ needs.agent.outputs.attempt }}\n",
	"        # By pattern and not by name: where nothing was handed over, a name that is not found is an error.\n", "",
	"\n  agent:\n", "\n  agent:\n    outputs:\n      attempt: ${{ github.run_attempt }} # apply may run again without it\n",
)

// pagesJob is where the job for GitHub Pages begins in the template, and withApp what comes behind it.
const (
	pagesJob = "\n  # And on GitHub Pages,"
	withApp  = "\n# With a GitHub App"
)

// ForServer is a workflow of ours as GitHub Enterprise Server runs it, without the job for Pages, whose actions use newer
// artifacts.
func ForServer(workflow string) string {
	workflow, rest, cut := strings.Cut(workflow, pagesJob)
	if cut {
		_, app, _ := strings.Cut(rest, withApp)
		workflow = strings.TrimSuffix(workflow, "\n") + "\n" + withApp + app
	}
	return onServer.Replace(workflow)
}

// settingsTemplate works as it is: the agent in it needs no program that nobody could guess.
const settingsTemplate = `# How MergeXO works here. It is read from the branch that a pull request goes to, and for issues from the default branch.

[repo]
track = ["agent/**"]          # pull requests from these branches of this repository
%s
# test_file_regex = ['_test\.']  # a bug fix without a file that matches is no bug fix yet
# design_dir = "docs/design"  # where design documents go
# bots = ["github-actions[bot]", "my-app[bot]"]  # accounts that are all MergeXO here, after a change of its token

[labels]                      # on an issue, by somebody with write access
design = "agent:design"       # a design document as a pull request; when that is merged, another one that implements it
bugfix = "agent:bugfix"       # a pull request that mends a bug, with a test for it
small_job = "agent:small-job" # a pull request that does what the issue says
ignore = "agent:ignore"       # none of it, here or on a pull request: a person has taken over

[agent]
adapter = "suggestion"        # applies suggestion and diff blocks as they are; no model needed
# Or a program of yours, which reads one JSON request on its standard input, works in the checkout, and writes one JSON
# outcome on its standard output:
# adapter = "command"
# command = ["scripts/my-agent"]
# pass_env = ["MODEL_API_KEY"]  # it sees nothing else but PATH, HOME, LANG and TMPDIR
# timeout = "30m"
# test_timeout = "10m"        # of required_tests
# run_timeout = "80m"         # of the whole run, then its work is saved; the workflow's timeout-minutes have to be more
# isolation = "auto"          # it and the tests run as a user made for the run, else in namespaces; "none" turns that off
# network = "open"            # what they reach: "model" is nothing but the model, a list adds hosts
# checkpoint_every = "5m"     # how often what it has done so far is saved on a branch, where it works for an issue

[merge]
strategy = "rebase"           # "api" where the branch is protected against pushes
# tests = ["scripts/test"]    # on just what is to land; else those of Go, Python, Node or make if it looks so; or "none"
# setup = ["npm", "ci"]       # before them; else what a lockfile tells; or "none"
# tests_in = "fresh"          # "checkout": where the workflow has checked out and installed; setup is not run there
# test_timeout = "30m"        # of both; the workflow's timeout-minutes have to be more
# required_checks = ["test"]  # that have to pass, beside those that the branch demands
# verify = "local"            # "ci": the repository's checks test what lands, in a merge train; needs the token of an App,
#                             # and "mergexo/train/**" under on.push.branches of your CI
# auto = "never"              # "label": whoever may merge asks for it with the label auto_label; "approval": an approval does
`

// SettingsFile is the settings file to start with. A test command is suggested but not enabled: only the repository's
// people know whether it can run where the agent does.
func SettingsFile(read func(path string) (string, bool)) string {
	line := `# required_tests = ["scripts/test"]  # before every push`
	if argv, found := SuggestTests(read); argv != nil {
		quoted := make([]string, len(argv))
		for i, a := range argv {
			quoted[i] = fmt.Sprintf("%q", a)
		}
		line = fmt.Sprintf("# required_tests = [%s]  # before every push; suggested because of %s", strings.Join(quoted, ", "), found)
	}
	return fmt.Sprintf(settingsTemplate, line)
}

var testTarget = regexp.MustCompile(`(?m)^test\s*:([^=]|$)`)

// SuggestTests finds a command that tests a repository, and the file that suggests it; nil for none. read gives a file at
// the top of the repository.
func SuggestTests(read func(path string) (string, bool)) (argv []string, found string) {
	for _, s := range []struct {
		path string
		when func(text string) bool
		argv []string
	}{
		{"go.mod", nil, []string{"go", "test", "./..."}},
		{"pyproject.toml", nil, []string{"python", "-m", "pytest"}},
		{"pytest.ini", nil, []string{"python", "-m", "pytest"}},
		{"tox.ini", nil, []string{"python", "-m", "pytest"}},
		{"setup.py", nil, []string{"python", "-m", "pytest"}},
		{"package.json", hasTestScript, []string{"npm", "test"}},
		{"Makefile", testTarget.MatchString, []string{"make", "test"}},
		{"GNUmakefile", testTarget.MatchString, []string{"make", "test"}},
	} {
		if text, ok := read(s.path); ok && (s.when == nil || s.when(text)) {
			return s.argv, s.path
		}
	}
	return nil, ""
}

func hasTestScript(text string) bool {
	var p struct{ Scripts map[string]string }
	return json.Unmarshal([]byte(text), &p) == nil && p.Scripts["test"] != "" && !strings.Contains(p.Scripts["test"], "no test specified")
}
