package model

import "time"

// LogEntry is one thing that MergeXO did, as one of its comments records it in its newest state.
type LogEntry struct {
	At     time.Time `json:"at"`    // of that state
	Began  time.Time `json:"began"` // creation of the comment
	Number int       `json:"number"`
	Kind   string    `json:"kind"`  // of the marker: turn, issue, merge, command, ...
	State  string    `json:"state"` // as in the marker: done, failed, applied, ...
	// What is the entry in words, Why the reason or the cause, and By who asked for it.
	What string `json:"what"`
	Why  string `json:"why,omitempty"`
	By   string `json:"by,omitempty"`
	// SHA is the commit that resulted, or that it is about.
	SHA     string  `json:"sha,omitempty"`
	CostUSD float64 `json:"cost_usd,omitempty"` // as the agent reported it
	RunURL  string  `json:"run_url,omitempty"`
	URL     string  `json:"url"` // of the comment
}

// Said are all comments of a repository's conversations that were read for the log, by number.
type Said struct {
	Viewer        Actor
	Settings      string // of the default branch
	SettingsFound bool
	Comments      map[int][]Comment
}
