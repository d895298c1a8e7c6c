package doctor

import (
	"regexp"
	"strings"
	"testing"

	"github.com/mergexo/mergexo/internal/github/workflow"

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
	return func(_ *testing.T, f *Facts) {
		f.Workflows = []workflow.File{{Path: ".github/workflows/ci.yml", Text: text}}
	}
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
		f.Workflows = append(f.Workflows, workflow.File{Path: ".github/workflows/other.yml", Text: text, Main: workflow.MainSame})
	}
}

func demand(d ...model.Demand) fault {
	return factsOf(func(r *model.RepositoryFacts) { r.Demands.List = d })
}

const (
	group        = "group: mergexo-${{ github.event.pull_request.number || github.event.issue.number || github.event.inputs.number || github.event.workflow_run.pull_requests[0].number || ((github.event_name == 'schedule' || github.event_name == 'workflow_dispatch') && 'sweep') || github.run_id }}"
	cron         = "  schedule: # the sweep: finishes what lost events and interrupted runs left undone\n    - cron: \"17 1-23 * * *\"\n    - cron: \"17 0 * * *\" # also draws the dashboard\n"
	noSweep      = "(github.event_name != 'schedule' && (github.event_name != 'workflow_dispatch' || github.event.inputs.number))"
	noBots       = "(github.event.sender.type != 'Bot' || (github.event.comment == null && github.event.review == null))"
	ifMerged     = "(github.event.action != 'closed' || github.event.issue.user.type == 'Bot' || startsWith(github.event.pull_request.head.ref, 'agent/') || (github.event.pull_request != null && github.event.sender.type != 'Bot'))"
	noForks      = "(github.event.pull_request == null || github.event.pull_request.head.repo.full_name == github.repository)"
	rightsOf     = "    permissions:\n      contents: write # push the agent's commits, and merge\n      pull-requests: write # open pull requests, reply to review comments\n      issues: write # comment on issues and in conversations\n      actions: write # see whether another run is still alive; rerun failed jobs\n      checks: read # wait for checks before a merge\n      statuses: read # wait for commit statuses before a merge\n"
	checkoutStep = "      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1\n        if: steps.plan.outputs.work == 'true'\n        with:\n          fetch-depth: 0\n          persist-credentials: false\n"
	jobLimits    = "    concurrency:\n      " + group + "\n      cancel-in-progress: false\n"
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
func services(_ *testing.T, f *Facts) {
	f.Workflows[0].Text = Choice{Key: "MODEL_API_KEY", CI: []string{"CI"}, Services: true}.Workflow()
}

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
var expiring = also(edit("      - name: Is there work?\n", "      - uses: actions/create-github-app-token@67018539274d69449ef7c02e8e71183d1719ab42\n        id: app\n      - name: Is there work?\n"), appToken)

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

// hearsTests has a CI with one job.
var hearsTests = otherWorkflow("name: CI\non: pull_request\njobs:\n  test: {runs-on: ubuntu-latest}\n")

// breakage breaks something; at is where that is found.
type breakage struct {
	at string
	do fault
}

// breakages break everything that is checked, by the id of the rule that finds it.
var breakages = map[string]map[string]breakage{
	"settings": {
		"missing": {".github/mergexo.toml", settingsOf(func(s *Settings) { s.Found = false })},
		"wrong": {".github/mergexo.toml", settingsOf(func(s *Settings) {
			s.Problems = []string{".github/mergexo.toml:3: agent.adaptr: unknown key", ".github/mergexo.toml:9: not TOML: x"}
		})},
		"no file":          {".github/mergexo.toml", settingsOf(func(s *Settings) { s.Bad = "a directory, not a file" })},
		"no model":         {".github/mergexo.toml", settingsOf(func(s *Settings) { s.Adapter, s.BuiltIn = "suggestion", true })},
		"no such reviewer": {".github/mergexo.toml", settingsOf(func(s *Settings) { s.ReviewerBad = `unknown agent adapter "claud": known are claude, command` })},
		"no adapter":       {".github/mergexo.toml", settingsOf(func(s *Settings) { s.AdapterBad = `unknown agent adapter "codecs": known are command, suggestion` })},
	},
	"programs": {
		"missing":        {".github/mergexo.toml", settingsOf(func(s *Settings) { s.Programs[0].State = ProgramMissing })},
		"not executable": {".github/mergexo.toml", settingsOf(func(s *Settings) { s.Programs[0].State = ProgramNotExecutable })},
		"elsewhere":      {".github/mergexo.toml", settingsOf(func(s *Settings) { s.Programs[0] = Program{"agent.command", "/opt/agent", ProgramElsewhere} })},
		"not on PATH":    {".github/mergexo.toml", settingsOf(func(s *Settings) { s.Programs[1].State = ProgramMissing })},
		"not on runner":  {".github/mergexo.toml", func(_ *testing.T, f *Facts) { f.InActions, f.Settings.Programs[1].State = true, ProgramMissing }},
	},
	"app": {
		"no key":          {".github/workflows/mergexo.yml", ownApp("app-id: ${{ vars.MERGEXO_APP_ID }}")},
		"no id":           {".github/workflows/mergexo.yml", ownApp("private-key: ${{ secrets.MERGEXO_PRIVATE_KEY }}")},
		"key in the file": {".github/workflows/mergexo.yml", ownApp("app-id: 17", "private-key: MIIE")},
		"suspended":       {"the App robot", hubOf(func(h *Hub) { h.App = &App{Slug: "robot", Account: "octo", URL: installedAt, Suspended: true} })},
		"lacks": {"the App robot", hubOf(func(h *Hub) {
			h.App = &App{Slug: "robot", Account: "octo", URL: installedAt, Lacks: []Lack{
				{"issues: write", "MergeXO cannot comment in the conversation", true}, {"checks: read", "a merge never sees its checks", false},
			}}
		})},
	},
	"checks": {
		"hidden": {"a fine-grained personal token cannot read check runs", hubOf(func(h *Hub) {
			h.Token = "fine-grained personal token"
			h.Facts.ScopesKnown, h.Facts.Scopes = false, nil
			h.Facts.ChecksHidden = model.Hidden{Why: "a fine-grained personal token cannot read check runs", Fix: "give MergeXO the workflow's own token or that of a GitHub App"}
		})},
		"hidden from the workflow": {"the token may not read checks", func(_ *testing.T, f *Facts) {
			f.InActions = true
			f.Hub.Facts.ChecksHidden = model.Hidden{Why: "the token may not read checks", Fix: "give the job `permissions: checks: read, statuses: read`"}
		}},
	},
	"check-source": {
		"anybody's": {".github/mergexo.toml", also(settingsOf(func(s *Settings) {
			s.RequiredChecks = []string{"test", "ci/other", "test@github-actions", "ci/anybody@", "cla@cla-bot"}
		}), otherWorkflow("name: CI\non: push\njobs:\n  test: {runs-on: ubuntu-latest}\n"), services)},
	},
	"guidelines": {"missing": {".github/mergexo.toml", settingsOf(func(s *Settings) { s.Guidelines = "docs/rules.md" })}},
	"pass-env":   {"split unset": {".github/mergexo.toml", inSplit(edit("          MODEL_API_KEY: ${{", "          MODEL_KEY: ${{"))}, "unset": {".github/mergexo.toml", settingsOf(func(s *Settings) { s.PassEnv = append(s.PassEnv, "OTHER_KEY", "GITHUB_RUN_ID") })}},
	"files": {
		"none":      {".github/workflows", func(_ *testing.T, f *Facts) { f.Workflows = nil }},
		"no action": {".github/workflows", workflowIs("on: push\njobs: {test: {runs-on: x, steps: [{uses: actions/checkout@v4}]}}\n")},
		"a call":    {"no workflow uses mergexo/mergexo itself; .github/workflows/ci.yml:3 calls \"octo/flows/.github/workflows/agent.yml@v1\", which was not checked", workflowIs("on: push\njobs:\n  call:\n    uses: octo/flows/.github/workflows/agent.yml@v1\n")},
		"not YAML":  {".github/workflows/mergexo.yml", edit("on:\n", "on: [\n")},
		"empty":     {".github/workflows/ci.yml", workflowIs("# later\n")},
		"a list":    {".github/workflows/ci.yml", workflowIs("- on: push\n")},
		"no event":  {".github/workflows/ci.yml", workflowIs("name: mergexo\njobs: {}\n")},
		"too large": {".github/workflows/mergexo.yml", func(_ *testing.T, f *Facts) {
			f.Workflows[0] = workflow.File{Path: WorkflowPath, Bad: "larger than 1 MiB, and not read"}
		}},
		"another broken": {".github/workflows/other.yml", otherWorkflow("on: {\n")},
	},
	"triggers": {
		"no run by hand":      {".github/workflows/mergexo.yml", edit("  workflow_dispatch:\n    inputs:\n      number:\n        description: \"The number of a pull request or issue; empty: all\"\n", "")},
		"a strange time":      {".github/workflows/mergexo.yml: on.schedule", edit("17 0 * * *", "17 0 * *")},
		"CI misspelled":       {".github/workflows/mergexo.yml: on.workflow_run", also(settingsOf(func(s *Settings) { s.CI = "first_fail" }), otherWorkflow("name: CI tests\non: workflow_dispatch\n"))},
		"split starts nobody": {".github/workflows/mergexo.yml: on.workflow_dispatch", inSplit(edit("  workflow_dispatch:\n    inputs:\n", "  workflow_dispatch:\n    x-inputs:\n"))},
		"the checks of other services": {".github/workflows/mergexo.yml", also(settingsOf(func(s *Settings) { s.RequiredChecks = []string{"test@github-actions", "cla@cla-bot"} }),
			demand(model.Demand{Kind: model.DemandChecks, Names: []string{"buildkite/widgets"}}), otherWorkflow("name: CI\non: push\njobs:\n  test: {runs-on: ubuntu-latest}\n"))},
		"a status":         {".github/workflows/mergexo.yml", also(settingsOf(func(s *Settings) { s.RequiredChecks = []string{"cla@cla-bot"} }), edit("  workflow_dispatch:\n", "  status:\n  workflow_dispatch:\n"))},
		"CI of one branch": {".github/workflows/mergexo.yml: on.workflow_run", also(settingsOf(func(s *Settings) { s.CI = "all_complete" }), edit("    types: [completed]\n", "    types: [completed]\n    branches: [main]\n"), otherWorkflow("name: CI\non: push\n"))},
		"CI of one branch, and a train": {".github/workflows/mergexo.yml: on.workflow_run", also(settingsOf(func(s *Settings) { s.Train = true }), appToken, edit("    types: [completed]\n", "    types: [completed]\n    branches: ['agent/**', main]\n"),
			otherWorkflow("name: CI\non:\n  push:\n    branches: [\"mergexo/train/**\"]\njobs:\n  test: {runs-on: ubuntu-latest}\n"))},
		"no end of CI for a train": {".github/workflows/mergexo.yml", also(settingsOf(func(s *Settings) { s.Train, s.CI = true, "never" }), appToken, edit("  workflow_run:\n", "  x-none:\n"),
			otherWorkflow("name: CI\non:\n  push:\n    branches: [\"mergexo/train/**\"]\njobs:\n  test: {runs-on: ubuntu-latest}\n"))},
		"paths":             {".github/workflows/mergexo.yml: on.pull_request", edit("  pull_request:\n", "  pull_request:\n    paths: ['src/**']\n")},
		"a word":            {".github/workflows/mergexo.yml", edit("on:\n", "on: issue_comment\nelse:\n")},
		"no conversation":   {".github/workflows/mergexo.yml", edit("  issue_comment:\n    types: [created, edited]\n", "")},
		"no created":        {".github/workflows/mergexo.yml: on.issue_comment", edit("  issue_comment:\n    types: [created, edited]\n", "  issue_comment:\n    types: edited\n")},
		"no edited":         {".github/workflows/mergexo.yml: on.pull_request_review", edit("types: [submitted, edited, dismissed]", "types: [submitted, dismissed]")},
		"no dismissals":     {".github/workflows/mergexo.yml: on.pull_request_review", edit("types: [submitted, edited, dismissed]", "types: [submitted, edited]")},
		"no labels off":     {".github/workflows/mergexo.yml: on.pull_request", edit("labeled, unlabeled, ready_for_review, synchronize", "labeled, synchronize")},
		"default types":     {".github/workflows/mergexo.yml: on.pull_request", edit("    types: [opened, reopened, edited, labeled, unlabeled, ready_for_review, synchronize, dequeued, closed]\n", "")},
		"no labels":         {".github/workflows/mergexo.yml", edit("  issues:\n    types: [labeled, unlabeled, reopened, closed] # closed: a roadmap continues without an item", "  x-issues: #")},
		"labels on only":    {".github/workflows/mergexo.yml: on.issues", edit("[labeled, unlabeled, reopened, closed]", "[labeled]")},
		"no merges":         {".github/workflows/mergexo.yml: on.pull_request", edit(", synchronize, dequeued, closed]", ", synchronize]")},
		"no schedule":       {".github/workflows/mergexo.yml", edit(cron, "")},
		"no CI":             {".github/workflows/mergexo.yml", also(settingsOf(func(s *Settings) { s.CI = "first_fail" }), edit("  workflow_run:\n    workflows: [CI] # the names of your CI workflows: their failures go to the agent, and merges wait for them\n    types: [completed]\n", ""))},
		"CI of no workflow": {".github/workflows/mergexo.yml: on.workflow_run", settingsOf(func(s *Settings) { s.CI = "first_fail" })},
	},
	"ignore": {"no rule": {".github/mergexo.toml", settingsOf(func(s *Settings) { s.Ignore = []string{"conditions"} })}},
	"tests":  {"none": {".github/mergexo.toml", settingsOf(func(s *Settings) { s.Tested = "" })}},
	"people": {"an operator who does not exist": {".github/mergexo.toml", also(settingsOf(func(s *Settings) { s.People = append(s.People, Person{"repo.operators", "Octpo"}) }), hubOf(func(h *Hub) { h.Users["Octpo"] = Label{} }))}},
	"version": {
		"missing": {".github/workflows/mergexo.yml", hubOf(func(h *Hub) { h.Versions["mergexo/mergexo@v1"] = Label{} })},
		"hidden":  {".github/workflows/mergexo.yml", hubOf(func(h *Hub) { h.Versions["mergexo/mergexo@v1"] = Label{Why: "GitHub does not show it to this token"} })},
	},
	"secrets": {
		"no key of the model": {".github/workflows/mergexo.yml", hubOf(func(h *Hub) { h.Secrets.All = []string{"MERGEXO_SIGNING_KEY"} })},
		"misspelled":          {".github/workflows/mergexo.yml", hubOf(func(h *Hub) { h.Secrets.All = []string{"MERGEXO_SIGNING_KEY", "MODEL_API_KY"} })},
		"no signing key":      {".github/workflows/mergexo.yml", hubOf(func(h *Hub) { h.Secrets.All = []string{"MODEL_API_KEY"} })},
		"no App":              {".github/workflows/mergexo.yml", also(ownApp("app-id: ${{ vars.MERGEXO_APP_ID }}", "private-key: ${{ secrets.MERGEXO_PRIVATE_KEY }}"), hubOf(func(h *Hub) { h.Variables.All, h.Secrets.All = nil, []string{"MODEL_API_KEY", "MERGEXO_SIGNING_KEY"} }))},
		"hidden":              {".github/workflows/mergexo.yml", hubOf(func(h *Hub) { h.Secrets = Names{Why: "GitHub does not show it to this token"} })},
		"hidden, with an App": {".github/workflows/mergexo.yml", also(ownApp("app-id: ${{ vars.MERGEXO_APP_ID }}", "private-key: ${{ secrets.MERGEXO_PRIVATE_KEY }}"), hubOf(func(h *Hub) { h.Secrets, h.Variables = Names{Why: "no answer"}, Names{Why: "no answer"} }))},
	},
	"required-checks": {
		"no job has it":      {"required check \"integration\"", also(demand(model.Demand{Kind: model.DemandChecks, Source: "ruleset 1", Names: []string{"integration"}}), hearsTests)},
		"misspelled":         {"required check \"tset@github-actions\"", also(settingsOf(func(s *Settings) { s.RequiredChecks = []string{"tset@github-actions"} }), hearsTests)},
		"of another service": {"required check \"renamed\"", also(settingsOf(func(s *Settings) { s.RequiredChecks = []string{"renamed", "cla@cla-bot"} }), hearsTests)},
	},
	"target": {"used": {".github/workflows/mergexo.yml: on has pull_request_target", edit("  schedule: #", "  pull_request_target:\n  schedule: #")}},
	"condition": {
		"no schedule":                 {".github/workflows/mergexo.yml: jobs.mergexo.if", edit("    if: >-\n", "    if: >-\n      github.event_name != 'schedule' &&\n")},
		"none":                        {".github/workflows/mergexo.yml: jobs.mergexo", noCondition},
		"off":                         {".github/workflows/mergexo.yml: jobs.mergexo.if has false", edit("    if: >-\n", "    if: >-\n      false &&\n")},
		"bots heard":                  {".github/workflows/mergexo.yml: jobs.mergexo.if", edit(noBots, "true")},
		"forks let in":                {".github/workflows/mergexo.yml: jobs.mergexo.if", edit(noForks, "true")},
		"people not heard":            {".github/workflows/mergexo.yml: jobs.mergexo.if", edit(noBots, "github.event.comment == null")},
		"by name":                     {".github/workflows/mergexo.yml: jobs.mergexo.if", edit(noBots, "github.actor != 'our-app[bot]'")},
		"by the sender's name":        {".github/workflows/mergexo.yml: jobs.mergexo.if", edit(noBots, "github.event.sender.login != 'our-app[bot]'")},
		"by the author's name":        {".github/workflows/mergexo.yml: jobs.mergexo.if", edit(noBots, "github.event.comment.user.login != 'our-app[bot]'")},
		"a variable":                  {".github/workflows/mergexo.yml: jobs.mergexo.if", edit(noBots, "vars.MERGEXO == 'on'")},
		"broken":                      {".github/workflows/mergexo.yml: jobs.mergexo.if", edit(noBots, "github.event.sender.type != \"Bot\"")},
		"a text":                      {".github/workflows/mergexo.yml: jobs.mergexo.if", edit("    if: >-\n", "    if: >-\n      ${{ github.event.sender.type != 'Bot' }} &&\n")},
		"split no schedule":           {".github/workflows/mergexo.yml: jobs.commands.if", inSplit(edit("(github.event_name == 'schedule' || (", "(("))},
		"pull requests only":          {".github/workflows/mergexo.yml: jobs.mergexo.if", edit(noBots, "(github.event.comment == null || github.event.issue.pull_request || github.event.pull_request) && "+noBots)},
		"merges dropped":              {".github/workflows/mergexo.yml: jobs.mergexo.if", edit(ifMerged, "github.event.action != 'closed'")},
		"only designs":                {".github/workflows/mergexo.yml: jobs.mergexo.if", edit(ifMerged, "(github.event.action != 'closed' || (github.event.pull_request.merged && startsWith(github.event.pull_request.head.ref, 'agent/design/')))")},
		"closing not heard":           {".github/workflows/mergexo.yml: jobs.mergexo.if", also(settingsOf(func(s *Settings) { s.Train = true }), edit(" || (github.event.pull_request != null && github.event.sender.type != 'Bot'))", ")"))},
		"labels dropped":              {".github/workflows/mergexo.yml: jobs.mergexo.if", edit(noBots, "github.event_name != 'issues' && "+noBots)},
		"split only after a command":  {".github/workflows/mergexo.yml: jobs.agent.if", inSplit(edit("      !cancelled()\n      && ", "      "))},
		"split bots heard":            {".github/workflows/mergexo.yml: jobs.agent.if", inSplit(edit(noSweep+"\n      && "+noBots, noSweep))},
		"split applied for everybody": {".github/workflows/mergexo.yml: jobs.apply.if", inSplit(edit(ifAgentRan, "    if: always()\n"))},
		"split never applied":         {".github/workflows/mergexo.yml: jobs.apply.if", inSplit(edit(ifAgentRan, "    if: ${{ failure() }}\n"))},
		"split bots give commands":    {".github/workflows/mergexo.yml: jobs.commands.if", inSplit(edit("'/mergexo'))\n      && "+noBots, "'/mergexo'))"))},
	},
	"jobs": {
		"split nobody works":   {".github/workflows/mergexo.yml", inSplit(edit("command: run --phase agent", "command: help"), settingsOf(func(s *Settings) { s.PassEnv = nil }))},
		"split nobody applies": {".github/workflows/mergexo.yml", inSplit(edit("          command: run --phase apply\n          bundle:", "          command: help\n          bundle:"))},
		"another form":         {".github/workflows/mergexo.yml: jobs has sweep", edit("jobs:\n", "jobs:\n  sweep:\n    timeout-minutes: 90\n    runs-on: ubuntu-latest\n    steps: [{uses: mergexo/mergexo@v1, with: {command: sweep}}]\n")},
		"split before it":      {".github/workflows/mergexo.yml: jobs.apply", inSplit(edit(afterAgent, "    needs: commands\n"), edit(ifAgentRan, ""))},
	},
	"steps": {
		"nothing handed": {".github/workflows/mergexo.yml", edit("          signing-key", "          command: run --phase=apply --bundle=x\n          signing-key")},
		"commands only":  {".github/workflows/mergexo.yml", edit("          signing-key", "          command: run --phase apply\n          signing-key")},
		"the plan runs":  {".github/workflows/mergexo.yml: jobs.mergexo", edit("          command: run --plan\n", "")},
		"no plan asked":  {".github/workflows/mergexo.yml: jobs.mergexo", edit("        if: steps.plan.outputs.work == 'true'\n        with:\n          fetch-depth", "        with:\n          fetch-depth")},
		"no id":          {".github/workflows/mergexo.yml: jobs.mergexo", edit("        id: plan\n", "")},
		"checkout none to test in": {".github/workflows/mergexo.yml: jobs.mergexo", also(edit(checkoutStep, ""),
			settingsOf(func(s *Settings) { s.TestsInCheckout = true }))},
		"checkout sparse":       {".github/workflows/mergexo.yml: jobs.mergexo", also(edit("          fetch-depth: 0\n", "          fetch-depth: 0\n          sparse-checkout: src\n"), settingsOf(func(s *Settings) { s.TestsInCheckout = true }))},
		"checkout behind it":    {".github/workflows/mergexo.yml: jobs.mergexo.steps has mergexo/mergexo (run) before", also(edit(checkoutStep, ""), edit("      - name: Save work", checkoutStep+"      - name: Save work"))},
		"checkout none":         {".github/workflows/mergexo.yml: jobs.mergexo", edit(checkoutStep, "")},
		"checkout after it":     {".github/workflows/mergexo.yml: jobs.mergexo", also(edit("      - uses: actions/checkout@", "      - uses: mergexo/mergexo@v1\n      - uses: actions/checkout@"), settingsOf(func(s *Settings) { s.PassEnv = nil }))},
		"checkout elsewhere":    {".github/workflows/mergexo.yml: jobs.mergexo", edit("          fetch-depth: 0\n", "          fetch-depth: 0\n          path: other\n")},
		"checkout credentials":  {".github/workflows/mergexo.yml: jobs.mergexo", edit("          persist-credentials: false\n", "")},
		"checkout shallow":      {".github/workflows/mergexo.yml: jobs.mergexo", edit("          fetch-depth: 0\n", "")},
		"sweeps whole":          {".github/workflows/mergexo.yml: jobs.commands", inSplit(edit("          command: run --phase apply\n          signing-key", "          command: sweep\n          signing-key"), settingsOf(func(s *Settings) { s.PassEnv = nil }))},
		"no bundle":             {".github/workflows/mergexo.yml: jobs.agent", inSplit(edit("          command: run --phase agent\n          bundle: ${{ runner.temp }}/mergexo-handoff\n", "          command: run --phase agent\n"))},
		"in one job":            {".github/workflows/mergexo.yml: jobs.agent", inSplit(edit("      # Also after a failure", "      - {uses: mergexo/mergexo@v1, env: {MODEL_API_KEY: x}}\n      # A failed attempt is"))},
		"a whole run beside it": {".github/workflows/mergexo.yml: jobs.commands", inSplit(edit("          command: run --phase apply\n          signing-key", "          signing-key"))},
	},
	"isolation": {
		"none":                         {".github/mergexo.toml", settingsOf(func(s *Settings) { s.Isolation = "none" })},
		"none and a network":           {".github/mergexo.toml", settingsOf(func(s *Settings) { s.Isolation, s.Network = "none", `"model"` })},
		"macos":                        {".github/workflows/mergexo.yml", edit("runs-on: ubuntu-latest", "runs-on: macos-15")},
		"windows in a group":           {".github/workflows/mergexo.yml", edit("runs-on: ubuntu-latest", "runs-on: {group: all, labels: windows-2025}")},
		"own runner":                   {".github/workflows/mergexo.yml", edit("runs-on: ubuntu-latest", "runs-on: [self-hosted, linux]")},
		"computed":                     {".github/workflows/mergexo.yml", edit("runs-on: ubuntu-latest", "runs-on: ${{ vars.RUNNER }}")},
		"nowhere":                      {".github/workflows/mergexo.yml", edit("runs-on: ubuntu-latest", "x-none: 1")},
		"a container and a network":    {".github/workflows/mergexo.yml", also(edit("runs-on: ubuntu-latest", "runs-on: ubuntu-latest\n    container: node:24"), settingsOf(func(s *Settings) { s.Network = `["api.example.com"]` }))},
		"split on macos and a network": {".github/workflows/mergexo.yml", inSplit(edit("    runs-on: ubuntu-latest\n    timeout-minutes: 90\n    permissions: # read only", "    runs-on: macos-15\n    timeout-minutes: 90\n    permissions: # read only"), settingsOf(func(s *Settings) { s.Network = `"model"` }))},
	},
	"concurrency": {
		"none":                         {".github/workflows/mergexo.yml", edit(jobLimits, "")},
		"of the workflow":              {".github/workflows/mergexo.yml", also(edit(jobLimits, ""), edit("permissions: {}\n", "concurrency: mergexo-${{ github.event.pull_request.number || github.event.issue.number }}\npermissions: {}\n"))},
		"both":                         {".github/workflows/mergexo.yml", edit("permissions: {}\n", "concurrency: all\npermissions: {}\n")},
		"cancelling":                   {".github/workflows/mergexo.yml", edit("cancel-in-progress: false", "cancel-in-progress: ${{ github.event_name == 'issue_comment' }}")},
		"cancelling for CI":            {".github/workflows/mergexo.yml", edit("cancel-in-progress: false", "cancel-in-progress: ${{ github.event_name == 'workflow_run' }}")},
		"cancelling for pull requests": {".github/workflows/mergexo.yml", edit("cancel-in-progress: false", "cancel-in-progress: ${{ github.event_name == 'pull_request' }}")},
		"one for all":                  {".github/workflows/mergexo.yml", edit(group, "group: mergexo")},
		"sweeps at once":               {".github/workflows/mergexo.yml", edit(" || ((github.event_name == 'schedule' || github.event_name == 'workflow_dispatch') && 'sweep')", "")},
		"by ref":                       {".github/workflows/mergexo.yml", edit(group, "group: mergexo-${{ github.ref }}")},
		"by event":                     {".github/workflows/mergexo.yml", edit(group, "group: ${{ github.event_name }}-${{ github.event.pull_request.number || github.event.issue.number }}")},
		"broken":                       {".github/workflows/mergexo.yml", edit(group, "group: ${{ github.ref")},
		"split none":                   {".github/workflows/mergexo.yml", inSplit(edit(wholeLimits, "x-jobLimits:\n  group: >-\n"))},
		"split of each job":            {".github/workflows/mergexo.yml", inSplit(edit(wholeLimits, "x-jobLimits:\n  group: >-\n"), edit(afterAgent, afterAgent+"    concurrency: mergexo-${{ github.event.pull_request.number || github.event.issue.number }}\n"))},
		"split both":                   {".github/workflows/mergexo.yml", inSplit(edit(afterAgent, afterAgent+"    concurrency: mergexo-${{ github.event.pull_request.number || github.event.issue.number }}\n"))},
		"split bots push out":          {".github/workflows/mergexo.yml", inSplit(edit(noBots, "true"))},
		"split forks push out":         {".github/workflows/mergexo.yml", inSplit(edit(noForks, "true"))},
		"split one for all":            {".github/workflows/mergexo.yml", inSplit(edit(ownGroup, "\n    && 'all' || github.run_id }}"))},
		"split cancelling":             {".github/workflows/mergexo.yml", inSplit(edit("cancel-in-progress: false", "cancel-in-progress: true"))},
	},
	"permissions": {
		"none":              {".github/workflows/mergexo.yml: jobs.mergexo", noPermissions},
		"none and unknown":  {".github/workflows/mergexo.yml: jobs.mergexo", also(noPermissions, factsOf(func(r *model.RepositoryFacts) { r.Actions.Known = false }))},
		"none and all":      {".github/workflows/mergexo.yml: jobs.mergexo", also(noPermissions, factsOf(func(r *model.RepositoryFacts) { r.Actions.DefaultWrite = true }))},
		"write-all":         {".github/workflows/mergexo.yml: jobs.mergexo.permissions", edit(rightsOf, "    permissions: write-all\n")},
		"read-all":          {".github/workflows/mergexo.yml: jobs.mergexo.permissions", edit(rightsOf, "    permissions: read-all\n")},
		"empty":             {".github/workflows/mergexo.yml: jobs.mergexo.permissions", edit(rightsOf, "    permissions:\n")},
		"too little":        {".github/workflows/mergexo.yml: jobs.mergexo.permissions", also(edit("      issues: write # comment on issues and in conversations\n", ""), edit("actions: write #", "actions: none #"))},
		"no checks":         {".github/workflows/mergexo.yml: jobs.mergexo.permissions", edit("      checks: read # wait for checks before a merge\n      statuses: read # wait for commit statuses before a merge\n", "")},
		"split no statuses": {".github/workflows/mergexo.yml: jobs.commands.permissions", inSplit(edit("      statuses: read # wait for commit statuses before a merge\n", ""))},
		"no actions for CI": {".github/workflows/mergexo.yml: jobs.mergexo.permissions", also(settingsOf(func(s *Settings) { s.CI = "first_fail" }), otherWorkflow("name: CI\non: workflow_dispatch\n"),
			edit("actions: write # see", "actions: read # tell"))},
		"split starts nobody":              {".github/workflows/mergexo.yml: jobs.commands.permissions", inSplit(edit("actions: write # see", "actions: read # tell"))},
		"split the agent writes":           {".github/workflows/mergexo.yml: jobs.agent.permissions", inSplit(edit(agentRights, "      contents: write\n      issues: read\n      pull-requests: write\n      actions: read\n      id-token: write\n"))},
		"split the agent writes all":       {".github/workflows/mergexo.yml: jobs.agent.permissions", inSplit(edit(agentRights, ""), edit("permissions: # read only", "permissions: write-all # nothing"))},
		"split the agent reads too little": {".github/workflows/mergexo.yml: jobs.agent.permissions", inSplit(edit(agentRights, "      contents: read\n      issues: none\n"))},
		"split by default":                 {".github/workflows/mergexo.yml: jobs.agent", inSplit(edit("    permissions: # read only", "    x-permissions: # read only"), edit("permissions: {}\n", ""))},
		"split by default and all":         {".github/workflows/mergexo.yml: jobs.agent", inSplit(edit("    permissions: # read only", "    x-permissions: # read only"), edit("permissions: {}\n", ""), factsOf(func(r *model.RepositoryFacts) { r.Actions.DefaultWrite = true }))},
		"split the agent has a token":      {".github/workflows/mergexo.yml: jobs.agent", inSplit(edit("          # No signing-key", "          token: ${{ secrets.APP }}\n          # No signing-key"))},
		"split applying may only read":     {".github/workflows/mergexo.yml: jobs.apply.permissions", inSplit(edit("      contents: write # push", "      contents: read # push"))},
		"too much":                         {".github/workflows/mergexo.yml: jobs.mergexo.permissions", edit("      issues: write #", "      packages: write\n      id-token: write\n      issues: write #")},
	},
	"train": {
		"nothing hears it": {"no workflow runs on the branches of the merge train, so nothing tests what lands", also(settingsOf(func(s *Settings) { s.Train = true }), appToken, otherWorkflow("name: CI\non:\n  push:\n    branches: [main]\njobs:\n  test: {runs-on: ubuntu-latest}\n"))},
		"a required check is deaf": {"required check build comes from .github/workflows/other.yml, which does not run on the branches of the merge train, so nothing would land", also(settingsOf(func(s *Settings) { s.TrainByRules = true }), appToken, demand(model.Demand{Kind: model.DemandChecks, Source: "ruleset 1", Names: []string{"build"}}),
			otherWorkflow("name: CI\non:\n  push:\n    branches: [\"mergexo/train/**\"]\n  pull_request:\njobs:\n  test: {runs-on: ubuntu-latest}\n"),
			otherWorkflow("name: Build\non: pull_request\njobs:\n  build: {runs-on: ubuntu-latest}\n"))},
	},
	"queue": {
		"nothing runs for it": {"no workflow runs on merge_group, so the merge queue waits for checks that never run", also(queued, appToken, factsOf(func(r *model.RepositoryFacts) {
			r.Demands.List = []model.Demand{{Kind: model.DemandQueue, Source: "ruleset 1"}}
		}))},
	},
	"signing": {
		"none":                  {".github/workflows/mergexo.yml", unsigned},
		"split none":            {".github/workflows/mergexo.yml", inSplit(unsigned)},
		"empty in the workflow": {".github/workflows/mergexo.yml", func(_ *testing.T, f *Facts) { f.InActions, f.Signed = true, false }},
	},
	"identity": {
		"two tokens":       {".github/workflows/mergexo.yml: jobs.apply", inSplit(twoTokens)},
		"one of two named": {".github/workflows/mergexo.yml: jobs.apply", inSplit(twoTokens, settingsOf(func(s *Settings) { s.Bots = []string{"my-app[bot]"} }))},
	},
	"timeout": {
		"none":            {".github/workflows/mergexo.yml: jobs.mergexo", edit("    timeout-minutes: 90 #", "    #")},
		"short":           {".github/workflows/mergexo.yml: jobs.mergexo.timeout-minutes", edit("timeout-minutes: 90", "timeout-minutes: 30")},
		"short of a run":  {".github/workflows/mergexo.yml: jobs.mergexo.timeout-minutes", edit("timeout-minutes: 90", "timeout-minutes: 80")},
		"short of a test": {".github/workflows/mergexo.yml: jobs.mergexo.timeout-minutes", also(edit("timeout-minutes: 90", "timeout-minutes: 45"), settingsOf(func(s *Settings) { s.TestTime, s.RunTime = 45*minute, 40*minute }))},
		"split short":     {".github/workflows/mergexo.yml: jobs.commands.timeout-minutes", inSplit(edit("timeout-minutes: 90\n", "timeout-minutes: 30\n"), edit("timeout-minutes: 60 #", "timeout-minutes: 15 #"))},
		"computed":        {".github/workflows/mergexo.yml: jobs.mergexo.timeout-minutes", edit("timeout-minutes: 90", "timeout-minutes: ${{ vars.MINUTES }}")},
		"an app token":    {".github/workflows/mergexo.yml: jobs.mergexo", expiring},
	},
	"pins": {
		"a tag":    {".github/workflows/mergexo.yml", edit("actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1", "actions/checkout@v7")},
		"a branch": {".github/workflows/mergexo.yml", edit("mergexo/mergexo@v1", "mergexo/mergexo@main")},
	},
	"fail-on": {
		"a typo": {".github/workflows/mergexo.yml", edit("MODEL_API_KEY }}\n        with:\n", "MODEL_API_KEY }}\n        with:\n          fail-on: blocked, faild\n")},
	},
	"token": {
		"none":    {"the token", hubOf(func(h *Hub) { *h = Hub{} })},
		"no name": {"the token", hubOf(func(h *Hub) { *h = Hub{State: HubNoName, Why: "the remote origin is not at https://github.com"} })},
		"refused": {"the token", hubOf(func(h *Hub) {
			*h = Hub{State: HubRefused, Why: "read octo/widgets: Bad credentials (401)", Fix: "set GITHUB_TOKEN to a token that is valid for this server"}
		})},
		"hidden": {"the token", hubOf(func(h *Hub) {
			*h = Hub{State: HubHidden, Why: "read octo/widgets: Not Found (404)", Fix: "check the name"}
		})},
		"no answer":              {"the token", hubOf(func(h *Hub) { *h = Hub{State: HubUnreachable, Why: "read octo/widgets: no answer in time"} })},
		"not said":               {"the token", also(hubOf(func(h *Hub) { h.Token = "fine-grained personal token" }), factsOf(func(r *model.RepositoryFacts) { r.ScopesKnown, r.Scopes = false, nil }))},
		"few scopes":             {"the token", factsOf(func(r *model.RepositoryFacts) { r.Scopes, r.Private = []string{"public_repo", "gist"}, true })},
		"no scopes":              {"the token", factsOf(func(r *model.RepositoryFacts) { r.Scopes = nil })},
		"a reader":               {"the token", factsOf(func(r *model.RepositoryFacts) { r.Push = false })},
		"a reader in a workflow": {"the token", func(_ *testing.T, f *Facts) { f.InActions, f.Hub.Facts.Push = true, false }},
	},
	"repository": {
		"archived":  {"octo/widgets is archived", factsOf(func(r *model.RepositoryFacts) { r.Archived = true })},
		"no issues": {"octo/widgets has issues turned off", factsOf(func(r *model.RepositoryFacts) { r.IssuesOff = true })},
	},
	"default-branch": {
		"not there": {".github/mergexo.toml differs from main, from which runs read it", also(func(_ *testing.T, f *Facts) {
			f.Workflows[0].Main, f.Settings.Main = workflow.MainMissing, workflow.MainOther
		}, func(_ *testing.T, f *Facts) {
			f.Workflows = append(f.Workflows, workflow.File{Path: ".github/workflows/other.yml", Text: "on: workflow_dispatch", Main: workflow.MainMissing})
		})},
	},
	"labels": {
		"missing": {"labels", hubOf(func(h *Hub) { h.Labels["agent:bugfix"] = Label{} })},
		"none":    {"labels", hubOf(func(h *Hub) { h.Labels = nil })},
		"hidden":  {"labels", hubOf(func(h *Hub) { h.Labels["agent:bugfix"] = Label{Why: "no answer in time"} })},
	},
	"agent": {
		"no program": {".github/workflows/mergexo.yml: jobs.mergexo", settingsOf(func(s *Settings) {
			s.Adapter, s.Model = "codex", &Model{"codex", "npm install -g codex", []string{"MODEL_API_KEY"}}
		})},
		"no key": {".github/workflows/mergexo.yml: jobs.mergexo", also(settingsOf(func(s *Settings) {
			s.Adapter, s.Model = "codex", &Model{"mergexo", "npm install -g codex", []string{"ONE_KEY", "OTHER_KEY"}}
		}),
			func(_ *testing.T, f *Facts) {
				f.Workflows[0].Text = strings.ReplaceAll(f.Workflows[0].Text, "      - uses: actions/checkout@", "      - run: npm install -g mergexo\n      - uses: actions/checkout@")
			})},
		"neither, in the job of the agent": {".github/workflows/mergexo.yml: jobs.agent", inSplit(settingsOf(func(s *Settings) {
			s.Adapter, s.Model = "codex", &Model{"codex", "npm install -g codex", []string{"ONE_KEY"}}
		}))},
		"a reviewer": {".github/workflows/mergexo.yml: jobs.mergexo", settingsOf(func(s *Settings) {
			s.Reviewer, s.ReviewerModel = "claude", &Model{"claude", "npm install -g claude", []string{"ONE_KEY", "OTHER_KEY"}}
		})},
	},
	"external": {
		"no label":     {"pull requests of forks", settingsOf(func(s *Settings) { s.External = "external:accept" })},
		"nobody asked": {"pull requests of forks", also(settingsOf(func(s *Settings) { s.External = "external:accept" }), hubOf(func(h *Hub) { *h = Hub{} }))},
		"hidden":       {"pull requests of forks", also(settingsOf(func(s *Settings) { s.External = "external:accept" }), hubOf(func(h *Hub) { h.Labels["external:accept"] = Label{Why: "no answer in time"} }))},
	},
	"pull-requests": {
		"forbidden":                {"opening pull requests", factsOf(func(r *model.RepositoryFacts) { r.Actions.PullRequests = false })},
		"forbidden, and no labels": {"opening pull requests", also(edit("  issues:\n", "  x-issues:\n"), factsOf(func(r *model.RepositoryFacts) { r.Actions.PullRequests = false }))},
		"hidden": {"opening pull requests by workflows", factsOf(func(r *model.RepositoryFacts) {
			r.Actions = model.ActionsRights{Why: "GitHub does not show it to this token"}
		})},
	},
	"protection": {
		"pull requests": {"merging", demand(model.Demand{Kind: model.DemandPull, Source: "branch protection"})},
		"checks":        {"merging", demand(model.Demand{Kind: model.DemandChecks, Source: "ruleset 73", Names: []string{"test", "lint"}, Bypass: true})},
		"linear": {"merging", also(settingsOf(func(s *Settings) { s.Strategies = append(s.Strategies, Strategy{"merge.rule for gh-pr-*", "no-ff"}) }),
			demand(model.Demand{Kind: model.DemandLinear, Source: "ruleset 42"}))},
		"signatures":    {"merging", demand(model.Demand{Kind: model.DemandSignatures, Source: "branch protection"})},
		"pushers":       {"merging", demand(model.Demand{Kind: model.DemandPushers, Source: "branch protection", Names: []string{"octo", "team core"}})},
		"locked":        {"merging", also(appToken, demand(model.Demand{Kind: model.DemandLocked, Source: "branch protection"}))},
		"queue":         {"merging", also(settingsOf(func(s *Settings) { s.Strategies[0].Name = "api" }), demand(model.Demand{Kind: model.DemandQueue, Source: "ruleset 1"}))},
		"another token": {"merging", also(appToken, demand(model.Demand{Kind: model.DemandPull, Source: "ruleset 42", Bypass: true}))},
		"other than the settings": {"merging", also(settingsOf(func(s *Settings) { s.Strategies = append(s.Strategies, Strategy{"merge.rule for gh-pr-*", "squash"}) }),
			factsOf(func(r *model.RepositoryFacts) { r.Methods = []string{"squash"} }))},
		"no way for GitHub": {"merging", also(settingsOf(func(s *Settings) { s.Strategies[0].Name = "api" }), factsOf(func(r *model.RepositoryFacts) { r.Methods = []string{"merge"} }),
			demand(model.Demand{Kind: model.DemandLinear, Source: "ruleset 42"}))},
		"signatures, and no way for GitHub": {"merging", also(settingsOf(func(s *Settings) { s.Strategies[0].Name = "api" }), factsOf(func(r *model.RepositoryFacts) { r.Methods = []string{"rebase"} }),
			demand(model.Demand{Kind: model.DemandSignatures, Source: "ruleset 42"}))},
		"no way that the ruleset allows": {"merging", also(settingsOf(func(s *Settings) { s.Strategies[0].Name = "api" }), factsOf(func(r *model.RepositoryFacts) { r.Methods = []string{"merge"} }),
			demand(model.Demand{Kind: model.DemandPull, Source: "ruleset 42", Methods: []string{"squash", "rebase"}}))},
		"hidden": {"merging", factsOf(func(r *model.RepositoryFacts) {
			r.Demands = model.BranchDemands{Why: "GitHub does not show it to this token"}
		})},
	},
	"branches": {
		"hidden": {"branches mergexo/checkpoint/**", hubOf(func(h *Hub) {
			h.Branches[1].Demands = model.BranchDemands{Why: "GitHub does not show it to this token"}
		})},
		"in the way": {"branches agent/**", hubOf(func(h *Hub) {
			for i, kind := range []model.DemandKind{model.DemandPull, model.DemandCreators} {
				h.Branches[i].Demands.List = []model.Demand{{Kind: kind, Source: "ruleset 42", Bypass: true}, {Kind: model.DemandDeleters, Source: "ruleset 42"}}
			}
		})},
		"no force pushes": {"branches agent/**", also(appToken, hubOf(func(h *Hub) {
			for i := range h.Branches {
				h.Branches[i].Demands.List = []model.Demand{{Kind: model.DemandForce, Source: "ruleset 42"}}
			}
		}))},
		"another token": {"branches agent/**", also(appToken, hubOf(func(h *Hub) {
			h.Branches[0].Demands.List = []model.Demand{{Kind: model.DemandSignatures, Source: "ruleset 42"}, {Kind: model.DemandChecks, Source: "ruleset 7", Names: []string{"test"}}}
		}))},
	},
	"own-token": {
		"a merge queue":            {"CI", also(queued, otherWorkflow("name: CI\non:\n  merge_group:\njobs:\n  test: {runs-on: ubuntu-latest}\n"), edit("synchronize, dequeued", "synchronize"))},
		"a merge train":            {"CI", also(settingsOf(func(s *Settings) { s.Train = true }), otherWorkflow("name: CI\non:\n  push:\n    branches: [main, \"mergexo/train/**\"]\njobs:\n  test: {runs-on: ubuntu-latest}\n"))},
		"deploys":                  {"CI", also(factsOf(func(r *model.RepositoryFacts) { r.DefaultBranch = "trunk" }), otherWorkflow("on: {push: {branches: [trunk, main]}}\n"))},
		"by the token written out": {"CI", also(otherWorkflow("on: push\n"), edit("          signing-key", "          token: ${{ github.token }}\n          signing-key"))},
		"waits": {"CI", also(otherWorkflow("name: CI\non: [push, pull_request]\n"), func(_ *testing.T, f *Facts) {
			f.Workflows = append(f.Workflows, workflow.File{Path: ".github/workflows/lint.yml", Text: "on: {pull_request: {branches: [main]}}", Main: workflow.MainSame})
		})},
	},
	"git": {
		"none":    {"git", func(_ *testing.T, f *Facts) { f.Git = "" }},
		"old":     {"git", func(_ *testing.T, f *Facts) { f.Git = "2.34.1" }},
		"strange": {"git", func(_ *testing.T, f *Facts) { f.Git = strings.Repeat("x", 3) }},
	},
}
