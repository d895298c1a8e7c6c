package work

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/clock"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// wip is what is known of the branch that the work in progress is saved on.
type wip struct {
	tip    string // "": nothing was saved
	raw    string // the snapshot that tip was made of
	pushed bool   // there may be such a branch
	sure   bool   // it is at tip

	objects string // directory of their objects; "": none yet
}

// WipBranch is where the work of a claim is saved while its agent is at it. The claim's name is random, so that no other
// attempt uses it.
func WipBranch(number int, claim string) string {
	return fmt.Sprintf("mergexo/checkpoint/%d/wip-%.12s", number, journal.Token("wip", claim))
}

// saveTime is how long one saving may take.
const saveTime = 2 * time.Minute

// Saves is the branch that work in progress is saved on; "" where it is not.
func Saves(w *Work) string {
	if !w.Phase.IsWhole() || w.Settings.Agent.CheckpointEvery <= 0 {
		return ""
	}
	return WipBranch(w.Event.Number, w.Marker.Claim)
}

// Save pushes what the agent has done so far, again and again until the returned function is called, so that a runner
// that is killed takes some minutes of work with it and no more.
func Save(ctx context.Context, w *Work) (end func()) {
	branch := Saves(w)
	if branch == "" {
		return func() {}
	}
	ctx, over := context.WithCancel(ctx)
	ended := make(chan struct{})
	tick := clock.Or(w.Clock).NewTicker(w.Settings.Agent.CheckpointEvery)
	go func() {
		defer close(ended)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.Chan():
				if err := saveOnce(ctx, w, branch); err != nil && ctx.Err() == nil {
					w.Log.Warn("work_not_saved", w.NumberKey(), w.Event.Number, "turn_key", w.Marker.Key, "branch", branch, "error", err)
				}
			}
		}
	}()
	return func() {
		over() // what the agent has put in the way of a push must not keep us waiting
		<-ended
	}
}

// saveOnce pushes what is in the checkout right now, unless it was pushed before or must not be.
func saveOnce(ctx context.Context, w *Work, branch string) error {
	// An agent can put something in the way that keeps git waiting.
	ctx, done := clock.WithTimeout(ctx, w.Clock, saveTime)
	defer done()
	var err error
	if w.wip.objects == "" {
		if w.wip.objects, err = w.Checkout.Temporary("objects"); err != nil {
			return err
		}
	}
	c, leave, err := git.Quarantine(w.Checkout, w.wip.objects)
	if err != nil {
		return err
	}
	return errors.Join(saveFrom(ctx, w, c, branch), leave())
}

// saveFrom is saveOnce in a quarantine, which an isolated agent cannot reach.
func saveFrom(ctx context.Context, w *Work, c *git.Checkout, branch string) error {
	raw, err := checkout.Snapshot(ctx, c, w.wip.raw, "Work in progress on "+w.About())
	if err != nil || raw == "" || raw == w.wip.raw {
		return err
	}
	ours, _, err := recommit(ctx, w, c, Base(w), raw) // the agent goes on from its own commits
	if err != nil {
		return err
	}
	head := ours.Head
	known := history.FetchedTips(c)
	if w.wip.tip != "" { // which was looked at before
		known = append(known, w.wip.tip)
	}
	found, _, err := inspect(ctx, w, c, Base(w), head, known)
	if err != nil {
		return err
	}
	if found.Reason != "" {
		return fmt.Errorf("it must not be pushed: %s", found.Reason) // the detail is for the agent's own ears, at the end
	}
	before := w.wip.tip
	w.wip.pushed, w.wip.sure = true, false
	if _, err := w.Apply(ctx, effect.SaveWork(c, transport.Update{Branch: branch, Start: before, SHA: head})); err != nil {
		return err
	}
	w.wip.tip, w.wip.raw, w.wip.sure = head, raw, true
	w.Log.Info("work_saved", w.NumberKey(), w.Event.Number, "turn_key", w.Marker.Key, "branch", branch, "head", head)
	return nil
}

// Droppable are the refs that are no longer needed once the work is somewhere else.
func Droppable(w *Work) []git.Ref {
	if !w.wip.pushed {
		return w.Inherited
	}
	ref := git.Ref{Name: "refs/heads/" + WipBranch(w.Event.Number, w.Marker.Claim)}
	if w.wip.sure { // what somebody else added there stays
		ref.SHA = w.wip.tip
	}
	return append(slices.Clone(w.Inherited), ref)
}

// Inherit notes the branches with saved work of claims whose work was recorded before their runs died.
func Inherit(w *Work, dead []model.Posted[model.TurnMarker]) {
	for _, d := range dead {
		if d.Marker.Phase == model.PhasePlanned && d.Marker.Claim != "" && Saves(w) != "" {
			w.Inherited = append(w.Inherited, git.Ref{Name: "refs/heads/" + WipBranch(w.Event.Number, d.Marker.Claim)})
		}
	}
}

// Unsave removes what was saved meanwhile where nothing came of it that is not somewhere else. It is a courtesy: what stays
// only takes up room.
func Unsave(ctx context.Context, w *Work) {
	for _, ref := range Droppable(w) {
		if err := w.Open(ctx); err != nil {
			w.Log.Warn("saved_work_not_removed", w.NumberKey(), w.Event.Number, "ref", ref.Name, "error", err)
			break
		}
		if _, err := w.Apply(ctx, effect.Forget(ref)); err != nil {
			w.Log.Warn("saved_work_not_removed", w.NumberKey(), w.Event.Number, "ref", ref.Name, "error", err)
		}
	}
	Saved(w)
	w.Inherited = nil
}

// Spare leaves what was saved meanwhile where it is: the work as it is now cannot be kept, so that this is the best there is.
func Spare(w *Work) {
	for _, ref := range Droppable(w) {
		Note(w, "an earlier version of it may be on branch "+strings.TrimPrefix(ref.Name, "refs/heads/"))
	}
	Saved(w)
	w.Inherited = nil
}

// FindSaved notes with the attempts of dead claims the branches that their runs had saved work on.
func FindSaved(ctx context.Context, w *Work, dead []model.Posted[model.TurnMarker]) (found bool, err error) {
	var refs []string
	for _, d := range dead {
		if d.Marker.Phase == model.PhaseStarted && d.Marker.Claim != "" {
			refs = append(refs, "refs/heads/"+WipBranch(w.Event.Number, d.Marker.Claim))
		}
	}
	if len(refs) == 0 || !w.Phase.IsWhole() {
		return false, nil
	}
	if err := w.Open(ctx); err != nil {
		return false, err
	}
	left, err := history.RemoteRefs(ctx, w.Checkout, refs...)
	for _, d := range dead {
		branch := WipBranch(w.Event.Number, d.Marker.Claim)
		tip := left["refs/heads/"+branch]
		at := slices.IndexFunc(w.Marker.Tries, func(t model.Try) bool { return t.RunURL == d.Marker.RunURL && t.Attempt == d.Marker.Attempt })
		if tip != "" && at >= 0 && w.Marker.Tries[at].Kept.Branch == "" {
			w.Marker.Tries[at].Kept = model.Kept{Branch: branch, SHA: tip, Base: turn.Base(d.Marker)}
			found = true
		}
	}
	return found, err
}

// Saved notes that the work is somewhere else now, so that what was saved meanwhile is gone.
func Saved(w *Work) {
	if err := os.RemoveAll(w.wip.objects); err != nil { // which does nothing for ""
		w.Log.Warn("saved_work_not_removed", w.NumberKey(), w.Event.Number, "dir", w.wip.objects, "error", err)
	}
	w.wip = wip{}
}
