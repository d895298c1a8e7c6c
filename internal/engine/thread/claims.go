package thread

import (
	"context"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// ClaimMargin is how much longer than its agent may take a claim is held.
const ClaimMargin = 10 * time.Minute

// DeadClaims are the open claims that nobody works on. A live one ends the run: the process behind it looks
// again when its turn is done, and so takes up what is pending now.
func DeadClaims(ctx context.Context, t *Thread) ([]model.Posted[model.TurnMarker], error) {
	live, err := LiveTurn(ctx, t)
	if err == nil && live != nil {
		err = End(model.ResultRetry, "another run is working on %s, see %s", t.About(), live.URL)
	}
	return turn.Open(t.State), err
}

// LiveTurn is the first open turn that another process works on; nil: there is none.
func LiveTurn(ctx context.Context, t *Thread) (*model.Posted[model.TurnMarker], error) {
	for _, c := range turn.Open(t.State) {
		live, err := t.Busy(ctx, c.CommentID, c.Marker.Lease)
		if err != nil {
			return nil, err
		}
		if live {
			return &c, nil
		}
	}
	return nil, nil
}

// Busy reports whether another process works on the record in a comment, and asks GitHub about its run at most once.
func (t *Thread) Busy(ctx context.Context, comment int64, l model.Lease) (bool, error) {
	return busyIn(ctx, t, t.Event.Repo, comment, l)
}

// busyIn is Busy for a run in another repository.
func busyIn(ctx context.Context, t *Thread, repo model.Repo, comment int64, l model.Lease) (bool, error) {
	if l.Claim == "" || t.Claims[l.Claim] { // nobody holds it, or this process
		return false, nil
	}
	if known, ok := t.Liveness[comment]; ok {
		return known == turn.Live, nil
	}
	alive := turn.Alive(l, t.Run.ID, t.Run.Attempt, t.Snap.ReadAt)
	if alive == turn.AskRun {
		state, err := t.GitHub.Actions.Run(ctx, repo, l.Run)
		if err != nil {
			return false, err
		}
		alive = turn.AliveByRun(l, state)
	}
	if t.Liveness == nil {
		t.Liveness = map[int64]turn.Liveness{}
	}
	t.Liveness[comment] = alive
	return alive == turn.Live, nil
}

// ServerNow is the time on GitHub's clock, by which claims expire; on ours, where GitHub was not asked yet.
func (t *Thread) ServerNow() time.Time {
	if t.Snap.ReadAt.IsZero() || t.ReadAt.IsZero() {
		return t.Now()
	}
	return t.Snap.ReadAt.Add(t.Now().Sub(t.ReadAt))
}

// Alive stops a run that took so long that another one may hold its turn for dead.
func Alive(t *Thread) error { return Lapsed(t, t.Marker.Lease, t.About()) }

// Lapsed stops a run that works on something by a lease of its own that is over.
func Lapsed(t *Thread, l model.Lease, about string) error {
	if t.Claims[l.Claim] && l.Expired(t.ServerNow()) {
		return End(model.ResultRetry, "the claim of this run on %s expired at %s", about, l.Expires.Format(time.RFC3339))
	}
	return nil
}

// Budget is what the settings allow in a day.
func Budget(t *Thread) turn.Budget {
	return turn.Budget{Turns: t.Settings.Feedback.TurnsPerDay, CostUSD: t.Settings.Feedback.CostPerDayUSD, RepositoryUSD: t.Settings.Agent.CostPerDayUSD}
}

// Answered says that a receipt answers some of what a turn is about: then the turn must no longer be finished.
func Answered(t *Thread, m model.TurnMarker) bool {
	return slices.ContainsFunc(m.Events, func(e string) bool { return t.State.Answered[e] })
}

// Tidy deletes what two runs said in the same moment, where the first stays, and hides comments that are out of date.
func Tidy(ctx context.Context, t *Thread) error {
	for _, id := range t.State.Surplus {
		if err := t.Remove(ctx, id, ""); err != nil {
			return err
		}
	}
	return hideEnded(ctx, t)
}

// OwesAnswers says that a turn of a run that died was published before the pull request was merged or closed.
func OwesAnswers(t *Thread) bool {
	return slices.ContainsFunc(turn.Open(t.State), func(open model.Posted[model.TurnMarker]) bool {
		m := open.Marker
		return m.Phase == model.PhasePlanned && m.Planned == t.Snap.Pull.HeadSHA && m.Planned != turn.Base(m)
	})
}

// MaxGitRounds is in how many rounds of one turn an agent may ask for git operations.
const MaxGitRounds = 3

// OutOfTime is how a run ends whose time is over.
func OutOfTime(t *Thread) *Stop {
	return End(model.ResultRetry, "%s ([agent] run_timeout = %q); the next event or sweep continues with what is pending on %s", ErrRunTime, Span(t.Settings.Agent.RunTimeout), t.About())
}
