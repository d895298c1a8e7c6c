package model

import "time"

// CIRun is a workflow run on a head.
type CIRun struct {
	ID         int64
	Workflow   int64  // id of the workflow
	Path       string // of its file
	Name       string
	Event      string // that started it
	Attempt    int
	HeadSHA    string
	Completed  bool
	Conclusion string // success, failure, cancelled, ...; "" until it is completed
	CreatedAt  time.Time
	UpdatedAt  time.Time
	URL        string
	// Jobs are those that failed, in GitHub's order; nil where they were not asked for.
	Jobs []CIJob
}

// CIJob is a failed job of a workflow run.
type CIJob struct {
	ID         int64
	Name       string
	Conclusion string
	Step       string // the first one that failed; "" where GitHub does not tell
	URL        string
	Log        string // the end of it, cleaned; "" where there is none any more
	Cut        bool   // Log is not all of it
}

// Rerun is a workflow run whose failed jobs were run again, or are to be.
type Rerun struct {
	Run     int64 `json:"run"`
	Attempt int   `json:"attempt"` // that failed
}

// FlakyMark is what a receipt says of a failure that the agent held to be a test's own.
type FlakyMark struct {
	Issue int     `json:"issue"` // where it is reported
	Runs  []Rerun `json:"runs"`
	Head  string  `json:"head"` // that they ran on
}
