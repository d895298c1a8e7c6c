package sandbox

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

var checkRoutes = []route{
	{"GET /repos/{owner}/{repo}/commits/{ref}/status", needRead, combinedStatus},
	{"GET /repos/{owner}/{repo}/commits/{ref}/statuses", needRead, listStatuses},
	{"GET /repos/{owner}/{repo}/commits/{ref}/check-runs", needRead, listCheckRuns},
	{"POST /repos/{owner}/{repo}/statuses/{sha}", needWrite, createStatus},
	{"POST /repos/{owner}/{repo}/check-runs", needWrite, createCheckRun},
	{"PATCH /repos/{owner}/{repo}/check-runs/{id}", needWrite, patchCheckRun},
	{"GET /repos/{owner}/{repo}/check-runs/{id}", needRead, getCheckRun},
}

func (s *Server) statusJSON(r *Repository, st *Status) obj {
	u := s.author(st.Creator)
	return obj{
		"url": s.repositoryAPI(r) + "/statuses/" + st.SHA, "avatar_url": s.userJSON(u)["avatar_url"], "id": st.ID,
		"node_id": nodeID(nodeStatus, st.ID), "state": st.State, "description": textOrNil(st.Description), "target_url": textOrNil(st.TargetURL),
		"context": st.Context, "created_at": stamp(st.CreatedAt), "updated_at": stamp(st.CreatedAt), "creator": s.userJSON(u),
	}
}

// statusesOf are the statuses of a commit, newest first.
func (r *Repository) statusesOf(sha string) []*Status {
	var found []*Status
	for _, st := range slices.Backward(r.Statuses) {
		if st.SHA == sha {
			found = append(found, st)
		}
	}
	return found
}

func createStatus(q *request) (any, error) {
	in := struct {
		State, Description, Context string
		TargetURL                   string `json:"target_url"`
	}{Context: "default"}
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	sha, err := q.commitAt(q.r.PathValue("sha"))
	if err != nil {
		return nil, err
	}
	if !slices.Contains([]string{"error", "failure", "pending", "success"}, in.State) {
		return nil, invalid("Status", "state", "invalid")
	}
	st := &Status{
		ID: q.s.nextID(), SHA: sha, State: in.State, Context: in.Context, Description: in.Description, TargetURL: in.TargetURL,
		Creator: q.user.Login, CreatedAt: q.s.now(),
	}
	q.repo.Statuses = append(q.repo.Statuses, st)
	q.s.changed()
	o := q.s.statusJSON(q.repo, st)
	payload := obj{"id": st.ID, "sha": sha, "name": q.repo.FullName(), "branches": []obj{}}
	for _, k := range []string{"state", "description", "target_url", "context", "created_at", "updated_at"} {
		payload[k] = o[k]
	}
	c, err := q.s.commitOf(q.repo, sha)
	if err != nil {
		return nil, err
	}
	payload["commit"] = q.s.commitJSON(q.repo, c)
	q.s.deliver("status", q.repo, q.user, payload)
	return &reply{http.StatusCreated, o}, nil
}

func listStatuses(q *request) (any, error) {
	sha, err := q.commitAt(q.r.PathValue("ref"))
	if err != nil {
		return nil, err
	}
	return paginate(q, q.repo.statusesOf(sha), func(st *Status) obj { return q.s.statusJSON(q.repo, st) }), nil
}

// combinedStatus counts the newest status of each context: pending when there is none.
func combinedStatus(q *request) (any, error) {
	sha, err := q.commitAt(q.r.PathValue("ref"))
	if err != nil {
		return nil, err
	}
	state, seen, list := "success", map[string]bool{}, []obj{}
	for _, st := range q.repo.statusesOf(sha) {
		if seen[st.Context] {
			continue
		}
		seen[st.Context] = true
		switch {
		case st.State == "failure" || st.State == "error":
			state = "failure"
		case st.State == "pending" && state == "success":
			state = "pending"
		}
		o := q.s.statusJSON(q.repo, st)
		delete(o, "creator")
		list = append(list, o)
	}
	if len(list) == 0 {
		state = "pending"
	}
	self := q.s.repositoryAPI(q.repo) + "/commits/" + sha
	return obj{
		"state": state, "statuses": list, "sha": sha, "total_count": len(list), "repository": q.s.minimalRepositoryJSON(q.repo),
		"commit_url": self, "url": self + "/status",
	}, nil
}

