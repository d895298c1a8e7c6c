package doctor

import (
	"regexp"
	"strings"
	"testing"

	"github.com/mergexo/mergexo/internal/model"
)

type fault = func(*testing.T, *Facts)

func settingsOf(change func(*Settings)) fault {
	return func(_ *testing.T, f *Facts) { change(&f.Settings) }
}

func hubOf(change func(*Hub)) fault { return func(_ *testing.T, f *Facts) { change(&f.Hub) } }

func factsOf(change func(*model.RepositoryFacts)) fault {
	return func(_ *testing.T, f *Facts) { change(&f.Hub.Facts) }
}

func workflowIs(text string) fault {
	return func(_ *testing.T, f *Facts) { f.Workflows = []File{{Path: ".github/workflows/ci.yml", Text: text}} }
}

func also(all ...fault) fault {
	return func(t *testing.T, f *Facts) {
		for _, a := range all {
			a(t, f)
		}
	}
}

// queued merges through GitHub's merge queue.
var queued = settingsOf(func(s *Settings) { s.Strategies[0].Name = model.StrategyQueue })

func otherWorkflow(text string) fault {
	return func(_ *testing.T, f *Facts) {
		f.Workflows = append(f.Workflows, File{Path: ".github/workflows/other.yml", Text: text, Main: MainSame})
	}
}

func demand(d ...model.Demand) fault {
	return factsOf(func(r *model.RepositoryFacts) { r.Demands.List = d })
}

const (
	group    = "group: mergexo-${{ github.event.pull_request.number || github.event.issue.number || github.event.inputs.number || github.event.workflow_run.pull_requests[0].number || github.run_id }}"
	cron     = "  schedule:\n    - cron: \"17 * * * *\" # the sweep: finishes what lost events and interrupted runs left undone\n"
	noSweep  = "(github.event_name != 'schedule' && (github.event_name != 'workflow_dispatch' || github.event.inputs.number))"
	ifPlan   = "    if: github.event_name == 'schedule' || (github.event_name == 'workflow_dispatch' && !github.event.inputs.number)\n"
	ifWork   = "    if: needs.plan.outputs.work == 'true'\n"
	matrix   = "      matrix: ${{ fromJSON(needs.plan.outputs.matrix) }}\n"
	share    = "command: sweep --only ${{ matrix.only }}"
	noBots   = "(github.event.sender.type != 'Bot' || (github.event.comment == null && github.event.review == null))"
	ifMerged = "(github.event.action != 'closed' || github.event.issue.user.type == 'Bot' || startsWith(github.event.pull_request.head.ref, 'agent/') || (github.event.pull_request != null && github.event.sender.type != 'Bot'))"
	noForks  = "(github.event.pull_request == null || github.event.pull_request.head.repo.full_name == github.repository)"
	rightsOf = "    permissions:\n      contents: write # push the agent's commits, and merge\n      pull-requests: write # open pull requests, reply to review comments\n      issues: write # comment on issues and in conversations\n      actions: write # see whether another run is still alive; rerun failed jobs\n      checks: read # wait for checks before a merge\n      statuses: read # wait for commit statuses before a merge\n"
	limits   = "    concurrency:\n      " + group + "\n      cancel-in-progress: false\n"
)

var (
	noCondition   = edit("    if: >-", "    x-if: >-")
	noPermissions = also(edit(rightsOf, ""), edit("permissions: {}\n", ""))
	unsigned      = func(_ *testing.T, f *Facts) {
		f.Workflows[0].Text = regexp.MustCompile(`(?m)^ *signing-key:.*\n`).ReplaceAllString(f.Workflows[0].Text, "")
	}
	appToken = func(_ *testing.T, f *Facts) {
		f.Workflows[0].Text = strings.ReplaceAll(f.Workflows[0].Text, "          signing-key", "          token: ${{ steps.app.outputs.token }}\n          signing-key")
	}
)

// services has the workflow hear of what other services report.
var services = also(edit(beforeDispatch, serviceTriggers+beforeDispatch),
	edit("      && (github.event.pull_request == null", skipsPending+"      && (github.event.pull_request == null"))

const installedAt = "https://github.com/settings/installations/17"

// ownApp gives every step of ours an App, or a half of it.
func ownApp(lines ...string) fault {
	return func(_ *testing.T, f *Facts) {
		f.Workflows[0].Text = strings.ReplaceAll(f.Workflows[0].Text, "          signing-key", "          "+strings.Join(lines, "\n          ")+"\n          signing-key")
	}
}

// twoTokens makes the apply job use a token other than the one the agent's job reads with.
var twoTokens = edit("          signing-key: ${{ secrets.MERGEXO_SIGNING_KEY }}", "          token: ${{ secrets.APP }}\n          signing-key: ${{ secrets.MERGEXO_SIGNING_KEY }}")

