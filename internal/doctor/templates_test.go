package doctor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox/expression"
)

// What a choice puts into the templates, people can read here, and actionlint does.
func TestTheWorkflowsOfSomeChoices(t *testing.T) {
	all := Choice{Key: "MODEL_API_KEY", Setup: true, CI: []string{"CI", "a: b"}, App: true, Bases: []string{"main", "release/**"}, Services: true, Seldom: true}
	golden.File(t, "workflows/all.yml", all.Workflow())
	golden.File(t, "workflows/split.yml", Choice{CI: []string{"CI"}, Split: true}.Workflow())
	all.Split, all.Server = true, true
	golden.File(t, "workflows/split_all.yml", all.Workflow())
}

func TestTheNamesOfWorkflowsAreTextsInYAML(t *testing.T) {
	for _, name := range []string{"CI", "Unit tests", ".github/workflows/x.yml", "on", "No", "a: b", "a, b", "#1", "[x]", `say "hi"`, "tést", "1.0", "a  b", " a", "<b>&", "*x", "x'y"} {
		for _, split := range []bool{false, true} {
			w := must.Get(workflow.Read(workflow.File{Path: WorkflowPath, Text: Choice{CI: []string{"CI", name}, Split: split}.Workflow()}))(t, name)
			_, heard := (&exam{uses: usesOf(w)}).all("workflow_run")
			assert.NotEmpty(t, heard)
			for _, tr := range w.Triggers {
				if tr.Event == "workflow_run" {
					assert.Equal(t, []string{"CI", name}, tr.Workflows)
				}
			}
		}
	}
	w := must.Get(workflow.Read(workflow.File{Path: WorkflowPath, Text: Choice{}.Workflow()}))(t)
	assert.False(t, w.HearsPush("main"))
	_, heard := (&exam{uses: usesOf(w)}).all("workflow_run")
	assert.Empty(t, heard, "no CI, no trigger")
}

func TestAChoiceIsReadBackFromItsFiles(t *testing.T) {
	for _, c := range []Choice{{}, {CI: []string{"CI", "a: b"}}, {Split: true, CI: []string{"CI"}}, {App: true}, {App: true, Split: true}, {Seldom: true}, {Seldom: true, App: true}, {Seldom: true, Split: true}, {Server: true}, {Server: true, Split: true}, {App: true, Server: true}, {App: true, Server: true, Split: true}} {
		got, ok := Chosen(workflow.File{Path: WorkflowPath, Text: c.Workflow()}, workflow.File{Path: SettingsPath})
		assert.True(t, ok)
		assert.Equal(t, c, got)
		assert.Equal(t, !c.App, strings.Contains(c.Workflow(), "\n# With a GitHub App"), "whoever has an App needs no advice to have one")
	}
	_, ok := Chosen(workflow.File{Path: WorkflowPath, Text: "on: push\n"}, workflow.File{})
	assert.False(t, ok, "a workflow of somebody else's")
	_, ok = Chosen(workflow.File{Path: WorkflowPath, Text: "["}, workflow.File{})
	assert.False(t, ok)
}

// Where a run may write it may also fail to push, and then the work is a file on the runner that the workflow has to save.
func TestEveryJobThatMayWriteSavesWhatItCouldNotPush(t *testing.T) {
	for _, c := range []Choice{{}, {Split: true}, {App: true, Split: true}, {Server: true, Split: true}, {Server: true}} {
		w := must.Get(workflow.Read(workflow.File{Path: WorkflowPath, Text: c.Workflow()}))(t)
		saving := 0
		for _, u := range usesOf(w) {
			if u.phase == agentPhase || u.phase == planPhase {
				continue
			}
			assert.True(t, slices.ContainsFunc(u.j.Steps, func(s *workflow.Step) bool {
				return strings.HasPrefix(s.Uses.Value, "actions/upload-artifact@") && strings.HasSuffix(s.With["path"], "/mergexo-checkpoint-*.bundle") && s.Condition.Value == "always()"
			}), "%+v: %s", c, u.j.ID)
			saving++
		}
		assert.Equal(t, map[bool]int{false: 1, true: 2}[c.Split], saving)
	}
}

// What an ordinary repository has to read of it fits on two screens.
func TestTheOrdinaryWorkflowIsShortAndHealthy(t *testing.T) {
	for name, c := range map[string]Choice{
		"of the template": {Key: "MODEL_API_KEY"}, "with a model": {Key: "MODEL_API_KEY", CI: []string{"CI"}, Setup: true},
		"private": {Key: "MODEL_API_KEY", CI: []string{"CI"}, Seldom: true}, "with an App": {Key: "MODEL_API_KEY", CI: []string{"CI"}, App: true},
	} {
		f := healthy()
		f.Workflows[0].Text = c.Workflow()
		assert.Less(t, strings.Count(f.Workflows[0].Text, "\n"), 120, name)
		for _, found := range Diagnose(f) {
			assert.NotContains(t, []Level{Warning, Problem}, found.Level, "%s: %s", name, found.Text)
		}
	}
}

