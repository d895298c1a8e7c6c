package thread

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
)

// Applier returns the applier of this run. Without one in Effects, effects are carried out.
func (w *World) Applier() effect.Applier {
	if w.Effects == nil {
		return effect.Live{}
	}
	return w.Effects
}

// Apply carries an effect out, or only reports it in a dry run.
func (t *Thread) Apply(ctx context.Context, e effect.Effect) (effect.Result, error) {
	return t.Applier().Apply(ctx, subject{t}, e)
}

// Outside announces that foreign code runs next. A dry run ends here, and next says what would follow.
func Outside(ctx context.Context, t *Thread, next string) error {
	_, err := t.Apply(ctx, effect.Foreign(next))
	return err
}

// AgentNext announces that an agent or a reviewer runs next, as Outside does. Either may have a job of its own.
func AgentNext(ctx context.Context, t *Thread, next string) error {
	_, err := t.Apply(ctx, effect.Agent(next))
	return err
}

// Ended returns how a step ended: with a Stop if the applier ended the run, otherwise with err. A step calls it once, when it is
// over. After the applier has ended the run, nothing else happens, since nobody can know what would follow.
func Ended(w *World, err error) error {
	if ended := w.Applier().Ended(); ended != nil {
		return &Stop{Result: model.ResultNothing, Reason: ended.Error(), Last: ended}
	}
	return err
}

// Changed reports whether any of the effects was carried out and not only planned.
func Changed(effects []model.Effect) bool {
	return slices.ContainsFunc(effects, func(e model.Effect) bool { return e.Status != effect.Planned })
}

// Applied adds an effect to the report that no applier has recorded.
func Applied(t *Thread, kind, target, token, status string) {
	Noted(t, model.Effect{Kind: kind, Target: target, Token: token}, status)
}

// Noted adds an effect to the report, with this status, that no applier has recorded.
func Noted(t *Thread, as model.Effect, status string) {
	as.Status = status
	subject{t}.Record(as)
}

// Moved tells where a branch is after a move.
type Moved struct {
	At    string // "": there is none
	Found bool   // no answer told that it has moved, so that what was to go with it may be left
}

// Move sends the move of a branch once. If the answer is unclear, it asks where the branch is. Without an error, the branch is
// where it should be. An error for which git.Unsure reports true means that it is elsewhere. Any other error is a refusal.
func Move(ctx context.Context, t *Thread, move effect.Move) (Moved, error) {
	_, err := t.Apply(ctx, effect.Push(move))
	if err == nil || !git.Unsure(err) {
		return Moved{At: move.SHA}, err
	}
	at, lookErr := move.Tip(ctx, t.Checkout)
	if lookErr != nil {
		return Moved{}, fmt.Errorf("%w, after: %v", lookErr, err) //nolint:errorlint // nobody looked, so it is not of git.Unsure
	}
	if at != move.SHA {
		return Moved{At: at}, err
	}
	Noted(t, move.As, effect.Applied)
	return Moved{At: at, Found: true}, nil
}

// TakeLock takes a lock, also from a holder whose run is over. If the server keeps no locks, it returns nil and no error. The
// leases of the pushes protect the base without it, and the loser only works in vain.
func TakeLock(ctx context.Context, t *Thread, base string, lease transport.Lease, gone func(holder string) (bool, error)) (*transport.Lock, error) {
	taken, err := t.Apply(ctx, effect.Lock(base, lease, nil))
	if locked := (*transport.ErrLocked)(nil); errors.As(err, &locked) {
		dead, lookErr := gone(locked.Holder)
		if lookErr != nil {
			return nil, lookErr
		}
		if dead {
			taken, err = t.Apply(ctx, effect.Lock(base, lease, locked))
		}
	}
	if none := (*transport.ErrNoLocks)(nil); errors.As(err, &none) {
		t.Log.Warn("no_lock", t.NumberKey(), t.Event.Number, "base", base, "error", err)
		return nil, nil
	}
	return taken.Lock, err
}

// FindEffect looks for an effect on GitHub before it is sent. If it is there, the report gets it as present.
func FindEffect(ctx context.Context, t *Thread, e effect.Effect) (effect.Result, error) {
	found, err := e.Find(ctx, subject{t})
	if err == nil && found.Present {
		Noted(t, e.As, effect.Present)
	}
	return found, err
}

// subject is a thread as its effects see it.
type subject struct{ t *Thread }

var _ effect.Thread = subject{}

// Subject is the number that the thread is about.
func (s subject) Subject() (model.Repo, int) { return s.t.Event.Repo, s.t.Event.Number }

// GitHub is the client of the run.
func (s subject) GitHub() *github.Client { return s.t.GitHub }

