package doctor

import (
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/github/workflow"
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
func Chosen(file, settings workflow.File) (c Choice, ok bool) {
	w, err := workflow.Read(file)
	if err != nil || settings.Bad != "" {
		return Choice{}, false
	}
	uses := usesOf(w)
	for _, u := range uses {
		c.Split = c.Split || u.phase == agentPhase
		c.App = c.App || u.ownApp()
	}
	for _, t := range w.Triggers {
		switch t.Event {
		case "workflow_run":
			c.CI = t.Workflows
		case "schedule":
			c.Seldom = slices.Contains(t.Crons(), "17 6,12,18 * * *") || slices.Contains(t.Crons(), "17 */6 * * *")
		case "status":
			c.Services = true
		case "push":
			c.Bases = slices.DeleteFunc(slices.Clone(t.Branches), func(b string) bool { return b == trainPattern })
		}
	}
	c.Server = strings.Contains(file.Text, "for GitHub Enterprise Server")
	return c, len(uses) > 0
}

// Own are the workflows that do not use the action.
func Own(files []workflow.File) []*workflow.Workflow {
	return slices.DeleteFunc(workflow.ReadAll(files), func(w *workflow.Workflow) bool { return w.Path == WorkflowPath || len(usesOf(w)) > 0 })
}
