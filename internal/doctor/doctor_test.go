package doctor

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

const minute = time.Minute

// healthy are the facts of a repository in which nothing is wrong.
func healthy() Facts {
	return Facts{
		Repository: "octo/widgets",
		Settings: Settings{
			File: workflow.File{Path: SettingsPath, Main: workflow.MainSame}, Found: true, Adapter: "command", RunTime: 80 * minute, TestTime: 30 * minute, CI: "never",
			Programs:   []Program{{"agent.command", "scripts/my-agent", ProgramFound}, {"repo.required_tests", "make", ProgramFound}},
			PassEnv:    []string{"MODEL_API_KEY"},
			Strategies: []Strategy{{"merge.strategy", "rebase"}}, Tested: "make test", People: []Person{{"repo.operators", "octo"}}, Labels: []string{"agent:small-job", "agent:bugfix"},
		},
		Workflows: []workflow.File{{Path: WorkflowPath, Text: workflowWithKeys(), Main: workflow.MainSame}},
		Hub: Hub{State: HubRead, Token: "classic personal token", Facts: model.RepositoryFacts{
			Repo: model.Repo{Owner: "octo", Name: "widgets"}, DefaultBranch: "main", Push: true, PushKnown: true, ScopesKnown: true, Scopes: []string{"repo"},
			Actions: model.ActionsRights{Known: true, PullRequests: true}, Demands: model.BranchDemands{Known: true},
		}, Labels: map[string]Label{"agent:small-job": {There: true}, "agent:bugfix": {There: true}}, Secrets: Names{All: []string{"APP", "MERGEXO_PRIVATE_KEY", "MERGEXO_SIGNING_KEY", "MODEL_API_KEY"}}, Variables: Names{All: []string{"MERGEXO_APP_ID"}}, Users: map[string]Label{"octo": {There: true}}, Versions: map[string]Label{"mergexo/mergexo@v1": {There: true}}, Branches: WorkBranches(func(string) model.BranchDemands { return model.BranchDemands{Known: true} })},
		Git: "2.39.5", Signed: true,
	}
}

// workflowWithKeys is the workflow with the agent's key given to the steps that run it.
func workflowWithKeys() string {
	return Choice{Key: "MODEL_API_KEY", CI: []string{"CI"}}.Workflow()
}

// found runs one check and returns its findings.
func found(f Facts, look func(*exam)) []Finding {
	return newExam(f).check(check{when: always, look: look})
}

func TestHealthy(t *testing.T) {
	findings := Diagnose(healthy())
	assert.Equal(t, 0, Exit(healthy(), findings, true))
	golden.File(t, "healthy.out", Text(findings))
}

func TestNobodyIsAskedForASigningKeyWhoNeedsNone(t *testing.T) {
	for _, row := range []struct {
		says string
		do   fault
	}{
		{"no other workflow comments with the same token", also(appToken, unsigned)},
		{"markers are signed", also(edit("permissions: {}\n", "permissions: {}\nenv:\n  MERGEXO_SIGNING_KEY: ${{ secrets.X }}\n"), unsigned)},
		{"markers are signed", func(_ *testing.T, f *Facts) { f.InActions = true }},
	} {
		f := healthy()
		row.do(t, &f)
		findings := found(f, signing)
		require.Len(t, findings, 1, row.says)
		assert.Equal(t, OK, findings[0].Level)
		assert.Equal(t, ".github/workflows/mergexo.yml: "+row.says, findings[0].Text)
	}
}

// An App whose tokens are made as they are needed has no hour, and its pushes start CI.
func TestAnAppOfOnesOwnNeedsNothingElse(t *testing.T) {
	f := healthy()
	ownApp("app-id: ${{ vars.MERGEXO_APP_ID }}", "private-key: ${{ secrets.MERGEXO_PRIVATE_KEY }}")(t, &f)
	otherWorkflow("on: [push, pull_request]\n")(t, &f)
	f.Hub.Secrets.All = append(f.Hub.Secrets.All, "MERGEXO_PRIVATE_KEY")
	f.Hub.Token, f.Hub.Facts.ScopesKnown, f.Hub.Facts.Scopes = "App's token", false, nil
	f.Hub.App = &App{Slug: "robot", Account: "octo", URL: installedAt}
	var said []string
	for _, found := range Diagnose(f) {
		if found.Rule == "permissions" { // the workflow's own token is for the other steps
			continue
		}
		assert.Equal(t, OK, found.Level, found.Text)
		said = append(said, found.Text)
	}
	assert.Contains(t, said, "the token: valid, made for the App robot")
	assert.Contains(t, said, "the App robot: installed on octo, with all permissions that it needs")
	assert.Contains(t, said, "CI: another token than the workflow's pushes and merges, which starts other workflows")
}

