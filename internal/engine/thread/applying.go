package thread

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
)

// Applier does with effects what kind of run this is.
func (w *World) Applier() effect.Applier {
	if w.Effects == nil {
		return effect.Live{}
	}
	return w.Effects
}

// Apply brings an effect about, or tells it in a dry run.
func (t *Thread) Apply(ctx context.Context, e effect.Effect) (effect.Result, error) {
	return t.Applier().Apply(ctx, subject{t}, e)
}

// Outside says that code which is not ours comes next, where a dry run ends.
func (t *Thread) Outside(ctx context.Context, next string) error {
	_, err := t.Apply(ctx, effect.Foreign{Next: next})
	return err
}

// EndedBy is how a step ended: by the applier, or else with this error. It is asked once, when the step is over.
func EndedBy(t *Thread, err error) error { return Ended(t.World, err) }

// Ended is EndedBy where no thread is at hand. What the applier ended is the end of the run, since nobody can know what would follow.
func Ended(w *World, err error) error {
	if ended := w.Applier().Ended(); ended != nil {
		return &Stop{Result: model.ResultNothing, Reason: ended.Error(), Last: ended}
	}
	return err
}

// Changed says that some effect was more than a plan.
func Changed(effects []model.Effect) bool {
	return slices.ContainsFunc(effects, func(e model.Effect) bool { return e.Status != effect.Planned })
}

// Applied notes an effect that no applier has noted.
func (t *Thread) Applied(kind, target, token, status string) {
	Noted(t, model.Effect{Kind: kind, Target: target, Token: token, Status: status})
}

// Noted takes an effect into the report that no applier has taken.
func Noted(t *Thread, e model.Effect) { subject{t}.Record(e) }

// FindEffect looks for an effect before it is sent.
func FindEffect(ctx context.Context, t *Thread, e effect.Effect) (effect.Result, bool, error) {
	return subject{t}.Find(ctx, e)
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
func (s subject) Alive() error { return s.t.Alive() }

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

// Find looks for an effect in what was read last, and asks GitHub about what no reading holds.
func (s subject) Find(ctx context.Context, e effect.Effect) (effect.Result, bool, error) {
	t, found := s.t, effect.Result{Present: true}
	there := false
	var err error
	switch e := e.(type) {
	case effect.Comment:
		found.ID = commentOf(t, e)
		there = found.ID != 0
	case effect.Reply:
		found.URL, there = Replied(t, e.Token)
	case effect.Review:
		found.ID, there = t.State.Tokens[e.Token]
		found.URL = ReviewURL(t, found.ID)
	case effect.OpenPull:
		found.Pull, there = PullOfBranch(t)
	case effect.OpenIssue:
		found.Number, there, err = issueOf(ctx, t, e)
	case effect.OpenItem:
		found, there, err = openedItem(ctx, t, e)
	case effect.Rerun:
		var now model.RunState
		now, err = t.GitHub.Actions.Run(ctx, t.Event.Repo, e.Run.Run)
		there = err == nil && Rerun(e.Run, now)
	}
	return found, there, err
}

// commentOf is the comment that an effect has made; 0 where there is none.
func commentOf(t *Thread, e effect.Comment) int64 {
	switch {
	case e.Find.Claim != "" || e.Find.Receipt != "":
		for _, said := range t.State.Turns {
			if e.Find.Claim != "" && said.Marker.Claim == e.Find.Claim || e.Find.Receipt != "" && said.Marker.Key == e.Find.Receipt && said.Marker.Phase == model.PhaseDone {
				return said.CommentID
			}
		}
		return 0
	case e.Find.Block:
		if t.State.Block == nil {
			return 0
		}
		return t.State.Block.CommentID
	case e.Find.Line != "":
		if ids := Given(t, e.Find.Line); len(ids) > 0 {
			return ids[0]
		}
		return 0
	}
	return t.State.Tokens[e.Token]
}

// Given are the viewer's own comments that are this command and that no run has answered, since the pull request was blocked.
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

// issueOf is an issue of ours that this effect has opened, or an open one with its title: on another head the same test is the
// same incident.
func issueOf(ctx context.Context, t *Thread, e effect.OpenIssue) (int, bool, error) {
	all, err := t.GitHub.Issues.Ours(ctx, t.Event.Repo, Trusted(t)...)
	for _, issue := range all {
		if t.Codec.HasToken(issue.Body, e.Token) || issue.Open && issue.Title == e.Title {
			return issue.Number, true, err
		}
	}
	return 0, false, err
}

// openedItem is the issue that was opened for an item of a roadmap.
func openedItem(ctx context.Context, t *Thread, e effect.OpenItem) (effect.Result, bool, error) {
	opened, err := t.GitHub.Issues.OpenedSince(ctx, t.Event.Repo, e.Since, func(i github.ItemIssue) bool {
		return (i.Ours || IsTrusted(t, i.Author)) && t.Codec.HasToken(i.Posted, e.Token)
	})
	if err != nil || len(opened) == 0 {
		return effect.Result{}, false, err
	}
	return effect.Result{Number: opened[0].Number, ID: opened[0].ID, Present: true}, true, nil
}

// Rerun says that a workflow run is at another attempt than the one that failed.
func Rerun(r model.Rerun, now model.RunState) bool { return now.Attempt > r.Attempt || !now.Completed }

// PullOfBranch is the pull request that the branch has: the open one, or else one of ours.
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
