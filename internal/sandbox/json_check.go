package sandbox

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Status is a commit status.
type Status struct {
	ID                                          int64
	SHA, State, Context, Description, TargetURL string
	Creator                                     string
	CreatedAt                                   time.Time
}

// CheckRun is a check run of a commit. Those of one workflow run are in one check suite, and so are those of another App.
type CheckRun struct {
	ID                     int64
	Suite                  int64 `json:",omitempty"` // 0: ID, since it is the first
	Run                    int64 `json:",omitempty"` // id of the workflow run that it is a job of
	SHA, Name              string
	App                    string // login of the App's bot
	Status, Conclusion     string
	DetailsURL, ExternalID string
	Title, Summary, Text   string
	StartedAt, CompletedAt *time.Time
}

// passed tells whether a required check is content: https://docs.github.com/en/pull-requests/reference/status-checks
func (c *CheckRun) passed() bool {
	return c.Status == "completed" && slices.Contains([]string{"success", "neutral", "skipped"}, c.Conclusion)
}

// slug is the App's short name.
func (c *CheckRun) slug() string { return strings.TrimSuffix(c.App, "[bot]") }

// statusesOf are the statuses of a commit, newest first.
func (r *Repository) statusesOf(sha string) []*Status {
	found := slices.Clone(r.checked(sha).statuses)
	slices.Reverse(found)
	return found
}

// newestStatuses are the newest statuses of each context of a commit, newest first.
func (r *Repository) newestStatuses(sha string) []*Status {
	seen := map[string]bool{}
	return slices.DeleteFunc(r.statusesOf(sha), func(st *Status) bool {
		was := seen[st.Context]
		seen[st.Context] = true
		return was
	})
}

// app renders the schema integration: the App that a bot belongs to.
func (js views) app(login string) obj {
	u := js.world.author(login)
	slug := strings.TrimSuffix(u.Login, "[bot]")
	return obj{
		"id": u.ID, "slug": slug, "node_id": nodeID(nodeApp, u.ID), "owner": js.user(u), "name": slug, "description": nil,
		"external_url": js.origin + "/apps/" + slug, "html_url": js.origin + "/apps/" + slug, "created_at": stamp(u.CreatedAt),
		"updated_at": stamp(u.CreatedAt), "permissions": obj{"checks": "write"}, "events": []string{},
	}
}

func (js views) status(r *Repository, st *Status) obj {
	u := js.world.author(st.Creator)
	return obj{
		"url": js.urls.repositoryAPI(r) + "/statuses/" + st.SHA, "avatar_url": js.user(u)["avatar_url"], "id": st.ID,
		"node_id": nodeID(nodeStatus, st.ID), "state": st.State, "description": textOrNil(st.Description), "target_url": textOrNil(st.TargetURL),
		"context": st.Context, "created_at": stamp(st.CreatedAt), "updated_at": stamp(st.CreatedAt), "creator": js.user(u),
	}
}

// statusPayload renders the schema status, with the branches that have the commit at their tip.
func (js views) statusPayload(r *Repository, st *Status) (obj, error) {
	branches := []obj{}
	for ref, sha := range r.Refs {
		if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok && sha == st.SHA && len(branches) < 10 {
			branches = append(branches, obj{"name": name, "protected": r.protection(name) != nil,
				"commit": obj{"sha": sha, "url": js.urls.repositoryAPI(r) + "/commits/" + sha}})
		}
	}
	slices.SortFunc(branches, func(a, b obj) int { return strings.Compare(a["name"].(string), b["name"].(string)) })
	c, err := js.git.commitOf(r, st.SHA)
	if err != nil {
		return nil, err
	}
	payload := obj{"id": st.ID, "sha": st.SHA, "name": r.FullName(), "branches": branches, "commit": js.commit(r, c)}
	o := js.status(r, st)
	for _, k := range []string{"state", "description", "target_url", "context", "created_at", "updated_at"} {
		payload[k] = o[k]
	}
	return payload, nil
}

