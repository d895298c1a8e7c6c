package attempt

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// Unstage fetches the planned commits. The push that publishes them deletes the stage, so where it is gone they are on
// the branch (false), or they were and somebody took them off again. What the stage points to is not asked: a run that died
// while it replayed the turn may have moved it on, and only the recorded commits are the turn's.
func Unstage(ctx context.Context, p *Attempt) (here bool, err error) {
	if len(p.Commits) > 0 { // this run has recorded them
		return true, nil
	}
	_, err = history.FetchRef(ctx, p.Checkout, StagedAt(p.Event.Number, p.Marker))
	var none *git.ErrNoRef
	if errors.As(err, &none) {
		if nowhere, err := published(ctx, p); err != nil || !nowhere {
			return false, err
		}
		err = history.FetchCommits(ctx, p.Checkout, p.Marker.Planned) // which the server may keep without any name
	}
	if git.IsNoRef(err) {
		return false, p.Failed(ctx, fmt.Errorf("the planned commits are gone with branch %q: %w", p.Branch, err))
	}
	if err != nil {
		return false, err
	}
	err = history.Deepen(ctx, p.Checkout, p.Base(), p.Marker.Planned)
	if errors.As(err, &none) {
		return false, p.Failed(ctx, fmt.Errorf("the planned commits cannot be fetched: %w", err))
	}
	if err != nil {
		return false, err
	}
	p.Commits, err = history.List(ctx, p.Checkout, p.Base(), p.Marker.Planned)
	return true, err
}

// published asks the server itself whether the planned commits are on the branch; an answer of the API may be old. Of an issue's
// work it may say that they are nowhere, since somebody deleted the branch before it had a pull request.
func published(ctx context.Context, p *Attempt) (nowhere bool, err error) {
	ref := "refs/heads/" + p.Snap.Pull.HeadRef
	heads, err := history.RemoteRefs(ctx, p.Checkout, ref)
	switch {
	case err != nil || heads[ref] == p.Marker.Planned:
		return false, err
	case heads[ref] == "" && p.Subject.Flow() != "":
		return true, nil
	case heads[ref] == "":
		return false, thread.End(model.ResultRetry, "the head branch %q was deleted", p.Snap.Pull.HeadRef)
	}
	relation, err := p.Relation(ctx, p.Marker.Planned, heads[ref])
	if err != nil || relation == model.Ahead || p.Marker.Moved != "" {
		return false, err
	}
	return false, p.Subject.Block(ctx, thread.Rewritten(p.Marker.Planned, heads[ref], model.GuardRemote),
		"the recorded work was published and then removed from the branch, or its hidden ref was deleted before it could be published")
}

// Retests reports whether the required tests can run here on another base. They run where the agent does, and nowhere else.
func Retests(p *Attempt) bool { return p.Phase.RunsAgent() || len(p.Settings.RequiredTests()) == 0 }

// RebaseOnto records the turn's commits on top of a head. They do not fit when it takes the agent: they conflict, their tests fail there,
// or what they would publish there must not be. A merge among them is kept by merging the head.
func RebaseOnto(ctx context.Context, p *Attempt, head string) (fits bool, err error) {
	replayed, err := rebased(ctx, p, head)
	if err != nil || replayed == "" {
		return false, err
	}
	p.Log.Info("turn_replayed", p.NumberKey(), p.Event.Number, "turn_key", p.Marker.Key, "from", p.Base(), "onto", head)
	if p.Commits, err = history.List(ctx, p.Checkout, head, replayed); err != nil {
		return false, err
	}
	m, o := p.Marker, *p.Marker.Outbox
	m.Onto, m.Planned, m.Moved, o.Commits = head, replayed, "", turn.Listed(p.Commits)
	return true, p.Record(ctx, m, o)
}

// rebased replays the commits on top of a head and returns the new tip; "" when they do not fit there.
func rebased(ctx context.Context, p *Attempt, head string) (string, error) {
	var conflict *merging.ErrConflict
	var broken *git.Error
	replayed, err := checkout.ReplayOrMerge(ctx, p.Checkout, p.Base(), p.Marker.Planned, head, fmt.Sprintf("Merge branch '%s'", p.Snap.Pull.HeadRef))
	if errors.As(err, &conflict) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	found, _, err := p.Inspect(ctx, head, replayed)
	if err != nil || found.Reason != "" {
		return "", err
	}
	var output string
	err = p.InTime(ctx, func(ctx context.Context) (err error) {
		output, _, err = p.RequiredTests(ctx, p.Subject.Tested(head), replayed)
		return err
	})
	switch late := (*work.Ending)(nil); {
	case errors.As(err, &late) && errors.Is(late.Cause, thread.ErrRunTime): // the plan stands: the next run, which has more time, goes on from it
		return "", thread.OutOfTime(p.Thread)
	case errors.As(err, &late):
		return "", late.Cause
	case errors.As(err, &broken) && broken.Failure == "": // the tests left a checkout that git cannot work with
		return "", nil
	case err != nil || output != "":
		return "", err
	}
	return replayed, nil
}
