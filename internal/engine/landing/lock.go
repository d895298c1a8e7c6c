package landing

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/model"
)

// lock takes the locks of all bases, in an order that is the same for every run, so that two never wait for each other.
func (g *merger) lock(ctx context.Context) error {
	// By name. A generic function over members would make the linker keep all that their type reaches, 1.6 MB of go-github.
	first, names := map[string]*member{}, []string{}
	for _, m := range g.members {
		base := m.is.Repo + ":" + m.is.Base
		// GitHub itself sees to the order of its merges.
		if m.is.Landed == "" && !model.ByGitHub(m.way.Strategy) && first[base] == nil {
			first[base], names = m, append(names, base)
		}
	}
	slices.Sort(names)
	for _, base := range names {
		if err := lockBase(ctx, g, first[base]); err != nil {
			return err
		}
	}
	return nil
}

// lockBase waits for the lock of one base, and takes it from a run that is over.
func lockBase(ctx context.Context, g *merger, m *member) error {
	if err := m.Open(ctx); err != nil {
		return err
	}
	lease := transport.Lease{Holder: thread.Holder(g.Thread), Until: g.expiry(), URL: g.Run.URL}
	gone := func(holder string) (bool, error) { return thread.HolderGone(ctx, g.Thread, holder) }
	var err error
	m.lock, err = awaitLock(ctx, m.Thread, m.is.Base, lease, g.Settings.Merge.LockTimeout, gone, g.GitHub.Pause)
	if none := (*transport.ErrNoLocks)(nil); errors.As(err, &none) { // the leases of the pushes hold without it: two merges only do some work for nothing
		g.Log.Warn("no_lock", "pr_number", g.Event.Number, "base", m.is.Base, "error", err)
		return nil
	}
	return failureOf(err, "")
}

// awaitLock takes a lock, from a process that is gone too, and waits for one that another process has. The error is the last one.
func awaitLock(ctx context.Context, t *thread.Thread, base string, lease transport.Lease, limit time.Duration, gone func(holder string) (bool, error), wait func(context.Context, time.Duration) error) (*transport.Lock, error) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		taken, err := t.Apply(ctx, effect.Lock(base, lease, nil))
		locked := (*transport.ErrLocked)(nil)
		if errors.As(err, &locked) {
			dead, lookErr := gone(locked.Holder)
			if lookErr != nil {
				return nil, lookErr
			}
			if dead {
				taken, err = t.Apply(ctx, effect.Lock(base, lease, locked))
			}
		}
		if !errors.As(err, &locked) || pause > limit {
			return taken.Lock, err
		}
		if err := wait(ctx, pause); err != nil {
			return nil, err
		}
		limit -= pause
	}
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

// YieldToOther stops a run on a pull request that another run is merging.
func YieldToOther(ctx context.Context, t *thread.Thread) error {
	said := t.State.Merge()
	if said == nil || said.Marker.State != model.MergeRunning {
		return nil
	}
	live, err := thread.MergeAtWork(ctx, t, *said)
	if err != nil || live {
		return errors.Join(err, thread.End(model.ResultRetry, "another run is merging pull request %d, see %s", t.Event.Number, said.URL))
	}
	return nil
}
