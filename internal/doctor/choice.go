package doctor

import (
	"cmp"
	"slices"
	"strings"
)

// Choice is what the files of `mergexo init` are written for. The zero value is the workflow and the settings without an agent's
// program, tests or CI.
type Choice struct {
	Adapter string   // "": suggestion
	Command string   // the program of the adapter command
	Key     string   // the agent's key, a secret and an environment variable of one name; "": none
	Setup   bool     // the local action installs what agent and tests need
	CI      []string // the names of the workflows whose runs are events
	Auto    string   // what merges: never, which leaves it to the command, label or approval; "": never
	// Strategy is [merge] strategy; "": rebase, where nobody knows what the branch accepts.
	Strategy string
	Tests    []string // [repo] required_tests; nil: none
	Found    string   // what shows that these are the tests
	App      bool     // the workflow works with the token of a GitHub App
	Bases    []string // branches that may have a merge train, pushes to which are events; nil: pushes are none
	Services bool     // other services than GitHub Actions report required checks, which are events
	Bot      string   // that App's account, where several accounts have to trust each other
	Split    bool     // the agent has a job of its own
	Server   bool     // for GitHub Enterprise Server
	Reaches  bool     // agents and tests keep what they reach: settings are there already, or tests need services
	Seldom   bool     // it sweeps less often, where GitHub bills the minutes of its jobs
}

// Sweeps is how often a day the workflow sweeps if nobody starts it by hand.
func (c Choice) Sweeps() int {
	if c.Seldom {
		return 4
	}
	return 24
}

// Chosen reads what an installation was made for back from its files, so that init writes the same again; ok is false without
// both of them.
func Chosen(workflow, settings File) (c Choice, ok bool) {
	w, err := readWorkflow(workflow)
	if err != nil || settings.Bad != "" {
		return Choice{}, false
	}
	uses := usesOf(w)
	for _, u := range uses {
		c.Split = c.Split || u.phase == agentPhase
		c.App = c.App || u.ownApp()
	}
	for _, t := range w.triggers {
		switch t.event {
		case "workflow_run":
			c.CI = t.workflows
		case "schedule":
			c.Seldom = slices.Contains(t.crons(), "17 6,12,18 * * *") || slices.Contains(t.crons(), "17 */6 * * *")
		case "status":
			c.Services = true
		case "push":
			c.Bases = slices.DeleteFunc(slices.Clone(t.branches), func(b string) bool { return b == trainPattern })
		}
	}
	c.Server = strings.Contains(workflow.Text, "for GitHub Enterprise Server")
	return c, len(uses) > 0
}

// Other is a workflow that does not use the action, and says whether it runs for the commits of a pull request.
type Other struct {
	Name, Path string
	OnCommits  bool
}

// Others are the workflows that do not use the action, as workflow_run knows them: one without a name has its path.
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#name
func Others(files []File) (out []Other) {
	for _, w := range others(files) {
		out = append(out, Other{cmp.Or(w.name, w.path), w.path, w.onCommits()})
	}
	return out
}

// others are the workflows that do not use the action.
func others(files []File) []*workflow {
	return slices.DeleteFunc(parsed(files), func(w *workflow) bool { return w.path == WorkflowPath || len(usesOf(w)) > 0 })
}

// parsed are the workflows in some files. What cannot be read is left out.
func parsed(files []File) (all []*workflow) {
	for _, f := range files {
		if w, err := readWorkflow(f); err == nil {
			all = append(all, w)
		}
	}
	return all
}

// onCommits reports whether a workflow runs for the commits of an agent's pull request.
func (w *workflow) onCommits() bool {
	return w.hearsPush("agent/small/1-x") || slices.ContainsFunc(w.triggers, func(t trigger) bool { return t.event == "pull_request" })
}
