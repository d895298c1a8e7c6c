package model

import (
	"cmp"
	"slices"
	"time"
)

// Board is everything that the dashboard shows of a repository.
type Board struct {
	Repo      Repo
	URL       string // of the repository
	At        time.Time
	Pulls     []BoardPull  // open and tracked, admitted, or with a merge request; the oldest first
	Issues    []BoardIssue // open with an agent's label, or with work of ours; the oldest first
	Conflicts []BoardConflict
	Trains    []Train // merge trains, by their bases
	// Untracked is the number of other open pull requests.
	Untracked int
	// Left is how much work the sweep left for the next one, and why; 0 for none.
	Left    int
	LeftWhy string
}

// Needs are everything that waits for a person, by number.
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
	Author  string
	Base    string
	Opened  time.Time
	Updated time.Time
	CI      string // SUCCESS, FAILURE, ERROR, PENDING, EXPECTED or ""
	// Checks are those that failed or are not done, as far as they were read. MoreChecks says that there may be further ones.
	Checks      []Check
	MoreChecks  bool
	External    *ExternalMarker
	ExternalURL string // of its comment
	// Turns are the newest ones that were read, oldest first.
	Turns []BoardTurn
}

// BoardTurn is one attempt of an agent, or one merge.
type BoardTurn struct {
	Kind    string // "turn", "flow" or "merge"
	Phase   string // as in its marker
	From    string // head at its start
	To      string // head at its end; "" for none
	Began   time.Time
	Ended   time.Time // zero while it runs
	CostUSD float64   // if only the day's total for this pull request is known, the difference to the previous total
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
	Waiting string // what a person has to answer
	Pull    int    // opened for it
	Need    *Need  // what waits for a person; nil for nothing
	Turns   []BoardTurn
	// Roadmap are the items of the roadmap that is carried out for it, and RoadmapURL is the comment that shows them.
	Roadmap    []RoadmapEntry
	RoadmapURL string
}

// BoardConflict is a pull request that conflicts with its base, or with another one.
type BoardConflict struct {
	Number, With int // With 0: the base
	Paths        []string
}
