package model

import (
	"cmp"
	"slices"
	"time"
)

// Board is all that the dashboard shows of a repository.
type Board struct {
	Repo      Repo
	URL       string // of the repository
	At        time.Time
	Pulls     []BoardPull  // open and tracked, of a fork that was let in, or asked to be merged; the oldest first
	Issues    []BoardIssue // open and labelled for an agent, or with work of ours; the oldest first
	Conflicts []BoardConflict
	// Untracked is how many further pull requests are open.
	Untracked int
	// Left is how much work the sweep left for the next one, and why; 0 for none.
	Left    int
	LeftWhy string
}

// Needs are all that waits for a person, in the order of their numbers.
func (b Board) Needs() []Need {
	out := []Need{}
	for _, p := range b.Pulls {
		if p.Need != nil {
			out = append(out, *p.Need)
		}
	}
	for _, i := range b.Issues {
		if i.Need != nil {
			out = append(out, *i.Need)
		}
	}
	slices.SortStableFunc(out, func(a, b Need) int { return cmp.Compare(a.Number, b.Number) })
	return out
}

// BoardPull is a pull request.
type BoardPull struct {
	Status
	Author   string
	Base     string
	Opened   time.Time
	Updated  time.Time
	CI       string // SUCCESS, FAILURE, ERROR, PENDING, EXPECTED or ""
	External *ExternalMarker
	// Turns are the newest that were read, oldest first.
	Turns []BoardTurn
}

// BoardTurn is one attempt of an agent, or one merge.
type BoardTurn struct {
	Kind    string // "turn", "flow" or "merge"
	Phase   string // as its marker says it
	From    string // head that it began at
	To      string // head that it led to; "" for none
	Began   time.Time
	Ended   time.Time // zero while it is under way
	CostUSD float64   // of the day so far on this pull request, where only that is known, less what was known before
	URL     string    // of the comment
	RunURL  string
	Reason  string // why it failed
}

// BoardIssue is an issue.
type BoardIssue struct {
	Number  int
	Title   string
	URL     string
	Flow    Flow
	Status  Phase  // of the newest attempt; "" before the first
	Waiting string // why a person has to say something
	Pull    int    // that was opened for it
	Need    *Need  // what waits for a person; nil for nothing
	Turns   []BoardTurn
}

// BoardConflict is a pull request that conflicts with its base, or with another one.
type BoardConflict struct {
	Number, With int // With 0: the base
	Paths        []string
}
