// Package effect describes every change that a run makes outside of itself, as a value. Live carries effects out, Dry only
// reports them, and Handing plans all but the work of an agent.
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

// Effect is one change that a run wants. A constructor for each says all about it.
type Effect struct {
	As model.Effect // how reports and logs name it; they leave one without a kind out
	// Find looks for it after an answer that does not tell whether the change was made. It is made again where it is not there. Where
	// there is no Find, the caller looks for the result.
	Find       func(ctx context.Context, t Thread) (Result, error)
	idempotent bool // it is made again without a look
	send       func(ctx context.Context, to server) (Result, error)
	show       func(d *Dry, t Thread) Result // what a dry run has of it; without it nobody can know the answer, and the dry run ends
	next       string                        // what a dry run ends with, if not its name
	ofAgent    bool                          // the job of an agent brings it about
}

// server is what an effect is sent to: GitHub, and git's server by a checkout.
type server struct {
	*github.Client
	repo     model.Repo
	checkout *git.Checkout
}

// Result is what GitHub or git's server made of an effect. Only what belongs to its kind is set.
type Result struct {
	ID      int64  // of a comment, or of the issue for an item
	URL     string // of a comment
	Number  int    // of an issue
	Pull    model.PullRef
	SHA     string // of a merge commit
	Lock    *transport.Lock
	Deleted []model.Effect // the refs that are gone, as reports name each
	Present bool           // it was there before
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
	// Reread reads the thread again.
	Reread(ctx context.Context) error
	Reading
	// Viewer is whose token this is, and ServerNow the time on GitHub's clock.
	Viewer() model.Actor
	ServerNow() time.Time
	// Record takes an effect into the report.
	Record(e model.Effect)
	Logger() *slog.Logger
}

// Reading looks for effects in what was read last, and asks GitHub about what no reading holds. What it finds is Present.
type Reading interface {
	Said(kind model.Kind, token string) Result
	// Pull is the pull request that the branch has.
	Pull() Result
	// Issue is one with this token, or an open one with this title.
	Issue(ctx context.Context, token, title string) (Result, error)
	// Item is the issue that was opened for an item of a roadmap.
	Item(ctx context.Context, token string, since time.Time) (Result, error)
	// Reran tells whether a workflow run runs once more.
	Reran(ctx context.Context, r model.Rerun) (Result, error)
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
	return Result{}, p.End(strings.TrimSpace(cmp.Or(e.As.Kind, "a program") + " " + e.As.Target))
}

// Opening ends the run where it would open a checkout.
func (p *Probe) Opening() error { return p.End("a checkout") }

// End ends the run at its first step that is more than a look.
func (p *Probe) End(next string) error {
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
	to := server{Client: t.GitHub(), checkout: t.Checkout()}
	to.repo, _ = t.Subject()
	for sends := 1; ; sends++ {
		if e.Find != nil {
			if err := t.Alive(); err != nil {
				return Result{}, err
			}
		}
		r, err := e.send(ctx, to)
		if err == nil {
			note(t, e, r, Applied)
			return r, nil
		}
		again := e.idempotent || e.Find != nil
		if !again || github.KindOf(err) != github.Unclear || sends == maxSends {
			return r, err
		}
		if e.idempotent {
			continue
		}
		t.Logger().Warn("answer_unclear", "kind", e.As.Kind, "target", e.As.Target, "action_token", e.As.Token, "error", err)
		if found, err := seek(ctx, t, e); err != nil || found.Present {
			if err == nil {
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
func seek(ctx context.Context, t Thread, e Effect) (Result, error) {
	for looks := 0; ; looks++ {
		if err := t.Reread(ctx); err != nil {
			return Result{}, err
		}
		if found, err := e.Find(ctx, t); err != nil || found.Present || looks == len(rests) {
			return found, err
		}
		if err := t.Pause(ctx, rests[looks]); err != nil {
			return Result{}, err
		}
	}
}

// Overlay is for a live run what was read.
func (Live) Overlay(snap model.Snapshot, _ model.Repo, _ int) model.Snapshot { return snap }

// Ended is nil: a live run ends by itself.
func (Live) Ended() error { return nil }

// note records an effect, and each ref of one that deletes several.
func note(t Thread, e Effect, r Result, status string) {
	for _, as := range append(r.Deleted, e.As) {
		if as.Status = status; as.Kind != "" {
			t.Record(as)
		}
	}
}
