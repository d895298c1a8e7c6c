package model

import (
	"strings"
	"time"
)

// Severity says how much a finding matters.
type Severity string

// The severities, the gravest first.
const (
	Must   Severity = "must"   // it has to be fixed before the change lands
	Should Severity = "should" // it is worth another change
	Nit    Severity = "nit"    // a matter of taste
)

// Finding is one thing that a reviewer says about a change.
type Finding struct {
	Path       string   `json:"path"`
	Line       int64    `json:"line"` // in the new version of the file; 0: the whole file
	Severity   Severity `json:"severity"`
	Text       string   `json:"text"`
	Suggestion string   `json:"suggestion"` // what could stand in place of the line; "" for none
}

// Raised is a finding that stands on the pull request already.
type Raised struct {
	Path    string
	Line    int // as it is now; 0 where the line is not known or has changed since
	Text    string
	Settled bool // a person has resolved it, or said that nothing will be done about it
}

// PlannedReview is what a review before a pull request has left to say, to be posted with it.
type PlannedReview struct {
	Findings []Finding `json:"findings"`
	Shown    []int     `json:"shown,omitempty"`   // indexes of those on lines that the diff shows
	By       string    `json:"by"`                // the reviewer's adapter
	Dropped  int       `json:"dropped,omitempty"` // findings that the record had no room for
}

// ReviewState is the progress of a review that was asked for.
type ReviewState string

// The states of a review in its marker.
const (
	ReviewRunning ReviewState = "running" // a run is working on it, or died
	ReviewDone    ReviewState = "done"    // posted
	ReviewFailed  ReviewState = "failed"  // the reviewer used up its attempts
)

// ReviewMarker is the comment of one request for a review of a pull request.
type ReviewMarker struct {
	Repo   string      `json:"repo"`
	Number int         `json:"number"`
	State  ReviewState `json:"state"`
	Head   string      `json:"head"` // that is reviewed
	By     string      `json:"by"`
	// Command is the key of the command that it answers, or of the label or event that asked in its place.
	Command string    `json:"command"`
	At      time.Time `json:"at,omitzero"`
	Attempt int       `json:"attempt,omitempty"` // from 1
	Reason  string    `json:"reason,omitempty"`  // why there is no review
	// Spent is the pull request's cost on the day of the review, including the review.
	Spent *Spent `json:"spent,omitempty"`
	// Own is what of that is the review's.
	Own *Spent `json:"own,omitempty"`

	Lease
}

// Charge counts what the reviewer has cost, and a turn for each attempt; -1 takes one back.
func (m *ReviewMarker) Charge(turns int, cost float64) {
	for _, s := range []**Spent{&m.Spent, &m.Own} {
		if *s == nil {
			*s = &Spent{}
		}
		after := **s
		after.Turns, after.CostUSD = after.Turns+turns, after.CostUSD+cost
		*s = &after
	}
}

// ByItself reports whether it was asked for without a command: the key of a command names its comment, any other is a token.
func (m ReviewMarker) ByItself() bool { return !strings.Contains(m.Command, ":") }

// Open reports whether the review is still to be posted.
func (m ReviewMarker) Open() bool { return m.State == ReviewRunning }
