// Package config turns the text of .github/mergexo.toml into settings. It walks the document by a table of keys instead of
// decoding into structs, so it can report every mistake at once: its line, the expected and the actual value, and the closest
// valid one.
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
	Review   Review
	External External
	Roadmap  Roadmap
	Sweep    Sweep
	Tests    []PathTests
	Doctor   Doctor
}

// Repo is [repo].
type Repo struct {
	AllowedUsers     []string // logins; empty: people with write permission
	Operators        []string // logins; empty: maintain or admin
	Bots             []string // logins whose markers are trusted, besides the token's own
	OperationsIssue  int      // issue whose comments may command any pull request; 0: none
	CodingGuidelines string   // path in the repository; a missing file sets no rules
	DesignDir        string   // path in the repository
	RequiredTests    []string // argv, before every push; empty: none
	TestFileRegex    []string // bugfix: at least one staged file must match one of them
	Track            []string // patterns of head branches, as branchfilter has them
}

// Labels is [labels]: the label that starts each flow, the one that pauses all, and the one that keeps a pull request from
// being merged.
type Labels struct {
	Design, Roadmap, Bugfix, SmallJob, Ignore, Freeze string
}

// Agent is [agent].
type Agent struct {
	Adapter   string // codex, claude, command or suggestion; see package agent
	Command   []string
	Model     string
	ExtraArgs []string
	PassEnv   []string
	Timeout   time.Duration
	// TestTimeout limits the required tests, RunTimeout the whole run; after it the run saves its work and reports.
	TestTimeout, RunTimeout time.Duration

	Isolation string // auto or none: how agents and tests are isolated
	User      string // existing unprivileged user to run as; "": created for the run
	Network   model.Network
	// CheckpointEvery is how often an agent's work so far is pushed while it runs.
	CheckpointEvery time.Duration
	CostPerDayUSD   float64 // in the whole repository; 0: no limit
}

// None reports whether no agent is configured: pull requests are still merged, but nothing is answered or built.
func (a Agent) None() bool { return a.Adapter == adapterCommand && len(a.Command) == 0 }

// InCheckout reports whether the tests run in the runner's workspace.
func (m Merge) InCheckout() bool { return m.TestsIn == "checkout" }

// Feedback is [feedback].
type Feedback struct {
	CI               string // never, first_fail or all_complete
	Merge            string // never or first_fail
	Listen           string // all, reviews or mention
	Names            []string
	MaxPerTurn       int
	RepairRounds     int
	TurnsPerDay      int     // 0: no limit
	CostPerDayUSD    float64 // 0: no limit
	OnMissingSession string  // rehydrate or block
	Resolve          bool    // threads that a turn has answered are resolved once its commits are pushed
	// ForbidPaths are globs of paths that an agent must not change, ignoring case; CODEOWNERS stands for its three places.
	ForbidPaths []string
	// AllowSecrets are globs of files whose apparent secrets are ignored: test fixtures. File names and commit messages are
	// always checked.
	AllowSecrets []string
	MaxFileMB    int // larger files are not pushed; GitHub's own limit is 100
}

// Merge is [merge] with its rules and groups.
type Merge struct {
	Strategy  string
	Attempts  int
	Approvals int
	FourEyes  string // pushed or strict: what keeps people from approving MergeXO's own pull requests
	// HoldLabels keep a pull request from being merged, NeedLabels let it be merged.
	HoldLabels, NeedLabels []string
	WaitForReviewers       bool // who was asked for a review has to give it
	RequiredChecks         []string
	Setup                  Tests // prepares a fresh tree for the tests
	Tests                  Tests
	TestsIn                string        // fresh: a separate tree; checkout: the runner's workspace
	TestTimeout            time.Duration // of setup and tests together
	LockTimeout            time.Duration
	DeleteBranch           *bool         // nil: nobody has said
	Verify                 string        // local: by the tests here; ci: by the repository's own checks, in a merge train; both; "": ci where the base requires checks, else local
	Batch                  int           // how many pull requests a car of the train holds at most
	Speculate              int           // how many cars are tested at once
	CIRetries              int           // how often red checks of a car are run again
	CITimeout              time.Duration // how long a car waits for its checks
	Auto                   string        // never, label or approval: what asks for a merge without a command
	AutoLabel              string
	Rules                  []Rule
	Groups                 []Group
}

