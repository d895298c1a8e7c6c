package doctor

import (
	"time"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/mergexo/mergexo/internal/model"
)

// Facts are what is known about the repository and the machine that doctor runs on.
type Facts struct {
	Repository string // owner/name; "" if unknown
	Settings   Settings
	Workflows  []workflow.File // the files in .github/workflows that are named like workflows
	Setup      workflow.File   // the local action that installs what jobs need; without a text, there is none
	Hub        Hub
	Git        string // version of git; "" if there is none
	InActions  bool   // this is a workflow run, with the workflow's token
	Signed     bool   // this process has a signing key
}

// Settings are the settings file and what it means.
type Settings struct {
	workflow.File
	Found    bool
	Problems []string // what is wrong with it, one line each, with file, line and key
	// The rest is only valid without problems.
	Adapter    string // "": no agent is configured
	AdapterBad string // why there is no such agent
	BuiltIn    bool   // the agent runs no program
	Model      *Model // what the adapter needs to reach its model; nil: it knows of none
	// Reviewer is the reviewer's adapter if it is not the agent's, and ReviewerModel what that needs.
	Reviewer      string
	ReviewerModel *Model
	ReviewerBad   string // why there can be no such reviewer
	Programs      []Program
	Tested        string   // what tests a merge or an agent's work; "": nothing does
	Ignore        []string // the rules that are silenced
	People        []Person
	PassEnv       []string
	Bots          []string      // further accounts whose markers are trusted
	Guidelines    string        // the coding guidelines file if the settings name one that is missing; "" otherwise
	Isolation     string        // auto or none
	User          string        // the user that agents run as; "" if not set
	Network       string        // what agents may reach, as the settings have it; "" if everything
	RunTime       time.Duration // of a whole run with an agent
	TestTime      time.Duration // of the tests before a merge; 0 if there are none
	// Train says that the settings have the repository's CI test what is to land.
	Train bool
	// TrainByRules says that they do where the base demands checks, and RequiredChecks are those that they name beside these.
	TrainByRules   bool
	RequiredChecks []string
	// TestsInCheckout says that the tests run in the workflow's checkout.
	TestsInCheckout bool
	CI              string
	// Labels are those by which people start something: work on an issue, a review, a merge.
	Labels []string
	// External is the label that admits a fork's pull request; "" if none does.
	External   string
	Strategies []Strategy // how pull requests land
}

// Model is what an adapter needs on the runner.
type Model struct {
	Program string   // on PATH
	Install string   // the command that installs it
	Keys    []string // environment variables, one of which has the key
}

// Strategy is a merge strategy and the setting that chooses it: "merge.strategy", or "merge.rule for gh-pr-*".
type Strategy struct{ Place, Name string }

// Program is a program named in the settings.
type Program struct {
	Key   string // "agent.command"
	Name  string // as written: a path in the repository, or a name to look up in PATH
	State ProgramState
}

// ProgramState reports whether a program was found.
type ProgramState string

// The states of a program.
const (
	ProgramFound         ProgramState = "found"
	ProgramMissing       ProgramState = "missing"
	ProgramNotExecutable ProgramState = "not executable"
	ProgramElsewhere     ProgramState = "elsewhere" // it cannot be looked up here
)

// Hub is what GitHub answered.
type Hub struct {
	State HubState
	Token string // kind of token used; "" if unknown
	Why   string // why nothing is known, for every state but HubRead
	Fix   string
	Facts model.RepositoryFacts
	App   *App // nil: another token is used
	// Labels are the states of the labels that the settings name.
	Labels map[string]Label
	// Users say whether those exist whom the settings name, by login.
	Users map[string]Label
	// Versions say whether a version of an action exists, by "owner/name@ref".
	Versions map[string]Label
	// Secrets and Variables are those that workflows of the repository can use.
	Secrets, Variables Names
	// Branches are the rules for the branches that hold work for issues, by pattern.
	Branches []Branches
}

// App is the installation of the GitHub App that MergeXO was given.
type App struct {
	Slug, Account, URL string
	Suspended          bool
	Lacks              []Lack
}

// Lack is a permission that the installation does not have.
type Lack struct {
	Permission string // "checks: read"
	Follows    string // what does not work without it
	Required   bool
}

// Person is somebody whom the settings name, and the setting: "repo.operators".
type Person struct{ Key, Login string }

// Names are names of things that exist; Why says why they are not known.
type Names struct {
	All []string
	Why string
}

// Label is the state of a label, or of something else that exists or not.
type Label struct {
	There bool
	Why   string // why that is not known
}

// Branches are the rules for the branches of one pattern.
type Branches struct {
	Pattern string
	Deleted bool // once their work has landed
	Demands model.BranchDemands
}

// HubState says whether GitHub could be asked.
type HubState string

// The states.
const (
	HubNoToken     HubState = ""            // no token was given
	HubNoName      HubState = "no name"     // the repository's name is unknown
	HubRefused     HubState = "refused"     // the token is invalid
	HubHidden      HubState = "hidden"      // the repository does not exist, or not for this token
	HubUnreachable HubState = "unreachable" // no answer
	HubRead        HubState = "read"
)