// Pause waits so long, as the run waits for GitHub.
func (s subject) Pause(ctx context.Context, d time.Duration) error { return s.t.GitHub.Pause(ctx, d) }

// Checkout is the one that the thread has open.
func (s subject) Checkout() *git.Checkout { return s.t.Checkout }

// Alive is the thread's own look at its claim.
func (s subject) Alive() error { return Alive(s.t) }

// Viewer is whose token it is.
func (s subject) Viewer() model.Actor { return s.t.Snap.Viewer }

// ServerNow is the time on GitHub's clock.
func (s subject) ServerNow() time.Time { return s.t.ServerNow() }

// Logger is that of the run.
func (s subject) Logger() *slog.Logger { return s.t.Log }

// Record takes an effect into the report and the log.
func (s subject) Record(e model.Effect) {
	t := s.t
	t.Report.Effects = append(t.Report.Effects, e)
	t.Log.Info("effect_"+e.Status, "kind", e.Kind, "target", e.Target, t.NumberKey(), t.Event.Number, "turn_key", t.Marker.Key, "action_token", e.Token)
}

// Reread reads the number again.
func (s subject) Reread(ctx context.Context) error { return s.t.Read(ctx) }

// Said looks for what was said with this token.
func (s subject) Said(kind model.Kind, token string) (r effect.Result) {
	r.ID, r.Present = s.t.State.Tokens[token]
	for _, c := range s.t.Snap.Comments {
		if c.Kind == kind && c.ID == r.ID {
			r.URL = c.URL
		}
	}
	return r
}

// Pull is the pull request that the branch has.
func (s subject) Pull() (r effect.Result) {
	r.Pull, r.Present = PullOfBranch(s.t)
	return r
}

// Issue is an issue of ours with this token, or an open one with this title: on another head the same test is the same incident.
func (s subject) Issue(ctx context.Context, token, title string) (effect.Result, error) {
	all, err := s.t.GitHub.Issues.Ours(ctx, s.t.Event.Repo, Trusted(s.t)...)
	for _, issue := range all {
		if s.t.Codec.HasToken(issue.Body, token) || issue.Open && issue.Title == title {
			return effect.Result{Number: issue.Number, Present: true}, err
		}
	}
	return effect.Result{}, err
}

// Item is the issue that was opened for an item of a roadmap.
func (s subject) Item(ctx context.Context, token string, since time.Time) (effect.Result, error) {
	opened, err := s.t.GitHub.Issues.OpenedSince(ctx, s.t.Event.Repo, since, func(i github.ItemIssue) bool {
		return (i.Ours || IsTrusted(s.t, i.Author)) && s.t.Codec.HasToken(i.Posted, token)
	})
	if err != nil || len(opened) == 0 {
		return effect.Result{}, err
	}
	return effect.Result{Number: opened[0].Number, ID: opened[0].ID, Present: true}, nil
}

// Reran tells whether a workflow run runs once more.
func (s subject) Reran(ctx context.Context, r model.Rerun) (effect.Result, error) {
	now, err := s.t.GitHub.Actions.Run(ctx, s.t.Event.Repo, r.Run)
	return effect.Result{Present: err == nil && Rerun(r, now)}, err
}

// FindTurn returns a function that finds the comment of the first turn whose marker satisfies is. It returns 0 if there is none.
func FindTurn(t *Thread, is func(model.TurnMarker) bool) func() int64 {
	return func() int64 {
		for _, said := range t.State.Turns {
			if is(said.Marker) {
				return said.CommentID
			}
		}
		return 0
	}
}

// Given lists the viewer's own comments since the block that consist of this command and that no run has answered.
func Given(t *Thread, line string) (ids []int64) {
	for _, c := range t.Snap.Comments {
		mine := strings.EqualFold(c.Author.Login, t.Snap.Viewer.Login) && strings.TrimSpace(c.Posted) == line
		_, answered := t.State.Commands[command.Said{Comment: c}.Key(t.Event.Number, 0)]
		if mine && !answered && t.State.Block != nil && !c.CreatedAt.Before(t.State.Block.At) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// Rerun reports whether a workflow run has begun another attempt since the one that failed.
func Rerun(r model.Rerun, now model.RunState) bool { return now.Attempt > r.Attempt || !now.Completed }

// PullOfBranch returns the open pull request of the branch, or else one that MergeXO opened. found reports whether there is one.
func PullOfBranch(t *Thread) (pull model.PullRef, found bool) {
	at := slices.IndexFunc(t.Snap.Branch.Pulls, func(r model.PullRef) bool { return r.State == model.PullOpen })
	if at < 0 {
		at = slices.IndexFunc(t.Snap.Branch.Pulls, func(r model.PullRef) bool { return Opened(t, r) })
	}
	if at < 0 {
		return pull, false
	}
	return t.Snap.Branch.Pulls[at], true
}