// expiring has a step make an App's token, with which the action works.
var expiring = also(edit("      - name: Answer\n        id: mergexo\n", "      - uses: actions/create-github-app-token@67018539274d69449ef7c02e8e71183d1719ab42\n        id: app\n      - name: Answer\n        id: mergexo\n"), appToken)

// inSplit applies faults to the workflow in which the agent has its own job.
func inSplit(all ...fault) fault {
	return also(append([]fault{func(_ *testing.T, f *Facts) { f.Workflows[0].Text = splitWithKeys() }}, all...)...)
}

// splitWithKeys is the split workflow with the agent's key given to its job.
func splitWithKeys() string {
	return Choice{Key: "MODEL_API_KEY", CI: []string{"CI"}, Split: true}.Workflow()
}

const (
	agentRights = "      contents: read\n      pull-requests: read\n      issues: read\n      actions: read\n"
	wholeLimits = "concurrency:\n  group: >-\n"
	ownGroup    = "\n    || github.run_id }}"
	afterAgent  = "    needs: agent\n"
	ifAgentRan  = "    if: ${{ !cancelled() && needs.agent.result != 'skipped' }}\n"
)

// faults breaks everything that is checked, by the name of the check.
var faults = map[string]map[string]fault{
	"settings": {
		"missing": settingsOf(func(s *Settings) { s.Found = false }),
		"wrong": settingsOf(func(s *Settings) {
			s.Problems = []string{".github/mergexo.toml:3: agent.adaptr: unknown key", ".github/mergexo.toml:9: not TOML: x"}
		}),
		"no file":          settingsOf(func(s *Settings) { s.Bad = "a directory, not a file" }),
		"no model":         settingsOf(func(s *Settings) { s.Adapter, s.BuiltIn = "suggestion", true }),
		"no such reviewer": settingsOf(func(s *Settings) { s.ReviewerBad = `unknown agent adapter "claud": known are claude, command` }),
		"no adapter":       settingsOf(func(s *Settings) { s.AdapterBad = `unknown agent adapter "codecs": known are command, suggestion` }),
	},
	"programs": {
		"missing":        settingsOf(func(s *Settings) { s.Programs[0].State = ProgramMissing }),
		"not executable": settingsOf(func(s *Settings) { s.Programs[0].State = ProgramNotExecutable }),
		"elsewhere":      settingsOf(func(s *Settings) { s.Programs[0] = Program{"agent.command", "/opt/agent", ProgramElsewhere} }),
		"not on PATH":    settingsOf(func(s *Settings) { s.Programs[1].State = ProgramMissing }),
		"not on runner":  func(_ *testing.T, f *Facts) { f.InActions, f.Settings.Programs[1].State = true, ProgramMissing },
	},
	"app": {
		"no key":          ownApp("app-id: ${{ vars.MERGEXO_APP_ID }}"),
		"no id":           ownApp("private-key: ${{ secrets.MERGEXO_PRIVATE_KEY }}"),
		"key in the file": ownApp("app-id: 17", "private-key: MIIE"),
		"suspended":       hubOf(func(h *Hub) { h.App = &App{Slug: "robot", Account: "octo", URL: installedAt, Suspended: true} }),
		"lacks": hubOf(func(h *Hub) {
			h.App = &App{Slug: "robot", Account: "octo", URL: installedAt, Lacks: []Lack{
				{"issues: write", "MergeXO cannot comment in the conversation", true}, {"checks: read", "a merge never sees its checks", false},
			}}
		}),
	},
	"checks": {
		"hidden": hubOf(func(h *Hub) {
			h.Token = "fine-grained personal token"
			h.Facts.ScopesKnown, h.Facts.Scopes = false, nil
			h.Facts.ChecksHidden = model.Hidden{Why: "a fine-grained personal token cannot read check runs", Fix: "give MergeXO the workflow's own token or that of a GitHub App"}
		}),
		"hidden from the workflow": func(_ *testing.T, f *Facts) {
			f.InActions = true
			f.Hub.Facts.ChecksHidden = model.Hidden{Why: "the token may not read checks", Fix: "give the job `permissions: checks: read, statuses: read`"}
		},
	},
	"required_checks": {
		"anybody's": also(settingsOf(func(s *Settings) {
			s.RequiredChecks = []string{"test", "ci/other", "test@github-actions", "ci/anybody@", "cla@cla-bot"}
		}), otherWorkflow("name: CI\non: push\njobs:\n  test: {runs-on: ubuntu-latest}\n"), services),
	},
	"guidelines": {"missing": settingsOf(func(s *Settings) { s.Guidelines = "docs/rules.md" })},
	"pass_env":   {"split unset": inSplit(edit("          MODEL_API_KEY: ${{", "          MODEL_KEY: ${{")), "unset": settingsOf(func(s *Settings) { s.PassEnv = append(s.PassEnv, "OTHER_KEY", "GITHUB_RUN_ID") })},
	"files": {
		"none":      func(_ *testing.T, f *Facts) { f.Workflows = nil },
		"no action": workflowIs("on: push\njobs: {test: {runs-on: x, steps: [{uses: actions/checkout@v4}]}}\n"),
		"a call":    workflowIs("on: push\njobs:\n  call:\n    uses: octo/flows/.github/workflows/agent.yml@v1\n"),
		"not YAML":  edit("on:\n", "on: [\n"),
		"empty":     workflowIs("# later\n"),
		"a list":    workflowIs("- on: push\n"),
		"no event":  workflowIs("name: mergexo\njobs: {}\n"),
		"too large": func(_ *testing.T, f *Facts) {
			f.Workflows[0] = File{Path: WorkflowPath, Bad: "larger than 1 MiB, and not read"}
		},
		"another broken": otherWorkflow("on: {\n"),
	},
	"triggers": {
		"the checks of other services": also(settingsOf(func(s *Settings) { s.RequiredChecks = []string{"test@github-actions", "cla@cla-bot"} }),
			demand(model.Demand{Kind: model.DemandChecks, Names: []string{"buildkite/widgets"}}), otherWorkflow("name: CI\non: push\njobs:\n  test: {runs-on: ubuntu-latest}\n")),
		"a status":         also(settingsOf(func(s *Settings) { s.RequiredChecks = []string{"cla@cla-bot"} }), edit("  workflow_dispatch:\n", "  status:\n  workflow_dispatch:\n")),
		"CI of one branch": also(settingsOf(func(s *Settings) { s.CI = "all_complete" }), edit("    types: [completed]\n", "    types: [completed]\n    branches: [main]\n"), otherWorkflow("name: CI\non: push\n")),
		"CI of one branch, and a train": also(settingsOf(func(s *Settings) { s.Train = true }), appToken, edit("    types: [completed]\n", "    types: [completed]\n    branches: ['agent/**', main]\n"),
			otherWorkflow("name: CI\non:\n  push:\n    branches: [\"mergexo/train/**\"]\njobs:\n  test: {runs-on: ubuntu-latest}\n")),
		"no end of CI for a train": also(settingsOf(func(s *Settings) { s.Train, s.CI = true, "never" }), appToken, edit("  workflow_run:\n", "  x-none:\n"),
			otherWorkflow("name: CI\non:\n  push:\n    branches: [\"mergexo/train/**\"]\njobs:\n  test: {runs-on: ubuntu-latest}\n")),
		"paths":             edit("  pull_request:\n", "  pull_request:\n    paths: ['src/**']\n"),
		"a word":            edit("on:\n", "on: issue_comment\nelse:\n"),
		"no conversation":   edit("  issue_comment:\n    types: [created, edited]\n", ""),
		"no created":        edit("  issue_comment:\n    types: [created, edited]\n", "  issue_comment:\n    types: edited\n"),
		"no edited":         edit("types: [submitted, edited, dismissed]", "types: [submitted, dismissed]"),
		"no dismissals":     edit("types: [submitted, edited, dismissed]", "types: [submitted, edited]"),
		"no labels off":     edit("labeled, unlabeled, ready_for_review, synchronize", "labeled, synchronize"),
		"default types":     edit("    types: [opened, reopened, edited, labeled, unlabeled, ready_for_review, synchronize, dequeued, closed]\n", ""),
		"no labels":         edit("  issues:\n    types: [labeled, unlabeled, reopened, closed] # closed: a roadmap continues without an item", "  x-issues: #"),
		"labels on only":    edit("[labeled, unlabeled, reopened, closed]", "[labeled]"),
		"no merges":         edit(", synchronize, dequeued, closed]", ", synchronize]"),
		"no schedule":       edit(cron, ""),
		"no CI":             also(settingsOf(func(s *Settings) { s.CI = "first_fail" }), edit("  workflow_run:\n    workflows: [CI] # the names of your CI workflows: their failures go to the agent, and merges wait for them\n    types: [completed]\n", "")),
		"CI of no workflow": settingsOf(func(s *Settings) { s.CI = "first_fail" }),
	},
	"target": {"used": edit("  schedule:\n", "  pull_request_target:\n  schedule:\n")},
	"condition": {
		"none":                        noCondition,
		"bots heard":                  edit(noBots, "true"),
		"forks let in":                edit(noForks, "true"),
		"people not heard":            edit(noBots, "github.event.comment == null"),
		"by name":                     edit(noBots, "github.actor != 'our-app[bot]'"),
		"by the sender's name":        edit(noBots, "github.event.sender.login != 'our-app[bot]'"),
		"by the author's name":        edit(noBots, "github.event.comment.user.login != 'our-app[bot]'"),
		"a variable":                  edit(noBots, "vars.MERGEXO == 'on'"),
		"broken":                      edit(noBots, "github.event.sender.type != \"Bot\""),
		"a text":                      edit("    if: >-\n", "    if: >-\n      ${{ github.event.sender.type != 'Bot' }} &&\n"),
		"no schedule":                 edit(ifPlan, "    if: github.event_name == 'workflow_dispatch'\n"),
		"sweeps at every event":       edit(ifPlan, ""),
		"not by hand":                 edit(noSweep, "(github.event_name != 'schedule' && github.event_name != 'workflow_dispatch')"),
		"sweeps by hand for one":      edit(ifPlan, "    if: github.event_name == 'schedule' || github.event_name == 'workflow_dispatch'\n"),
		"sweeps for bots":             edit(ifPlan, "    if: github.event_name == 'schedule' || github.event.sender.type == 'Bot'\n"),
		"split no schedule":           inSplit(edit("(github.event_name == 'schedule' || (", "((")),
		"pull requests only":          edit(noBots, "(github.event.comment == null || github.event.issue.pull_request || github.event.pull_request) && "+noBots),
		"merges dropped":              edit(ifMerged, "github.event.action != 'closed'"),
		"only designs":                edit(ifMerged, "(github.event.action != 'closed' || (github.event.pull_request.merged && startsWith(github.event.pull_request.head.ref, 'agent/design/')))"),
		"closing not heard":           also(settingsOf(func(s *Settings) { s.Train = true }), edit(" || (github.event.pull_request != null && github.event.sender.type != 'Bot'))", ")")),
		"labels dropped":              edit(noBots, "github.event_name != 'issues' && "+noBots),
		"split only after a command":  inSplit(edit("      !cancelled()\n      && ", "      ")),
		"split bots heard":            inSplit(edit(noSweep+"\n      && "+noBots, noSweep)),
		"split applied for everybody": inSplit(edit(ifAgentRan, "    if: always()\n")),
		"split never applied":         inSplit(edit(ifAgentRan, "    if: ${{ failure() }}\n")),
		"split bots give commands":    inSplit(edit("'/mergexo'))\n      && "+noBots, "'/mergexo'))")),
	},
	"sweep": {
		"not mapped":      edit("      matrix: ${{ steps.plan.outputs.matrix }}\n", "      matrix: ${{ steps.run.outputs.matrix }}\n"),
		"no id":           edit("        id: plan\n", ""),
		"nobody works":    edit(share, "command: help"),
		"everything each": edit(share, "command: sweep"),
		"another matrix":  edit(matrix, "      matrix: {only: [1, 2]}\n"),
		"another output":  edit(matrix, "      matrix: ${{ fromJSON(needs.plan.outputs.work) }}\n"),
		"before the plan": edit("    needs: plan\n", ""),
		"always":          edit(ifWork, ""),
		"fail fast":       edit("      fail-fast: false\n", ""),
		"twice":           edit(noSweep, "(github.event_name != 'workflow_dispatch' || github.event.inputs.number)"),
	},
	"phases": {
		"starts nobody":         inSplit(edit("  workflow_dispatch:\n    inputs:\n", "  workflow_dispatch:\n    x-inputs:\n")),
		"sweeps whole":          inSplit(edit("          command: run --phase apply\n          signing-key", "          command: sweep\n          signing-key"), settingsOf(func(s *Settings) { s.PassEnv = nil })),
		"no bundle":             inSplit(edit("          command: run --phase agent\n          bundle: ${{ runner.temp }}/mergexo-handoff\n", "          command: run --phase agent\n")),
		"nobody applies":        inSplit(edit("          command: run --phase apply\n          bundle:", "          command: help\n          bundle:")),
		"before it":             inSplit(edit(afterAgent, "    needs: commands\n"), edit(ifAgentRan, "")),
		"in one job":            inSplit(edit("      # Also after a failure", "      - {uses: mergexo/mergexo@v1, env: {MODEL_API_KEY: x}}\n      # A failed attempt is")),
		"nobody works":          inSplit(edit("command: run --phase agent", "command: help"), settingsOf(func(s *Settings) { s.PassEnv = nil })),
		"commands only":         edit("          signing-key", "          command: run --phase apply\n          signing-key"),
		"a whole run beside it": inSplit(edit("          command: run --phase apply\n          signing-key", "          signing-key")),
		"nothing handed":        edit("          signing-key", "          command: run --phase=apply --bundle=x\n          signing-key"),
	},
	"isolation": {
		"none":                         settingsOf(func(s *Settings) { s.Isolation = "none" }),
		"none and a network":           settingsOf(func(s *Settings) { s.Isolation, s.Network = "none", `"model"` }),
		"macos":                        edit("runs-on: ubuntu-latest", "runs-on: macos-15"),
		"windows in a group":           edit("runs-on: ubuntu-latest", "runs-on: {group: all, labels: windows-2025}"),
		"own runner":                   edit("runs-on: ubuntu-latest", "runs-on: [self-hosted, linux]"),
		"computed":                     edit("runs-on: ubuntu-latest", "runs-on: ${{ vars.RUNNER }}"),
		"nowhere":                      edit("runs-on: ubuntu-latest", "x-none: 1"),
		"a container and a network":    also(edit("runs-on: ubuntu-latest", "runs-on: ubuntu-latest\n    container: node:24"), settingsOf(func(s *Settings) { s.Network = `["api.example.com"]` })),
		"split on macos and a network": inSplit(edit("    runs-on: ubuntu-latest\n    timeout-minutes: 90\n    permissions: # read only", "    runs-on: macos-15\n    timeout-minutes: 90\n    permissions: # read only"), settingsOf(func(s *Settings) { s.Network = `"model"` })),
	},
	"concurrency": {
		"none":                         edit(limits, ""),
		"of the workflow":              also(edit(limits, ""), edit("permissions: {}\n", "concurrency: mergexo-${{ github.event.pull_request.number || github.event.issue.number }}\npermissions: {}\n")),
		"both":                         edit("permissions: {}\n", "concurrency: all\npermissions: {}\n"),
		"cancelling":                   edit("cancel-in-progress: false", "cancel-in-progress: ${{ github.event_name == 'issue_comment' }}"),
		"cancelling for CI":            edit("cancel-in-progress: false", "cancel-in-progress: ${{ github.event_name == 'workflow_run' }}"),
		"cancelling for pull requests": edit("cancel-in-progress: false", "cancel-in-progress: ${{ github.event_name == 'pull_request' }}"),
		"one for all":                  edit(group, "group: mergexo"),
		"by ref":                       edit(group, "group: mergexo-${{ github.ref }}"),
		"by event":                     edit(group, "group: ${{ github.event_name }}-${{ github.event.pull_request.number || github.event.issue.number }}"),
		"broken":                       edit(group, "group: ${{ github.ref"),
		"sweep none":                   edit("    concurrency:\n      group: mergexo-${{ matrix.group }}\n      cancel-in-progress: false\n", ""),
		"sweep another group":          edit("group: mergexo-${{ matrix.group }}", "group: sweep-${{ matrix.group }}"),
		"sweep cancelling":             edit("group: mergexo-${{ matrix.group }}\n      cancel-in-progress: false", "group: mergexo-${{ matrix.group }}\n      cancel-in-progress: true"),
		"split none":                   inSplit(edit(wholeLimits, "x-limits:\n  group: >-\n")),
		"split of each job":            inSplit(edit(wholeLimits, "x-limits:\n  group: >-\n"), edit(afterAgent, afterAgent+"    concurrency: mergexo-${{ github.event.pull_request.number || github.event.issue.number }}\n")),
		"split both":                   inSplit(edit(afterAgent, afterAgent+"    concurrency: mergexo-${{ github.event.pull_request.number || github.event.issue.number }}\n")),
		"split bots push out":          inSplit(edit(noBots, "true")),
		"split forks push out":         inSplit(edit(noForks, "true")),
		"split one for all":            inSplit(edit(ownGroup, "\n    && 'all' || github.run_id }}")),
		"split cancelling":             inSplit(edit("cancel-in-progress: false", "cancel-in-progress: true")),
	},
	"permissions": {
		"none":                   noPermissions,
		"none and unknown":       also(noPermissions, factsOf(func(r *model.RepositoryFacts) { r.Actions.Known = false })),
		"none and all":           also(noPermissions, factsOf(func(r *model.RepositoryFacts) { r.Actions.DefaultWrite = true })),
		"none and another token": also(noPermissions, appToken),
		"write-all":              edit(rightsOf, "    permissions: write-all\n"),
		"read-all":               edit(rightsOf, "    permissions: read-all\n"),
		"empty":                  edit(rightsOf, "    permissions:\n"),
		"too little":             also(edit("      issues: write # comment on issues and in conversations\n", ""), edit("actions: write #", "actions: none #")),
		"no checks":              edit("      checks: read # wait for checks before a merge\n      statuses: read # wait for commit statuses before a merge\n", ""),
		"split no statuses":      inSplit(edit("      statuses: read # wait for commit statuses before a merge\n", "")),
		"no actions for CI": also(settingsOf(func(s *Settings) { s.CI = "first_fail" }), otherWorkflow("name: CI\non: workflow_dispatch\n"),
			edit("actions: write # see", "actions: read # tell"), edit("      actions: write\n", "")),
		"split starts nobody":              inSplit(edit("actions: write # see", "actions: read # tell")),
		"the plan writes":                  edit("    outputs:\n      work:", "      packages: read\n      deployments: write\n    outputs:\n      work:"),
		"the plan reads too little":        edit("      contents: read\n      pull-requests: read\n      issues: read\n      actions: read\n      checks: read\n", "      contents: read\n"),
		"split the agent writes":           inSplit(edit(agentRights, "      contents: write\n      issues: read\n      pull-requests: write\n      actions: read\n      id-token: write\n")),
		"split the agent writes all":       inSplit(edit(agentRights, ""), edit("permissions: # read only", "permissions: write-all # nothing")),
		"split the agent reads too little": inSplit(edit(agentRights, "      contents: read\n      issues: none\n")),
		"split by default":                 inSplit(edit("    permissions: # read only", "    x-permissions: # read only"), edit("permissions: {}\n", "")),
		"split by default and all":         inSplit(edit("    permissions: # read only", "    x-permissions: # read only"), edit("permissions: {}\n", ""), factsOf(func(r *model.RepositoryFacts) { r.Actions.DefaultWrite = true })),
		"split the agent has a token":      inSplit(edit("          # No signing-key", "          token: ${{ secrets.APP }}\n          # No signing-key")),
		"split applying may only read":     inSplit(edit("      contents: write # push", "      contents: read # push")),
		"too much":                         edit("      issues: write #", "      packages: write\n      id-token: write\n      issues: write #"),
	},
	"train": {
		"nothing hears it": also(settingsOf(func(s *Settings) { s.Train = true }), appToken, otherWorkflow("name: CI\non:\n  push:\n    branches: [main]\njobs:\n  test: {runs-on: ubuntu-latest}\n")),
		"a required check is deaf": also(settingsOf(func(s *Settings) { s.TrainByRules = true }), appToken, demand(model.Demand{Kind: model.DemandChecks, Source: "ruleset 1", Names: []string{"build"}}),
			otherWorkflow("name: CI\non:\n  push:\n    branches: [\"mergexo/train/**\"]\n  pull_request:\njobs:\n  test: {runs-on: ubuntu-latest}\n"),
			otherWorkflow("name: Build\non: pull_request\njobs:\n  build: {runs-on: ubuntu-latest}\n")),
		"nobody has a required check": also(settingsOf(func(s *Settings) { s.Train, s.RequiredChecks = true, []string{"test", "cla@cla-bot", "renamed"} }), appToken,
			otherWorkflow("name: CI\non:\n  push:\n    branches: [\"mergexo/train/**\"]\njobs:\n  test: {runs-on: ubuntu-latest}\n")),
		"the workflow's token": also(settingsOf(func(s *Settings) { s.Train = true }), otherWorkflow("name: CI\non:\n  push:\n    branches: [main, \"mergexo/train/**\"]\njobs:\n  test: {runs-on: ubuntu-latest}\n")),
	},
	"queue": {
		"nothing runs for it": also(queued, appToken, factsOf(func(r *model.RepositoryFacts) {
			r.Demands.List = []model.Demand{{Kind: model.DemandQueue, Source: "ruleset 1"}}
		})),
		"the workflow's token": also(queued, otherWorkflow("name: CI\non:\n  merge_group:\njobs:\n  test: {runs-on: ubuntu-latest}\n"), edit("synchronize, dequeued", "synchronize")),
	},
	"signing": {
		"none":                  unsigned,
		"split none":            inSplit(unsigned),
		"empty in the workflow": func(_ *testing.T, f *Facts) { f.InActions, f.Signed = true, false },
	},
	"identity": {
		"two tokens":       inSplit(twoTokens),
		"one of two named": inSplit(twoTokens, settingsOf(func(s *Settings) { s.Bots = []string{"my-app[bot]"} })),
	},
	"timeout": {
		"none":            edit("    timeout-minutes: 90 #", "    #"),
		"short":           edit("timeout-minutes: 90", "timeout-minutes: 30"),
		"short of a run":  edit("timeout-minutes: 90", "timeout-minutes: 80"),
		"short of a test": also(edit("timeout-minutes: 90", "timeout-minutes: 45"), settingsOf(func(s *Settings) { s.TestTime, s.RunTime = 45*minute, 40*minute })),
		"split short":     inSplit(edit("timeout-minutes: 90\n", "timeout-minutes: 30\n"), edit("timeout-minutes: 60 #", "timeout-minutes: 15 #")),
		"sweep short":     edit("timeout-minutes: 90\n", "timeout-minutes: 20\n"),
		"computed":        edit("timeout-minutes: 90", "timeout-minutes: ${{ vars.MINUTES }}"),
		"an app token":    expiring,
	},
	"pins": {
		"a tag":    edit("actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1", "actions/checkout@v7"),
		"a branch": edit("mergexo/mergexo@v1", "mergexo/mergexo@main"),
	},
	"checkout": {
		"none to test in": also(edit("      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1\n        with:\n          fetch-depth: 0\n          persist-credentials: false\n", ""),
			settingsOf(func(s *Settings) { s.TestsInCheckout = true })),
		"sparse":      also(edit("          fetch-depth: 0\n", "          fetch-depth: 0\n          sparse-checkout: src\n"), settingsOf(func(s *Settings) { s.TestsInCheckout = true })),
		"none":        edit("      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1\n        with:\n          fetch-depth: 0\n          persist-credentials: false\n", ""),
		"after it":    also(edit("      - uses: actions/checkout@", "      - uses: mergexo/mergexo@v1\n      - uses: actions/checkout@"), settingsOf(func(s *Settings) { s.PassEnv = nil })),
		"elsewhere":   edit("          fetch-depth: 0\n", "          fetch-depth: 0\n          path: other\n"),
		"credentials": edit("          persist-credentials: false\n", ""),
		"shallow":     edit("          fetch-depth: 0\n", ""),
	},
	"fail-on": {
		"a typo": edit("          signing-key", "          fail-on: blocked, faild\n          signing-key"),
	},
	"token": {
		"none":    hubOf(func(h *Hub) { *h = Hub{} }),
		"no name": hubOf(func(h *Hub) { *h = Hub{State: HubNoName, Why: "the remote origin is not at https://github.com"} }),
		"refused": hubOf(func(h *Hub) {
			*h = Hub{State: HubRefused, Why: "read octo/widgets: Bad credentials (401)", Fix: "set GITHUB_TOKEN to a token that is valid for this server"}
		}),
		"hidden": hubOf(func(h *Hub) {
			*h = Hub{State: HubHidden, Why: "read octo/widgets: Not Found (404)", Fix: "check the name"}
		}),
		"no answer":              hubOf(func(h *Hub) { *h = Hub{State: HubUnreachable, Why: "read octo/widgets: no answer in time"} }),
		"not said":               also(hubOf(func(h *Hub) { h.Token = "fine-grained personal token" }), factsOf(func(r *model.RepositoryFacts) { r.ScopesKnown, r.Scopes = false, nil })),
		"few scopes":             factsOf(func(r *model.RepositoryFacts) { r.Scopes, r.Private = []string{"public_repo", "gist"}, true }),
		"no scopes":              factsOf(func(r *model.RepositoryFacts) { r.Scopes = nil }),
		"a reader":               factsOf(func(r *model.RepositoryFacts) { r.Push = false }),
		"a reader in a workflow": func(_ *testing.T, f *Facts) { f.InActions, f.Hub.Facts.Push = true, false },
	},
	"repository": {
		"archived":  factsOf(func(r *model.RepositoryFacts) { r.Archived = true }),
		"no issues": factsOf(func(r *model.RepositoryFacts) { r.IssuesOff = true }),
	},
	"default_branch": {
		"not there": also(func(_ *testing.T, f *Facts) { f.Workflows[0].Main, f.Settings.Main = MainMissing, MainOther }, func(_ *testing.T, f *Facts) {
			f.Workflows = append(f.Workflows, File{Path: ".github/workflows/other.yml", Text: "on: workflow_dispatch", Main: MainMissing})
		}),
	},
	"labels": {
		"missing": hubOf(func(h *Hub) { h.Labels["agent:bugfix"] = Label{} }),
		"none":    hubOf(func(h *Hub) { h.Labels = nil }),
		"hidden":  hubOf(func(h *Hub) { h.Labels["agent:bugfix"] = Label{Why: "no answer in time"} }),
	},
	"agent": {
		"no program": settingsOf(func(s *Settings) {
			s.Adapter, s.Model = "codex", &Model{"codex", "npm install -g codex", []string{"MODEL_API_KEY"}}
		}),
		"no key": also(settingsOf(func(s *Settings) {
			s.Adapter, s.Model = "codex", &Model{"mergexo", "npm install -g codex", []string{"ONE_KEY", "OTHER_KEY"}}
		}),
			func(_ *testing.T, f *Facts) {
				f.Workflows[0].Text = strings.ReplaceAll(f.Workflows[0].Text, "      - uses: actions/checkout@", "      - run: npm install -g mergexo\n      - uses: actions/checkout@")
			}),
		"neither, in the job of the agent": inSplit(settingsOf(func(s *Settings) {
			s.Adapter, s.Model = "codex", &Model{"codex", "npm install -g codex", []string{"ONE_KEY"}}
		})),
		"a reviewer": settingsOf(func(s *Settings) {
			s.Reviewer, s.ReviewerModel = "claude", &Model{"claude", "npm install -g claude", []string{"ONE_KEY", "OTHER_KEY"}}
		}),
	},
	"external": {
		"no label":     settingsOf(func(s *Settings) { s.External = "external:accept" }),
		"nobody asked": also(settingsOf(func(s *Settings) { s.External = "external:accept" }), hubOf(func(h *Hub) { *h = Hub{} })),
		"hidden":       also(settingsOf(func(s *Settings) { s.External = "external:accept" }), hubOf(func(h *Hub) { h.Labels["external:accept"] = Label{Why: "no answer in time"} })),
	},
	"pull_requests": {
		"forbidden":                factsOf(func(r *model.RepositoryFacts) { r.Actions.PullRequests = false }),
		"forbidden, and no labels": also(edit("  issues:\n", "  x-issues:\n"), factsOf(func(r *model.RepositoryFacts) { r.Actions.PullRequests = false })),
		"hidden": factsOf(func(r *model.RepositoryFacts) {
			r.Actions = model.ActionsRights{Why: "GitHub does not show it to this token"}
		}),
	},
	"protection": {
		"pull requests": demand(model.Demand{Kind: model.DemandPull, Source: "branch protection"}),
		"checks":        demand(model.Demand{Kind: model.DemandChecks, Source: "ruleset 73", Names: []string{"test", "lint"}, Bypass: true}),
		"linear": also(settingsOf(func(s *Settings) { s.Strategies = append(s.Strategies, Strategy{"merge.rule for gh-pr-*", "no-ff"}) }),
			demand(model.Demand{Kind: model.DemandLinear, Source: "ruleset 42"})),
		"signatures":    demand(model.Demand{Kind: model.DemandSignatures, Source: "branch protection"}),
		"pushers":       demand(model.Demand{Kind: model.DemandPushers, Source: "branch protection", Names: []string{"octo", "team core"}}),
		"locked":        also(appToken, demand(model.Demand{Kind: model.DemandLocked, Source: "branch protection"})),
		"queue":         also(settingsOf(func(s *Settings) { s.Strategies[0].Name = "api" }), demand(model.Demand{Kind: model.DemandQueue, Source: "ruleset 1"})),
		"another token": also(appToken, demand(model.Demand{Kind: model.DemandPull, Source: "ruleset 42", Bypass: true})),
		"other than the settings": also(settingsOf(func(s *Settings) { s.Strategies = append(s.Strategies, Strategy{"merge.rule for gh-pr-*", "squash"}) }),
			factsOf(func(r *model.RepositoryFacts) { r.Methods = []string{"squash"} })),
		"no way for GitHub": also(settingsOf(func(s *Settings) { s.Strategies[0].Name = "api" }), factsOf(func(r *model.RepositoryFacts) { r.Methods = []string{"merge"} }),
			demand(model.Demand{Kind: model.DemandLinear, Source: "ruleset 42"})),
		"signatures, and no way for GitHub": also(settingsOf(func(s *Settings) { s.Strategies[0].Name = "api" }), factsOf(func(r *model.RepositoryFacts) { r.Methods = []string{"rebase"} }),
			demand(model.Demand{Kind: model.DemandSignatures, Source: "ruleset 42"})),
		"another way of GitHub": also(settingsOf(func(s *Settings) { s.Strategies[0].Name = "api" }), factsOf(func(r *model.RepositoryFacts) { r.Methods = []string{"merge", "squash"} }),
			demand(model.Demand{Kind: model.DemandPull, Source: "ruleset 42", Methods: []string{"squash", "rebase"}})),
		"hidden": factsOf(func(r *model.RepositoryFacts) {
			r.Demands = model.BranchDemands{Why: "GitHub does not show it to this token"}
		}),
	},
	"branches": {
		"hidden": hubOf(func(h *Hub) {
			h.Branches[1].Demands = model.BranchDemands{Why: "GitHub does not show it to this token"}
		}),
		"in the way": hubOf(func(h *Hub) {
			for i, kind := range []model.DemandKind{model.DemandPull, model.DemandCreators} {
				h.Branches[i].Demands.List = []model.Demand{{Kind: kind, Source: "ruleset 42", Bypass: true}, {Kind: model.DemandDeleters, Source: "ruleset 42"}}
			}
		}),
		"no force pushes": also(appToken, hubOf(func(h *Hub) {
			for i := range h.Branches {
				h.Branches[i].Demands.List = []model.Demand{{Kind: model.DemandForce, Source: "ruleset 42"}}
			}
		})),
		"another token": also(appToken, hubOf(func(h *Hub) {
			h.Branches[0].Demands.List = []model.Demand{{Kind: model.DemandSignatures, Source: "ruleset 42"}, {Kind: model.DemandChecks, Source: "ruleset 7", Names: []string{"test"}}}
		})),
	},
	"ci": {
		"deploys":                  also(factsOf(func(r *model.RepositoryFacts) { r.DefaultBranch = "trunk" }), otherWorkflow("on: {push: {branches: [trunk, main]}}\n")),
		"by the token written out": also(otherWorkflow("on: push\n"), edit("          signing-key", "          token: ${{ github.token }}\n          signing-key")),
		"waits": also(otherWorkflow("name: CI\non: [push, pull_request]\n"), func(_ *testing.T, f *Facts) {
			f.Workflows = append(f.Workflows, File{Path: ".github/workflows/lint.yml", Text: "on: {pull_request: {branches: [main]}}", Main: MainSame})
		}),
	},
	"git": {
		"none":    func(_ *testing.T, f *Facts) { f.Git = "" },
		"old":     func(_ *testing.T, f *Facts) { f.Git = "2.34.1" },
		"strange": func(_ *testing.T, f *Facts) { f.Git = strings.Repeat("x", 3) },
	},
}
