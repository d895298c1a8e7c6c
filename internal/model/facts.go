package model

// RepositoryFacts are what GitHub tells of a repository and of the token that asks. Much of it is for administrators
// only, so that what was refused is told apart from what is not there.
type RepositoryFacts struct {
	Repo          Repo
	DefaultBranch string
	Private       bool
	Archived      bool
	IssuesOff     bool // no issue can be opened or commented on; pull requests can
	// Scopes are those of a classic token. ScopesKnown is false for tokens that have none: App and fine-grained ones.
	Scopes      []string
	ScopesKnown bool
	// Push reports whether the person behind the token may push. It means nothing for a token with nobody behind it.
	Push, PushKnown bool
	Actions         ActionsRights
	Demands         BranchDemands
	// ChecksHidden says why the token cannot read check runs.
	ChecksHidden Hidden
}

// ActionsRights are what a repository lets its workflows do.
type ActionsRights struct {
	Known        bool
	Why          string // not known because
	DefaultWrite bool   // what the token of a workflow without permissions may do
	PullRequests bool   // open pull requests
}

// BranchDemands are what the default branch demands of a push, from branch protection and from rulesets.
type BranchDemands struct {
	Known bool
	Why   string // not known, or not all of it, because
	List  []Demand
}

// Demand is one thing that a branch demands.
type Demand struct {
	Kind   DemandKind
	Source string   // "branch protection" or "ruleset 17"
	Names  []string // checks
	Bypass bool     // some may bypass it; who, is not for everybody to see
}

// DemandKind says what is demanded.
type DemandKind string

// The demands that bear on how a pull request can land.
const (
	DemandPull       DemandKind = "pull request"
	DemandChecks     DemandKind = "status checks"
	DemandLinear     DemandKind = "linear history"
	DemandSignatures DemandKind = "signatures"
	DemandPushers    DemandKind = "pushers"
	DemandLocked     DemandKind = "locked"
	DemandQueue      DemandKind = "merge queue"
	// These bear on branches that are made and deleted again.
	DemandCreators DemandKind = "creators"
	DemandDeleters DemandKind = "deleters"
	DemandName     DemandKind = "name"
)

// RepositoryFile is a file of a repository's default branch.
type RepositoryFile struct {
	Path  string
	Text  string
	SHA   string // of the blob
	Size  int    // bytes
	Large bool   // too large: Text is empty
}
