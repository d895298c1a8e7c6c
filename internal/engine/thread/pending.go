package thread

import (
	"context"
	"slices"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// Within says that all of some comments are among others, each as it was edited last.
func Within(some, all []model.Comment) bool {
	return !slices.ContainsFunc(some, func(c model.Comment) bool {
		return !slices.ContainsFunc(all, func(d model.Comment) bool { return c.Kind == d.Kind && c.ID == d.ID && c.UpdatedAt.Equal(d.UpdatedAt) })
	})
}

// Pending is the feedback that this run may act on, asking for the rights of people it does not know yet.
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
	return WithoutApprovals(t, turn.Allowed(candidates, t.Memory.Rights, t.Policy)), nil
}

// WithoutApprovals are comments without the words of an approval while a merge is asked for. Those are for who merges: a turn over
// them would take the approval away. Where the agent has asked a question nothing is merged before it is answered.
func WithoutApprovals(t *Thread, comments []model.Comment) []model.Comment {
	asks := turn.Question(t.State) != nil || t.State.Question != nil
	if m := t.State.Merge(); m == nil || !m.Marker.Open() || asks {
		return comments
	}
	return slices.DeleteFunc(comments, func(c model.Comment) bool { return c.Kind == model.KindReviewSummary && c.ReviewState == "APPROVED" })
}

// Ask finds out what these people may do, each asked about once a run.
func (t *Thread) Ask(ctx context.Context, logins []string) error {
	if len(logins) == 0 {
		return nil
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

// TakenAt says that a person had taken this pull request over by label when a comment was posted.
func TakenAt(t *Thread, c model.Comment) bool {
	return slices.ContainsFunc(turn.Taken(t.Snap.Pull, t.Policy), func(s model.Span) bool {
		return s.Holds(c.SaidAt(), t.Event.Carries(c))
	})
}
