// Package effect has all that a run changes outside of itself, as values. A Live applier carries them out, and a Dry one only
// tells them. Nothing else asks whether a run is dry.
package effect

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
)

// Effect is one change that a run wants, with the token that names it.
type Effect interface {
	// Entry is how reports and logs name the effect. They leave one without a kind out.
	Entry() model.Effect
	// send makes the change.
	send(ctx context.Context, to Thread) (Result, error)
	// repeats says what to do after an answer that does not tell whether the change was made.
	repeats() repeat
}

// repeat is what follows an unclear answer.
type repeat int

const (
	never  repeat = iota // the caller looks for the result
	always               // the same change twice is the same as once
	unseen               // it is looked for, and made again only where it is not there
)

// Result is what GitHub or git's server made of an effect. Only what belongs to its kind is set.
type Result struct {
	ID      int64  // of a comment, or of the issue for an item
	URL     string // of a comment
	Number  int    // of an issue
	Pull    model.PullRef
	SHA     string // of a merge commit
	Lock    *transport.Lock
	Left    []git.Ref // refs that could not be deleted
	Present bool      // it was there before
}

// Thread is the pull request or issue that effects belong to, as far as an applier needs it.
type Thread interface {
	Subject() (model.Repo, int)
	GitHub() *github.Client
	// Checkout is the open one.
	Checkout() *git.Checkout
	// Alive is an error where another run may hold the claim of this one for dead.
	Alive() error
	// Pause waits so long, as the run waits for GitHub.
	Pause(ctx context.Context, d time.Duration) error
	// Reread reads the thread again, and Find looks for an effect in what was read last.
	Reread(ctx context.Context) error
	Find(ctx context.Context, e Effect) (Result, bool, error)
	// Viewer is whose token this is, and ServerNow the time on GitHub's clock.
	Viewer() model.Actor
	ServerNow() time.Time
	// Record takes an effect into the report.
	Record(e model.Effect)
	Logger() *slog.Logger
}

// Applier does with effects what kind of run this is.
type Applier interface {
	// Apply brings an effect about, in a live run. The error is GitHub's or git's, or ends a dry run.
	Apply(ctx context.Context, t Thread, e Effect) (Result, error)
	// Overlay adds to a reading what the run would have changed in it.
	Overlay(snap model.Snapshot, repo model.Repo, number int) model.Snapshot
	// Ended is how the applier ended the step that is over now; nil where it did not. It is asked once a step.
	Ended() error
}

// ReadOnly makes no effect and tells none. It is for commands that only look.
type ReadOnly struct{}

// Apply does nothing.
func (ReadOnly) Apply(context.Context, Thread, Effect) (Result, error) { return Result{}, nil }

// Overlay changes nothing.
func (ReadOnly) Overlay(snap model.Snapshot, _ model.Repo, _ int) model.Snapshot { return snap }

// Ended is nil.
func (ReadOnly) Ended() error { return nil }

// Probe finds out whether a run has anything to do. It ends the run at the first effect, and where a checkout is needed: what
// comes before that, a run without work does as well. A Probe is for one run.
type Probe struct{ next *Ended }

// Apply ends the run.
func (p *Probe) Apply(_ context.Context, _ Thread, e Effect) (Result, error) {
	entry := e.Entry()
	return Result{}, p.end(strings.TrimSpace(cmp.Or(entry.Kind, "a program") + " " + entry.Target))
}

// Opening ends the run where it would open a checkout.
func (p *Probe) Opening() error { return p.end("a checkout") }

func (p *Probe) end(next string) error {
	if p.next == nil {
		p.next = &Ended{Next: next}
	}
	return p.next
}

// Overlay changes nothing.
func (*Probe) Overlay(snap model.Snapshot, _ model.Repo, _ int) model.Snapshot { return snap }

// Ended is the same for every step: the whole run is over.
func (p *Probe) Ended() error {
	if p.next == nil {
		return nil
	}
	return p.next
}

// Next returns the first step that the run would take; "" if it has nothing to do.
func (p *Probe) Next() string {
	if p.next == nil {
		return ""
	}
	return p.next.Next
}

// The states of an effect in a report.
const (
	Applied = "applied"
	Present = "present"
	Planned = "planned"
)

// maxSends bounds how often an effect is sent whose first sending got an unclear answer.
const maxSends = 3

// Live carries effects out.
type Live struct{}

// Apply sends an effect, and sends it again after an unclear answer as its kind allows.
func (Live) Apply(ctx context.Context, t Thread, e Effect) (Result, error) {
	for sends := 1; ; sends++ {
		if e.repeats() == unseen {
			if err := t.Alive(); err != nil {
				return Result{}, err
			}
		}
		r, err := e.send(ctx, t)
		if err == nil {
			status := Applied
			if r.Present {
				status = Present
			}
			note(t, e, r, status)
			return r, nil
		}
		if e.repeats() == never || github.KindOf(err) != github.Unclear || sends == maxSends {
			return r, err
		}
		if e.repeats() == always {
			continue
		}
		entry := e.Entry()
		t.Logger().Warn("answer_unclear", "kind", entry.Kind, "target", entry.Target, "action_token", entry.Token, "error", err)
		if found, there, err := seek(ctx, t, e); err != nil || there {
			if there {
				note(t, e, found, Present)
			}
			return found, err
		}
	}
}

// rests are the pauses before it is looked for again: a reading may come from where a change has not arrived yet.
// https://github.com/octokit/octokit.js/issues/900
var rests = []time.Duration{2 * time.Second, 5 * time.Second}

// seek looks for an effect until it is there, or may be taken for not made.
func seek(ctx context.Context, t Thread, e Effect) (found Result, there bool, err error) {
	for looks := 0; ; looks++ {
		if err := t.Reread(ctx); err != nil {
			return Result{}, false, err
		}
		if found, there, err = t.Find(ctx, e); err != nil || there || looks == len(rests) {
			return found, there, err
		}
		if err := t.Pause(ctx, rests[looks]); err != nil {
			return Result{}, false, err
		}
	}
}

// Overlay is for a live run what was read.
func (Live) Overlay(snap model.Snapshot, _ model.Repo, _ int) model.Snapshot { return snap }

// Ended is nil: a live run ends by itself.
func (Live) Ended() error { return nil }

// note records an effect, and each ref of one that deletes several.
func note(t Thread, e Effect, r Result, status string) {
	if many, ok := e.(interface{ entries(Result) []model.Effect }); ok {
		for _, one := range many.entries(r) {
			one.Status = status
			t.Record(one)
		}
		return
	}
	if one := e.Entry(); one.Kind != "" {
		one.Status = status
		t.Record(one)
	}
}
