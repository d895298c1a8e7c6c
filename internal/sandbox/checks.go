package sandbox

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"
)

var checkRoutes = []route{
	{"GET /repos/{owner}/{repo}/commits/{ref}/check-runs", needRead, "checks=read", listCheckRuns},
	{"POST /repos/{owner}/{repo}/statuses/{sha}", needWrite, "statuses=write", createStatus},
	{"POST /repos/{owner}/{repo}/check-runs", needWrite, "checks=write", withBody(createCheckRun)},
	{"PATCH /repos/{owner}/{repo}/check-runs/{id}", needWrite, "checks=write", patchCheckRun},
	{"GET /repos/{owner}/{repo}/check-runs/{id}", needRead, "checks=read", getCheckRun},
}

func createStatus(q *request) (any, error) {
	in := struct {
		State, Description, Context string
		TargetURL                   string `json:"target_url"`
	}{Context: "default"}
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	sha, err := commitAt(q, q.r.PathValue("sha"))
	if err != nil {
		return nil, err
	}
	if !slices.Contains([]string{"error", "failure", "pending", "success"}, in.State) {
		return nil, invalid("Status", "state", "invalid")
	}
	st := &Status{
		ID: q.s.world.nextID(), SHA: sha, State: in.State, Context: in.Context, Description: in.Description, TargetURL: in.TargetURL,
		Creator: q.user.Login, CreatedAt: q.s.world.now(),
	}
	q.repo.Statuses = append(q.repo.Statuses, st)
	payload, err := q.s.json.statusPayload(q.repo, st)
	if err != nil {
		return nil, err
	}
	q.s.hooks.deliver("status", q.repo, q.user, payload)
	return &reply{http.StatusCreated, q.s.json.status(q.repo, st)}, q.s.refs.protectionChanged(q.repo)
}

// checkRunInput is the body of POST and PATCH check-runs.
type checkRunInput struct {
	Name, Status, Conclusion string
	HeadSHA                  string     `json:"head_sha"`
	DetailsURL               string     `json:"details_url"`
	ExternalID               string     `json:"external_id"`
	StartedAt                *time.Time `json:"started_at"`
	CompletedAt              *time.Time `json:"completed_at"`
	Output                   struct{ Title, Summary, Text string }
}

// apply sets what the input names; a conclusion completes the run.
func (in *checkRunInput) apply(c *CheckRun, now time.Time) {
	c.Name, c.Status, c.Conclusion = cmp.Or(in.Name, c.Name), cmp.Or(in.Status, c.Status), cmp.Or(in.Conclusion, c.Conclusion)
	c.DetailsURL, c.ExternalID = cmp.Or(in.DetailsURL, c.DetailsURL), cmp.Or(in.ExternalID, c.ExternalID)
	c.Title, c.Summary, c.Text = cmp.Or(in.Output.Title, c.Title), cmp.Or(in.Output.Summary, c.Summary), cmp.Or(in.Output.Text, c.Text)
	c.StartedAt = cmp.Or(in.StartedAt, c.StartedAt)
	if in.Conclusion != "" {
		c.Status = "completed"
		c.CompletedAt = &now
	}
	if in.CompletedAt != nil {
		c.CompletedAt = in.CompletedAt
	}
}

// mayCheck refuses people, whatever their rights: check runs are made by Apps, and each by its own.
// https://github.com/actions/github-script/issues/118
func mayCheck(q *request, c *CheckRun) error {
	switch {
	case q.user.Type != "Bot":
		return &failure{status: http.StatusForbidden, message: "You must authenticate via a GitHub App."}
	case c != nil && (c.App != q.user.Login || c.Run != 0): // that a job's cannot be written by hand is believed, not seen
		return &failure{status: http.StatusForbidden, message: fmt.Sprintf("Invalid app_id `%d` - check run can only be modified by the GitHub App that created it.", q.user.ID)}
	}
	return nil
}

func createCheckRun(q *request, in checkRunInput) (any, error) {
	if err := mayCheck(q, nil); err != nil {
		return nil, err
	}
	if in.Name == "" || in.HeadSHA == "" {
		return nil, unprocessable("Invalid request.\n\n\"name\", \"head_sha\" weren't supplied.")
	}
	sha, err := commitAt(q, in.HeadSHA)
	if err != nil {
		return nil, err
	}
	now := q.s.world.now()
	c := &CheckRun{ID: q.s.world.nextID(), SHA: sha, App: q.user.Login, Status: "queued", StartedAt: &now}
	in.apply(c, now)
	for _, other := range q.repo.CheckRuns { // https://docs.github.com/rest/guides/using-the-rest-api-to-interact-with-checks#about-check-suites
		if other.SHA == sha && other.App == c.App {
			c.Suite = other.suite()
		}
	}
	q.repo.CheckRuns = append(q.repo.CheckRuns, c)
	tellCheckRun(q, c, "created")
	return &reply{http.StatusCreated, q.s.json.checkRun(q.repo, c)}, q.s.refs.protectionChanged(q.repo)
}

func checkRunOf(q *request) (*CheckRun, error) {
	id, err := q.int64Value("id")
	if err != nil {
		return nil, err
	}
	for _, c := range q.repo.CheckRuns {
		if c.ID == id {
			return c, nil
		}
	}
	if run, j := q.repo.job(id); j != nil {
		return run.checkRun(j), nil
	}
	return nil, errNotFound
}

func patchCheckRun(q *request) (any, error) {
	c, err := checkRunOf(q)
	if err != nil {
		return nil, err
	}
	var in checkRunInput
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	if err := mayCheck(q, c); err != nil {
		return nil, err
	}
	was := c.Status
	in.apply(c, q.s.world.now())
	if c.Status == "completed" && was != c.Status {
		tellCheckRun(q, c, "completed")
	}
	return q.s.json.checkRun(q.repo, c), q.s.refs.protectionChanged(q.repo)
}

func getCheckRun(q *request) (any, error) {
	if !q.s.seesChecks(q.r) {
		return nil, &failure{status: http.StatusForbidden, message: noChecks}
	}
	c, err := checkRunOf(q)
	if err != nil {
		return nil, err
	}
	return q.s.json.checkRun(q.repo, c), nil
}

func listCheckRuns(q *request) (any, error) {
	if !q.s.seesChecks(q.r) {
		return nil, &failure{status: http.StatusForbidden, message: noChecks}
	}
	sha, err := commitAt(q, q.r.PathValue("ref"))
	if err != nil {
		return nil, err
	}
	var found []*CheckRun
	for _, c := range q.repo.checks(sha) {
		name, status := q.query("check_name"), q.query("status")
		if (name == "" || name == c.Name) && (status == "" || status == c.Status) {
			found = append(found, c)
		}
	}
	return obj{"total_count": len(found), "check_runs": paginate(q, found, func(c *CheckRun) obj { return q.s.json.checkRun(q.repo, c) })}, nil
}
