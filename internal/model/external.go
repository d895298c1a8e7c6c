package model

import "time"

// ExternalState is the progress of a fork's pull request since a maintainer's label admitted it.
type ExternalState string

// Words is the state as people read it.
func (s ExternalState) Words() string {
	if s == ExternalLetIn {
		return "accepted"
	}
	return string(s)
}

// The states of an external pull request in its marker.
const (
	ExternalLinked   ExternalState = "linked"   // it has a mirror, but was not admitted
	ExternalLetIn    ExternalState = "let_in"   // mirrored, or about to be; a run is working on it, or died
	ExternalApproved ExternalState = "approved" // to be merged
	ExternalFix      ExternalState = "fix"      // the evaluation wants commits on top; a run is working on it, or died
	ExternalWanting  ExternalState = "wanting"  // changes are needed that only the contributor makes
	ExternalRejected ExternalState = "rejected" // posted and closed
	ExternalLanded   ExternalState = "landed"   // its commits are on the base under other SHAs: posted and closed
	ExternalVoid     ExternalState = "void"     // the head moved, or the label was removed: no result counts
	ExternalFailed   ExternalState = "failed"   // the evaluation or the fix used up its attempts
)

// Reasons of a void admission whose head did not move.
const (
	ExternalClosed     = "closed meanwhile"
	ExternalMerged     = "merged meanwhile"
	ExternalUnlabelled = "label removed meanwhile"
)

// Verdicts of an evaluation.
const (
	VerdictApprove = "approve"
	VerdictReject  = "reject"
	VerdictFix     = "fix"
)

// ExternalMarker is the comment of one admission: of one label event, for one head.
type ExternalMarker struct {
	Repo   string        `json:"repo"`
	Number int           `json:"number"`
	State  ExternalState `json:"state"`
	Head   string        `json:"head"`  // of the pull request when it was labeled
	At     time.Time     `json:"at"`    // when the label was added
	By     string        `json:"by"`    // and by whom
	Label  string        `json:"label"` // its name at that time
	Base   string        `json:"base"`  // branch
	// Mirror is this repository's branch with the head, and Tip what is evaluated and merged: the head, or our commits on
	// top of it. A verdict is about Tip alone.
	Mirror string `json:"mirror,omitempty"`
	Tip    string `json:"tip,omitempty"`
	// Next is a fix's commit that is about to be pushed to the mirror.
	Next    string `json:"next,omitempty"`
	Verdict string `json:"verdict,omitempty"`
	Reason  string `json:"reason,omitempty"` // given by the evaluation, or why there is none
	// Evaluated says that a command evaluated it; otherwise the label decided.
	Evaluated bool `json:"evaluated,omitempty"`
	Round     int  `json:"round,omitempty"`   // of fixes, from 1
	Attempt   int  `json:"attempt,omitempty"` // of this step, from 1
	// Landed are the base's commits with the same changes as the head's, in order.
	Landed []Commit `json:"landed,omitempty"`
	// Moved is the new head that voided it.
	Moved string `json:"moved,omitempty"`

	Lease
}

// Open reports whether anything is left to be done.
func (m ExternalMarker) Open() bool {
	return m.State == ExternalLetIn || m.State == ExternalApproved || m.State == ExternalFix
}

// Evaluation is the JSON that an evaluating or fixing command reads on stdin.
type Evaluation struct {
	Version     int         `json:"version"` // 1
	Kind        string      `json:"kind"`    // "evaluate" or "fix"
	Repository  string      `json:"repository"`
	PullRequest RequestPull `json:"pull_request"`
	Author      string      `json:"author"`
	// BaseTree is a directory with the base branch's files. The command runs in the pull request's tree.
	BaseTree     string   `json:"base_tree"`
	SHA          string   `json:"sha"`      // commit of that tree
	BaseSHA      string   `json:"base_sha"` // commit of the base's tree
	ChangedFiles []string `json:"changed_files"`
	Commits      []Commit `json:"commits"` // oldest first
	// Reason is why a fix is needed; "" for an evaluation.
	Reason string `json:"reason,omitempty"`
}

// EvaluationResult is an evaluating command's answer.
type EvaluationResult struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
}
