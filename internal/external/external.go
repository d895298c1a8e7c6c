// Package external decides what becomes of a fork's pull request that a maintainer's label lets in, and holds what people
// are told of it. Nobody of the repository has written its commits, so everything here hangs on one question: is the head
// still the one that somebody who may merge has looked at?
package external

import (
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// Policy is what the settings say about pull requests of forks.
type Policy struct {
	Enabled       bool
	Label         string // that lets a pull request in
	Ignore        string // label by which a person takes over; "": none
	Evaluate, Fix bool   // there are commands for it
	MaxRounds     int    // of repairs
	MaxAttempts   int    // at one step
}

// Facts is all that a fork's pull request is judged by.
type Facts struct {
	Pull   model.Pull
	State  model.State
	Policy Policy
	// Operator says that somebody may let a pull request in.
	Operator func(login string) bool
}

// Act is what is to be done about a fork's pull request.
type Act string

// What there is to be done. Whether another run is at work on an open letting in is the caller's to find out, before it
// does anything.
const (
	Nothing Act = "nothing"
	LetIn   Act = "let_in"  // mirror the head and evaluate it
	GoOn    Act = "go_on"   // with From: what a dead run left, or an approved one that is not merged yet
	GiveUp  Act = "give_up" // From was tried as often as it may be
	Void    Act = "void"    // the head moved since: say so
	Relabel Act = "relabel" // nobody knows which head the label was for: ask for it again
	Finish  Act = "finish"  // close what is decided and said
)

// Step is what is to be done next, and why.
type Step struct {
	Act Act
	Why string // a sentence without its end
	// By and At are of the label.
	By   string
	At   time.Time
	From *model.Said[model.ExternalMarker] // the newest letting in; nil for none
	// Marker is what the comment of LetIn, GiveUp, Void and Relabel says. Its Repo and what is the run's own are not filled in.
	// A comment of Void or Relabel with it makes that they are said once.
	Marker model.ExternalMarker
}

// Next says what is to be done about a fork's pull request.
func Next(f Facts) Step { return Step{Act: Nothing, Why: "not built yet"} }

// Gates judges what lets a fork's pull request in.
func Gates(f Facts) []model.Gate { return nil }

// LabelledBy is the newest putting on of a label that is on.
func LabelledBy(p model.Pull, label string) (model.LabelChange, bool) {
	return model.LabelChange{}, false
}

// Decide is what a letting in comes to by an answer about its tip.
func Decide(p Policy, m model.ExternalMarker, j model.Judgement) model.ExternalMarker { return m }

// Evidence is what stands for the approvals of the settings: for merge.Case.LetIn.
func Evidence(m model.ExternalMarker) string { return "" }
