package thread

import (
	"context"
	"slices"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// Within reports whether all contains every comment of some, in the same edit.
func Within(some, all []model.Comment) bool {
	return !slices.ContainsFunc(some, func(c model.Comment) bool {
		return !slices.ContainsFunc(all, func(d model.Comment) bool { return c.Kind == d.Kind && c.ID == d.ID && c.UpdatedAt.Equal(d.UpdatedAt) })
	})
}

// Pending returns the feedback that this run may act on. It asks for rights that are not known yet.
func (t *Thread) Pending(ctx context.Context) ([]model.Comment, error) {
	candidates := turn.Candidates(t.Snap, t.State, t.Policy)
	if err := Attest(ctx, t, candidates); err != nil {
		return nil, err
	}
	FindLost(t)
	candidates = turn.Candidates(t.Snap, t.State, t.Policy)
	if err := t.Ask(ctx, turn.UnknownRights(candidates, t.Memory.Rights, t.State.Settled, t.Policy)); err != nil {
		return nil, err
	}
	pending := turn.Allowed(candidates, t.Memory.Rights, t.Policy)
	return pending, t.Survey.threads(pending)
}

// Ask asks GitHub for the rights of people, each once a run. The logins are in lower case.
func (t *Thread) Ask(ctx context.Context, logins []string) error {
	logins = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(logins))), func(login string) bool {
		_, known := t.Memory.Rights[login]
		return known || login == ""
	})
	if len(logins) == 0 {
		return nil
	}
	if t.Survey != nil {
		return t.Survey.lacks(Asks{Logins: append(logins, along(t)...)})
	}
	got, err := t.GitHub.Repositories.Permissions(ctx, t.Event.Repo, logins)
	if err != nil {
		return err
	}
	for _, login := range logins {
		t.Memory.Rights[login] = got[login] // absent: none
	}
	return nil
}

// TakenAt reports whether a person had taken the pull request over, by label, when a comment was posted.
func TakenAt(t *Thread, c model.Comment) bool {
	return slices.ContainsFunc(turn.Taken(t.Snap.Pull, t.Policy), func(s model.Span) bool {
		return s.Holds(c.SaidAt(), t.Event.Carries(c))
	})
}
