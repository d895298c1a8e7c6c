package model

import "time"

// ExternalState is how far the pull request of a fork has come since a maintainer's label let it in.
type ExternalState string

// The states of an external pull request, as its marker says them.
const (
	ExternalLinked   ExternalState = "linked"   // it has a mirror, and nobody has let it in
	ExternalLetIn    ExternalState = "let_in"   // mirrored, or about to be; a run is at work, or died at it
	ExternalApproved ExternalState = "approved" // to be merged
	ExternalFix      ExternalState = "fix"      // the evaluation wants commits on top; a run is at work, or died at it
	ExternalWanting  ExternalState = "wanting"  // changes are wanted that nobody makes here: the contributor's turn
	ExternalRejected ExternalState = "rejected" // said so, and closed
	ExternalLanded   ExternalState = "landed"   // its commits are on the base under other ids: said so, and closed
	ExternalVoid     ExternalState = "void"     // the head moved: nothing of this counts any more
	ExternalFailed   ExternalState = "failed"   // the evaluation or the repair came to no result, as often as it may
)

// Verdicts of an evaluation.
const (
	VerdictApprove = "approve"
	VerdictReject  = "reject"
	VerdictFix     = "fix"
)

// ExternalMarker is the one comment of one letting in: of one label put on, for one head.
type ExternalMarker struct {
	Repo   string        `json:"repo"`
	Number int           `json:"number"`
	State  ExternalState `json:"state"`
	Head   string        `json:"head"`  // of the pull request, that the label was put on for
	At     time.Time     `json:"at"`    // when the label was put on
	By     string        `json:"by"`    // and by whom
	Label  string        `json:"label"` // its name then
	Base   string        `json:"base"`  // branch
	// Mirror is the branch of this repository that has the head, and Tip what is evaluated and merged: the head, or commits
	// of ours on top of it. A verdict is about Tip and nothing else.
	Mirror string `json:"mirror,omitempty"`
	Tip    string `json:"tip,omitempty"`
	// Next is the commit of a repair that is about to be put on the mirror.
	Next    string `json:"next,omitempty"`
	Verdict string `json:"verdict,omitempty"`
	Reason  string `json:"reason,omitempty"` // that the evaluation gave, or why there is none
	// Evaluated says that a command judged it; else the label did.
	Evaluated bool `json:"evaluated,omitempty"`
	Round     int  `json:"round,omitempty"`   // of repairs, from 1
	Attempt   int  `json:"attempt,omitempty"` // at this step, from 1
	// Landed are the commits of the base that have the same changes as those of the head, in their order.
	Landed []Commit `json:"landed,omitempty"`
	// Moved is the head that made it void.
	Moved string `json:"moved,omitempty"`

	Run        int64     `json:"run,omitempty"` // workflow run id; 0 in a terminal
	RunAttempt int       `json:"run_attempt,omitempty"`
	RunURL     string    `json:"run_url,omitempty"`
	Expires    time.Time `json:"expires,omitzero"`
	Claim      string    `json:"claim,omitempty"`
}

// Open says that something is still to be done about it.
func (m ExternalMarker) Open() bool {
	return m.State == ExternalLetIn || m.State == ExternalApproved || m.State == ExternalFix
}

// Evaluation is what an evaluating or repairing command reads as JSON on its standard input.
type Evaluation struct {
	Version     int         `json:"version"` // 1
	Kind        string      `json:"kind"`    // "evaluate" or "fix"
	Repository  string      `json:"repository"`
	PullRequest RequestPull `json:"pull_request"`
	Author      string      `json:"author"`
	// BaseTree is a directory with the files of the base branch. The command runs in the tree of the pull request.
	BaseTree     string   `json:"base_tree"`
	SHA          string   `json:"sha"`      // of that tree's commit
	BaseSHA      string   `json:"base_sha"` // of that of the base
	ChangedFiles []string `json:"changed_files"`
	Commits      []Commit `json:"commits"` // oldest first
	// Reason is why a repair is wanted; "" for an evaluation.
	Reason string `json:"reason,omitempty"`
}

// Judgement is what an evaluating command answers.
type Judgement struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
}
