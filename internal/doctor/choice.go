package doctor

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
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

// The lines of the templates that a choice fills in.
const (
	hereAgent  = "      # Install what your agent and your tests need here.\n"
	hereTests  = "      # Install what the tests before a merge need here. Never run a script of the repository in this job.\n"
	hereLast   = "      # Install the same here as in the first job.\n"
	ciTrigger  = "  workflow_run:\n    workflows: [CI] # the names of your CI workflows: their failures go to the agent, and merges wait for them\n    types: [completed]\n"
	ciNames    = "workflows: [CI] #"
	keyExample = "        # The agent's key. For a program of your own, name it in [agent] pass_env of the settings too.\n        # env:\n        #   MODEL_API_KEY: ${{ secrets.MODEL_API_KEY }}\n"
	signingKey = "          signing-key: ${{ secrets.MERGEXO_SIGNING_KEY }}\n"
	agentStep  = "        id: mergexo\n        uses: mergexo/mergexo@v1\n"
	appInputs  = "          app-id: ${{ vars.MERGEXO_APP_ID }}\n          private-key: ${{ secrets.MERGEXO_PRIVATE_KEY }}\n"
)

// seldom has a workflow sweep every six hours in place of every hour, in the words of both templates.
var seldom = []string{`"17 1-23 * * *"`, `"17 6,12,18 * * *"`, `"17 * * * *"`, `"17 */6 * * *"`}

// Sweeps is how often a day the workflow sweeps if nobody starts it by hand.
func (c Choice) Sweeps() int {
	if c.Seldom {
		return 4
	}
	return 24
}

// Workflow is the workflow for a choice.
func (c Choice) Workflow() string {
	text := workflowTemplate
	if c.Split {
		text = splitTemplate
	}
	text = c.hears(c.hearsMore(text))
	var fill []string
	if c.Seldom {
		fill = append(fill, seldom...)
	}
	if c.Setup {
		step := "      - uses: " + UsesSetup + "\n"
		if !c.Split {
			step += "        if: steps.plan.outputs.work == 'true'\n"
		}
		fill = append(fill, hereAgent, step, hereTests, step, hereLast, step)
	}
	if c.Key != "" {
		env := "        env:\n          " + c.Key + ": ${{ secrets." + c.Key + " }}\n"
		fill = append(fill, keyExample, env)
		if !c.Split {
			fill = append(fill, agentStep, agentStep+env)
		}
	}
	if c.App {
		text, _, _ = strings.Cut(text, withApp)
		fill = append(fill, signingKey, signingKey+appInputs)
	}
	text = strings.NewReplacer(fill...).Replace(text)
	if c.Server {
		text = onServer.Replace(text)
	}
	return text
}

// hears puts the names of the workflows that are heard in the place of the template's example.
func (c Choice) hears(text string) string {
	if len(c.CI) == 0 {
		return strings.Replace(text, ciTrigger, "", 1)
	}
	names := make([]string, len(c.CI))
	for i, n := range c.CI {
		names[i] = scalar(n)
	}
	return strings.Replace(text, ciNames, "workflows: ["+strings.Join(names, ", ")+"] #", 1)
}

// plainName is a name that YAML takes for a text without quotes, also within brackets.
var plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`)

// ambiguous are words that YAML may take for something other than a text.
var ambiguous = []string{"true", "false", "yes", "no", "on", "off", "null", "y", "n"}

// scalar is a text as YAML has it. A JSON string is one: https://yaml.org/spec/1.2.2/#13-terminology
func scalar(text string) string {
	if plainName.MatchString(text) && !slices.Contains(ambiguous, strings.ToLower(text)) {
		return text
	}
	quoted, _ := json.Marshal(text) // a string can always be encoded
	return string(quoted)
}

const settingsTemplate = `# The settings of MergeXO. For a pull request they are read from its base branch, for an issue from the default branch.
# "mergexo help configuration" explains every key.

[repo]
track = ["agent/**"]          # handle the pull requests from these branches of this repository
%s
# test_file_regex = ['_test\.']  # a bug fix must change a file that matches
# design_dir = "docs/design"  # the directory for design documents
%s

[labels]                      # for issues; the author, or whoever adds the label, needs write access
design = "agent:design"       # write a design document as a pull request, and implement it once that is merged
roadmap = "agent:roadmap"     # write a plan of many issues as a pull request, and carry it out once that is merged
bugfix = "agent:bugfix"       # open a pull request that fixes a bug, with a test
small_job = "agent:small-job" # open a pull request that does what the issue says
ignore = "agent:ignore"       # leave this issue or pull request alone

[agent]
%s
# timeout = "30m"             # for the agent, each time
# test_timeout = "10m"        # for required_tests
# run_timeout = "80m"         # for the whole run, then its work is saved; keep it below the workflow's timeout-minutes
# isolation = "auto"          # agent and tests run as a user made for the run, or in namespaces; "none": not isolated
%s
# checkpoint_every = "5m"     # how often unfinished work for an issue is saved on a branch

[feedback]
ci = %s

