package model

import "time"

// Ref is a ref of a repository, by its full name.
type Ref struct{ Name, SHA string }

// ConflictMarker is the sticky comment of a pull request that cannot be merged beside what is there.
type ConflictMarker struct {
	Repo    string `json:"repo"`
	Number  int    `json:"number"`
	Head    string `json:"head"`
	Base    string `json:"base"`
	BaseSHA string `json:"base_sha"`
	// Paths conflict with the base; none: it does not.
	Paths []string `json:"paths,omitempty"`
	// With are the open pull requests that it conflicts with, by their numbers.
	With []ConflictWith `json:"with,omitempty"`

	Lease
}

// Open is false: a comment on conflicts says all that there is.
func (ConflictMarker) Open() bool { return false }

// ConflictWith is another open pull request that changes the same lines.
type ConflictWith struct {
	Number int      `json:"number"`
	Head   string   `json:"head"`
	Paths  []string `json:"paths"`
}

// Work is one thing that a sweep found to be done: everything about one number, or, with number 0, what is the whole
// repository's.
type Work struct {
	Number  int      `json:"number"`
	IsIssue bool     `json:"is_issue,omitempty"`
	Why     []Reason `json:"why"` // most pressing first
	// Since is when it became due, as far as that is known: who has waited longest comes first.
	Since time.Time `json:"since,omitzero"`
}

// Reason is why a sweep looks at something more closely. Their order is that in which a sweep works.
type Reason string

// The reasons, in the order of work.
const (
	DueIdentity  Reason = "identity" // another account has worked there as MergeXO
	DueLink      Reason = "link"     // a pull request or a mirror without the marker that makes it known
	DueTurn      Reason = "turn"     // a turn that was begun or planned
	DueFlow      Reason = "flow"     // an issue with something to be done
	DueRoadmap   Reason = "roadmap"  // a roadmap, or something that it is made of, has changed
	DueMerge     Reason = "merge"    // a request to merge
	DueExternal  Reason = "external" // a fork's pull request that was let in
	DueReview    Reason = "review"   // a review that was asked for
	DueRetry     Reason = "retry"    // an attempt that failed
	DueCommand   Reason = "command"
	DueFeedback  Reason = "feedback"
	DueCI        Reason = "ci"
	DueHead      Reason = "head"      // it is not the last accepted one
	DueReplies   Reason = "replies"   // somebody deleted or edited one of ours
	DueSurplus   Reason = "surplus"   // comments of ours that say the same twice
	DueTrain     Reason = "train"     // the whole repository: a merge train
	DueConflicts Reason = "conflicts" // the whole repository: who conflicts with whom
	DueCleanUp   Reason = "clean_up"  // the whole repository: refs that nobody needs
)

// Reasons are all reasons in the order of work.
func Reasons() []Reason {
	return []Reason{
		DueIdentity, DueLink, DueTurn, DueFlow, DueRoadmap, DueMerge, DueExternal, DueReview, DueRetry, DueCommand, DueFeedback, DueCI, DueHead, DueReplies, DueSurplus,
		DueTrain, DueConflicts, DueCleanUp,
	}
}

// Matrix is a job matrix for Actions.
type Matrix struct {
	Include []MatrixJob `json:"include"`
}

// MatrixJob is one job of it.
type MatrixJob struct {
	// Group is what its concurrency group is named by: the number, where the job is about one.
	Group string `json:"group"`
	// Only is what mergexo sweep --only takes: numbers, and "repository" for what concerns the whole repository.
	Only string `json:"only"`
	// Why is for people.
	Why string `json:"why"`
}
