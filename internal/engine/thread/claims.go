package thread

import (
	"context"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// ClaimMargin is the time for which a claim outlives its agent's timeout.
const ClaimMargin = 10 * time.Minute

// DeadClaims returns the open claims whose process is gone. If another process still works on a claim, the error ends this run.
// That process looks again when its turn is done, and so handles what is pending now.
func DeadClaims(ctx context.Context, t *Thread) ([]model.Posted[model.TurnMarker], error) {
	live, err := LiveTurn(ctx, t)
	if err == nil && live != nil {
		err = End(model.ResultRetry, "another run is working on %s, see %s", t.About(), live.URL)
	}
	return turn.Open(t.State), err
}

// LiveTurn returns the first open turn that another process works on, or nil.
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

// ServerNow returns the time on GitHub's clock, by which claims expire. If nothing was read from GitHub yet, it returns our own.
func (t *Thread) ServerNow() time.Time {
	if t.Snap.ReadAt.IsZero() || t.ReadAt.IsZero() {
		return t.Now()
	}
	return t.Snap.ReadAt.Add(t.Now().Sub(t.ReadAt))
}

// Alive returns a Stop if the claim of this run has expired, since another run may then take over its turn.
func Alive(t *Thread) error { return Lapsed(t, t.Marker.Lease, t.About()) }

// Lapsed returns a Stop if this process holds the lease and it has expired. about names the work in the reason.
func Lapsed(t *Thread, l model.Lease, about string) error {
	if t.Claims[l.Claim] && l.Expired(t.ServerNow()) {
		return End(model.ResultRetry, "the claim of this run on %s expired at %s", about, l.Expires.Format(time.RFC3339))
	}
	return nil
}

// Budget returns the daily limits that the settings set.
func Budget(t *Thread) turn.Budget {
	return turn.Budget{Turns: t.Settings.Feedback.TurnsPerDay, CostUSD: t.Settings.Feedback.CostPerDayUSD, RepositoryUSD: t.Settings.Agent.CostPerDayUSD}
}

// Answered reports whether a receipt answers any of the feedback of a turn. Such a turn must not be finished.
func Answered(t *Thread, m model.TurnMarker) bool {
	return slices.ContainsFunc(m.Events, func(e string) bool { return t.State.Answered[e] })
}

// Tidy deletes comments that two runs posted at the same time, except for the first, and hides comments that are out of date.
func Tidy(ctx context.Context, t *Thread) error {
	for _, id := range t.State.Surplus {
		if err := t.Remove(ctx, id, ""); err != nil {
			return err
		}
	}
	return hideEnded(ctx, t)
}

// OwesAnswers reports whether a turn of a dead run was published before the pull request was merged or closed, so that its
// answers are missing.
func OwesAnswers(t *Thread) bool {
	return slices.ContainsFunc(turn.Open(t.State), func(open model.Posted[model.TurnMarker]) bool {
		m := open.Marker
		return m.Phase == model.PhasePlanned && m.Planned == t.Snap.Pull.HeadSHA && m.Planned != turn.Base(m)
	})
}

// MaxGitRounds limits the rounds of one turn in which an agent may ask for git operations.
const MaxGitRounds = 3

// OutOfTime returns the Stop of a run whose time is over.
func OutOfTime(t *Thread) *Stop {
	return End(model.ResultRetry, "%s ([agent] run_timeout = %q); the next event or sweep continues with what is pending on %s", ErrRunTime, Span(t.Settings.Agent.RunTimeout), t.About())
}
