package sandbox

import (
	"slices"
	"strings"

	"github.com/graph-gophers/graphql-go"
)

// gqlRollup is https://docs.github.com/en/graphql/reference/objects#statuscheckrollup: all checks of a commit.
type gqlRollup struct {
	look *look
	r    *Repository
	sha  string
}

// rollup is null for a commit that nothing has checked.
func (l *look) rollup(r *Repository, sha string) *gqlRollup {
	if len(r.checks(sha)) > 0 || len(r.statusesOf(sha)) > 0 {
		return &gqlRollup{l, r, sha}
	}
	return nil
}

func (c *gqlCommit) StatusCheckRollup() (*gqlRollup, error) {
	return c.look.rollup(c.r, c.oid), c.look.forbids(c.r, "StatusCheckRollup")
}

func (p *gqlPull) StatusCheckRollup() (*gqlRollup, error) {
	return p.look.rollup(p.repo, p.look.s.pulls.headSHA(p.i)), p.look.forbids(p.repo, "StatusCheckRollup")
}

func (u *gqlRollup) ID() graphql.ID     { return objectID(nodeRollup, u.r, u.sha) }
func (u *gqlRollup) Commit() *gqlCommit { return u.look.commit(u.r, u.sha) }

// all are the check runs, oldest first, and then the newest status of each context.
func (u *gqlRollup) all() []*gqlContext {
	var found []*gqlContext
	for _, c := range u.r.checks(u.sha) {
		found = append(found, &gqlContext{u, c, nil})
	}
	for _, st := range u.r.newestStatuses(u.sha) {
		found = append(found, &gqlContext{u, nil, st})
	}
	return found
}

// State is the worst of all.
func (u *gqlRollup) State() string {
	state := "SUCCESS"
	for _, c := range u.all() {
		switch c.state() {
		case "FAILURE", "ERROR":
			return "FAILURE"
		case "PENDING":
			state = "PENDING"
		}
	}
	return state
}

// gqlContexts is https://docs.github.com/en/graphql/reference/objects#statuscheckrollupcontextconnection.
type gqlContexts struct {
	*connection[gqlContext]
	u *gqlRollup
}

func (u *gqlRollup) Contexts(args pageArgs) (*gqlContexts, error) {
	page, err := pageOf(args, listing[*gqlContext, gqlContext]{items: u.all(), key: inOrder[*gqlContext],
		wrap: func(c *gqlContext) *gqlContext { return c }})
	return &gqlContexts{page, u}, err
}

// gqlStateCount is how many checks of one kind are in a state.
type gqlStateCount struct {
	State string
	Count int32
}

// CheckRunCountsByState leaves out what the token cannot read.
func (c *gqlContexts) CheckRunCountsByState() *[]*gqlStateCount {
	return c.counts(func(one *gqlContext) (state string, ok bool) {
		switch {
		case one.run == nil || (&gqlCheckRun{c.u, one.run}).hidden() != nil:
			return "", false
		case one.run.Status == "completed":
			return strings.ToUpper(one.run.Conclusion), true
		}
		return strings.ToUpper(one.run.Status), true
	})
}

// StatusContextCountsByState leaves out what the token cannot read.
func (c *gqlContexts) StatusContextCountsByState() *[]*gqlStateCount {
	return c.counts(func(one *gqlContext) (state string, ok bool) {
		ok = one.status != nil && (&gqlStatus{c.u, one.status}).hidden() == nil
		return one.state(), ok
	})
}

// counts are how many there are of each state, of all pages.
func (c *gqlContexts) counts(state func(*gqlContext) (string, bool)) *[]*gqlStateCount {
	var out []*gqlStateCount
	for _, one := range c.u.all() {
		s, ok := state(one)
		if !ok {
			continue
		}
		if i := slices.IndexFunc(out, func(n *gqlStateCount) bool { return n.State == s }); i >= 0 {
			out[i].Count++
		} else {
			out = append(out, &gqlStateCount{s, 1})
		}
	}
	return &out
}

// gqlContext is the union of check runs and statuses.
type gqlContext struct {
	*gqlRollup
	run    *CheckRun
	status *Status
}

func (c *gqlContext) ToCheckRun() (*gqlCheckRun, bool) {
	return &gqlCheckRun{c.gqlRollup, c.run}, c.run != nil
}

func (c *gqlContext) ToStatusContext() (*gqlStatus, bool) {
	return &gqlStatus{c.gqlRollup, c.status}, c.status != nil
}

