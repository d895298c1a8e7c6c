package thread

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/model"
)

// SinceAccepted returns the relation of the head to the last accepted head, or to a commit that a merge has made of it.
func SinceAccepted(ctx context.Context, t *Thread) (model.Relation, error) {
	if t.Survey != nil { // a sweep compares all heads at once, with git
		return model.Ahead, nil
	}
	head, tips := t.Snap.Pull.HeadSHA, t.State.MergeTips
	relation, err := t.Relation(ctx, t.State.Accepted, head)
	for i := 0; err == nil && i < len(tips) && lineage.Decide(relation) != lineage.Pass; i++ {
		var since model.Relation
		if since, err = t.Relation(ctx, tips[i], head); lineage.Decide(since) == lineage.Pass {
			relation = since
		}
	}
	return relation, err
}

// Relation returns the relation of two heads. It asks GitHub first, since most heads are not in the checkout, and then git if
// GitHub does not know.
func (t *Thread) Relation(ctx context.Context, earlier, later string) (model.Relation, error) {
	if earlier == later {
		return model.Identical, nil
	}
	r, err := Compare(ctx, t, earlier, later)
	if err != nil || r != model.Unknown {
		return r, err
	}
	if err := t.Open(ctx); err != nil {
		return model.Unknown, err
	}
	return RelationIn(ctx, t.Checkout, earlier, later)
}

// Compare asks GitHub for the relation of two heads, once a run. It asks nothing if the commits of the pull request tell.
func Compare(ctx context.Context, t *Thread, earlier, later string) (model.Relation, error) {
	if t.Snap.Pull.Leads(earlier, later) {
		return model.Ahead, nil
	}
	if known, ok := t.Memory.Relations[earlier+later]; ok {
		return known, nil
	}
	r, err := t.GitHub.Commits.Compare(ctx, t.Event.Repo, earlier, later)
	if err == nil && r != model.Unknown {
		if t.Memory.Relations == nil {
			t.Memory.Relations = map[string]model.Relation{}
		}
		t.Memory.Relations[earlier+later] = r
	}
	return r, err
}

// RelationIn returns the relation of two commits in a checkout, and fetches the history that it needs. An earlier commit that the
// server no longer has was rewritten away: it returns Diverged.
func RelationIn(ctx context.Context, c *git.Checkout, earlier, later string) (model.Relation, error) {
	r, err := history.Relate(ctx, c, earlier, later)
	if none := (*git.ErrNoRef)(nil); errors.As(err, &none) && none.Ref == earlier {
		// A server has every ancestor of what it has. What it no longer has was rewritten away.
		return model.Diverged, nil
	}
	return r, err
}

// Rewritten returns the block for a rewritten history. guard names the check that found it.
func Rewritten(expected, observed string, guard string) model.BlockMarker {
	return model.BlockMarker{Reason: model.ReasonRewrite, Expected: expected, Observed: observed, Phase: guard}
}

// HeadRef returns the ref under which the server has the head of the pull request.
func HeadRef(t *Thread) string {
	if t.Snap.Pull.CrossRepo {
		return fmt.Sprintf("refs/pull/%d/head", t.Event.Number)
	}
	return "refs/heads/" + t.Snap.Pull.HeadRef
}
