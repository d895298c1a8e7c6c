// Package merge makes the pure decisions about a request to merge: its strategy, whether it may begin, waits or is refused, and
// what people are told.
package merge

import (
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// Policy is what the settings say about merging.
type Policy struct {
	Strategy       string // if no rule matches
	Rules          []Rule
	Approvals      int
	RequiredChecks []string // "name", or "name@app" for a check run of that App only
	Attempts       int      // on one head and base tip
	DeleteBranch   *bool    // nil: nobody has said
	// Verify says what tests what would land: "local", "ci", "both", or "" for ci where the base requires checks, else local.
	Verify string
	Ignore string // label with which a person takes over; "": none
	// Freeze are labels that block all merges, and NeedLabels those without which nothing is merged.
	Freeze, NeedLabels []string
	WaitForReviewers   bool // who was asked for a review has to give it
	// Strict voids the approval of who asked the agent for the change, too, and does so on everybody's pull requests.
	Strict bool
}

// Rule chooses the strategy for some branches.
type Rule struct {
	Branch, Strategy      string // glob
	Enabled               bool
	BaseWins, UnionFields []string
}

// Case is everything that the decision about a merge request depends on.
type Case struct {
	Snapshot model.Snapshot
	State    model.State
	Facts    model.MergeFacts
	Policy   Policy
	// Request is the request: its Command, By, Asked, Head and mirror matter, and the tips that it has made. Without a Head
	// it is about the current head.
	Request model.MergeMarker
	// SHA is the (abbreviated) head that the command names, in lower case; "": none.
	SHA string
	// Unchanged says for older approved heads whether their change equals the head's: those in Stale.
	Unchanged map[string]bool
	// Begun says that the newest attempt is this one.
	Begun bool
	// LetIn replaces the approvals that the settings demand: a fork's pull request was admitted and approved; "": nothing
	// does.
	LetIn string
	// Own says that MergeXO opened the pull request, Starters are who had the agent begin it, and Pushes those to its branch, newest
	// first: none where AsksPushes has no use for them.
	Own      bool
	Starters []string
	Pushes   []model.Push
	// Queue is where the pull request stands in GitHub's merge queue; nil where that was not asked.
	Queue *model.QueueView
	// Busy is the claim of a running turn; nil for none.
	Busy *model.Posted[model.TurnMarker]
}

// Verdict says what happens to a merge request. With neither Go nor Wait it is refused.
type Verdict struct {
	Go   bool // it begins now
	Wait bool // what is missing can come without a change of the head
	// Code and Reason say why it does not begin: the deciding gate's. Reason has no full stop.
	Code   model.MergeCode
	Reason string
	Way    Way // none if the strategy is refused
	Gates  []model.Gate
	Try    bool // it is only tested
	// Approved is when the last of the approvals was given that it needs; zero: it needs none, or lacks one.
	Approved time.Time
	// Counted are the approvals that count.
	Counted []model.Review
}

// Unmet are the closed gates.
func (v Verdict) Unmet() []model.Gate {
	return slices.DeleteFunc(slices.Clone(v.Gates), func(g model.Gate) bool { return g.Met })
}

// Refusal is an error with the code of why something cannot be merged as requested.
type Refusal struct {
	Code model.MergeCode
	Text string // a sentence without a full stop, in plain text
}

func (r *Refusal) Error() string { return r.Text }
