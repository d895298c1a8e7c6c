package model

import "slices"

// RepositoryFacts are GitHub's facts about a repository and the token. Many are for administrators only, so refused ones
// are distinguished from absent ones.
type RepositoryFacts struct {
	Repo          Repo
	Organization  bool   // it belongs to one
	Parent        string // the repository that it is a fork of, as owner/name; "": it is none
	DefaultBranch string
	Private       bool
	Archived      bool
	IssuesOff     bool // issues cannot be opened or commented on; pull requests can
	// Scopes are a classic token's. ScopesKnown is false for App and fine-grained tokens, which have none.
	Scopes      []string
	ScopesKnown bool
	// Push reports whether the person behind the token may push. It is meaningless for a token without a person.
	Push, PushKnown bool
	Actions         ActionsRights
	Demands         BranchDemands
	// Methods are GitHub's own ways to merge that the settings allow: merge, squash, rebase; nil: GitHub does not tell.
	Methods []string
	// ChecksHidden says why the token cannot read check runs.
	ChecksHidden Hidden
}

// ActionsRights are what a repository's workflows may do.
type ActionsRights struct {
	Known        bool
	Why          string // why it is unknown
	DefaultWrite bool   // default token permissions of a workflow
	PullRequests bool   // may open pull requests
}

// BranchDemands are the default branch's demands on a push, from branch protection and rulesets.
type BranchDemands struct {
	Known bool
	Why   string // why it is unknown, or incomplete
	List  []Demand
}

// Demand is one demand of a branch.
type Demand struct {
	Kind   DemandKind
	Source string   // "branch protection" or "ruleset 17"
	Names  []string // checks
	Bypass bool     // some may bypass it; who, is not for everybody to see
	// Methods are the only ways in which GitHub merges a pull request here; nil: all that the repository allows.
	Methods []string
	// Ruleset is the number of the ruleset that demands it; 0: none.
	Ruleset int64
}

// MergeMethod is the way in which GitHub merges, of those that the repository allows: the first one that the demands of the base
// accept; "": none. GitHub signs a merge commit and a squashed one, and cannot sign what it rebases:
// https://github.com/chdsbd/kodiak/pull/275
func MergeMethod(allowed []string, demands []Demand) string {
	for _, method := range []string{"merge", "squash", "rebase"} {
		refused := slices.ContainsFunc(demands, func(d Demand) bool {
			return d.Kind == DemandLinear && method == "merge" || d.Kind == DemandSignatures && method == "rebase" ||
				len(d.Methods) > 0 && !slices.Contains(d.Methods, method)
		})
		if !refused && (len(allowed) == 0 || slices.Contains(allowed, method)) {
			return method
		}
	}
	return ""
}

// DemandKind is the kind of a demand.
type DemandKind string

// The demands that affect how a pull request can land.
const (
	DemandPull       DemandKind = "pull request"
	DemandChecks     DemandKind = "status checks"
	DemandLinear     DemandKind = "linear history"
	DemandSignatures DemandKind = "signatures"
	DemandPushers    DemandKind = "pushers"
	DemandLocked     DemandKind = "locked"
	DemandQueue      DemandKind = "merge queue"
	DemandForce      DemandKind = "no force pushes"
	// These affect branches that are created and deleted again.
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
