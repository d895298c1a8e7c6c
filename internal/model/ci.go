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
	Branch     string // that the commit was on; "": GitHub does not say
	Completed  bool
	Conclusion string // success, failure, cancelled, ...; "" until it is completed
	CreatedAt  time.Time
	UpdatedAt  time.Time
	URL        string
	// Jobs are the failed ones, in GitHub's order; nil if they were not requested.
	Jobs []CIJob
}

// CIJob is a failed job of a workflow run.
type CIJob struct {
	ID         int64
	Name       string
	Conclusion string
	Step       string // the first failed one; "" if GitHub does not say
	URL        string
	Log        string // its end, cleaned; "" if it was deleted
	Cut        bool   // Log is incomplete
}

// Rerun is a workflow run whose failed jobs were, or will be, run again.
type Rerun struct {
	Run     int64 `json:"run"`
	Attempt int   `json:"attempt"` // that failed
}

// FlakyMark records in a receipt that the agent called a failure flaky.
type FlakyMark struct {
	Issue int     `json:"issue"` // where it is reported
	Runs  []Rerun `json:"runs"`
	Head  string  `json:"head"` // that they ran on
}