func (c *gqlContext) state() string {
	switch {
	case c.status != nil:
		return strings.ToUpper(c.status.State)
	case c.run.Status != "completed":
		return "PENDING"
	case c.run.passed():
		return "SUCCESS"
	}
	return "FAILURE"
}

// requiredArgs name the pull request that a check may be required for.
type requiredArgs struct {
	PullRequestID     *graphql.ID
	PullRequestNumber *int32
}

// required tells whether the base of the named pull request demands a check of that name.
func (u *gqlRollup) required(name string, args requiredArgs) (bool, error) {
	var i *Issue
	switch {
	case args.PullRequestNumber != nil:
		i = u.r.Issues[int(*args.PullRequestNumber)]
	case args.PullRequestID != nil:
		if prefix, id, _ := parseNodeID(string(*args.PullRequestID)); prefix == nodePull {
			i = u.look.s.issues[id]
		}
	default:
		return false, &refusal{kind: "ARGUMENT_ERROR", message: "Either the ID or the number of the pull request must be specified"}
	}
	if i == nil || i.Pull == nil {
		return false, unresolved("Could not resolve to a PullRequest")
	}
	p := i.repo.Protections[i.Pull.BaseRef]
	if p != nil {
		for _, c := range p.Checks {
			if c == name {
				return true, nil
			}
		}
	}
	return false, nil
}

// gqlCheckRun is https://docs.github.com/en/graphql/reference/objects#checkrun.
type gqlCheckRun struct {
	*gqlRollup
	c *CheckRun
}

func (c *gqlCheckRun) ID() graphql.ID                             { return graphql.ID(nodeID(nodeCheckRun, c.c.ID)) }
func (c *gqlCheckRun) Name() (string, error)                      { return c.c.Name, c.hidden() }
func (c *gqlCheckRun) Status() (string, error)                    { return strings.ToUpper(c.c.Status), c.hidden() }
func (c *gqlCheckRun) Conclusion() *string                        { return some(strings.ToUpper(c.c.Conclusion)) }
func (c *gqlCheckRun) StartedAt() *text                           { return maybeTime(c.c.StartedAt) }
func (c *gqlCheckRun) CompletedAt() *text                         { return maybeTime(c.c.CompletedAt) }
func (c *gqlCheckRun) CheckSuite() *gqlCheckSuite                 { return c.look.suite(c.r, c.c) }
func (c *gqlCheckRun) IsRequired(args requiredArgs) (bool, error) { return c.required(c.c.Name, args) }
func (c *gqlCheckRun) URL() text {
	return text(c.look.s.urls.check(c.r, c.c))
}

// hidden refuses a check run to a token that cannot read it: null among the contexts, with an error at its place there.
func (c *gqlCheckRun) hidden() error {
	if !c.look.checks {
		return &refusal{"FORBIDDEN", noChecks, true}
	}
	if c.look.forbids(c.r, "CheckRun") != nil {
		return &refusal{"FORBIDDEN", notAccessible, true}
	}
	return nil
}

// hidden is the same for a status.
func (c *gqlStatus) hidden() error {
	if c.look.forbids(c.r, "StatusContext") != nil {
		return &refusal{"FORBIDDEN", notAccessible, true}
	}
	return nil
}

func (c *gqlCheckRun) DetailsURL() *text {
	if c.c.DetailsURL == "" {
		return some(c.URL())
	}
	return some(text(c.c.DetailsURL))
}

// gqlApp is https://docs.github.com/en/graphql/reference/objects#app.
type gqlApp struct {
	u    *User
	slug string
}

func (a *gqlApp) ID() graphql.ID { return graphql.ID(nodeID(nodeApp, a.u.ID)) }
func (a *gqlApp) Slug() string   { return a.slug }

// gqlStatus is https://docs.github.com/en/graphql/reference/objects#statuscontext.
type gqlStatus struct {
	*gqlRollup
	st *Status
}

func (c *gqlStatus) ID() graphql.ID           { return graphql.ID(nodeID(nodeStatus, c.st.ID)) }
func (c *gqlStatus) Context() (string, error) { return c.st.Context, c.hidden() }
func (c *gqlStatus) State() (string, error)   { return strings.ToUpper(c.st.State), c.hidden() }
func (c *gqlStatus) CreatedAt() text          { return dateTime(c.st.CreatedAt) }
func (c *gqlStatus) Creator() *gqlActor       { return c.look.actor(c.st.Creator) }
func (c *gqlStatus) TargetURL() *text         { return some(text(c.st.TargetURL)) }
func (c *gqlStatus) IsRequired(args requiredArgs) (bool, error) {
	return c.required(c.st.Context, args)
}
