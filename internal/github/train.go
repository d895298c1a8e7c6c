package github

import (
	"context"
	"fmt"
	"net/http"
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
	if err := checkRepo(q.Repo); err != nil {
		return model.TrainView{}, &Error{Kind: Invalid, Op: op, Message: c.line(err.Error())}
	}
	variables := map[string]any{
		"owner": q.Repo.Owner, "name": q.Repo.Name, "base": "refs/heads/" + q.Base, "cars": "refs/heads/" + q.Branches,
		"askManifest": q.Manifest != "", "manifest": q.Manifest,
	}
	if q.Manifest == "" {
		variables["manifest"] = strings.Repeat("0", 40)
	}
	var view model.TrainView
	for page := 0; ; page++ {
		data, hidden, err := trainPage(ctx, c, op, variables)
		if err != nil {
			return model.TrainView{}, named(err, Query{Repo: q.Repo})
		}
		view.ChecksHidden = view.ChecksHidden || hidden
		if page == 0 {
			if err := data.begin(&view, op, q.Base); err != nil {
				return view, err
			}
		}
		for _, n := range data.Repository.Cars.Nodes {
			if n.Target == nil {
				continue
			}
			b, err := trainBranch(ctx, c, q, n)
			if err != nil {
				return model.TrainView{}, named(err, Query{Repo: q.Repo})
			}
			view.Branches = append(view.Branches, b)
		}
		info := data.Repository.Cars.PageInfo
		view.Cut = info.HasNextPage
		if !info.HasNextPage || page == mostTrainPages-1 {
			return view, nil
		}
		variables["after"], variables["askManifest"] = info.EndCursor, false
	}
}

// trainPage reads some branches of a train. hidden says that the token may not read their checks.
func trainPage(ctx context.Context, c Threads, op string, variables map[string]any) (data trainData, hidden bool, err error) {
	var missing []string
	err = c.inPages(ctx, pagesOfTrain, func(ctx context.Context, step int) (err error) {
		data = trainData{}
		variables["most"], variables["page"] = min(mostCars, pageLimits[step]), min(mostCarChecks, pageLimits[step])
		_, missing, err = c.queryParts(ctx, op, trainDocument, variables, &data, "statusCheckRollup")
		return err
	})
	if err == nil && data.Repository == nil {
		err = &Error{Kind: NotFound, Op: op, Status: http.StatusNotFound, Message: "Repository", Fix: fixHidden}
	}
	return data, len(missing) > 0, err
}

// begin takes what only the first page has.
func (d trainData) begin(view *model.TrainView, op, branch string) (err error) {
	view.Viewer = d.Viewer.actor()
	if m := d.Repository.Manifest; m != nil && m.File != nil && m.File.Object != nil && m.File.Object.Text != nil && !m.File.Object.IsTruncated {
		view.Manifest = []byte(*m.File.Object.Text)
	}
	if base := d.Repository.Base; base != nil && base.Target != nil {
		view.BaseSHA = base.Target.OID
		view.Settings, view.SettingsFound, err = base.settings(op, branch)
	}
	return err
}

type trainData struct {
	Viewer     actorNode
	Repository *struct {
		Manifest *struct {
			File *struct{ Object *blobNode }
		}
		Base *branchNode
		Cars connection[carNode]
	}
}

type carNode struct {
	Name   string
	Target *struct {
		OID               string
		StatusCheckRollup *rollupNode
	}
}

// trainBranch is a branch with all of its checks.
func trainBranch(ctx context.Context, c Threads, q TrainQuery, n carNode) (model.TrainBranch, error) {
	b := model.TrainBranch{Name: q.Branches + strings.TrimPrefix(n.Name, q.Branches), SHA: n.Target.OID}
	rollup := n.Target.StatusCheckRollup
	if rollup == nil {
		return b, nil
	}
	op := fmt.Sprintf("read the checks of commit %s of %s", b.SHA, q.Repo)
	for page := 1; rollup.Contexts.PageInfo.HasNextPage; page++ {
		if b.More = page == mostCarCheckPages; b.More {
			break
		}
		further, err := carChecks(ctx, c, op, q.Repo, b.SHA, rollup.Contexts.PageInfo.EndCursor)
		if err != nil {
			return b, err
		}
		if b.More = further == nil; b.More {
			break
		}
		rollup.Contexts.Nodes = append(rollup.Contexts.Nodes, further.Nodes...)
		rollup.Contexts.PageInfo = further.PageInfo
	}
	b.Checks = rollup.newest()
	return b, nil
}

// carChecks reads the next page of the checks of a commit; nil: GitHub shows no more.
func carChecks(ctx context.Context, c Threads, op string, repo model.Repo, sha, after string) (*connection[*checkNode], error) {
	variables := map[string]any{"owner": repo.Owner, "name": repo.Name, "commit": sha, "after": after}
	var data struct {
		Repository *struct {
			Commit *struct{ StatusCheckRollup *rollupNode }
		}
	}
	err := c.inPages(ctx, pagesOfCarChecks, func(ctx context.Context, step int) error {
		variables["page"] = min(mostCarChecks, pageLimits[step])
		_, err := c.query(ctx, op, carChecksDocument, variables, &data)
		return err
	})
	if err != nil || data.Repository == nil || data.Repository.Commit == nil || data.Repository.Commit.StatusCheckRollup == nil {
		return nil, err
	}
	return &data.Repository.Commit.StatusCheckRollup.Contexts.connection, nil
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
