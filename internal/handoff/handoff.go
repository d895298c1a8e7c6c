// Package handoff reads and writes the two files that pass from the agent's job to the job that applies, in a split run. The
// workflow carries them over as an artifact.
//
// The agent's job cannot write to GitHub. The second job can. It runs nothing that the agent touched, and trusts nothing in these
// files, since whatever ran beside the agent may have written them. So the format is small, closed and bounded. It is checked on
// writing and on reading. What the second job can find out for itself is compared and not taken from here.
package handoff

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/mergexo/mergexo/internal/model"
)

// Version is of the format. Both jobs run the same release, so that no other one is ever read.
const Version = 1

// The files of a handoff. Anything else in its directory is refused.
const (
	OutcomeFile = "outcome.json"
	BundleFile  = "commits.bundle"
)

// The sizes in bytes that the files may have.
const (
	MaxOutcome = 8 << 20
	MaxBundle  = 1 << 30
)

// Ended is how the agent's part of the turn ended.
type Ended string

// The ways to end.
const (
	Planned   Ended = "planned"   // with an outcome, and commits or none
	Blocked   Ended = "blocked"   // a person is needed
	Failed    Ended = "failed"    // this attempt has no result
	Postponed Ended = "postponed" // nothing but time was missing: the attempt does not count
	Nothing   Ended = "nothing"   // there was no turn for an agent
)

// Reasons are why an agent's part may block. All others are for the second job to find.
var Reasons = []string{
	model.ReasonAgent, model.ReasonOutcome, model.ReasonForbidden, model.ReasonTests, model.ReasonRewrite, model.ReasonSecret,
	model.ReasonRefused, model.ReasonSession,
}

// Handoff is the content of a handoff. Which fields are set depends on Ended; rules has the table.
type Handoff struct {
	Version    int    `json:"version"`
	Repository string `json:"repository"` // owner/name
	Number     int    `json:"number"`     // pull request, or issue
	Ended      Ended  `json:"ended"`
	// Flow is set for an attempt on an issue, and for nothing else. There Start is the commit that the branch began at, or
	// its tip, Events may be empty, and there is no Onto. Review takes its place where a review is handed over.
	Flow model.Flow `json:"flow,omitempty"`

	// Made names the run of the agent's job: another run makes another handoff, whatever its agent says.
	Made string `json:"made,omitempty"`

	// The turn: all but Onto are set unless there was none.
	TurnKey string   `json:"turn_key,omitempty"`
	Start   string   `json:"start,omitempty"`
	Onto    string   `json:"onto,omitempty"`   // the head that the commits sit on, where it is not Start
	Events  []string `json:"events,omitempty"` // event keys, sorted

	// Head is where the commits lead: the planned head, or, without a result, what is to be kept of the work. Planned
	// without changes it is Base.
	Head   string  `json:"head,omitempty"`
	Bundle *Bundle `json:"bundle,omitempty"` // set when Head is not Base

	Reason   string `json:"reason,omitempty"`   // blocked: one of Reasons
	Detail   string `json:"detail,omitempty"`   // for people; of a planned turn there is none
	Observed string `json:"observed,omitempty"` // blocked for a rewrite: the head that the agent left

	// Outcome is all rounds of the agent as one. Without a result it has session and usage only, where they are known.
	Outcome model.Outcome `json:"outcome"`
	Seconds int           `json:"seconds,omitempty"` // how long the agent took
	Notes   []string      `json:"notes,omitempty"`   // what people should know of its work
	Dropped int           `json:"dropped,omitempty"` // findings of a review beyond those in Outcome
}

// Bundle names the content of the bundle file. It tells a transfer that went wrong; it does not tell who wrote the file.
type Bundle struct {
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// Base is the head that the commits sit on.
func (h Handoff) Base() string { return cmp.Or(h.Onto, h.Start) }

// Commits says that commits are handed over.
func (h Handoff) Commits() bool { return h.Head != "" && h.Head != h.Base() }

// BundlePath is where in a handoff's directory the bundle is.
func BundlePath(dir string) string { return filepath.Join(dir, BundleFile) }

// Refusal says what of a handoff does not hold: a file of the directory or a field of the outcome, and why. It is one line.
type Refusal struct{ What, Why string }

func (r *Refusal) Error() string { return "handoff refused: " + r.What + ": " + r.Why }

func refuse(what, why string, args ...any) *Refusal {
	return &Refusal{what, fmt.Sprintf(why, args...)}
}

// CutShort returns the handoff of a cancelled run in place of h. The next event tries a turn again, and a person is asked about an issue, as
// after a whole run.
func (h Handoff) CutShort() Handoff {
	switch {
	case h.Ended == Planned || h.Ended == Blocked:
	case h.Flow != "":
		h.Ended, h.Reason, h.Detail = Blocked, model.ReasonCancelled, "the agent's job was cancelled"
	case h.Ended == Failed:
		h.Ended = Postponed
	}
	return h
}