// Nothing is fetched or installed before the first step has found work.
func TestTheFirstStepGoesBeforeWhatCostsTime(t *testing.T) {
	w := must.Get(workflow.Read(workflow.File{Path: WorkflowPath, Text: Choice{Key: "K", Setup: true, Bases: []string{"main"}}.Workflow()}))(t)
	require.Len(t, w.Jobs, 1)
	steps := w.Jobs[0].Steps
	assert.Equal(t, []string{"plan", "run --plan"}, []string{steps[0].ID, steps[0].With["command"]})
	assert.Empty(t, steps[0].Env, "it needs no key of a model")
	for _, s := range steps[1:4] { // the checkout, what is installed, the answer
		assert.Regexp(t, `^steps\.plan\.outputs\.work == 'true'`, s.Condition.Value, "line %d", s.Line)
	}
	assert.Equal(t, "mergexo", steps[3].ID)
}

func TestTheWorkflowsOfTheRepository(t *testing.T) {
	var got []string
	for _, w := range Own([]workflow.File{
		{Path: "a.yml", Text: "name: CI\non: [pull_request]\n"}, {Path: ".github/workflows/b.yml", Text: "on: push\n"},
		{Path: "c.yml", Text: "name: Release\non: {push: {tags: [v1]}}\n"}, {Path: "d.yml", Text: "name: Main\non: {push: {branches: [main]}}\n"},
		{Path: WorkflowPath, Text: (Choice{}).Workflow()}, {Path: "e.yml", Text: "["}, {Path: "f.yml", Bad: "too large"},
	}) {
		got = append(got, fmt.Sprintf("%s in %s, on commits: %v", w.Name, w.Path, w.OnCommits()))
	}
	assert.Equal(t, []string{"CI in a.yml, on commits: true", ".github/workflows/b.yml in .github/workflows/b.yml, on commits: true",
		"Release in c.yml, on commits: false", "Main in d.yml, on commits: false"}, got)
}

// A title may hold a merge, and an approval is for one base. Somebody who edits a text costs no run.
func TestOfTheEditsOfAPullRequestThoseAreHeardThatChangeAMerge(t *testing.T) {
	for _, c := range []Choice{{CI: []string{"CI"}}, {CI: []string{"CI"}, Split: true}} {
		w := must.Get(workflow.Read(workflow.File{Path: WorkflowPath, Text: c.Workflow()}))(t)
		heard := map[string]int{}
		for _, u := range usesOf(w) {
			for _, what := range []string{"title", "base", "body"} {
				changes := expression.Object{what: expression.Object{"from": "before"}}
				own := atPull(event("edited", person, "User", expression.Object{"pull_request": pull(7, here), "changes": changes}), 7)
				if met, known, err := u.runs(sampleEvent{event: "pull_request"}, own); assert.NoError(t, err) && met && known {
					heard[what]++
				}
			}
		}
		assert.Equal(t, map[string]int{"title": heard["base"], "base": heard["title"]}, heard, "%+v", c)
		assert.NotZero(t, heard["title"])
	}
}

// A run that Dependabot starts gets no secrets, and must not take the place of one that waits. The end of its CI is an event with secrets.
func TestWhatDependabotDoesToAPullRequestIsSkipped(t *testing.T) {
	const dependabot = "dependabot[bot]"
	for _, c := range []Choice{{CI: []string{"CI"}}, {CI: []string{"CI"}, Split: true}, {CI: []string{"CI"}, Bases: []string{"main"}}, {CI: []string{"CI"}, Bases: []string{"main"}, Split: true}} {
		w := must.Get(workflow.Read(workflow.File{Path: WorkflowPath, Text: c.Workflow()}))(t)
		for _, u := range usesOf(w) {
			for event, own := range map[string]expression.Object{
				"pull_request": atPull(event("synchronize", dependabot, "Bot", expression.Object{"pull_request": pull(7, here)}), 7),
				"workflow_run": event("completed", dependabot, "Bot", expression.Object{"workflow_run": expression.Open{"id": float64(1)}}),
				"push":         event("", dependabot, "Bot", expression.Object{"ref": "refs/heads/main"}),
			} {
				if !u.has(event) {
					continue
				}
				met, known, err := u.runs(sampleEvent{event: event}, own)
				require.NoError(t, err)
				assert.True(t, known, "%+v: %s for %s", c, u.j.ID, event)
				assert.Equal(t, event == "workflow_run" && !(u.phase == planPhase || u.phase == sweepPhase) && !(u.phase == applyPhase && u.s.With["bundle"] == ""), met, "%+v: %s for %s", c, u.j.ID, event)
			}
		}
	}
}

// A new installation has a limited network where its runners can hold it and the model is known.
func TestTheNetworkOfANewInstallation(t *testing.T) {
	for want, choices := range map[string][]Choice{
		"\nnetwork = [\"model\", \"packages\"]  # ": {{Adapter: "codex"}, {Adapter: "claude"}, {Adapter: "claude", Split: true, App: true}},
		"\n# network = \"open\" ":                   {{}, {Adapter: "suggestion"}, {Adapter: "command", Command: "bin/agent"}, {Adapter: "codex", Server: true}, {Adapter: "claude", Reaches: true}},
	} {
		for _, c := range choices {
			assert.Contains(t, c.Settings(), want, "%+v", c)
		}
	}
}
