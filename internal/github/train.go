package github

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// TrainQuery says which merge train is read.
type TrainQuery struct {
	Repo model.Repo
	Base string // branch
	// Branches is the common beginning of the names of the train's branches, with a slash behind it.
	Branches string
	// Manifest is the commit that the train's private ref is at; "": there is none.
	Manifest string
}

// mostCars is how many branches of a train are read at once, and mostCarChecks how many checks of each. The other bounds are
// how many pages there may be of each.
const (
	mostCars          = 20
	mostCarChecks     = 100
	mostTrainPages    = 50
	mostCarCheckPages = 50
)

// Train reads what GitHub shows of a merge train: one GraphQL request, and more where there are more than 20 branches or more
// than 100 checks of one. Only the newest check of each name and source counts.
func (c Threads) Train(ctx context.Context, q TrainQuery) (model.TrainView, error) {
	op := fmt.Sprintf("read the merge train of %s in %s", oneLine(q.Base), q.Repo)
	ours := question{op, documents["train"], q.Repo, 0, "merge train", []string{"statusCheckRollup"}}
	var view model.TrainView
	after := cursor{more: true}
	for page := 0; after.more && page < mostTrainPages; page++ {
		data, err := c.ask(ctx, ours, func(step int) map[string]any {
			return map[string]any{
				"base": "refs/heads/" + q.Base, "cars": "refs/heads/" + q.Branches, "after": orNull(after.at),
				"askManifest": q.Manifest != "" && page == 0, "manifest": cmp.Or(q.Manifest, strings.Repeat("0", 40)),
				"most": min(mostCars, pageLimits[step]), "page": min(mostCarChecks, pageLimits[step]),
			}
		})
		if err != nil {
			return model.TrainView{}, err
		}
		view.ChecksHidden = view.ChecksHidden || len(data.missing) > 0
		if page == 0 {
			base := data.Repository.Base
			view.Viewer, view.BaseSHA = data.Viewer.actor(), base.Target.OID
			if text, whole := data.Repository.Manifest.File.Object.text(); whole {
				view.Manifest = []byte(text)
			}
			if view.Settings, view.SettingsFound, err = base.settings(op, q.Base); err != nil {
				return view, err
			}
		}
		for _, n := range data.Repository.Cars.Nodes {
			if n.Target.OID == "" {
				continue
			}
			b, err := trainBranch(ctx, c, q, n)
			if err != nil {
				return model.TrainView{}, err
			}
			view.Branches = append(view.Branches, b)
		}
		view.Cut = data.Repository.Cars.PageInfo.HasNextPage
		after.next(data.Repository.Cars.PageInfo)
	}
	return view, nil
}

// trainBranch is a branch with all of its checks.
func trainBranch(ctx context.Context, c Threads, q TrainQuery, n branchNode) (model.TrainBranch, error) {
	b := model.TrainBranch{Name: q.Branches + strings.TrimPrefix(n.Name, q.Branches), SHA: n.Target.OID}
	checks := n.Target.StatusCheckRollup.Contexts
	op := fmt.Sprintf("read the checks of commit %s of %s", b.SHA, q.Repo)
	ours := question{op, documents["carchecks"], q.Repo, 0, "checks of a car", nil}
	after := cursor{}
	for page := 1; after.next(checks.PageInfo) && page < mostCarCheckPages; page++ {
		data, err := c.ask(ctx, ours, func(step int) map[string]any {
			return map[string]any{"commit": b.SHA, "after": after.at, "page": min(mostCarChecks, pageLimits[step])}
		})
		if err != nil {
			return b, err
		}
		further := data.Repository.Commit.StatusCheckRollup.Contexts
		if len(further.Nodes) == 0 { // GitHub shows no more
			break
		}
		checks.Nodes, checks.PageInfo = append(checks.Nodes, further.Nodes...), further.PageInfo
	}
	b.More = checks.PageInfo.HasNextPage
	b.Checks = (&rollupNode{checks}).newest()
	return b, nil
}

// newest are the newest checks of each name and source.
func (n *rollupNode) newest() []model.Check {
	var all []model.Check
	for _, node := range n.Contexts.Nodes {
		if node != nil && !node.dropped() {
			all = append(all, node.check())
		}
	}
	return model.Current(all)
}
