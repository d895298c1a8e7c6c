package landing

import (
	"context"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/model"
)

// lock takes the locks of all bases, in an order that is the same for every run, so that two never wait for each other.
func (g *merger) lock(ctx context.Context) error {
	first, names := map[string]*member{}, []string{}
	for _, m := range g.members {
		base := m.is.Repo + ":" + m.is.Base
		// GitHub itself sees to the order of its merges.
		if m.is.Landed == "" && !model.ByGitHub(m.way.Strategy) && first[base] == nil {
			first[base], names = m, append(names, base)
		}
	}
	slices.Sort(names)
	gone := func(holder string) (bool, error) { return thread.HolderGone(ctx, g.Thread, holder) }
	for _, base := range names {
		if err := first[base].Open(ctx); err != nil {
			return err
		}
		lease := transport.Lease{Holder: thread.Holder(g.Thread), Until: expiry(g.Request), URL: g.Run.URL}
		if err := awaitLock(ctx, first[base], lease, gone, g.GitHub.Pause); err != nil {
			return err
		}
	}
	return nil
}

// awaitLock waits at most lock_timeout for the lock of the base, and takes it from a run that is over.
func awaitLock(ctx context.Context, m *member, lease transport.Lease, gone func(holder string) (bool, error), wait func(context.Context, time.Duration) error) error {
	if m.lock != nil {
		return nil
	}
	return failureOf(whileBusy(ctx, m.Settings.Merge.LockTimeout, wait, func() (locked bool, err error) {
		m.lock, err = thread.TakeLock(ctx, m.Thread, m.is.Base, lease, gone)
		return is[*transport.ErrLocked](err), err
	}), "")
}

// unlock gives back the locks that no landing has given back.
func (g *merger) unlock(ctx context.Context) {
	for _, m := range g.members {
		if m.lock == nil {
			continue
		}
		err := m.Open(ctx) // a checkout that was left is open no longer
		if err == nil {
			_, err = m.Apply(ctx, effect.Unlock(m.lock))
		}
		if err != nil {
			g.Log.Warn("lock_left", "pr_number", g.Event.Number, "base", m.is.Base, "error", err)
		}
		m.lock = nil
	}
}

// YieldToOther returns a Stop if another run is merging the pull request.
func YieldToOther(ctx context.Context, t *thread.Thread) error {
	said := t.State.Merge()
	if said == nil || said.Marker.State != model.MergeRunning {
		return nil
	}
	live, err := thread.MergeAtWork(ctx, t, *said)
	if err == nil && live {
		return thread.End(model.ResultRetry, "another run is merging pull request %d, see %s", t.Event.Number, said.URL)
	}
	return err
}
