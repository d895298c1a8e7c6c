package landing

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/train"
)

// stop cancels the workflow runs of a train branch whose car was thrown away. Those of a commit that landed, or that another car
// has as well, still tell something. A run that goes on is no failure: it only takes its time.
func (l *line) stop(ctx context.Context, e train.DeleteBranch) error {
	if l.now.SHA == e.From || slices.ContainsFunc(l.now.Landed, func(k train.Landing) bool { return k.SHA == e.From }) ||
		slices.ContainsFunc(l.now.Cars, func(c train.Car) bool { return c.Tip == e.From }) {
		return nil
	}
	runs, err := l.home.GitHub.Actions.RunsOf(ctx, l.Repo, e.From)
	if err != nil {
		l.home.Log.Warn("train_runs_unknown", "branch", e.Branch, "error", err)
		return nil
	}
	for _, r := range runs {
		// A head that needed no rebase is the tip of its car, and the runs of its own pull request are not the train's.
		if r.Completed || r.Branch != e.Branch || r.Event != "push" {
			continue
		}
		if _, err := l.home.Apply(ctx, effect.CancelRun(r.ID, journal.Token("cancel", e.Branch, fmt.Sprint(r.ID)))); err != nil {
			l.home.Log.Warn("train_run_goes_on", "branch", e.Branch, "run", r.ID, "error", err)
		}
	}
	return nil
}

// rerun runs the failed jobs of red checks again.
func (l *line) rerun(ctx context.Context, e train.Rerun) error {
	refused := false
	for _, id := range e.IDs {
		again, err := runAgain(ctx, l, e, id)
		if err != nil {
			return err
		}
		refused = refused || !again
	}
	if refused {
		l.learn(train.NotRerun{Car: e.Car, Tip: e.Tip})
	}
	return nil
}

// runAgain has the failed jobs of a workflow run run once more, unless that was done; false: GitHub does not do it. A run that has
// not ended is left alone: it is the re-run, or some of its jobs have not reported yet, and its end is an event.
func runAgain(ctx context.Context, l *line, e train.Rerun, id int64) (bool, error) {
	again := effect.Rerun(model.Rerun{Run: id}, journal.Token("rerun", e.Tip, fmt.Sprint(id), fmt.Sprint(e.After)))
	now, err := l.home.GitHub.Actions.Run(ctx, l.Repo, id)
	switch {
	case err != nil || !now.Known:
		return false, err
	case !now.Completed:
		return true, nil
	case e.After != 0 && seconds(now.Began) > e.After:
		thread.Noted(l.home, again.As, effect.Present)
		return true, nil
	}
	_, err = l.home.Apply(ctx, again)
	switch github.KindOf(err) {
	case github.Running:
		return true, nil
	case github.NoRerun, github.Forbidden, github.NotFound:
		l.home.Log.Warn("train_not_run_again", "base", l.Base, "car", e.Car, "run", id, "error", err)
		return false, nil
	}
	return err == nil, err
}
