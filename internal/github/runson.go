package github

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// suitesAtOnce is of how many commits one request asks for the check suites.
const suitesAtOnce = 50

// suiteNode is a check suite, of which there is one for each workflow run.
type suiteNode struct {
	Status, Conclusion string
	WorkflowRun        *struct {
		Event, URL           string
		CreatedAt, UpdatedAt time.Time
		File                 *struct{ Path string }
		Workflow             struct {
			DatabaseID int64 `json:"databaseId"`
			Name       string
		}
	}
}

// run takes the id from the address: GraphQL's own is an Int, for which the ids of runs are too large by now.
func (n suiteNode) run(sha string) (model.CIRun, bool) {
	w := n.WorkflowRun
	if w == nil {
		return model.CIRun{}, false
	}
	id, err := strconv.ParseInt(path.Base(w.URL), 10, 64)
	if err != nil {
		return model.CIRun{}, false
	}
	r := model.CIRun{ID: id, Workflow: w.Workflow.DatabaseID, Name: w.Workflow.Name, Event: w.Event, HeadSHA: sha, Completed: n.Status == "COMPLETED",
		CreatedAt: w.CreatedAt.UTC(), UpdatedAt: w.UpdatedAt.UTC(), URL: w.URL}
	if w.File != nil {
		r.Path, _, _ = strings.Cut(w.File.Path, "@")
	}
	if r.Completed {
		r.Conclusion = strings.ToLower(n.Conclusion)
	}
	return r, true
}

// RunsOn gives the workflow runs on each of the commits as RunsOf does, one request for 50 commits: without their attempts, and
// at most those of the newest 50 check suites of a commit, which other Apps have a share in. A commit that is not there is not
// in the map; one without runs has none there. Forbidden is a token that may not see check suites, which needs the right to
// read checks where the repository is private.
// https://docs.github.com/graphql/reference/objects#checksuite
func (c Actions) RunsOn(ctx context.Context, repo model.Repo, shas []string) (map[string][]model.CIRun, error) {
	op := fmt.Sprintf("read the workflow runs on commits of %s", repo)
	if err := checkRepo(repo); err != nil {
		return nil, &Error{Kind: Invalid, Op: op, Message: c.line(err.Error())}
	}
	out := map[string][]model.CIRun{}
	if err := askAll(ctx, c.conn, pagesOfRuns, shas, suitesAtOnce, func(ctx context.Context, some []string) error {
		return c.runsOn(ctx, op, repo, some, out)
	}); err != nil {
		return nil, err
	}
	return out, nil
}

func (c Actions) runsOn(ctx context.Context, op string, repo model.Repo, shas []string, out map[string][]model.CIRun) error {
	variables := map[string]any{"owner": repo.Owner, "name": repo.Name}
	lacking := aliases(len(shas))
	for i, sha := range shas {
		variables[fmt.Sprintf("c%d", i)] = sha
		lacking[i] = mayLack + lacking[i]
	}
	var data struct {
		Repository map[string]*struct{ CheckSuites *connection[suiteNode] }
	}
	if _, err := c.query(ctx, op, runsOnCommits.document(len(shas)), variables, &data, lacking...); err != nil {
		if e, ok := err.(*Error); ok && e.Kind == Forbidden {
			e.Fix = c.checksHidden().Fix
		}
		return named(err, Query{Repo: repo})
	}
	for i, sha := range shas {
		commit := data.Repository[fmt.Sprintf("p%d", i)]
		if commit == nil || commit.CheckSuites == nil {
			continue
		}
		runs := []model.CIRun{}
		for _, n := range commit.CheckSuites.Nodes {
			if run, ok := n.run(sha); ok {
				runs = append(runs, run)
			}
		}
		slices.SortFunc(runs, func(a, b model.CIRun) int { return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID)) })
		out[sha] = runs
	}
	return nil
}