func TestWhoOnlyMergesNeedsNoAgent(t *testing.T) {
	f := healthy()
	f.Settings.Adapter, f.Settings.Programs, f.Settings.PassEnv = "", nil, nil
	findings := found(f, settings)
	require.Len(t, findings, 1)
	assert.Equal(t, OK, findings[0].Level)
	assert.Equal(t, ".github/mergexo.toml: no agent is configured: MergeXO merges pull requests, but answers no comment or label", findings[0].Text)
	f.Settings.TestTime = 0
	assert.Equal(t, ".github/mergexo.toml: no agent or test runs that needs isolation", found(f, isolation)[0].Text)
}

// Each row breaks one thing in a healthy repository: its rule finds it, at its place, and says what to do. The golden file of a rule
// shows all that is found.
func TestEveryBreakage(t *testing.T) {
	for rule := range breakages {
		assert.True(t, slices.ContainsFunc(checks, func(c check) bool { return c.name == rule }), "%s is no rule", rule)
	}
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			for _, name := range slices.Sorted(maps.Keys(breakages[c.name])) {
				b := breakages[c.name][name]
				f := healthy()
				b.do(t, &f)
				all := Diagnose(f)
				bad := slices.DeleteFunc(slices.Clone(all), func(found Finding) bool { return found.Level == OK })
				fmt.Fprintf(&out, "%s: exit %d\n", name, Exit(f, all, false))
				for _, found := range bad {
					assert.NotContains(t, found.Text, "\n")
					if found.Level != Unchecked {
						assert.NotEmpty(t, found.Fix, "%s: a finding says what is to be done", found.Text)
					}
					fmt.Fprintf(&out, "  %s %s: %s\n    %s\n", signs[found.Level], found.Rule, found.Text, found.Fix)
				}
				assert.True(t, slices.ContainsFunc(bad, func(found Finding) bool {
					return found.Rule == c.name && strings.HasPrefix(lineNumber.ReplaceAllString(found.Text, ": "), b.at)
				}), "%s: nothing at %s", name, b.at)
			}
			require.NotEmpty(t, out.String(), "no row breaks what this rule looks at")
			golden.File(t, "breakages/"+c.name+".out", out.String())
		})
	}
}

// lineNumber is not of the table: the golden files have it.
var lineNumber = regexp.MustCompile(`:\d+: `)

