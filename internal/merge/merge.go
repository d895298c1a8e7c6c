// Package merge decides everything about a request to merge that can be decided without touching the world: which
// strategy it takes, whether it may begin, has to wait or is refused, and what people are told of it.
package merge

import (
	"github.com/mergexo/mergexo/internal/model"
)

// Policy is what the settings say about merging.
type Policy struct {
	Strategy       string // where no rule matches
	Rules          []Rule
	Approvals      int
	RequiredChecks []string // "name", or "name@app" for a check run of that App only
	Attempts       int      // on one head and one tip of the base
	Freeze         string   // label that keeps everything from being merged; "": none
	Ignore         string   // label by which a person takes over; "": none
}

// Rule chooses the strategy for some branches.
type Rule struct {
	Branch, Strategy      string // glob
	Enabled               bool
	BaseWins, UnionFields []string
}

// Case is all that a request to merge is judged by.
type Case struct {
	Snapshot model.Snapshot
	State    model.State
	Facts    model.MergeFacts
	Policy   Policy
	// Request is what is asked for: of its fields Command, By, Asked, Head and the mirror count, and the tips that it has made.
	// Without a Head it is about the head as it is now.
	Request model.MergeMarker
	// SHA is the commit that the command names as the head, or its beginning, in lower case; "": none.
	SHA string
	// Unchanged tells of older approved heads whether their change is the same as the head's: those that Stale names.
	Unchanged map[string]bool
	// Begun says that the newest attempt is this one.
	Begun bool
	// LetIn is what stands for the approvals that the settings want, in words: the pull request of a fork was let in and found
	// good; "": nothing does.
	LetIn string
	// Busy is the claim of a turn that is at work; nil for none.
	Busy *model.Posted[model.TurnMarker]
}

// Verdict says what happens to a merge request. With neither Go nor Wait it is refused.
type Verdict struct {
	Go   bool // it begins now
	Wait bool // what is missing can come without a change of the head
	// Code and Reason say why it does not begin: of the gate that decides. Reason is a sentence without its end.
	Code   model.MergeCode
	Reason string
	Way    Way // none where the strategy is refused
	Gates  []model.Gate
}

// Unmet are the gates that are not met.
func (v Verdict) Unmet() []model.Gate {
	var out []model.Gate
	for _, g := range v.Gates {
		if !g.Met {
			out = append(out, g)
		}
	}
	return out
}

// Refusal is an error that says with its code why something cannot be merged as it is asked for.
type Refusal struct {
	Code model.MergeCode
	Text string // a sentence without its end, in plain text
}

func (r *Refusal) Error() string { return r.Text }
