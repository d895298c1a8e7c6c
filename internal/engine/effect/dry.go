package effect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
)

// Dry tells the effects of a run and makes none of them. What it tells on a thread is in all later readings of that thread, so
// that the run goes on as a live one would, up to the first effect whose answer nobody can know. A Dry is for one run.
type Dry struct {
	threads map[string]*overlay
	made    int64
	ended   *Ended // by the step at hand
}

// overlay is what would be different in a thread.
type overlay struct {
	added     []model.Comment
	edited    map[int64]model.Comment
	deleted   map[int64]bool
	hidden    map[int64]bool
	reacted   map[int64][]string
	unlabeled []string
	closed    bool
}

// Ended ends a dry run: Next is the first step whose answer nobody can know.
type Ended struct{ Next string }

func (e *Ended) Error() string { return "dry run: " + e.Next }

// Quiet is a logger for a dry run. It leaves out what fails because the run has come to its end: live, it would have been tried.
func Quiet(l *slog.Logger) *slog.Logger { return slog.New(quiet{l.Handler()}) }

type quiet struct{ slog.Handler }

// Handle leaves out records with such an error.
func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	over := (*Ended)(nil)
	r.Attrs(func(a slog.Attr) bool {
		err, is := a.Value.Any().(error)
		return !is || !errors.As(err, &over)
	})
	if over != nil {
		return nil
	}
	return q.Handler.Handle(ctx, r)
}

// WithAttrs is slog's.
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(attrs)} }

// WithGroup is slog's.
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name)} }

// firstID is the id of the first comment that a dry run would post, above all that GitHub gives.
const firstID = 1 << 62

// NewDry makes the applier of a dry run.
func NewDry() *Dry { return &Dry{threads: map[string]*overlay{}} }

func key(repo model.Repo, number int) string { return fmt.Sprintf("%s#%d", repo, number) }

func (d *Dry) on(t Thread) *overlay {
	k := key(t.Subject())
	if d.threads[k] == nil {
		d.threads[k] = &overlay{edited: map[int64]model.Comment{}, deleted: map[int64]bool{}, hidden: map[int64]bool{}, reacted: map[int64][]string{}}
	}
	return d.threads[k]
}

// Apply tells an effect. Once it has ended a step it tells nothing more of it, on whatever thread: what follows is what a run
// does that fails.
func (d *Dry) Apply(_ context.Context, t Thread, e Effect) (Result, error) {
	if d.ended != nil {
		return Result{}, d.ended
	}
	r := Result{}
	if e.show != nil {
		r = e.show(d, t)
	}
	note(t, e, r, Planned)
	if e.show == nil {
		name := cmp.Or(strings.TrimSpace(e.As.Kind+" "+e.As.Target), "a push")
		d.ended = &Ended{Next: cmp.Or(e.next, name+" comes next; what follows depends on the answer")}
		return r, d.ended
	}
	return r, nil
}

// Ended is where the step was ended that is over now; nil where it came to its own end.
func (d *Dry) Ended() error {
	ended := d.ended
	if d.ended = nil; ended == nil {
		return nil
	}
	return ended
}

// planned is how reports name a comment of ours: one that would only be posted has no id.
func planned(comment int64) string {
	if comment > firstID {
		return ""
	}
	return decimal(comment)
}

// nothing is what later readings have of an effect that they do not look at.
func nothing(*Dry, Thread) Result { return Result{} }

// shows notes in a thread what is different there.
func shows(change func(o *overlay)) func(*Dry, Thread) Result {
	return func(d *Dry, t Thread) Result {
		change(d.on(t))
		return Result{}
	}
}

// says adds a comment of ours to a thread, as the answer to another one for a review comment.
func says(kind model.Kind, to int64, body string) func(*Dry, Thread) Result {
	return func(d *Dry, t Thread) Result {
		d.made++
		now, o := t.ServerNow(), d.on(t)
		c := model.Comment{
			Kind: kind, ID: firstID + d.made, InReplyTo: to, Author: t.Viewer(), Association: "MEMBER", Ours: true,
			Body: body, Posted: body, CreatedAt: now, UpdatedAt: now,
		}
		if _, number := t.Subject(); kind == model.KindIssue {
			c.URL = fmt.Sprintf("#%d (a comment that is only planned)", number)
		}
		o.added = append(o.added, c)
		return Result{ID: c.ID, URL: c.URL}
	}
}

// edits replaces the body of a comment of ours, which may be only planned itself.
func edits(comment int64, body string) func(*Dry, Thread) Result {
	return func(d *Dry, t Thread) Result {
		now, o := t.ServerNow(), d.on(t)
		for i, c := range o.added {
			if c.ID == comment {
				o.added[i].Body, o.added[i].UpdatedAt = body, now
				return Result{}
			}
		}
		o.edited[comment] = model.Comment{Body: body, UpdatedAt: now}
		return Result{}
	}
}

// Overlay adds to a reading what the run would have changed.
func (d *Dry) Overlay(snap model.Snapshot, repo model.Repo, number int) model.Snapshot {
	o := d.threads[key(repo, number)]
	if o == nil {
		return snap
	}
	var all []model.Comment
	for _, c := range append(slices.Clone(snap.Comments), o.added...) {
		if o.deleted[c.ID] && (c.Kind == model.KindIssue) {
			continue
		}
		if now, edited := o.edited[c.ID]; edited && c.Kind == model.KindIssue {
			c.Body, c.UpdatedAt, c.Edited = now.Body, now.UpdatedAt, true
		}
		c.Minimized = c.Minimized || o.hidden[c.ID] && c.Kind == model.KindIssue
		for _, sign := range o.reacted[c.ID] {
			c.Seen, c.Closed = c.Seen || sign == github.ReactionEyes, c.Closed || sign != github.ReactionEyes
		}
		all = append(all, c)
	}
	snap.Comments = all
	snap.Pull.Labels = slices.DeleteFunc(slices.Clone(snap.Pull.Labels), func(l string) bool { return slices.Contains(o.unlabeled, strings.ToLower(l)) })
	if o.closed && snap.Pull.State == model.PullOpen {
		snap.Pull.State = model.PullClosed
	}
	return snap
}
