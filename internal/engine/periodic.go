package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/clock"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkpoint"
	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// wip is what is known of the branch that the work in progress is saved on.
type wip struct {
	tip    string // "": nothing was saved
	raw    string // the snapshot that tip was made of
	pushed bool   // there may be such a branch
	sure   bool   // it is at tip
}

// wipBranch is where the work of a claim is saved while its agent is at it. The claim's name is random, so that no other
// attempt uses it.
func wipBranch(number int, claim string) string {
	return fmt.Sprintf("mergexo/checkpoint/%d/wip-%.12s", number, journal.Token("wip", claim))
}

// saveTime is how long one saving may take.
const saveTime = 2 * time.Minute

// saves is the branch that work in progress is saved on; "" where it is not.
func (p *pass) saves() string {
	if p.Phase != thread.WholeRun || p.Settings.Agent.CheckpointEvery <= 0 {
		return ""
	}
	return wipBranch(p.Event.Number, p.Marker.Claim)
}

// save pushes what the agent has done so far, again and again until the returned function is called, so that a runner
// that is killed takes some minutes of work with it and no more.
func (p *pass) save(ctx context.Context) (end func()) {
	branch := p.saves()
	if branch == "" {
		return func() {}
	}
	ctx, over := context.WithCancel(ctx)
	ended := make(chan struct{})
	tick := clock.Or(p.Clock).NewTicker(p.Settings.Agent.CheckpointEvery)
	go func() {
		defer close(ended)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.Chan():
				if err := p.saveOnce(ctx, branch); err != nil && ctx.Err() == nil {
					p.Log.Warn("work_not_saved", p.NumberKey(), p.Event.Number, "turn_key", p.Marker.Key, "branch", branch, "error", err)
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
func (p *pass) saveOnce(ctx context.Context, branch string) error {
	// An agent can put something in the way that keeps git waiting.
	ctx, done := clock.WithTimeout(ctx, p.Clock, saveTime)
	defer done()
	raw, err := checkpoint.Snapshot(ctx, p.Checkout, p.wip.raw, "Work in progress on "+p.About())
	if err != nil || raw == "" || raw == p.wip.raw {
		return err
	}
	ours, _, err := p.recommit(ctx, p.base(), raw) // the agent goes on from its own commits
	if err != nil {
		return err
	}
	head := ours.Head
	found, err := p.inspect(ctx, p.base(), head)
	if err != nil {
		return err
	}
	if found.reason != "" {
		return fmt.Errorf("it must not be pushed: %s", found.reason) // the detail is for the agent's own ears, at the end
	}
	before := p.wip.tip
	p.wip.pushed, p.wip.sure = true, false
	if _, err := p.Apply(ctx, effect.SaveWork{Update: transport.Update{Branch: branch, Start: before, SHA: head}}); err != nil {
		return err
	}
	p.wip.tip, p.wip.raw, p.wip.sure = head, raw, true
	p.Log.Info("work_saved", p.NumberKey(), p.Event.Number, "turn_key", p.Marker.Key, "branch", branch, "head", head)
	return nil
}

// droppable are the refs that are not needed any more once the work is somewhere else.
func (p *pass) droppable() []git.Ref {
	if !p.wip.pushed {
		return p.inherited
	}
	ref := git.Ref{Name: "refs/heads/" + wipBranch(p.Event.Number, p.Marker.Claim)}
	if p.wip.sure { // what somebody else added there stays
		ref.SHA = p.wip.tip
	}
	return append(slices.Clone(p.inherited), ref)
}

// inherit notes the branches with saved work of claims whose work was recorded before their runs died.
func (p *pass) inherit(dead []model.Posted[model.TurnMarker]) {
	for _, d := range dead {
		if d.Marker.Phase == model.PhasePlanned && d.Marker.Claim != "" && p.saves() != "" {
			p.inherited = append(p.inherited, git.Ref{Name: "refs/heads/" + wipBranch(p.Event.Number, d.Marker.Claim)})
		}
	}
}

// unsave removes what was saved meanwhile where nothing came of it that is not somewhere else. It is a courtesy: what stays
// only takes up room.
func (p *pass) unsave(ctx context.Context) {
	for _, ref := range p.droppable() {
		if err := p.Open(ctx); err != nil {
			p.Log.Warn("saved_work_not_removed", p.NumberKey(), p.Event.Number, "ref", ref.Name, "error", err)
			break
		}
		if _, err := p.Apply(ctx, effect.Forget{Ref: git.Ref{Name: ref.Name}}); err != nil {
			p.Log.Warn("saved_work_not_removed", p.NumberKey(), p.Event.Number, "ref", ref.Name, "error", err)
		}
	}
	p.wip, p.inherited = wip{}, nil
}

// spare leaves what was saved meanwhile where it is: the work as it is now cannot be kept, so that this is the best there is.
func (p *pass) spare() {
	if p.wip.tip != "" {
		p.note("an earlier state of it is on branch " + wipBranch(p.Event.Number, p.Marker.Claim))
	}
	p.wip = wip{}
}

// orphans are the branches with saved work of claims whose runs died.
func (p *pass) orphans(ctx context.Context, dead []model.Posted[model.TurnMarker]) (map[string]string, error) {
	var refs []string
	for _, d := range dead {
		if d.Marker.Phase == model.PhaseStarted && d.Marker.Claim != "" {
			refs = append(refs, "refs/heads/"+wipBranch(p.Event.Number, d.Marker.Claim))
		}
	}
	if len(refs) == 0 || p.Phase != thread.WholeRun {
		return nil, nil
	}
	if err := p.Open(ctx); err != nil {
		return nil, err
	}
	return fetch.Remote(ctx, p.Checkout, refs...)
}

// tellSaved says where the work is that runs had saved before they died, since their claims are about to go.
func (p *pass) tellSaved(ctx context.Context, dead []model.Posted[model.TurnMarker]) error {
	found, err := p.findSaved(ctx, dead)
	if err != nil || !found {
		return err
	}
	return p.edit(ctx, p.claimText()) // before the claims go that name them
}

// findSaved notes with the attempts of dead claims the branches that their runs had saved work on.
func (p *pass) findSaved(ctx context.Context, dead []model.Posted[model.TurnMarker]) (found bool, err error) {
	left, err := p.orphans(ctx, dead)
	for _, d := range dead {
		branch := wipBranch(p.Event.Number, d.Marker.Claim)
		tip := left["refs/heads/"+branch]
		at := slices.IndexFunc(p.Marker.Tries, func(t model.Try) bool { return t.RunURL == d.Marker.RunURL && t.Attempt == d.Marker.Attempt })
		if tip != "" && at >= 0 && p.Marker.Tries[at].Checkpoint == "" {
			p.Marker.Tries[at].Checkpoint, p.Marker.Tries[at].CheckpointSHA = branch, tip
			found = true
		}
	}
	return found, err
}

// takeOver brings the work that a run had saved before it died to the branch of its flow, so that the next attempt goes on
// from there.
func (p *pass) takeOver(ctx context.Context, dead []model.Posted[model.TurnMarker]) error {
	left, err := p.orphans(ctx, dead)
	if err != nil || len(left) == 0 {
		return err
	}
	w := p.issue
	if err := p.restore(ctx, w.tip); err != nil {
		return err
	}
	for _, d := range slices.Backward(dead) {
		ref := "refs/heads/" + wipBranch(p.Event.Number, d.Marker.Claim)
		if left[ref] == "" {
			continue
		}
		if err := p.adopt(ctx, ref); err != nil {
			p.Log.Warn("saved_work_not_taken_over", "issue_number", p.Event.Number, "ref", ref, "error", err)
			p.note("work that a run had saved before it died could not be gone on with; it is on branch " + strings.TrimPrefix(ref, "refs/heads/"))
		}
	}
	return nil
}

// adopt makes one commit of what was saved and moves the flow's branch to it.
func (p *pass) adopt(ctx context.Context, ref string) error {
	w := p.issue
	saved, err := fetch.Ref(ctx, p.Checkout, ref)
	if err != nil {
		return err
	}
	if err := history.Deepen(ctx, p.Checkout, p.base(), saved); err != nil {
		return err
	}
	head, err := checkpoint.Flatten(ctx, p.Checkout, saved, checkpointMessage(p.About()))
	if err != nil {
		return err
	}
	if head != w.tip && head != p.base() {
		move := transport.Update{Branch: w.marker.Branch, Start: w.tip, SHA: head, Drop: []git.Ref{{Name: ref, SHA: saved}}}
		if _, err := p.Apply(ctx, effect.Push{Update: move}); err != nil {
			return err
		}
		w.tip, w.marker.LastCheckpoint, p.Marker.Start = head, head, head
		p.checkpointed(w.marker.Branch, head)
	}
	return nil
}
