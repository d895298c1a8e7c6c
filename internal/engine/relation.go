package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// guardCrossCycle compares the last accepted head with the one now. The planned head of a turn that died while
// publishing is an accepted one too: it is our own push.
func (p *pass) guardCrossCycle(ctx context.Context, dead []model.Said[model.TurnMarker]) error {
	accepted, head := p.state.Accepted, p.snap.Pull.HeadSHA
	ours := slices.ContainsFunc(dead, func(t model.Said[model.TurnMarker]) bool { return t.Marker.Planned == head })
	if accepted == "" || accepted == head || ours || slices.Contains(p.state.MergeTips, head) {
		return nil
	}
	relation, err := p.sinceAccepted(ctx)
	if err != nil {
		return err
	}
	switch lineage.Decide(relation) {
	case lineage.Block:
		return p.block(ctx, rewrite(accepted, head, model.GuardCrossCycle), "")
	case lineage.Resolve:
		return stop(model.ResultRetry, "the relation of %s to %s is not known yet", markdown.Short(head), markdown.Short(accepted))
	}
	return nil
}

// sinceAccepted is how the head stands to the last accepted one, or to what a merge has made of that since.
func (p *pass) sinceAccepted(ctx context.Context) (model.Relation, error) {
	head, tips := p.snap.Pull.HeadSHA, p.state.MergeTips
	relation, err := p.relation(ctx, p.state.Accepted, head)
	for i := 0; err == nil && i < len(tips) && lineage.Decide(relation) != lineage.Pass; i++ {
		var since model.Relation
		if since, err = p.relation(ctx, tips[i], head); lineage.Decide(since) == lineage.Pass {
			relation = since
		}
	}
	return relation, err
}

// relation asks GitHub first, since most heads that are compared are not here, and git when GitHub does not know.
func (p *pass) relation(ctx context.Context, earlier, later string) (model.Relation, error) {
	if earlier == later {
		return model.Identical, nil
	}
	r, err := p.compare(ctx, earlier, later)
	if err != nil || r != model.Unknown {
		return r, err
	}
	if err := p.open(ctx); err != nil {
		return model.Unknown, err
	}
	return p.localRelation(ctx, earlier, later)
}

// compare asks GitHub, once a run.
func (p *pass) compare(ctx context.Context, earlier, later string) (model.Relation, error) {
	if known, ok := p.relations[earlier+later]; ok {
		return known, nil
	}
	r, err := p.GitHub.Compare(ctx, p.event.Repo, earlier, later)
	if err == nil && r != model.Unknown {
		if p.relations == nil {
			p.relations = map[string]model.Relation{}
		}
		p.relations[earlier+later] = r
	}
	return r, err
}

// localRelation asks git, fetching the history that the answer needs.
func (p *pass) localRelation(ctx context.Context, earlier, later string) (model.Relation, error) {
	return relationIn(ctx, p.checkout, earlier, later)
}

// relationIn is how two commits of a checkout stand to each other, with the history that the answer needs.
func relationIn(ctx context.Context, c *git.Checkout, earlier, later string) (model.Relation, error) {
	r, err := c.Relation(ctx, earlier, later)
	if err != nil || r != model.Unknown {
		return r, err
	}
	err = c.Deepen(ctx, earlier, later)
	var none *git.ErrNoRef
	if errors.As(err, &none) && none.Ref == earlier {
		// A server has every ancestor of what it has. What it does not have any more was rewritten away.
		return model.Diverged, nil
	}
	if err != nil {
		return model.Unknown, err
	}
	return c.Relation(ctx, earlier, later)
}

func rewrite(expected, observed string, guard string) model.BlockMarker {
	return model.BlockMarker{Reason: model.ReasonRewrite, Expected: expected, Observed: observed, Phase: guard}
}
