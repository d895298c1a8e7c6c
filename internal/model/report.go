package model

import "slices"

// Effect is one change to the outside world, as data. Its token names it; the engine refuses to apply a token twice.
type Effect struct {
	Kind   string `json:"kind"`   // comment, edit, reply, delete, stage, push
	Target string `json:"target"` // pull request number, comment id or ref
	Token  string `json:"token"`
	Status string `json:"status"` // applied, present or planned
}

// Result is how a run ended, in the words of the report.
type Result string

// The results; each has its exit code in the command line's table.
const (
	ResultDone    Result = "done"
	ResultNothing Result = "nothing"
	ResultBlocked Result = "blocked"
	ResultRetry   Result = "retry"
	ResultFailed  Result = "failed"
)

// Graver reports whether a result needs a person more than another.
func (r Result) Graver(other Result) bool {
	order := []Result{ResultNothing, ResultDone, ResultRetry, ResultBlocked, ResultFailed}
	return slices.Index(order, r) > slices.Index(order, other)
}

// Calls counts network operations.
type Calls struct {
	REST    int `json:"rest"`
	GraphQL int `json:"graphql"`
	Git     int `json:"git"`
}

// Report is what a run did, for people and for programs.
type Report struct {
	Result     Result   `json:"result"`
	Exit       int      `json:"exit"`
	Number     int      `json:"number"`
	TurnKey    string   `json:"turn_key"`
	Effects    []Effect `json:"effects"`
	Calls      Calls    `json:"calls"`
	DurationMS int64    `json:"duration_ms"`
	Reason     string   `json:"reason"`
	*Merging            // of mergexo merge; nil elsewhere

	// HeadSHA, BlockedReason, Expected and Observed feed the step outputs and the job summary.
	HeadSHA       string `json:"-"`
	BlockedReason string `json:"-"`
	Expected      string `json:"-"`
	Observed      string `json:"-"`
	// IsIssue says that Number is an issue's, and Opened is the pull request that this run opened for it, or found.
	IsIssue bool    `json:"-"`
	Opened  PullRef `json:"-"`
	// Merge says that BlockedReason is that of a merge, and Pictures are drawings of what merges did to the history, as
	// Markdown.
	Merge    bool     `json:"-"`
	Pictures []string `json:"-"`
	// Trains are the merge trains that this run took further, as it left them, by their bases.
	Trains []Train `json:"-"`
	// Mistaken is set when it is the caller who has to fix what went wrong.
	Mistaken bool `json:"-"`
	// Need is what waits for a person at the end; nil for nothing.
	Need *Need `json:"-"`
	// Posted holds the texts that were or would be posted, for people who watch a replay.
	Said []Saying `json:"-"`
}

// Join takes in the report of another number of the same run. The graver one says what the run came to, and where; what was done is
// what both did.
func (r *Report) Join(o Report) {
	first := *r
	if o.Result.Graver(r.Result) {
		*r = o
	}
	r.Effects = slices.Concat(first.Effects, o.Effects)
	r.Pictures = slices.Concat(first.Pictures, o.Pictures)
	r.Trains = slices.Concat(first.Trains, o.Trains)
	r.Said = slices.Concat(first.Said, o.Said)
	r.Calls.Git = first.Calls.Git + o.Calls.Git
}

// Saying is one text that was posted, with where it went.
type Saying struct {
	Where   string
	Text    string
	Passing bool // another text was to take its place
}