func (s *Server) checkRunJSON(r *Repository, c *CheckRun) obj {
	self := fmt.Sprintf("%s/check-runs/%d", s.repositoryAPI(r), c.ID)
	return obj{
		"id": c.ID, "head_sha": c.SHA, "node_id": nodeID(nodeCheckRun, c.ID), "external_id": c.ExternalID, "url": self,
		"html_url": fmt.Sprintf("%s/runs/%d", s.repositoryURL(r), c.ID), "details_url": textOrNil(c.DetailsURL), "status": c.Status,
		"conclusion": textOrNil(c.Conclusion), "started_at": stampOrNil(c.StartedAt), "completed_at": stampOrNil(c.CompletedAt),
		"output": obj{
			"title": textOrNil(c.Title), "summary": textOrNil(c.Summary), "text": textOrNil(c.Text), "annotations_count": 0,
			"annotations_url": self + "/annotations",
		},
		"name": c.Name, "check_suite": obj{"id": c.ID}, "app": nil, "pull_requests": []obj{},
	}
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
	for _, f := range []struct {
		to   *string
		from string
	}{{&c.Name, in.Name}, {&c.Status, in.Status}, {&c.Conclusion, in.Conclusion}, {&c.DetailsURL, in.DetailsURL},
		{&c.ExternalID, in.ExternalID}, {&c.Title, in.Output.Title}, {&c.Summary, in.Output.Summary}, {&c.Text, in.Output.Text}} {
		if f.from != "" {
			*f.to = f.from
		}
	}
	if in.StartedAt != nil {
		c.StartedAt = in.StartedAt
	}
	if in.Conclusion != "" {
		c.Status = "completed"
		c.CompletedAt = &now
	}
	if in.CompletedAt != nil {
		c.CompletedAt = in.CompletedAt
	}
}

func createCheckRun(q *request) (any, error) {
	var in checkRunInput
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	if in.Name == "" || in.HeadSHA == "" {
		return nil, unprocessable("Invalid request.\n\n\"name\", \"head_sha\" weren't supplied.")
	}
	sha, err := q.commitAt(in.HeadSHA)
	if err != nil {
		return nil, err
	}
	now := q.s.now()
	c := &CheckRun{ID: q.s.nextID(), SHA: sha, Status: "queued", StartedAt: &now}
	in.apply(c, now)
	q.repo.CheckRuns = append(q.repo.CheckRuns, c)
	q.s.changed()
	q.tellCheckRun(c, "created")
	return &reply{http.StatusCreated, q.s.checkRunJSON(q.repo, c)}, nil
}

func (q *request) tellCheckRun(c *CheckRun, action string) {
	if c.Status == "completed" {
		action = "completed"
	}
	q.s.deliver("check_run", q.repo, q.user, obj{"action": action, "check_run": q.s.checkRunJSON(q.repo, c)})
}

func (q *request) checkRun() (*CheckRun, error) {
	id, err := q.int64Value("id")
	if err != nil {
		return nil, err
	}
	for _, c := range q.repo.CheckRuns {
		if c.ID == id {
			return c, nil
		}
	}
	return nil, errNotFound
}

func patchCheckRun(q *request) (any, error) {
	c, err := q.checkRun()
	if err != nil {
		return nil, err
	}
	var in checkRunInput
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	was := c.Status
	in.apply(c, q.s.now())
	q.s.changed()
	if c.Status == "completed" && was != c.Status {
		q.tellCheckRun(c, "completed")
	}
	return q.s.checkRunJSON(q.repo, c), nil
}

func getCheckRun(q *request) (any, error) {
	c, err := q.checkRun()
	if err != nil {
		return nil, err
	}
	return q.s.checkRunJSON(q.repo, c), nil
}

func listCheckRuns(q *request) (any, error) {
	sha, err := q.commitAt(q.r.PathValue("ref"))
	if err != nil {
		return nil, err
	}
	var found []*CheckRun
	for _, c := range q.repo.CheckRuns {
		name, status := q.query("check_name"), q.query("status")
		if c.SHA == sha && (name == "" || name == c.Name) && (status == "" || status == c.Status) {
			found = append(found, c)
		}
	}
	return obj{"total_count": len(found), "check_runs": paginate(q, found, func(c *CheckRun) obj { return q.s.checkRunJSON(q.repo, c) })}, nil
}

// missingCheck is a required check that a commit has not passed, or "".
func (s *Server) missingCheck(r *Repository, branch, sha string) string {
	p := r.Protections[branch]
	if p == nil {
		return ""
	}
	for _, name := range p.Checks {
		passed := false
		for _, st := range slices.Backward(r.statusesOf(sha)) {
			if st.Context == name {
				passed = st.State == "success"
			}
		}
		for _, c := range r.CheckRuns {
			if c.SHA == sha && c.Name == name {
				passed = c.Conclusion == "success" || c.Conclusion == "neutral" || c.Conclusion == "skipped"
			}
		}
		if !passed {
			return name
		}
	}
	return ""
}
