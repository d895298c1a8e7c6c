package trains

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
		_, err := l.home.Apply(ctx, effect.CancelRun{Run: r.ID, Token: journal.Token("cancel", e.Branch, fmt.Sprint(r.ID))})
		if thread.IsPlan(err) {
			return err
		}
		if err != nil {
			l.home.Log.Warn("train_run_goes_on", "branch", e.Branch, "run", r.ID, "error", err)
		}
	}
	return nil
}

// rerun runs the failed jobs of red checks again.
func (l *line) rerun(ctx context.Context, e train.Rerun) error {
	for _, id := range e.IDs {
		token := journal.Token("rerun", e.Tip, fmt.Sprint(id))
		_, err := l.home.Apply(ctx, effect.Rerun{Run: model.Rerun{Run: id}, Token: token})
		switch github.KindOf(err) {
		case github.Running, github.NoRerun, github.Forbidden, github.NotFound:
			l.home.Log.Warn("train_not_run_again", "branch", e.Car, "run", id, "error", err)
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}
