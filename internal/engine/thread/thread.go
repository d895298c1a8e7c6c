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
	ReadAt    time.Time               // of the snapshot, on our clock
	Liveness  map[int64]turn.Liveness // what was found out about claims, by comment id
	Reported  map[int64]bool          // distrusted comments that the log has
	Lost      []model.Trace           // what is left of turns whose receipts were deleted
	Lifted    int64                   // the comment of the agent's question that somebody has answered; 0: none
	Onlooks   bool                    // the token need not be the one that the work is done with
	Fallback  *config.Settings        // that count where the base branch has none that can be read; nil: none do
	Survey    *Survey                 // nil: the run may ask and act
	Beside    []string                // accounts with which MergeXO has worked here, found by who only looks

	Branch   string            // that is read along with an issue
	Prospect func(*model.Pull) // adds to the pull request that an issue is on its way to; nil: there is none to speak of

	MergeFacts *model.MergeFacts // nil: not asked
	// Demands are what each base demands of our push, beside what MergeFacts tell by themselves.
	Demands map[string][]model.Demand
	// HeadDemands are what keeps us from rewriting the head branch; nil: not asked.
	HeadDemands []model.Demand

	// The claim at hand: the comment, 0 for none, and its marker.
	ClaimID int64
	Marker  model.TurnMarker

	Checkout *git.Checkout
	OwnClone bool // and not the workspace
	Cleared  bool // since tests of merges run there
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

// NumberKey is what the log calls the number of the thread.
func (t *Thread) NumberKey() string { return t.Snap.Of.LogKey() }

// Watched says that the event is about the pull request's head itself: then it is tracked and guarded even when nobody
// has said anything.
func Watched(t *Thread) bool {
	if t.Event.Name == "schedule" {
		return true
	}
	if t.Event.Name != "pull_request" {
		return false
	}
	return slices.Contains([]string{"opened", "reopened", "ready_for_review", "synchronize"}, t.Event.Action)
}