// Each of these alternatives is just as healthy.
func TestOtherWays(t *testing.T) {
	for name, change := range map[string]func(*testing.T, *Facts){
		"triggers as a list": edit("on:\n  # These", "on: [issue_comment, issues, schedule, pull_request_review, pull_request_review_comment, {x: y}]\nelse:\n  # These"),
		"a gate before it": func(t *testing.T, f *Facts) {
			edit("    if: >-", "    needs: gate\n    x-if: >-")(t, f)
			edit("jobs:\n", "jobs:\n  gate:\n    if: "+conditionOf(t)+"\n    runs-on: x\n")(t, f)
		},
		"a condition on the step": func(t *testing.T, f *Facts) {
			edit("    if: >-", "    x-if: >-")(t, f)
			edit("        if: steps.plan.outputs.work == 'true'\n        id: mergexo\n", "        id: mergexo\n        if: steps.plan.outputs.work == 'true' && "+conditionOf(t)+"\n")(t, f)
		},
		"in other words":       also(edit(noBots, "(null == github.event['comment'] && !(github.event.review != null) || !(GitHub.event.sender.type == 'Bot'))"), edit(noForks, "!(github.event.pull_request != null && github.event.pull_request.head.repo.full_name != github.repository)")),
		"a command over lines": edit("          command: run --plan\n", "          command: |\n            run\n            --plan\n"),
		"permissions of the workflow": func(t *testing.T, f *Facts) {
			edit("    permissions:\n", "    x-permissions:\n")(t, f)
			edit("permissions: {}", "permissions: {contents: write, issues: write, pull-requests: write, actions: write, checks: read, statuses: read}")(t, f)
		},
		"anchors": func(t *testing.T, f *Facts) {
			edit("types: [created, edited]\n  issues", "types: &said [created, edited]\n  issues")(t, f)
			edit("pull_request_review_comment:\n    types: [created, edited]", "pull_request_review_comment:\n    types: *said")(t, f)
		},
		"anchors of blocks":     also(edit("permissions: {}", "x-rights: &rights {contents: write, issues: write, pull-requests: write, actions: write, checks: read, statuses: read}\npermissions: {}"), edit(rightsOf, "    permissions: *rights\n")),
		"another token":         also(appToken, edit(rightsOf, "    permissions: {contents: read}\n"), otherWorkflow("on: [push, pull_request]\n"), otherWorkflow("on: {push: {branches: [main]}}\n"), factsOf(func(r *model.RepositoryFacts) { r.Actions = model.ActionsRights{Known: true} })),
		"CI that there is":      also(settingsOf(func(s *Settings) { s.CI = "all_complete" }), otherWorkflow("name: CI\non: workflow_dispatch\n")),
		"the least git":         func(_ *testing.T, f *Facts) { f.Git = "2.38.0" },
		"the token written out": edit("          signing-key", "          token: ${{ secrets.GITHUB_TOKEN }}\n          signing-key"),
		"a fork of the action":  edit("mergexo/mergexo@v1", "Octo/MergeXO@0123456789012345678901234567890123456789"),
		"two workflows": func(t *testing.T, f *Facts) {
			edit(cron, "")(t, f)
			sweep := f.Workflows[0]
			sweep.Path = ".github/workflows/sweep.yml"
			sweep.Text = strings.Replace(sweep.Text, "on:\n", "on:\n  schedule: [{cron: \"3 * * * *\"}]\nelse:\n", 1)
			f.Workflows = append(f.Workflows, sweep)
		},
		"another command of ours": func(_ *testing.T, f *Facts) {
			f.Workflows = append(f.Workflows, workflow.File{Path: ".github/workflows/status.yml", Text: "on: workflow_dispatch\njobs: {a: {steps: [{uses: mergexo/mergexo@main, with: {command: status --json}}]}}\n"})
		},
		"commits of tags and branches on which nothing lands": func(_ *testing.T, f *Facts) {
			f.Workflows = append(f.Workflows, workflow.File{Path: ".github/workflows/release.yml", Text: "on: {push: {tags: [v1]}}\n"}, workflow.File{Path: ".github/workflows/main.yml", Text: "on: {push: {branches: [production]}}\n"})
		},
		"GitHub merges": func(_ *testing.T, f *Facts) {
			f.Settings.Strategies[0].Name = "api"
			f.Hub.Facts.Demands.List = []model.Demand{{Kind: model.DemandPull}, {Kind: model.DemandChecks}, {Kind: model.DemandLinear}, {Kind: model.DemandSignatures}}
		},
		"a rule that has nothing to do with it": func(_ *testing.T, f *Facts) { f.Hub.Facts.Demands.List = []model.Demand{{Kind: "deletion"}} },
		"the workflow's bot may push": func(_ *testing.T, f *Facts) {
			f.Hub.Facts.Demands.List = []model.Demand{{Kind: model.DemandPushers, Names: []string{"GitHub-Actions[bot]"}}}
		},
		"a public repository's token":              func(_ *testing.T, f *Facts) { f.Hub.Facts.Scopes = []string{"public_repo", "read:org"} },
		"a split workflow whose agent is on macos": inSplit(edit("    runs-on: ubuntu-latest\n    timeout-minutes: 90\n    permissions: # read only", "    runs-on: macos-15\n    timeout-minutes: 90\n    permissions: # read only")),
		"a container": edit("runs-on: ubuntu-latest", "runs-on: ubuntu-latest\n    container: node:24"),
		"a container that holds a network": also(edit("runs-on: ubuntu-latest", "runs-on: [self-hosted, big]\n    container: {image: node:24, options: --privileged}"),
			settingsOf(func(s *Settings) { s.Network = `"model"` })),
		"a network on hosted runners":   settingsOf(func(s *Settings) { s.Network = `"model"` }),
		"a user of the settings":        settingsOf(func(s *Settings) { s.Isolation, s.User = "none", "agent" }),
		"nothing to isolate":            also(edit("runs-on: ubuntu-latest", "runs-on: macos-15"), settingsOf(func(s *Settings) { s.Adapter, s.BuiltIn, s.Programs, s.TestTime = "suggestion", true, nil, 0 })),
		"a newer git":                   func(_ *testing.T, f *Facts) { f.Git = "3.0.1" },
		"an Apple git":                  func(_ *testing.T, f *Facts) { f.Git = "2.50.1" },
		"no settings that ask for env":  func(_ *testing.T, f *Facts) { f.Settings.PassEnv = nil },
		"the agent in a job of its own": inSplit(),
		"the same, applied by an App": inSplit(edit("          signing-key: ${{ secrets.MERGEXO_SIGNING_KEY }}", "          token: ${{ secrets.APP }}\n          signing-key: ${{ secrets.MERGEXO_SIGNING_KEY }}"),
			settingsOf(func(s *Settings) { s.Bots = []string{"github-actions[bot]", "my-app[bot]"} })),
		"env of the job": func(t *testing.T, f *Facts) {
			edit("        env:\n          MODEL_API_KEY: ${{ secrets.MODEL_API_KEY }}\n", "")(t, f)
			edit("    timeout-minutes: 90", "    env: {MODEL_API_KEY: x}\n    timeout-minutes: 90")(t, f)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := healthy()
			change(t, &f)
			for _, found := range Diagnose(f) {
				if found.Level != OK && found.Rule != "own-token" && !(name == "triggers as a list" && found.Rule == "triggers") && !(name == "nothing to isolate" && found.Rule == "settings") {
					assert.Fail(t, found.Text)
				}
			}
		})
	}
}

