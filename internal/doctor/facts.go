package doctor

import (
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// Facts are all that is known of a repository and of the place where doctor runs.
type Facts struct {
	Repository string // owner/name; "" where nobody knows
	Settings   Settings
	Workflows  []File // what lies in .github/workflows and is named like a workflow
	Hub        Hub
	Git        string // version of git; "" where there is none
	InActions  bool   // this is a workflow's run, and its token the workflow's
	Signed     bool   // this process has a signing key
}

// Settings are the settings file and what was made of it.
type Settings struct {
	File
	Found    bool
	Problems []string // what is wrong with it, a line each, with file, line and key
	// The rest is worth something only without problems.
	Adapter    string // "": no agent is set
	AdapterBad string // why there is no such agent
	Programs   []Program
	PassEnv    []string
	Bots       []string      // further accounts whose markers are ours
	Guidelines string        // the coding guidelines that the settings name and nobody has written; "" for none
	Isolation  string        // auto or none
	User       string        // that agents run as; "": the settings name none
	Network    string        // what agents may reach, as the settings have it; "" where that is everything
	Timeout    time.Duration // of the agent
	RunTime    time.Duration // of a whole run with an agent
	TestTime   time.Duration // of the tests before a merge; 0 where there are to be none
	// TestsInCheckout says that those run in the checkout of the workflow.
	TestsInCheckout bool
	CI              string
	// External is the label that lets a fork's pull request in; "" where none is let in.
	External   string
	Strategies []Strategy // how pull requests land
}

// Strategy is a merge strategy and where it is chosen: "merge.strategy", or "merge.rule for gh-pr-*".
type Strategy struct{ Place, Name string }

// Program is a program that the settings name.
type Program struct {
	Key   string // "agent.command"
	Name  string // as it is written: a path in the repository, or a name to be found in PATH
	State ProgramState
}

// ProgramState says whether a program was found.
type ProgramState string

// The states of a program.
const (
	ProgramFound         ProgramState = "found"
	ProgramMissing       ProgramState = "missing"
	ProgramNotExecutable ProgramState = "not executable"
	ProgramElsewhere     ProgramState = "elsewhere" // it could not be looked for here
)

// File is a file of the repository.
type File struct {
	Path string
	Text string
	Bad  string // why there is no text: too large, not a file, not text
	Main Main
}

// Main says how a file stands to the default branch on GitHub, from which runs read.
type Main string

// The ways in which a file can stand to the default branch.
const (
	MainUnknown Main = ""
	MainSame    Main = "same"
	MainOther   Main = "other"
	MainMissing Main = "missing"
)

// Hub is what GitHub said.
type Hub struct {
	State HubState
	Token string // what sort of token it was asked with; "" where nobody can tell
	Why   string // why nothing is known, for every state but HubRead
	Fix   string
	Facts model.RepositoryFacts
	// Label says whether the label of Settings.External is there.
	Label Label
	// Branches are those that work for issues goes to, by their patterns, and what they are held to.
	Branches []Branches
}

// Label says how a label stands.
type Label struct {
	There bool
	Why   string // that is not known
}

// Branches are what the branches of one pattern are held to.
type Branches struct {
	Pattern string
	Deleted bool // when their work is elsewhere
	Demands model.BranchDemands
}

// HubState says whether GitHub could be asked.
type HubState string

// The states.
const (
	HubNoToken     HubState = ""            // nobody asked
	HubNoName      HubState = "no name"     // nobody knows which repository to ask about
	HubRefused     HubState = "refused"     // the token is wrong
	HubHidden      HubState = "hidden"      // there is no such repository, or not for this token
	HubUnreachable HubState = "unreachable" // no answer
	HubRead        HubState = "read"
)
