package sandbox

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graph-gophers/graphql-go"
)

// gqlCheckSuite is https://docs.github.com/en/graphql/reference/objects#checksuite: a workflow run's, or what Apps made.
type gqlCheckSuite struct {
	look   *look
	r      *Repository
	id     int64
	run    *Run // nil: of another App
	checks []*CheckRun
}

// suite is the one that a check run is in.
func (l *look) suite(r *Repository, c *CheckRun) *gqlCheckSuite {
	suites := l.suites(r, c.SHA)
	return suites[slices.IndexFunc(suites, func(s *gqlCheckSuite) bool { return s.id == c.suite() })]
}

// suites are all of a commit, oldest first.
func (l *look) suites(r *Repository, sha string) []*gqlCheckSuite {
	var found []*gqlCheckSuite
	for _, run := range r.checked(sha).runs {
		found = append(found, &gqlCheckSuite{look: l, r: r, id: run.ID, run: run})
	}
	for _, c := range r.checks(sha) {
		at := slices.IndexFunc(found, func(s *gqlCheckSuite) bool { return s.id == c.suite() })
		if at < 0 {
			at, found = len(found), append(found, &gqlCheckSuite{look: l, r: r, id: c.suite()})
		}
		found[at].checks = append(found[at].checks, c)
	}
	return found
}

// CheckSuites are in the order of their ids.
func (c *gqlCommit) CheckSuites(args pageArgs) (*connection[gqlCheckSuite], error) {
	if !c.look.checks {
		return nil, &refusal{kind: "FORBIDDEN", message: noChecks}
	}
	if err := c.look.forbids(c.r, "CheckSuite"); err != nil {
		return nil, err
	}
	return pageOf(args, listing[*gqlCheckSuite, gqlCheckSuite]{items: c.look.suites(c.r, c.oid),
		key:  func(_ int, s *gqlCheckSuite) sortKey { return sortKey{s.id} },
		wrap: func(s *gqlCheckSuite) *gqlCheckSuite { return s }})
}

func (c *gqlCheckSuite) ID() graphql.ID { return graphql.ID(nodeID(nodeCheckSuite, c.id)) }
func (c *gqlCheckSuite) App() *gqlApp {
	return &gqlApp{c.look.s.world.author(c.checks[0].App), c.checks[0].slug()}
}

// Branch is null for a branch that is gone, and for a fork's.
func (c *gqlCheckSuite) Branch() *gqlRef {
	switch {
	case c.run == nil:
		branch, _ := c.r.branchAt(c.checks[0].SHA).(string)
		return c.look.ref(c.r, "refs/heads/"+branch)
	case c.run.HeadRepo != "":
		return nil
	}
	return c.look.ref(c.r, "refs/heads/"+c.run.HeadBranch)
}

// Status is a run's own. Another App's suite is completed once all in it are.
func (c *gqlCheckSuite) Status() string {
	if c.run != nil {
		return strings.ToUpper(c.run.Status)
	}
	for _, check := range c.checks {
		if check.Status != "completed" {
			return strings.ToUpper(check.Status)
		}
	}
	return "COMPLETED"
}

func (c *gqlCheckSuite) Conclusion() *string {
	if c.run != nil {
		return some(strings.ToUpper(c.run.Conclusion))
	}
	if c.Status() != "COMPLETED" {
		return nil
	}
	for _, check := range c.checks {
		if !check.passed() {
			return some(strings.ToUpper(check.Conclusion))
		}
	}
	return some("SUCCESS")
}

func (c *gqlCheckSuite) WorkflowRun() (*gqlRun, error) {
	if c.run == nil {
		return nil, nil
	}
	return &gqlRun{c.look, c.r, c.run}, c.look.forbids(c.r, "WorkflowRun")
}

// gqlRun is https://docs.github.com/en/graphql/reference/objects#workflowrun.
type gqlRun struct {
	look *look
	r    *Repository
	run  *Run
}

func (r *gqlRun) ID() graphql.ID         { return graphql.ID(nodeID(nodeRun, r.run.ID)) }
func (r *gqlRun) Event() string          { return r.run.Event }
func (r *gqlRun) CreatedAt() text        { return dateTime(r.run.CreatedAt) }
func (r *gqlRun) UpdatedAt() text        { return dateTime(r.run.UpdatedAt) }
func (r *gqlRun) File() *gqlRunFile      { return &gqlRunFile{r} }
func (r *gqlRun) Workflow() *gqlWorkflow { return &gqlWorkflow{r} }
func (r *gqlRun) URL() text {
	return text(fmt.Sprintf("%s/actions/runs/%d", r.look.s.urls.repository(r.r), r.run.ID))
}

// gqlRunFile is https://docs.github.com/en/graphql/reference/objects#workflowrunfile.
type gqlRunFile struct{ run *gqlRun }

func (f *gqlRunFile) ID() graphql.ID { return graphql.ID(nodeID("WFRF", f.run.run.ID)) }
func (f *gqlRunFile) Path() string   { return f.run.run.workflow() }

// gqlWorkflow is https://docs.github.com/en/graphql/reference/objects#workflow.
type gqlWorkflow struct{ run *gqlRun }

func (w *gqlWorkflow) ID() graphql.ID     { return graphql.ID(nodeID("W", workflowID(w.run.r, w.run.run))) }
func (w *gqlWorkflow) DatabaseID() *int32 { return int32Of(workflowID(w.run.r, w.run.run)) }
func (w *gqlWorkflow) Name() string       { return w.run.run.Name }