// pullsAt are the pull requests that GitHub connects with the checks of a commit.
func (js views) pullsAt(r *Repository, sha string) []obj {
	return js.pullsWhere(r, func(i *Issue) bool { return js.pulls.headSHA(i) == sha })
}

func (c *CheckRun) suite() int64 { return cmp.Or(c.Suite, c.ID) }

// check is a check run's page: that of its job where it is one.
func (a addresses) check(r *Repository, c *CheckRun) string {
	if c.Run != 0 {
		return a.job(r, c.Run, c.ID)
	}
	return fmt.Sprintf("%s/runs/%d", a.repository(r), c.ID)
}

func (js views) checkRun(r *Repository, c *CheckRun) obj {
	self := fmt.Sprintf("%s/check-runs/%d", js.urls.repositoryAPI(r), c.ID)
	html := js.urls.check(r, c)
	details := c.DetailsURL
	if details == "" {
		details = html
	}
	return obj{
		"id": c.ID, "head_sha": c.SHA, "node_id": nodeID(nodeCheckRun, c.ID), "external_id": c.ExternalID, "url": self,
		"html_url": html, "details_url": details, "status": c.Status,
		"conclusion": textOrNil(c.Conclusion), "started_at": stampOrNil(c.StartedAt), "completed_at": stampOrNil(c.CompletedAt),
		"output": obj{
			"title": textOrNil(c.Title), "summary": textOrNil(c.Summary), "text": textOrNil(c.Text), "annotations_count": 0,
			"annotations_url": self + "/annotations",
		},
		"name": c.Name, "check_suite": obj{"id": c.suite()}, "app": js.app(c.App), "pull_requests": js.pullsAt(r, c.SHA),
	}
}

// branchAt is the first branch that is at a commit; nil: none is.
func (r *Repository) branchAt(sha string) (branch any) {
	for ref, at := range r.Refs {
		if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok && at == sha && (branch == nil || name < branch.(string)) {
			branch = name
		}
	}
	return branch
}

// checkSuite renders the schema check-suite, as payloads about it have it.
func (js views) checkSuite(r *Repository, c *CheckRun) obj {
	self := fmt.Sprintf("%s/check-suites/%d", js.urls.repositoryAPI(r), c.suite())
	o := obj{
		"id": c.suite(), "node_id": nodeID(nodeCheckSuite, c.suite()), "head_branch": r.branchAt(c.SHA), "head_sha": c.SHA, "status": c.Status,
		"conclusion": textOrNil(c.Conclusion), "url": self, "check_runs_url": self + "/check-runs", "before": zeroSHA, "after": c.SHA,
		"pull_requests": js.pullsAt(r, c.SHA), "app": js.app(c.App), "created_at": stampOrNil(c.StartedAt),
		"updated_at": stampOrNil(c.StartedAt), "latest_check_runs_count": 1, "head_commit": nil,
	}
	if c.CompletedAt != nil {
		o["updated_at"] = stamp(*c.CompletedAt)
	}
	if info, err := js.git.commitOf(r, c.SHA); err == nil {
		o["head_commit"] = headCommitJSON(info)
	}
	return o
}

// headCommitJSON is a commit in short, as payloads about runs and suites have it.
func headCommitJSON(c *commitInfo) obj {
	return obj{
		"id": c.SHA, "tree_id": c.Tree, "message": c.Message, "timestamp": c.Author.Date,
		"author":    obj{"name": c.Author.Name, "email": c.Author.Email},
		"committer": obj{"name": c.Committer.Name, "email": c.Committer.Email},
	}
}

// tellCheckRun tells webhooks of a check run, and of its suite once that is completed. Payloads have the whole suite within
// the run.
func tellCheckRun(q *request, c *CheckRun, action string) {
	if c.Status == "completed" {
		action = "completed"
	}
	suite := q.s.json.checkSuite(q.repo, c)
	run := q.s.json.checkRun(q.repo, c)
	run["check_suite"] = suite
	q.s.hooks.deliver("check_run", q.repo, q.user, obj{"action": action, "check_run": run})
	if action == "completed" {
		q.s.hooks.deliver("check_suite", q.repo, q.user, obj{"action": action, "check_suite": suite})
	}
}
