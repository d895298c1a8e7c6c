package effect

import (
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
		d.threads[k] = &overlay{edited: map[int64]model.Comment{}, deleted: map[int64]bool{}, reacted: map[int64][]string{}}
	}
	return d.threads[k]
}

// Apply tells an effect. Once it has ended a step it tells nothing more of it, on whatever thread: what follows is what a run
// does that fails.
func (d *Dry) Apply(_ context.Context, t Thread, e Effect) (Result, error) {
	if d.ended != nil {
		return Result{}, d.ended
	}
	o, r, next := d.on(t), Result{}, ""
	switch e := e.(type) {
	case Comment:
		r = o.comment(t, d.id(), e.Body)
	case Edit:
		o.edit(t, e)
	case Delete:
		o.deleted[e.ID] = true
	case Reply:
		r = o.reply(t, d.id(), e)
	case React:
		o.reacted[e.Comment.ID] = append(o.reacted[e.Comment.ID], e.Sign)
	case Unlabel:
		o.unlabeled = append(o.unlabeled, strings.ToLower(e.Label))
	case Close:
		o.closed = true
	case Resolve, LinkSub, Retarget, AddLabel, CloseIssue, Dispatch, CancelRun, PlaceRef, RemoveRef, DeleteBranch, CleanUp, Forget, Lock, Unlock, HandOver:
	case Foreign:
		next = e.Next
	default:
		entry := e.Entry()
		next = strings.TrimSpace(fmt.Sprintf("%s %s", entry.Kind, entry.Target)) + " comes next; what follows depends on the answer"
		if entry.Kind == "" {
			next = "a push comes next; what follows depends on the answer"
		}
	}
	note(t, blank(e), r, Planned)
	if next != "" {
		d.ended = &Ended{Next: next}
		return r, d.ended
	}
	return r, nil
}

func (d *Dry) id() int64 {
	d.made++
	return firstID + d.made
}

// Ended is where the step was ended that is over now; nil where it came to its own end.
func (d *Dry) Ended() error {
	ended := d.ended
	if d.ended = nil; ended == nil {
		return nil
	}
	return ended
}

// blank is an effect as it is told: a comment that would only be posted has no id.
func blank(e Effect) Effect {
	entry := e.Entry()
	switch e := e.(type) {
	case Edit:
		if e.ID > firstID {
			return told{e, model.Effect{Kind: entry.Kind, Token: entry.Token}}
		}
	case Delete:
		if e.ID > firstID {
			return told{e, model.Effect{Kind: entry.Kind, Token: entry.Token}}
		}
	}
	return e
}

// told is an effect with another entry.
type told struct {
	Effect
	as model.Effect
}

// Entry is the other one.
func (t told) Entry() model.Effect { return t.as }

func (o *overlay) comment(t Thread, id int64, body string) Result {
	_, number := t.Subject()
	c := ours(t, model.KindIssue, id, body)
	c.URL = fmt.Sprintf("#%d (a comment that is only planned)", number)
	o.added = append(o.added, c)
	return Result{ID: id, URL: c.URL}
}

func (o *overlay) reply(t Thread, id int64, e Reply) Result {
	c := ours(t, model.KindReview, id, e.Body)
	c.InReplyTo = e.Thread
	o.added = append(o.added, c)
	return Result{ID: id}
}

func ours(t Thread, kind model.Kind, id int64, body string) model.Comment {
	now := t.ServerNow()
	return model.Comment{Kind: kind, ID: id, Author: t.Viewer(), Association: "MEMBER", Body: body, Posted: body, CreatedAt: now, UpdatedAt: now, Ours: true}
}

func (o *overlay) edit(t Thread, e Edit) {
	now := t.ServerNow()
	for i, c := range o.added {
		if c.ID == e.ID {
			o.added[i].Body, o.added[i].UpdatedAt = e.Body, now
			return
		}
	}
	o.edited[e.ID] = model.Comment{Body: e.Body, UpdatedAt: now}
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
