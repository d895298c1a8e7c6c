package effect

import (
	"context"
	"os"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/handoff"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// Push moves a branch forward. As is how reports name it; without a kind they leave it out. If the answer is unclear, the caller
// asks git's server for the result.
type Push struct {
	transport.Update
	As model.Effect
}

// Entry is As.
func (p Push) Entry() model.Effect { return p.As }

func (Push) repeats() repeat { return never }

func (p Push) send(ctx context.Context, t Thread) (Result, error) {
	return Result{}, transport.Publish(ctx, t.Checkout(), p.Update)
}

// SaveWork pushes work in progress while its agent goes on.
type SaveWork struct {
	transport.Update
	From *git.Checkout // the view of the checkout that has the work
}

// Entry is empty: the comment that claims the work names the branch.
func (SaveWork) Entry() model.Effect { return model.Effect{} }

func (SaveWork) repeats() repeat { return never }

func (s SaveWork) send(ctx context.Context, _ Thread) (Result, error) {
	return Result{}, transport.PublishIsolated(ctx, s.From, s.Update)
}

// Rewrite moves a branch of a pull request to the commits that land in place of its own.
type Rewrite struct {
	Branch, From, To string
	Token            string
}

// Entry names the branch.
func (r Rewrite) Entry() model.Effect {
	return model.Effect{Kind: "push", Target: r.Branch, Token: r.Token}
}

func (Rewrite) repeats() repeat { return never }

func (r Rewrite) send(ctx context.Context, t Thread) (Result, error) {
	return Result{}, transport.Rewrite(ctx, t.Checkout(), r.Branch, r.From, r.To)
}

// LandHere moves a branch of the checkout itself forward, with the files where it is checked out. As is how reports name it.
type LandHere struct {
	Branch, From, To string
	As               model.Effect
}

// Entry is As.
func (l LandHere) Entry() model.Effect { return l.As }

func (LandHere) repeats() repeat { return never }

func (l LandHere) send(ctx context.Context, t Thread) (Result, error) {
	return Result{}, merging.LandLocal(ctx, t.Checkout(), l.Branch, l.From, l.To)
}

// MoveHere moves a branch of the checkout itself to the commits that land in place of its own. A checked-out one stays.
type MoveHere struct {
	Branch, From, To string
	Token            string
}

// Entry names the branch.
func (m MoveHere) Entry() model.Effect {
	return model.Effect{Kind: "move", Target: m.Branch, Token: m.Token}
}

func (MoveHere) repeats() repeat { return never }

func (m MoveHere) send(ctx context.Context, t Thread) (Result, error) {
	return Result{}, merging.MoveLocal(ctx, t.Checkout(), m.Branch, m.From, m.To)
}

// PushCar sets a branch of a merge train to the commit that is to be tested, From "" where there is none.
type PushCar struct {
	Branch, From, To string
	Token            string
}

// Entry names the branch.
func (p PushCar) Entry() model.Effect {
	return model.Effect{Kind: "push", Target: p.Branch, Token: p.Token}
}

func (PushCar) repeats() repeat { return never }

func (p PushCar) send(ctx context.Context, t Thread) (Result, error) {
	return Result{}, transport.PushCar(ctx, t.Checkout(), p.Branch, p.From, p.To)
}

// Stage pushes the planned commits of a turn to a private ref, and what is kept along with them. Without a SHA only that is
// kept.
type Stage struct {
	Ref, SHA string
	More     []transport.PrivateRef
}

// Entry is empty: the stage is told once it is known where the commits are.
func (Stage) Entry() model.Effect { return model.Effect{} }

func (Stage) repeats() repeat { return never }

func (s Stage) send(ctx context.Context, t Thread) (Result, error) {
	if s.SHA != "" {
		return Result{}, transport.StageWithPrivate(ctx, t.Checkout(), s.Ref, s.SHA, s.More...)
	}
	for _, h := range s.More {
		if err := transport.WritePrivate(ctx, t.Checkout(), h); err != nil {
			return Result{}, &transport.ErrNotKept{Err: err}
		}
	}
	return Result{}, nil
}

// Keep pushes content to a private ref.
type Keep struct{ transport.PrivateRef }

// Entry is empty: who keeps something tells what it is.
func (Keep) Entry() model.Effect { return model.Effect{} }

func (Keep) repeats() repeat { return never }

func (k Keep) send(ctx context.Context, t Thread) (Result, error) {
	return Result{}, transport.WritePrivate(ctx, t.Checkout(), k.PrivateRef)
}

// Swap replaces the content of a private ref that is still at the commit Was, "" for a missing one. Result.SHA is what it is at
// then.
type Swap struct {
	transport.PrivateRef
	Was string
}

// Entry names the ref.
func (s Swap) Entry() model.Effect {
	return model.Effect{Kind: "push", Target: s.Ref, Token: journal.Token("swap", s.Ref, s.Was)}
}

func (Swap) repeats() repeat { return never }

func (s Swap) send(ctx context.Context, t Thread) (r Result, err error) {
	r.SHA, err = transport.SwapPrivate(ctx, t.Checkout(), s.PrivateRef, s.Was)
	return r, err
}

// Mirror brings the head of a fork's pull request to a branch of the repository.
type Mirror struct {
	From, SHA, Branch string
	Token             string
}

// Entry names the branch.
func (m Mirror) Entry() model.Effect {
	return model.Effect{Kind: "push", Target: m.Branch, Token: m.Token}
}

func (Mirror) repeats() repeat { return never }

func (m Mirror) send(ctx context.Context, t Thread) (Result, error) {
	return Result{}, transport.Mirror(ctx, t.Checkout(), m.From, m.SHA, m.Branch, "")
}

// DeleteBranch deletes a branch where it is still at its commit.
type DeleteBranch struct {
	Ref         git.Ref
	Name, Token string // Name is how reports name it
}

// Entry names the branch.
func (d DeleteBranch) Entry() model.Effect {
	return model.Effect{Kind: "delete", Target: d.Name, Token: d.Token}
}

func (DeleteBranch) repeats() repeat { return never }

func (d DeleteBranch) send(ctx context.Context, t Thread) (Result, error) {
	return Result{}, transport.Delete(ctx, t.Checkout(), d.Ref)
}

// CleanUp deletes refs that nobody needs; those that it could not delete are in Result.Left.
type CleanUp struct{ Refs []git.Ref }

// Entry is empty: each ref has one of its own.
func (CleanUp) Entry() model.Effect { return model.Effect{} }

func (CleanUp) repeats() repeat { return never }

func (c CleanUp) send(ctx context.Context, t Thread) (r Result, err error) {
	r.Left, err = transport.DeleteAll(ctx, t.Checkout(), c.Refs)
	return r, err
}

func (c CleanUp) entries(r Result) []model.Effect {
	left := map[string]bool{}
	for _, ref := range r.Left {
		left[ref.Name] = true
	}
	var all []model.Effect
	for _, ref := range c.Refs {
		if !left[ref.Name] {
			all = append(all, model.Effect{Kind: "delete", Target: ref.Name, Token: journal.Token("delete", ref.Name, ref.SHA)})
		}
	}
	return all
}

// Forget deletes a private ref or a checkpoint that is no longer needed. With a SHA it does so only where the ref is there
// still.
type Forget struct{ git.Ref }

// Entry is empty: it only tidies up.
func (Forget) Entry() model.Effect { return model.Effect{} }

func (Forget) repeats() repeat { return never }

func (f Forget) send(ctx context.Context, t Thread) (Result, error) {
	if f.SHA == "" {
		return Result{}, transport.DeletePrivate(ctx, t.Checkout(), f.Name)
	}
	return Result{}, transport.DeleteCheckpoint(ctx, t.Checkout(), f.Ref)
}

// Lock takes the lock of a base branch, From a run that is over where that is set. A dry run takes none: Result.Lock is nil.
type Lock struct {
	Base  string
	Lease transport.Lease
	From  *transport.ErrLocked
}

// Entry is empty: a lock is given back.
func (Lock) Entry() model.Effect { return model.Effect{} }

func (Lock) repeats() repeat { return never }

func (l Lock) send(ctx context.Context, t Thread) (r Result, err error) {
	if l.From != nil {
		r.Lock, err = transport.TakeOverLock(ctx, t.Checkout(), l.From, l.Lease)
	} else {
		r.Lock, err = transport.AcquireLock(ctx, t.Checkout(), l.Base, l.Lease)
	}
	return r, err
}

// Unlock gives a lock back.
type Unlock struct{ Lock *transport.Lock }

// Entry is empty, as that of Lock.
func (Unlock) Entry() model.Effect { return model.Effect{} }

func (Unlock) repeats() repeat { return never }

func (u Unlock) send(ctx context.Context, t Thread) (Result, error) {
	return Result{}, transport.Unlock(ctx, t.Checkout(), u.Lock)
}

// Foreign is the place where a run hears from code that is not ours, an agent or tests. It changes nothing. A dry run ends
// there, and says what comes Next.
type Foreign struct{ Next string }

// Entry is empty: what they do is told elsewhere.
func (Foreign) Entry() model.Effect { return model.Effect{} }

func (Foreign) repeats() repeat { return never }

func (Foreign) send(context.Context, Thread) (Result, error) { return Result{}, nil }

// HandOver writes a handoff without commits into the directory by which the phases of a run meet, in place of all that is
// there.
type HandOver struct {
	Dir     string
	Handoff handoff.Handoff
}

// Entry is empty: there is nothing in it.
func (HandOver) Entry() model.Effect { return model.Effect{} }

func (HandOver) repeats() repeat { return never }

func (h HandOver) send(context.Context, Thread) (Result, error) {
	if err := os.RemoveAll(h.Dir); err != nil {
		return Result{}, err
	}
	return Result{}, handoff.Write(h.Dir, h.Handoff, nil)
}
