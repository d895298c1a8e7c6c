// Package config turns the text of .github/mergexo.toml into settings. It walks the document by a table of keys instead
// of decoding into the structs, because a settings file is written by people: every mistake in it is reported at once,
// each with its line, what is wanted, what is there, and the nearest thing that would have been right.
package config

import (
	"time"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/treepath"
)

// Settings are the contents of mergexo.toml with the defaults filled in.
type Settings struct {
	Repo     Repo
	Labels   Labels
	Agent    Agent
	Feedback Feedback
	Merge    Merge
	External External
	Sweep    Sweep
}

// Repo is [repo].
type Repo struct {
	AllowedUsers     []string // logins; empty: people with write permission
	Operators        []string // logins; empty: maintain or admin
	Bots             []string // logins whose markers count as ours, beside the token's own
	OperationsIssue  int      // issue whose conversation takes commands for any pull request; 0: none
	CodingGuidelines string   // path in the repository; a file that is not there is no rule
	DesignDir        string   // path in the repository
	RequiredTests    []string // argv, before every push; empty: none
	TestFileRegex    []string // bugfix: at least one staged file must match one of them
	Track            []string // patterns of head branches, as branchfilter has them
}

// Labels is [labels]: the label that starts each flow, the one that pauses them all, and the one that keeps a pull request
// from being merged.
type Labels struct {
	Design, Bugfix, SmallJob, Ignore, Freeze string
}

// Agent is [agent].
type Agent struct {
	Adapter   string // codex, claude, command or suggestion: the agent package knows them
	Command   []string
	Model     string
	ExtraArgs []string
	PassEnv   []string
	Timeout   time.Duration
	// TestTimeout is how long required tests may take, and RunTimeout the whole run: then its work is saved and said.
	TestTimeout, RunTimeout time.Duration

	Isolation string // auto or none: how what it runs is kept from everything else
	User      string // existing unprivileged user to run as; "": one is made for the run
	Network   model.Network
	// CheckpointEvery is how often what an agent has done so far is pushed while it is at work.
	CheckpointEvery time.Duration
}

// None says that no agent is set: then pull requests are merged, and nothing is answered or built.
func (a Agent) None() bool { return a.Adapter == adapterCommand && len(a.Command) == 0 }

// InCheckout says that the tests run in the runner's workspace.
func (m Merge) InCheckout() bool { return m.TestsIn == "checkout" }

// Feedback is [feedback].
type Feedback struct {
	CI               string // never, first_fail or all_complete
	MaxPerTurn       int
	RepairRounds     int
	TurnsPerDay      int     // 0: no limit
	CostPerDayUSD    float64 // 0: no limit
	OnMissingSession string  // rehydrate or block
	// ForbidPaths are globs of what an agent must not change, compared without case; CODEOWNERS stands for its three places.
	ForbidPaths []string
	// AllowSecrets are globs of files in which what looks like a secret is none: fixtures of tests. The name of a file and
	// a commit's message are never among them.
	AllowSecrets []string
	MaxFileMB    int // no larger file is pushed; GitHub itself takes 100
}

// Merge is [merge] with its rules and groups.
type Merge struct {
	Strategy       string
	Attempts       int
	Approvals      int
	RequiredChecks []string
	Setup          Tests // what makes a fresh tree ready for the tests
	Tests          Tests
	TestsIn        string        // fresh, a tree of its own; or checkout, the runner's workspace
	TestTimeout    time.Duration // of setup and tests together
	LockTimeout    time.Duration
	DeleteBranch   bool
	Rules          []Rule
	Groups         []Group
}

// Tests are the tests before a merge, or what sets them up: an argv, or none on purpose. Neither means to find it out.
type Tests struct {
	None bool
	Argv []string
}

// Rule is a [[merge.rule]]: the first one that is enabled and matches the branch chooses the strategy.
type Rule struct {
	Branch      string   // a pattern, as branchfilter has it, without !
	Strategy    string   // "" only where it is not enabled
	Enabled     bool     // a rule for gh-pr-* that is not: the commits of forks are picked
	BaseWins    []string // globs of paths whose conflicts the base wins
	UnionFields []string
}

// Group is a [[merge.group]]: repositories that are merged together.
type Group struct {
	Name         string
	Repositories []string // owner/name
}

// External is [external].
type External struct {
	Enabled  bool
	Label    string
	Evaluate []string // argv
	Fix      []string // argv
}

// Sweep is [sweep].
type Sweep struct {
	MaxParallel int
	MaxItems    int    // pull requests and issues that one sweep works at
	Conflicts   string // tracked, all or never: which pull requests are told that they conflict
}

// Defaults are the settings of a file that says nothing. No agent is set by them: the adapter "command" wants a command,
// which nobody can guess. Nor are required tests: a repository without the guessed script could never push.
func Defaults() Settings {
	return Settings{
		Repo:   Repo{CodingGuidelines: "docs/style.md", DesignDir: "docs/design", Track: []string{"agent/**"}},
		Labels: Labels{Design: "agent:design", Bugfix: "agent:bugfix", SmallJob: "agent:small-job", Ignore: "agent:ignore", Freeze: "mergexo:freeze"},
		Agent:  Agent{Adapter: adapterCommand, Isolation: "auto", Timeout: 30 * time.Minute, TestTimeout: 10 * time.Minute, RunTimeout: 80 * time.Minute, CheckpointEvery: 5 * time.Minute},
		Feedback: Feedback{CI: "never", MaxPerTurn: 50, RepairRounds: 3, TurnsPerDay: 50, OnMissingSession: "rehydrate",
			ForbidPaths: treepath.Forbidden(), MaxFileMB: 50},
		Merge:    Merge{Strategy: "rebase", Attempts: 3, Approvals: 1, TestsIn: "fresh", TestTimeout: 30 * time.Minute, LockTimeout: 30 * time.Second, DeleteBranch: true},
		External: External{Label: "external:accept"},
		Sweep:    Sweep{MaxParallel: 20, MaxItems: 50, Conflicts: "tracked"},
	}
}

const adapterCommand = "command"
