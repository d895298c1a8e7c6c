package model

import "time"

// AnswerMarker is what a turn leaves beside its receipt, in each of its replies and, as trailers, in its last commit: enough
// to restore the receipt from where somebody deleted it.
type AnswerMarker struct {
	Repo   string   `json:"repo"`
	Number int      `json:"number"`
	Key    string   `json:"key"`             // of the turn
	Events []string `json:"events"`          // event keys
	Start  string   `json:"start,omitempty"` // head that the turn started from
	Head   string   `json:"head"`            // that the turn led to
	// Since and Seen are the mark that the turn set.
	Since time.Time `json:"since,omitzero"`
	Seen  int64     `json:"seen,omitempty"`
	// Session is the agent's.
	Session string `json:"session,omitempty"`
}

// SettingsMarker marks the word that the settings cannot be used. Its token names what is wrong with them.
type SettingsMarker struct {
	Repo   string `json:"repo"`
	Number int    `json:"number"`
}

// Trace is what is left of a turn.
type Trace struct {
	Marker AnswerMarker
	At     time.Time
	Commit bool // else it is a reply
	// Attested is set where the trace itself shows that it is ours. Of another one GitHub has to tell who pushed it.
	Attested bool
	// Abandoned is set where an operator has named another head since. It is a trace only while its work is on the branch.
	Abandoned bool
}

// CommitText is a commit with what it says.
type CommitText struct {
	SHA     string
	Message string
	Author  string    // login, by the commit's own account; "": of none that GitHub knows
	At      time.Time // when it was committed, by its own account
}

// Push is one change of a branch, as GitHub tells who made it.
type Push struct {
	Before, After string
	By            Actor
	At            time.Time
}
