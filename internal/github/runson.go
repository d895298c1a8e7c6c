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

// suiteNode is a check suite, of which there is one for each workflow run.
type suiteNode struct {
	Status, Conclusion string
	WorkflowRun        struct {
		Event, URL           string
		CreatedAt, UpdatedAt time.Time
		File                 struct{ Path string }
		Workflow             struct {
			DatabaseID int64 `json:"databaseId"`
			Name       string
		}
	}
}

// runID takes the id of a workflow run from its address: GraphQL's own is an Int, for which the ids of runs are too large by now. 0:
// it is none.
func runID(url string) int64 {
	id, _ := strconv.ParseInt(path.Base(url), 10, 64)
	return id
}

func (n suiteNode) run(sha string) (model.CIRun, bool) {
	w := n.WorkflowRun
	if runID(w.URL) == 0 {
		return model.CIRun{}, false
	}
	r := model.CIRun{ID: runID(w.URL), Workflow: w.Workflow.DatabaseID, Name: w.Workflow.Name, Event: w.Event, HeadSHA: sha, Completed: n.Status == "COMPLETED",
		CreatedAt: w.CreatedAt.UTC(), UpdatedAt: w.UpdatedAt.UTC(), URL: w.URL}
	r.Path, _, _ = strings.Cut(w.File.Path, "@")
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
	out := map[string][]model.CIRun{}
	err := askEach(ctx, c.conn, runsOnCommits, fmt.Sprintf("read the workflow runs on commits of %s", repo), repo, shas, func(sha string, commit *commitNode) {
		if commit.CheckSuites == nil {
			return
		}
		runs := []model.CIRun{}
		for _, n := range commit.CheckSuites.Nodes {
			if run, ok := n.run(sha); ok {
				runs = append(runs, run)
			}
		}
		slices.SortFunc(runs, func(a, b model.CIRun) int { return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID)) })
		out[sha] = runs
	})
	if e, ok := err.(*Error); ok && e.Kind == Forbidden {
		e.Fix = c.checksHidden().Fix
	}
	return out, err
}
