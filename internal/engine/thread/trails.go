package thread

import (
	"context"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// Trails returns the traces of turns in the pull request's commits: those that are known to be ours, and the others.
func Trails(t *Thread) (ours, others []model.Trace) {
	mine := func(a model.Actor) bool { return a.ID != 0 && a.ID == t.Snap.Viewer.ID || IsTrusted(t, a) }
	for _, c := range t.Snap.Pull.Commits {
		trace, ok := t.Codec.ReadTrail(c, Scope(t))
		if !ok {
			continue
		}
		key := func(start string) string { return journal.TurnKey(t.Event.Number, start, trace.Marker.Events) }
		push, pushed := turn.Pushed(trace, t.Memory.Pushes, mine, key)
		switch {
		case trace.Attested:
			ours = append(ours, trace)
		case pushed:
			trace.At, trace.Marker.Start = push.At, push.Before
			ours = append(ours, trace)
		default:
			others = append(others, trace)
		}
	}
	return ours, others
}

// FindLost finds turns whose receipts were deleted. Their feedback counts as answered, even before the receipt is posted again.
func FindLost(t *Thread) {
	for _, lost := range t.Lost {
		for _, e := range lost.Marker.Events {
			delete(t.State.Answered, e)
		}
	}
	ours, _ := Trails(t)
	t.Lost = turn.Lost(t.Snap, t.State, slices.Concat(t.State.Traces, ours))
	t.State.Recovered = 0
	for _, lost := range t.Lost {
		if t.Settings.Feedback.CostPerDayUSD == 0 || lost.At.Before(t.Snap.ReadAt.UTC().Truncate(24*time.Hour)) { // nothing tells what a turn cost
			t.State.Recovered++
		}
		for _, e := range lost.Marker.Events {
			t.State.Answered[e] = true
		}
	}
}

// Attest asks GitHub who pushed the commits that claim to answer pending feedback. It asks nothing if no commit does.
func Attest(ctx context.Context, t *Thread, pending []model.Comment) error {
	_, others := Trails(t)
	keys := turn.Keys(t.Event.Number, pending)
	if !slices.ContainsFunc(others, func(trace model.Trace) bool {
		return !t.State.Keys[trace.Marker.Key] && slices.ContainsFunc(trace.Marker.Events, func(e string) bool { return slices.Contains(keys, e) })
	}) {
		return nil
	}
	return ReadPushes(ctx, t)
}

// ReadPushes reads who pushed to the head branch, once for each head.
func ReadPushes(ctx context.Context, t *Thread) error {
	if t.Memory.PushedTo == t.Snap.Pull.HeadSHA {
		return nil
	}
	pushes, err := t.GitHub.Refs.Pushes(ctx, t.Event.Repo, t.Snap.Pull.HeadRef)
	if k := github.KindOf(err); k == github.Forbidden || k == github.NotFound {
		t.Log.Warn("pushes_unknown", t.NumberKey(), t.Event.Number, "error", err)
		err = nil
	}
	if err != nil {
		return err
	}
	t.Memory.Pushes, t.Memory.PushedTo = pushes, t.Snap.Pull.HeadSHA
	return nil
}
