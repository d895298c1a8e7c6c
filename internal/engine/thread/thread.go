// Package thread holds what a run knows about one pull request or issue: what it read, the settings, people's rights, and the
// claim of this run. World holds what a run needs beside that.
package thread

import (
	"log/slog"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// Thread holds what a run knows about one pull request or issue: what it read, the settings, and who may do what there.
type Thread struct {
	*World
	Log    *slog.Logger // the world's, with what its lines are about
	Event  model.Event
	Report *model.Report

	Snap      model.Snapshot
	unchanged model.Snapshot // as it was read, without what a run has only planned
	State     model.State
	Settings  config.Settings
	Policy    turn.Policy
	Operators command.Policy
	Memory    *Memory
	ReadAt    time.Time               // when the snapshot was read, on our clock
	Liveness  map[int64]turn.Liveness // whether the processes behind claims are alive, by comment id
	Reported  map[int64]bool          // distrusted comments that are already in the log
	Lost      []model.Trace           // traces of turns whose receipts were deleted
	Lifted    int64                   // the comment with the agent's question, if somebody has answered it; otherwise 0
	Onlooks   bool                    // the run only reads, so its token may be another one than that of the work
	Fallback  *config.Settings        // count if the base branch has no readable settings; nil: then none do
	Survey    *Survey                 // nil: the run may ask and act
	Beside    []string                // accounts with which MergeXO worked here, if the run only reads

	Branch   string            // is read along with an issue
	Prospect func(*model.Pull) // adds to the future pull request of an issue; nil: there is none

	MergeFacts *model.MergeFacts // nil: not asked
	// Demands lists what each base demands of our push, beside the demands in MergeFacts.
	Demands map[string][]model.Demand
	// HeadDemands lists the rules that keep us from rewriting the head branch; nil: not asked.
	HeadDemands []model.Demand

	// The claim at hand: the comment, 0 for none, and its marker.
	ClaimID int64
	Marker  model.TurnMarker

	Checkout *git.Checkout
	OwnClone bool // use a clone of our own and not the workspace
	Cleared  bool // ClearWorkspace has switched to that clone
	shared   bool // the checkout is another thread's

	others []*Thread // that are closed with this one
}

// New returns a thread of which nothing was read yet. known holds what the run remembers of it, or nil. Until it is read, the
// thread counts as a pull request.
func New(w *World, ev model.Event, rep *model.Report, known *Memory) *Thread {
	if known == nil {
		known = NewMemory(nil)
	}
	t := &Thread{World: w, Event: ev, Report: rep, Memory: known, Snap: model.Snapshot{Of: model.PullNumber(ev.Number)}}
	t.Log = slog.New(named{w.Log.Handler(), t})
	return t
}

// About names the thread in a sentence.
func (t *Thread) About() string { return t.Snap.Of.About() }

// NumberKey returns the log's key for the number of the thread.
func (t *Thread) NumberKey() string { return t.Snap.Of.LogKey() }

// Watched reports whether the event is about the pull request's head, or is a sweep. Then the pull request is tracked and guarded
// even if nobody commented.
func Watched(t *Thread) bool {
	if t.Event.Name == "schedule" {
		return true
	}
	if t.Event.Name != "pull_request" {
		return false
	}
	return slices.Contains([]string{"opened", "reopened", "ready_for_review", "synchronize"}, t.Event.Action)
}
