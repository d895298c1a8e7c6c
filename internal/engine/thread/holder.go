package thread

import (
	"context"
	"fmt"

	"github.com/mergexo/mergexo/internal/model"
)

// Holder returns a name for this run as the holder of a lock.
func Holder(t *Thread) string {
	return fmt.Sprintf("%s %d/%d %s", t.Event.Repo, t.Run.ID, t.Run.Attempt, t.Random())
}

// HolderGone reports whether the run of a holder is over, according to GitHub.
func HolderGone(ctx context.Context, t *Thread, holder string) (bool, error) {
	var name, own string
	var run int64
	var attempt int
	if n, err := fmt.Sscanf(holder, "%s %d/%d %s", &name, &run, &attempt, &own); n != 4 || err != nil {
		return false, nil // somebody at a terminal
	}
	repo, err := model.ParseRepo(name)
	if err != nil {
		return false, nil
	}
	switch {
	case run == 0:
		return false, nil
	case run == t.Run.ID && repo == t.Event.Repo:
		return attempt < t.Run.Attempt, nil
	}
	state, err := t.GitHub.Actions.Run(ctx, repo, run)
	return err == nil && state.Known && (state.Completed || state.Attempt > attempt), err
}