// conditionOf is the if: of the first job.
func conditionOf(t *testing.T) string {
	return must.Get(workflow.Read(workflow.File{Text: workflowWithKeys()}))(t).Jobs[0].Condition.Value
}

// edit replaces text that must be in the workflow.
func edit(old, text string) func(*testing.T, *Facts) {
	return func(t *testing.T, f *Facts) {
		t.Helper()
		require.Contains(t, f.Workflows[0].Text, old)
		f.Workflows[0].Text = strings.Replace(f.Workflows[0].Text, old, text, 1)
	}
}

func TestExit(t *testing.T) {
	for _, strict := range []bool{false, true} {
		assert.Equal(t, 0, Exit(Facts{}, nil, strict))
		assert.Equal(t, 0, Exit(Facts{}, []Finding{{Level: OK}, {Level: Unchecked}}, strict))
		assert.Equal(t, 2, Exit(Facts{}, []Finding{{Level: Problem}, {Level: Warning}}, strict))
		silent := Facts{Hub: Hub{State: HubUnreachable}}
		assert.Equal(t, 75, Exit(silent, []Finding{{Level: Unchecked}, {Level: Warning}}, strict), "what GitHub would have said is not known")
		assert.Equal(t, 2, Exit(silent, []Finding{{Level: Unchecked}, {Level: Problem}}, strict))
	}
	assert.Equal(t, 0, Exit(Facts{}, []Finding{{Level: OK}, {Level: Warning}}, false))
	assert.Equal(t, 1, Exit(Facts{}, []Finding{{Level: OK}, {Level: Warning}}, true))
}

// Whatever a file holds, each finding is one line.
func TestFindingsAreOneLineEach(t *testing.T) {
	f := healthy()
	f.Settings.Problems = []string{"a\x1b[31m\n::error::b ##[group]\u202e" + strings.Repeat("x", 1000)}
	for _, found := range Diagnose(f) {
		if found.Rule == "settings" {
			assert.True(t, strings.HasPrefix(found.Text, "a\uFFFD[31m ::error::b ## [group]\uFFFDxxx"), found.Text)
			assert.Less(t, len(found.Text), 450)
		}
	}
}

func FuzzWorkflow(f *testing.F) {
	f.Add(workflowWithKeys())
	f.Add(splitWithKeys())
	f.Add("on: *a\njobs: &a {x: {steps: [*a], if: \"${{ a\", concurrency: {group: \"${{\"}}}")
	f.Add("on: {schedule: [&c {cron: *c}]}\njobs: {a: &j {needs: &n [*n], outputs: {x: *j}, steps: &s [{uses: mergexo/mergexo@v1, if: \"a[\", with: &w {command: *w, path: *s}}]}}")
	f.Fuzz(func(t *testing.T, text string) {
		facts := healthy()
		facts.Workflows[0].Text = text
		for _, found := range Diagnose(facts) {
			require.NotEmpty(t, found.Text)
			require.NotContains(t, found.Text+found.Fix, "\n")
			require.False(t, (found.Level == Warning || found.Level == Problem) && found.Fix == "", found.Text)
		}
	})
}
