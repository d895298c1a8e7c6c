package model

import "strings"

// Try is an attempt of a turn that came to no result.
type Try struct {
	Attempt int    `json:"attempt"`
	Reason  string `json:"reason,omitempty"` // "": its run died without a word
	RunURL  string `json:"run_url,omitempty"`
	Handoff string `json:"handoff,omitempty"` // as in TurnMarker
	Kept           // what it did. A commit alone holds the same work.
}

// Unfinished is the newest work that no receipt follows, and the event keys that it is about.
type Unfinished struct {
	Try
	Events []string
}

// maxCause is how many characters of a reason a Try records.
const maxCause = 300

// Try records a failed attempt from its claim.
func (m TurnMarker) Try() Try {
	cause := []rune(strings.Join(strings.Fields(m.Reason), " "))
	if len(cause) > maxCause {
		cause = append(cause[:maxCause], '…')
	}
	return Try{Attempt: m.Attempt, Reason: string(cause), RunURL: m.RunURL, Handoff: m.Handoff, Kept: m.Kept}
}
