package model

import "time"

// Why a pull request is blocked. The values are part of block markers and step outputs.
const (
	ReasonRewrite       = "history_rewrite"     // somebody rewrote the history of the head
	ReasonMarkerEdited  = "marker_edited"       // somebody edited a comment that holds our state
	ReasonMarkerDeleted = "marker_deleted"      // somebody deleted a comment of ours, and nothing says what it held
	ReasonAttempts      = "agent_failed"        // the agent failed on the same feedback as often as it may
	ReasonAgent         = "agent_blocked"       // the agent says it cannot go on
	ReasonOutcome       = "outcome_invalid"     // the agent's answer does not hold
	ReasonForbidden     = "path_forbidden"      // the agent changed what it must not
	ReasonTests         = "tests_failed"        // required tests fail after the repair rounds
	ReasonPush          = "push_refused"        // the branch's rules refuse our push
	ReasonConflict      = "concurrent_conflict" // somebody's commits conflict with the turn's, again and again
	ReasonSecret        = "secret_found"        // the agent's commits hold what looks like a secret
	ReasonRefused       = "agent_refused"       // the agent's model will not do it
	ReasonSession       = "session_missing"     // the agent's session is on no machine that can be reached
	ReasonBudget        = "budget_spent"        // the day's turns or cost are used up
	ReasonFlaky         = "flaky_test"          // a failure that the agent held to be a test's own came again
)

// MarkerSpoilt says that a reason is about a comment of ours that somebody edited or deleted.
func MarkerSpoilt(reason string) bool {
	return reason == ReasonMarkerEdited || reason == ReasonMarkerDeleted
}

// Why an attempt on an issue waits for a person, beside the reasons that a pull request blocks for.
const (
	ReasonTimeout   = "agent_timeout"      // the agent did not come to an end in its time
	ReasonCancelled = "cancelled"          // the workflow run was cancelled
	ReasonNoTest    = "regression_test"    // a bug fix without a file that looks like a test
	ReasonNoChange  = "nothing_changed"    // the agent changed nothing
	ReasonClosed    = "issue_closed"       // the issue was closed while the agent was working
	ReasonNoPull    = "pull_not_permitted" // GitHub does not let the token open a pull request
	ReasonNoDesign  = "design_missing"     // the merged design document is no longer on the base branch
	ReasonBranch    = "branch_taken"       // every name for the branch is taken
)

// The guards of a turn, as the phase of a block marker says them.
const (
	GuardCrossCycle = "cross_cycle" // between the last accepted head and the head now
	GuardLocal      = "local"       // between the start head and what the agent left in the checkout
	GuardRemote     = "remote"      // between the start head and the head just before the push
)

// BlockMarker stops the automation of a pull request until a person decides.
type BlockMarker struct {
	Repo     string `json:"repo"`
	Number   int    `json:"number"`
	Reason   string `json:"reason"`
	Expected string `json:"expected,omitempty"` // head
	Observed string `json:"observed,omitempty"` // head
	Phase    string `json:"phase"`
	Key      string `json:"key,omitempty"` // turn key, where one was running
	// Detail is the start of the block's details: the agent's question, or the end of an error.
	Detail string `json:"detail,omitempty"`
	// Until is when the block expires; zero: an operator ends it.
	Until time.Time `json:"until,omitzero"`
	Kept            // of the turn: its own comment may not say so yet
}

// UnblockMarker ends a block. Head is the head accepted from here on.
type UnblockMarker struct {
	Repo   string `json:"repo"`
	Number int    `json:"number"`
	Head   string `json:"head"`
	By     string `json:"by"`
	// Command is the key of the command that it answers; empty for one given in a terminal.
	Command string `json:"command,omitempty"`
	// Receipt is the comment of the newest known receipt: within one second only that orders them.
	Receipt int64 `json:"receipt,omitempty"`
	// Block is the comment of the block that it ends; others stay. 0 ends any.
	Block int64 `json:"block,omitempty"`
	// Restored says that the branch contains the old lineage again: plans based on it still hold.
	Restored bool `json:"restored,omitempty"`
}