// The values of verify, auto and four_eyes that code asks about.
const (
	VerifyLocal  = "local"
	VerifyCI     = "ci"
	VerifyBoth   = "both"
	AutoNever    = "never"
	AutoLabel    = "label"
	AutoApproval = "approval"
	EyesStrict   = "strict"
)

// Tests are the tests before a merge, or their setup: an argv, or explicitly none. Neither means to detect them.
type Tests struct {
	None bool
	Argv []string
}

// Rule is a [[merge.rule]]: the first one that is enabled and matches the branch chooses the strategy.
type Rule struct {
	Branch      string   // a pattern in branchfilter's syntax, without !
	Strategy    string   // "" only where it is not enabled
	Enabled     bool     // a disabled rule for gh-pr-* lets forks be picked
	BaseWins    []string // globs of paths whose conflicts the base wins
	UnionFields []string
}

// Group is a [[merge.group]]: repositories that merge together.
type Group struct {
	Name         string
	Repositories []string // owner/name
}

// Review is [review]: a second agent that looks at what is proposed.
type Review struct {
	Adapter string   // codex, claude or command; "": that of [agent]
	Command []string // of the adapter command; empty: that of [agent]
	Model   string   // "": that of [agent] where the adapter is the same
	Rounds  int      // in which the author may repair what must be fixed
	On      []string // work that is reviewed before its pull request is opened, or, for feedback, before it is pushed
	Auto    string   // never, label or ready: what asks for a review without a command
	Label   string
}

// AutoReady is the value of auto that has pull requests reviewed once they are ready.
const AutoReady = "ready"

// Reviewer is the agent that reviews. It shares all settings of [agent] but what [review] names.
func (s Settings) Reviewer() Agent {
	a, r := s.Agent, s.Review
	if r.Adapter != "" && r.Adapter != a.Adapter {
		a.Adapter, a.Model, a.ExtraArgs = r.Adapter, "", nil
	}
	if r.Model != "" {
		a.Model = r.Model
	}
	if len(r.Command) > 0 {
		a.Command = r.Command
	}
	return a
}

// External is [external].
type External struct {
	Enabled  bool
	Label    string
	Evaluate []string // argv
	Fix      []string // argv
}

// Roadmap is [roadmap].
type Roadmap struct {
	Dir       string // path in the repository
	MaxActive int    // how many items of a roadmap run at once
}

// Sweep is [sweep].
type Sweep struct {
	MaxParallel int
	MaxItems    int    // pull requests and issues handled by one sweep
	Conflicts   string // tracked, all or never: which pull requests are told about conflicts
}

// Doctor is [doctor].
type Doctor struct {
	Ignore []string // ids of rules
}

// Defaults are the settings of an empty file. They set no agent: the adapter "command" needs a command, which cannot be
// guessed. They require no tests: a repository without the guessed script could never push.
func Defaults() Settings {
	return Settings{
		Repo:   Repo{CodingGuidelines: "docs/style.md", DesignDir: "docs/design", Track: []string{"agent/**"}},
		Labels: Labels{Design: "agent:design", Roadmap: "agent:roadmap", Bugfix: "agent:bugfix", SmallJob: "agent:small-job", Ignore: "agent:ignore", Freeze: "mergexo:freeze"},
		Agent:  Agent{Adapter: adapterCommand, Isolation: "auto", Timeout: 30 * time.Minute, TestTimeout: 10 * time.Minute, RunTimeout: 80 * time.Minute, CheckpointEvery: 5 * time.Minute},
		Feedback: Feedback{CI: "never", Merge: "never", Listen: "all", Names: []string{"mergexo"}, MaxPerTurn: 50, RepairRounds: 3, TurnsPerDay: 50, OnMissingSession: "rehydrate",
			ForbidPaths: treepath.Forbidden(), MaxFileMB: 50},
		Merge: Merge{Strategy: "rebase", Attempts: 3, Approvals: 1, FourEyes: "pushed", TestsIn: "fresh", TestTimeout: 30 * time.Minute, LockTimeout: 30 * time.Second,
			Batch: 4, Speculate: 3, CIRetries: 1, CITimeout: 2 * time.Hour, Auto: AutoNever, AutoLabel: "merge"},
		Review:   Review{Rounds: 2, Auto: AutoNever, Label: "agent:review"},
		External: External{Label: "external:accept"},
		Roadmap:  Roadmap{Dir: "docs/roadmaps", MaxActive: 3},
		Sweep:    Sweep{MaxParallel: 20, MaxItems: 50, Conflicts: "tracked"},
	}
}

const adapterCommand = "command"
