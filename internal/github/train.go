package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"
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

// mostCars is how many branches of a train are read, and mostCarChecks how many checks of each.
const (
	mostCars      = 20
	mostCarChecks = 100
)

// Train reads what GitHub shows of a merge train: one GraphQL request. Only the newest check of each name and App counts.
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
	var data trainData
	var missing []string
	err := c.inPages(ctx, pagesOfTrain, func(ctx context.Context, step int) (err error) {
		data = trainData{}
		variables["most"], variables["page"] = min(mostCars, pageLimits[step]), min(mostCarChecks, pageLimits[step])
		_, missing, err = c.queryParts(ctx, op, trainDocument, variables, &data, "statusCheckRollup")
		return err
	})
	if err == nil && data.Repository == nil {
		err = &Error{Kind: NotFound, Op: op, Status: http.StatusNotFound, Message: "Repository", Fix: fixHidden}
	}
	if err != nil {
		return model.TrainView{}, named(err, Query{Repo: q.Repo})
	}
	view := model.TrainView{Viewer: data.Viewer.actor(), ChecksHidden: len(missing) > 0}
	if m := data.Repository.Manifest; m != nil && m.File != nil && m.File.Object != nil && m.File.Object.Text != nil && !m.File.Object.IsTruncated {
		view.Manifest = []byte(*m.File.Object.Text)
	}
	if base := data.Repository.Base; base != nil && base.Target != nil {
		view.BaseSHA = base.Target.OID
		if view.Settings, view.SettingsFound, err = base.settings(op, q.Base); err != nil {
			return view, err
		}
	}
	for _, n := range data.Repository.Cars.Nodes {
		if n.Target != nil {
			view.Branches = append(view.Branches, n.branch(q.Branches))
		}
	}
	return view, nil
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

func (n carNode) branch(prefix string) model.TrainBranch {
	b := model.TrainBranch{Name: prefix + strings.TrimPrefix(n.Name, prefix), SHA: n.Target.OID}
	if n.Target.StatusCheckRollup == nil {
		return b
	}
	b.More, b.Checks = n.Target.StatusCheckRollup.Contexts.PageInfo.HasNextPage, n.Target.StatusCheckRollup.newest()
	return b
}

// newest are the newest checks of each name and App.
func (n *rollupNode) newest() []model.Check {
	var all, newest []model.Check
	for _, node := range n.Contexts.Nodes {
		if node != nil {
			all = append(all, node.check())
		}
	}
	slices.SortStableFunc(all, newer)
	for _, check := range all {
		if !slices.ContainsFunc(newest, func(other model.Check) bool { return other.Name == check.Name && other.App == check.App }) {
			newest = append(newest, check)
		}
	}
	return newest
}
