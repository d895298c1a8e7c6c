package effect

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/handoff"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// Move is what becomes of a branch. As is how reports name it; without a kind they leave it out.
type Move struct {
	transport.Update
	By Way
	As model.Effect
}

// Way is how a branch moves.
type Way int

// The ways. Only Forward drops refs in the same push.
const (
	Forward     Way = iota // on the server, to a commit that descends from the one before
	Rewrite                // on the server, to the commits that land in place of a pull request's own
	Car                    // on the server, below mergexo/train/
	ForwardHere            // in the checkout, with the files where it is checked out
	RewriteHere            // in the checkout; a checked-out one stays
)

// Push moves a branch. If the answer does not tell, thread.Move asks where the branch is.
func Push(m Move) Effect {
	return Effect{As: m.As, send: only(func(ctx context.Context, to server) error {
		switch m.By {
		case Rewrite:
			return transport.Rewrite(ctx, to.checkout, m.Branch, m.Start, m.SHA)
		case Car:
			return transport.PushCar(ctx, to.checkout, m.Branch, m.Start, m.SHA)
		case ForwardHere:
			return checkout.LandLocal(ctx, to.checkout, m.Branch, m.Start, m.SHA)
		case RewriteHere:
			return checkout.MoveLocal(ctx, to.checkout, m.Branch, m.Start, m.SHA)
		}
		return transport.Publish(ctx, to.checkout, m.Update)
	})}
}

// Tip asks where the branch is; "": there is none.
func (m Move) Tip(ctx context.Context, c *git.Checkout) (string, error) {
	if m.By == ForwardHere || m.By == RewriteHere {
		return c.TipOf(ctx, "refs/heads/"+m.Branch+"^{commit}")
	}
	return transport.BranchTip(ctx, c, m.Branch)
}

// SaveWork pushes work in progress from its view of the checkout, while its agent goes on. The comment that claims the work names the
// branch.
func SaveWork(from *git.Checkout, move transport.Update) Effect {
	return Effect{send: only(func(ctx context.Context, _ server) error { return transport.PublishIsolated(ctx, from, move) })}
}

// Stage pushes the planned commits of a turn to a private ref, and what is kept along with them. Without a commit only that is
// kept. It is told once it is known where the commits are.
func Stage(ref, sha string, more ...transport.PrivateRef) Effect {
	return Effect{send: only(func(ctx context.Context, to server) error {
		if sha != "" {
			return transport.Stage(ctx, to.checkout, ref, sha, more...)
		}
		for _, h := range more {
			if err := transport.WritePrivate(ctx, to.checkout, h); err != nil {
				return &transport.ErrNotKept{Err: err}
			}
		}
		return nil
	})}
}

// Keep pushes content to a private ref. Who keeps something tells what it is.
func Keep(ref string, content []byte) Effect {
	return Effect{send: only(func(ctx context.Context, to server) error {
		return transport.WritePrivate(ctx, to.checkout, transport.PrivateRef{Ref: ref, Content: content})
	})}
}

// Swap replaces the content of a private ref that is still at the commit was, "" for a missing one. Result.SHA is what it is at
// then.
func Swap(ref, was string, content []byte) Effect {
	return Effect{As: named("push", ref, journal.Token("swap", ref, was)),
		send: func(ctx context.Context, to server) (r Result, err error) {
			r.SHA, err = transport.SwapPrivate(ctx, to.checkout, transport.PrivateRef{Ref: ref, Content: content}, was)
			return r, err
		}}
}

// Mirror brings the head of a fork's pull request to a branch of the repository.
func Mirror(from, sha, branch, token string) Effect {
	return Effect{As: named("push", branch, token),
		send: only(func(ctx context.Context, to server) error {
			return transport.Mirror(ctx, to.checkout, from, sha, branch, "")
		})}
}

// DeleteBranch deletes a branch where it is still at its commit. Reports name it as name.
func DeleteBranch(ref git.Ref, name, token string) Effect {
	return Effect{As: named("delete", name, token), show: nothing,
		send: only(func(ctx context.Context, to server) error { return transport.Delete(ctx, to.checkout, ref) })}
}

// CleanUp deletes refs that nobody needs. Reports name those that it could delete.
func CleanUp(refs []git.Ref) Effect {
	return Effect{show: func(*Dry, Thread) Result { return deleted(refs, nil) }, send: func(ctx context.Context, to server) (Result, error) {
		left, err := transport.DeleteAll(ctx, to.checkout, refs)
		return deleted(refs, left), err
	}}
}

// deleted are the refs that are not left.
func deleted(refs, left []git.Ref) (r Result) {
	for _, ref := range refs {
		if !slices.ContainsFunc(left, func(l git.Ref) bool { return l.Name == ref.Name }) {
			r.Deleted = append(r.Deleted, named("delete", ref.Name, journal.Token("delete", ref.Name, ref.SHA)))
		}
	}
	return r
}

// Forget deletes a private ref or a checkpoint that is no longer needed, which no report names. With a SHA it does so only where the
// ref is there still.
func Forget(ref git.Ref) Effect {
	return Effect{show: nothing, send: only(func(ctx context.Context, to server) error { return transport.Forget(ctx, to.checkout, ref) })}
}

// Lock takes the lock of a base branch, from a run that is over where there is one. A dry run takes none: Result.Lock is nil. Reports
// leave it out, since a lock is given back.
func Lock(base string, lease transport.Lease, from *transport.ErrLocked) Effect {
	return Effect{show: nothing, send: func(ctx context.Context, to server) (r Result, err error) {
		if from != nil {
			r.Lock, err = transport.TakeOverLock(ctx, to.checkout, from, lease)
		} else {
			r.Lock, err = transport.AcquireLock(ctx, to.checkout, base, lease)
		}
		return r, err
	}}
}

// Unlock gives a lock back.
func Unlock(lock *transport.Lock) Effect {
	return Effect{show: nothing, send: only(func(ctx context.Context, to server) error { return transport.Unlock(ctx, to.checkout, lock) })}
}

// Foreign is the place where a run hears from code that is not ours, an agent or tests. It changes nothing, and what they do is told
// elsewhere. A dry run ends there, and says what comes next.
func Foreign(next string) Effect {
	return Effect{next: next, send: only(func(context.Context, server) error { return nil })}
}

// Agent is Foreign for the start of an agent or a reviewer, which may have a job of its own.
func Agent(next string) Effect {
	return Effect{next: next, ofAgent: true, send: Foreign(next).send}
}

// HandOver writes a handoff into the directory by which the phases of a run meet, in place of all that is there. Reports
// name one that has the work of an agent.
func HandOver(dir string, h handoff.Handoff) Effect {
	e := Effect{show: nothing, ofAgent: true, send: only(func(ctx context.Context, to server) error {
		if err := os.RemoveAll(dir); err != nil { // whatever the agent has put there is not ours
			return fmt.Errorf("create the handoff directory: %w", err)
		}
		return handoff.Write(dir, h, func(file string) error { return transport.WriteBundle(ctx, to.checkout, file, h.Base(), h.Head) })
	})}
	if h.Ended != handoff.Nothing {
		e.As = named("handoff", dir, journal.Token("handoff", h.TurnKey))
	}
	return e
}
