package model

import (
	"strings"
	"time"
)

// StatusState is the status of a pull request in one word.
type StatusState string

// The states of a pull request, a closed one first and then the most urgent first.
const (
	StatusClosed    StatusState = "closed"
	StatusMerged    StatusState = "merged"
	StatusUntracked StatusState = "untracked"
	StatusReleased  StatusState = "released"
	StatusBlocked   StatusState = "blocked"
	StatusTaken     StatusState = "taken_over"
	StatusPaused    StatusState = "paused"
	StatusClaimed   StatusState = "claimed"
	StatusMerging   StatusState = "merging"
	StatusFailed    StatusState = "failed"
	StatusPending   StatusState = "pending"
	StatusQueued    StatusState = "in_approval" // a request to merge waits
	StatusIdle      StatusState = "idle"
)

// Words is the state as people read it.
func (s StatusState) Words() string { return strings.ReplaceAll(string(s), "_", " ") }

// Status sums up a pull request.
type Status struct {
	Number   int           `json:"number"`
	Title    string        `json:"title"`
	URL      string        `json:"url"`
	Issue    int           `json:"issue"` // 0: none
	Branch   string        `json:"branch"`
	State    StatusState   `json:"state"`
	Head     string        `json:"head"`
	Accepted string        `json:"accepted"` // empty: nothing is yet
	Pending  int           `json:"pending"`  // comments of people who are heard, without an answer
	Failed   int           `json:"failed"`   // attempts since the last success, unblock or retry
	LastTurn *LastTurn     `json:"last_turn"`
	Block    *Blocked      `json:"block"`
	Merge    *MergeRequest `json:"merge"` // the newest one; nil for none
	Need     *Need         `json:"need"`  // what waits for a person; nil for nothing
	// Review is the review that was asked for and is not posted yet; nil for none.
	Review *OpenReview `json:"review,omitempty"`
	// Delegates are the logins of people who may have it merged.
	Delegates []string `json:"delegates"`
	// Bundle is the file on a runner that has the work of its last attempt, if no push got through.
	Bundle string `json:"-"`
	// Train is the place of its request in the merge train, as far as somebody asked for it; nil: nobody did, or it is in none.
	Train *TrainStanding `json:"train,omitempty"`
}

// MergeRequest is a request to merge in short.
type MergeRequest struct {
	State  MergeState `json:"state"`
	Reason MergeCode  `json:"reason"` // "" where nothing is wrong
	Head   string     `json:"head"`
	By     string     `json:"by"`
	Since  time.Time  `json:"since"`
	URL    string     `json:"url"`
	Tip    string     `json:"-"` // that the head was moved to, to land; "" before that
}

// Open says that the request is neither done nor refused.
func (m MergeRequest) Open() bool { return m.State == MergeWaiting || m.State == MergeRunning }

// OpenReview is a review that is still to be posted, in short.
type OpenReview struct {
	Head  string    `json:"head"`
	By    string    `json:"by"`
	Since time.Time `json:"since"`
	URL   string    `json:"url"`
}

// LastTurn is the newest turn of a pull request in short.
type LastTurn struct {
	Phase Phase     `json:"phase"`
	At    time.Time `json:"at"`
	URL   string    `json:"url"`
}

// Blocked is a block in short.
type Blocked struct {
	Number   int       `json:"number"`
	Issue    int       `json:"issue"` // 0: none
	Reason   string    `json:"reason"`
	Expected string    `json:"expected"`
	Observed string    `json:"observed"`
	Since    time.Time `json:"since"`
	URL      string    `json:"url"`
	// Local says that the agent rewrote history in its checkout, which alone has the observed head.
	Local bool `json:"-"`
}