[merge]
strategy = %s
auto = %s
# tests = ["scripts/test"]    # test what is about to land; by default detected for Go, Python, Node, Rust and make; or "none"
# setup = ["npm", "ci"]       # run before the tests; by default detected from the lockfile; or "none"
# tests_in = "fresh"          # "checkout": in the workflow's checkout, where setup does not run
# test_timeout = "30m"        # for setup and tests; keep it below the workflow's timeout-minutes
# required_checks = ["test@github-actions"]  # checks that must pass, besides those that the branch requires, and the App that reports each
# verify = "local"            # "ci": your CI tests what lands, in a merge train; needs the token of a GitHub App, and
#                             # "mergexo/train/**" under on.push.branches of your CI
`

// Settings are the settings for a choice.
func (c Choice) Settings() string {
	tests := `# required_tests = ["scripts/test"]  # must succeed before every push`
	if c.Tests != nil {
		tests = fmt.Sprintf("required_tests = %s  # must succeed before every push; %s", array(c.Tests), c.Found)
	}
	bots := `# bots = ["github-actions[bot]", "my-app[bot]"]  # all accounts of MergeXO here; needed after a change of the token`
	if c.Bot != "" {
		bots = fmt.Sprintf("bots = %s  # all accounts of MergeXO here", array([]string{workflowBot, c.Bot}))
	}
	ci := `"never"                  # "first_fail" or "all_complete": send failures of your CI to the agent; needs on.workflow_run`
	if len(c.CI) > 0 {
		ci = `"all_complete"           # send failures of your CI to the agent once all runs are complete; "first_fail", "never"`
	}
	auto := map[string]string{
		"label":    `"label"                # the label "merge", added by somebody who may merge, asks for a merge; so does /mergexo merge`,
		"approval": `"approval"             # an approval asks for a merge; so does the comment /mergexo merge`,
	}[c.Auto]
	if auto == "" {
		auto = `"never"                # only the comment /mergexo merge asks for a merge; "label" and "approval" can do so too`
	}
	return fmt.Sprintf(settingsTemplate, tests, bots, c.agent(), c.network(), ci, c.strategy(), auto)
}

// strategy is the one of [merge].
func (c Choice) strategy() string {
	if c.Strategy == "" || c.Strategy == model.StrategyRebase {
		return `"rebase"           # "api" if the branch is protected, "github-queue" if it has a merge queue`
	}
	return fmt.Sprintf("%-19s# \"mergexo help merging\" lists the others; the rules of the branch decide which it accepts", strconv.Quote(c.Strategy))
}

// agent are the first lines of [agent].
func (c Choice) agent() string {
	switch c.Adapter {
	case "", "suggestion":
		return `adapter = "suggestion"        # applies suggestion and diff blocks; "codex", "claude" or "command" run a model`
	case "command":
		return fmt.Sprintf(`adapter = "command"           # a program of yours; see "mergexo help agents"
command = %s
# pass_env = ["MODEL_API_KEY"]  # environment variables for it, besides PATH, HOME, LANG and TMPDIR`, array([]string{c.Command}))
	}
	return fmt.Sprintf("adapter = %-20s# \"codex\", \"claude\", \"command\" (your own program) or \"suggestion\" (no model)", fmt.Sprintf("%q", c.Adapter))
}

// network is what agents and tests can reach, as far as the runner of the workflow can hold it. Of a server's runners nothing is known,
// and of a program's model nothing either.
func (c Choice) network() string {
	if c.Reaches || c.Server || c.Adapter != "codex" && c.Adapter != "claude" {
		return `# network = "open"            # what agent and tests can reach; "model": only the model; a list adds hosts, and "packages"`
	}
	return `network = ["model", "packages"]  # what agent and tests can reach: the model and public registries; add hosts, or write "open"`
}

// array is a list of texts as TOML has it, whose basic strings have the escapes of JSON.
func array(list []string) string {
	quoted := make([]string, len(list))
	for i, one := range list {
		b := &strings.Builder{}
		enc := json.NewEncoder(b)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(one) // a string can always be encoded
		quoted[i] = strings.TrimSuffix(b.String(), "\n")
	}
	return "[" + strings.Join(quoted, ", ") + "]"
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
		case "status":
			c.Services = true
		case "push":
			c.Bases = slices.DeleteFunc(slices.Clone(t.branches), func(b string) bool { return b == trainPattern })
		}
	}
	c.Seldom = strings.Contains(workflow.Text, seldom[1]) || strings.Contains(workflow.Text, seldom[3])
	c.Server = strings.Contains(workflow.Text, "for GitHub Enterprise Server")
	return c, len(uses) > 0
}

// Other is a workflow that does not use the action, and says whether it runs for the commits of a pull request.
type Other struct {
	Name, Path string
	OnCommits  bool
}

// Others are the workflows that do not use the action, as workflow_run knows them. What cannot be read is left out.
func Others(files []File) []Other {
	var out []Other
	for _, f := range files {
		w, err := readWorkflow(f)
		if err != nil || f.Path == WorkflowPath || len(usesOf(w)) > 0 {
			continue
		}
		name := w.name
		if name == "" {
			name = w.path // GitHub's own way: https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#name
		}
		out = append(out, Other{name, w.path, slices.ContainsFunc(w.triggers, func(t trigger) bool {
			return t.event == "pull_request" || t.event == "push" && w.hearsPush("agent/small/1-x")
		})})
	}
	return out
}
