package landing

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/treepath"
)

// place is where a member lands: on GitHub, on the origin of a clone, or in a checkout.
type place interface {
	// branches gets the base and the branch at ref, and where they met.
	branches(ctx context.Context, m *member, ref string) (history.Divergence, error)
	// relation is how a commit that the base had stands to what it has.
	relation(ctx context.Context, m *member, earlier, later string) (model.Relation, error)
	// takes refuses what the base would refuse when it moves, before tests take their time.
	takes(ctx context.Context, m *member) error
	// moves are those of the branches and of the base in their order, of members that stand on one another.
	moves(ctx context.Context, all []*member) ([]move, error)
}

type (
	onGitHub   struct{}
	onOrigin   struct{ onGitHub }
	inCheckout struct{ onOrigin }
)

func (onGitHub) branches(ctx context.Context, m *member, ref string) (history.Divergence, error) {
	return history.FetchMergeBase(ctx, m.Checkout, m.is.Base, ref)
}

func (inCheckout) branches(ctx context.Context, m *member, ref string) (history.Divergence, error) {
	return checkout.LocalMergeBase(ctx, m.Checkout, m.is.Base, strings.TrimPrefix(ref, "refs/heads/"))
}

func (onGitHub) relation(ctx context.Context, m *member, earlier, later string) (model.Relation, error) {
	return m.Relation(ctx, earlier, later)
}

func (onOrigin) relation(ctx context.Context, m *member, earlier, later string) (model.Relation, error) {
	return thread.RelationIn(ctx, m.Checkout, earlier, later)
}

func (inCheckout) relation(ctx context.Context, m *member, earlier, later string) (model.Relation, error) {
	return history.Relation(ctx, m.Checkout, earlier, later)
}

// takes asks the rules of the base.
func (onGitHub) takes(ctx context.Context, m *member) error {
	if model.ByGitHub(m.way.Strategy) { // GitHub itself moves the base, and nothing before it
		return nil
	}
	if err := thread.ReadDemands(ctx, m.Thread); err != nil {
		return err
	}
	if why := merge.RefusedBy(m.way, m.Snap.Pull, *m.MergeFacts, m.made.Tip); why != "" {
		return failed(model.CodeProtected, why)
	}
	if m.MergeFacts.NoWorkflows {
		path, err := history.FirstChanged(ctx, m.Checkout, treepath.Workflows, m.made.Tip, m.is.BaseSHA, m.div.HeadSHA)
		if err != nil {
			return err
		}
		if path != "" {
			return failed(model.CodeForbidden, merge.WorkflowText(path))
		}
	}
	signs := merge.SignedOnly(*m.MergeFacts)
	if signs == nil {
		return nil
	}
	sha, err := merging.Unsigned(ctx, m.Checkout, m.is.BaseSHA, m.made.Tip)
	if sha != "" {
		return failed(model.CodeProtected, fmt.Sprintf("%s of branch %q accepts only signed commits, and %s has no signature", signs.Source, m.is.Base, markdown.Short(sha)))
	}
	return err
}

func (onOrigin) takes(ctx context.Context, m *member) error {
	if dir := git.TakenThere(ctx, m.Checkout, m.is.Base); dir != "" {
		return failed(model.CodeProtected, fmt.Sprintf(
			"the origin has %s checked out in %s: check out another branch there, or set receive.denyCurrentBranch to updateInstead in it", m.is.Base, dir))
	}
	return nil
}

func (inCheckout) takes(ctx context.Context, m *member) error {
	return failureOf(checkout.CanLandLocal(ctx, m.Checkout, m.is.Base, m.is.BaseSHA, m.made.Tip), m.way.Strategy)
}

// moves has the branches first, which have to move where the tip is no descendant of them: of a base and a head that move in one
// moment GitHub may see only that there is nothing left to merge.
func (onGitHub) moves(ctx context.Context, all []*member) (list []move, err error) {
	for _, m := range all {
		relation, err := history.Relation(ctx, m.Checkout, m.head, m.made.Tip)
		if err != nil {
			return nil, err
		}
		if lineage.Decide(relation) != lineage.Pass && movable(m) {
			list = append(list, headMove(m))
		}
	}
	return append(list, baseMove(all)), nil
}

// moves has the base first, since it may be in use, and that changes nothing.
func (o inCheckout) moves(ctx context.Context, all []*member) ([]move, error) {
	list, err := o.onGitHub.moves(ctx, all)
	slices.Reverse(list)
	for i := range list {
		if list[i].By = effect.ForwardHere; !list[i].base {
			list[i].By, list[i].As.Kind = effect.RewriteHere, "move"
		}
	}
	return list, err
}

// shown waits until everybody on GitHub sees where the branches are.
func shown(ctx context.Context, moved []*member) error {
	if len(moved) == 0 || moved[0].GitHub == nil {
		return nil
	}
	var numbers []int
	for _, m := range moved {
		numbers = append(numbers, m.is.Number)
	}
	first := moved[0]
	all, _, err := first.GitHub.Pulls.AwaitAll(ctx, first.Event.Repo, numbers, headLimit, func(all map[int]model.PullNow) bool {
		return !slices.ContainsFunc(moved, func(m *member) bool {
			now := all[m.is.Number]
			return now.State == model.PullOpen && now.HeadSHA != m.is.Tip
		})
	})
	if err != nil {
		return err
	}
	for _, m := range moved {
		switch now, there := all[m.is.Number]; {
		case !there || now.HeadSHA != m.is.Tip && now.State == model.PullOpen:
			return failed(model.CodeRejected, fmt.Sprintf("GitHub does not show %s as the head yet", markdown.Short(m.is.Tip)))
		case now.State == model.PullClosed:
			return failed(model.CodeClosed, "the pull request was closed before it landed")
		}
	}
	return nil
}
