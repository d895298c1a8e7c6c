package sandbox

import (
	"net/http"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

var issueRoutes = []route{
	{"GET /repos/{owner}/{repo}/issues", needRead, listIssues},
	{"POST /repos/{owner}/{repo}/issues", needComment, createIssue},
	{"GET /repos/{owner}/{repo}/issues/{number}", needRead, func(q *request) (any, error) { return q.s.issueJSON(q.issue), nil }},
	{"PATCH /repos/{owner}/{repo}/issues/{number}", needComment, patchIssue},
	{"POST /repos/{owner}/{repo}/issues/{number}/assignees", needTriage, addAssignees},
	{"DELETE /repos/{owner}/{repo}/issues/{number}/assignees", needTriage, removeAssignees},
	{"PUT /repos/{owner}/{repo}/issues/{number}/lock", needTriage, func(q *request) (any, error) { return lockIssue(q, true) }},
	{"DELETE /repos/{owner}/{repo}/issues/{number}/lock", needTriage, func(q *request) (any, error) { return lockIssue(q, false) }},
}

// sorted orders by GitHub's sort and direction parameters: created (the default) or updated, newest first unless told.
func sorted[T any](q *request, items []T, direction string, created, updated func(T) time.Time) {
	key := created
	if q.query("sort") == "updated" {
		key = updated
	}
	if d := q.query("direction"); d != "" {
		direction = d
	}
	sort.SliceStable(items, func(i, j int) bool {
		if direction == "asc" {
			return key(items[i]).Before(key(items[j]))
		}
		return key(items[i]).After(key(items[j]))
	})
}

func issueCreated(i *Issue) time.Time { return i.CreatedAt }
func issueUpdated(i *Issue) time.Time { return i.UpdatedAt }

// inState tells whether an issue is in the state that a list asks for; open unless told.
func (q *request) inState(i *Issue) bool {
	want := q.query("state")
	return want == "all" || want == i.State || want == "" && i.State == "open"
}

func listIssues(q *request) (any, error) {
	since, err := q.since()
	if err != nil {
		return nil, err
	}
	var found []*Issue
	for _, n := range slices.Backward(q.repo.numbers()) {
		i := q.repo.Issues[n]
		if !q.inState(i) || i.UpdatedAt.Before(since) || !hasLabels(i, q.query("labels")) {
			continue
		}
		if c := q.query("creator"); c != "" && !strings.EqualFold(c, i.Author) {
			continue
		}
		found = append(found, i)
	}
	sorted(q, found, "desc", issueCreated, issueUpdated)
	return paginate(q, found, q.s.issueJSON), nil
}

// hasLabels tells whether an issue has all labels of a comma-separated list.
func hasLabels(i *Issue, list string) bool {
	if list == "" {
		return true
	}
	for _, name := range strings.Split(list, ",") {
		if !slices.ContainsFunc(i.labels(), func(l *Label) bool { return strings.EqualFold(l.Name, name) }) {
			return false
		}
	}
	return true
}

// newIssue makes an issue with the next number.
func (s *Server) newIssue(r *Repository, author, title, body string) *Issue {
	now := s.now()
	r.LastNumber++
	i := &Issue{Post: Post{ID: s.nextID(), Author: author, Body: body, CreatedAt: now, UpdatedAt: now}, Number: r.LastNumber, Title: title, State: "open"}
	r.Issues[i.Number] = i
	s.indexIssue(r, i)
	s.changed()
	return i
}

func createIssue(q *request) (any, error) {
	var in struct {
		Title, Body string
		Labels      []any
		Assignees   []string
	}
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	if err := checkTitle("Issue", in.Title); err != nil {
		return nil, err
	}
	if err := checkBody("Issue", in.Body, true); err != nil {
		return nil, err
	}
	i := q.s.newIssue(q.repo, q.user.Login, in.Title, in.Body)
	if q.may(model.PermissionTriage) == nil { // GitHub drops silently what others may not set
		i.labelled(q.s.labelsNamed(q.repo, labelNames(in.Labels), q.user))
		i.Assignees = in.Assignees
	}
	q.s.deliverIssue(i, "opened", q.user, nil)
	q.tellLabels(i, nil)
	return &reply{http.StatusCreated, q.s.issueJSON(i)}, nil
}

// maxBody is the most characters that a comment, an issue or a review may have.
const maxBody = 65536

// maxTitle is the most characters that a title may have. GitHub speaks of 256 when it refuses one, and refuses none up to
// 1,024: https://github.com/dead-claudia/github-limits/pull/7
const maxTitle = 1024

func checkTitle(resource, title string) error {
	if strings.TrimSpace(title) == "" {
		return invalid(resource, "title", "missing_field")
	}
	if len([]rune(title)) > maxTitle {
		return invalidText(resource, "title", "title is too long (maximum is 256 characters)")
	}
	return nil
}

// checkBody refuses what GitHub refuses in a text; blank texts unless they are allowed.
func checkBody(resource, body string, blank bool) error {
	if !blank && strings.TrimSpace(body) == "" {
		return &failure{http.StatusUnprocessableEntity, "Validation Failed", []any{
			obj{"resource": resource, "code": "unprocessable", "field": "data", "message": "Body cannot be blank"},
		}}
	}
	if len([]rune(body)) > maxBody {
		return invalidText(resource, "body", "body is too long (maximum is 65536 characters)")
	}
	return nil
}

// mayEdit is nil when the caller wrote the post or may write to the repository.
func (q *request) mayEdit(p *Post) error {
	if strings.EqualFold(p.Author, q.user.Login) {
		return nil
	}
	return q.may(model.PermissionWrite)
}

// edit sets a post's text and who did so, and keeps what it was before. It tells whether anything changed.
func (s *Server) edit(p *Post, editor *User, body string) bool {
	if p.Body == body {
		return false
	}
	now := s.now()
	if len(p.Versions) == 0 {
		p.Versions = []*Version{{ID: s.nextID(), Editor: p.Author, Body: p.Body, At: p.CreatedAt}}
	}
	p.Versions = append(p.Versions, &Version{ID: s.nextID(), Editor: editor.Login, Body: body, At: now})
	p.Body, p.UpdatedAt, p.Editor, p.LastEditedAt = body, now, editor.Login, &now
	s.changed()
	return true
}

// rename sets an issue's title and notes it in the timeline.
func (s *Server) rename(i *Issue, title string, actor *User) {
	now := s.now()
	i.TitleEvents = append(i.TitleEvents, &TitleEvent{ID: s.nextID(), From: i.Title, To: title, Actor: actor.Login, At: now})
	i.Title, i.UpdatedAt = title, now
	s.changed()
}

func bodyChange(from string) obj { return obj{"changes": obj{"body": obj{"from": from}}} }

// issuePatch is what PATCH takes for an issue, and for the issue side of a pull request.
type issuePatch struct {
	Title, Body, State *string
	StateReason        *string `json:"state_reason"`
	Labels             *[]any
	Assignees          *[]string
}

func patchIssue(q *request) (any, error) {
	var in issuePatch
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	if err := q.applyPatch(q.issue, &in); err != nil {
		return nil, err
	}
	return q.s.issueJSON(q.issue), nil
}

func (q *request) applyPatch(i *Issue, in *issuePatch) error {
	if err := q.mayEdit(&i.Post); err != nil {
		return err
	}
	if in.State != nil && *in.State != "open" && *in.State != "closed" {
		return invalid("Issue", "state", "invalid")
	}
	if in.Title != nil {
		if err := checkTitle("Issue", *in.Title); err != nil {
			return err
		}
	}
	if in.Body != nil {
		if err := checkBody("Issue", *in.Body, true); err != nil {
			return err
		}
	}
	changes := obj{}
	if in.Title != nil && *in.Title != i.Title {
		changes["title"] = obj{"from": i.Title}
		q.s.rename(i, *in.Title, q.user)
	}
	if in.Body != nil {
		from := i.Body
		if q.s.edit(&i.Post, q.user, *in.Body) {
			changes["body"] = obj{"from": from}
		}
	}
	if len(changes) > 0 {
		q.s.changed()
		q.s.deliverIssue(i, "edited", q.user, obj{"changes": changes})
	}
	if q.may(model.PermissionTriage) == nil {
		if in.Labels != nil {
			q.setLabels(i, q.s.labelsNamed(q.repo, labelNames(*in.Labels), q.user))
		}
		if in.Assignees != nil {
			i.Assignees = *in.Assignees
			q.s.changed()
		}
	}
	return q.setState(i, in)
}

// setState opens or closes.
func (q *request) setState(i *Issue, in *issuePatch) error {
	if in.State == nil || *in.State == i.State {
		return nil
	}
	if i.Pull != nil {
		if *in.State == "closed" {
			q.s.closePull(i, q.user)
			return nil
		}
		return q.reopenPull(i)
	}
	if *in.State == "closed" {
		reason := "completed"
		if in.StateReason != nil {
			reason = *in.StateReason
		}
		q.s.closeIssue(i, q.user, reason)
		q.s.deliverIssue(i, "closed", q.user, nil)
		return nil
	}
	q.s.reopenIssue(i)
	q.s.deliverIssue(i, "reopened", q.user, nil)
	return nil
}

func (s *Server) reopenIssue(i *Issue) {
	i.State, i.StateReason, i.ClosedAt, i.ClosedBy, i.UpdatedAt = "open", "", nil, "", s.now()
	if i.Pull == nil {
		i.StateReason = "reopened"
	}
	s.changed()
}

func addAssignees(q *request) (any, error) {
	var in struct{ Assignees []string }
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	for _, login := range in.Assignees {
		u := q.s.user(login)
		if u == nil || slices.Contains(q.issue.Assignees, u.Login) {
			continue // GitHub ignores people who cannot be assigned
		}
		q.issue.Assignees = append(q.issue.Assignees, u.Login)
		q.issue.UpdatedAt = q.s.now()
		q.s.deliverIssue(q.issue, "assigned", q.user, obj{"assignee": q.s.userJSON(u)})
	}
	q.s.changed()
	return &reply{http.StatusCreated, q.s.issueJSON(q.issue)}, nil
}

func removeAssignees(q *request) (any, error) {
	var in struct{ Assignees []string }
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	for _, login := range in.Assignees {
		at := slices.IndexFunc(q.issue.Assignees, func(l string) bool { return strings.EqualFold(l, login) })
		if at < 0 {
			continue
		}
		q.issue.Assignees = slices.Delete(q.issue.Assignees, at, at+1)
		q.issue.UpdatedAt = q.s.now()
		q.s.deliverIssue(q.issue, "unassigned", q.user, obj{"assignee": q.s.userJSON(q.s.author(login))})
	}
	q.s.changed()
	return q.s.issueJSON(q.issue), nil
}

func lockIssue(q *request, lock bool) (any, error) {
	action := "locked"
	if !lock {
		action = "unlocked"
	}
	if q.issue.Locked != lock {
		q.issue.Locked, q.issue.UpdatedAt = lock, q.s.now()
		q.s.changed()
		q.s.deliverIssue(q.issue, action, q.user, nil)
	}
	return &reply{status: http.StatusNoContent}, nil
}

// mayComment refuses comments on a locked conversation to all who may not write, and on a converted one to everybody.
func (q *request) mayComment(i *Issue) error {
	if !i.Converted && (!i.Locked || q.may(model.PermissionWrite) == nil) {
		return nil
	}
	return &failure{status: http.StatusForbidden, message: "Unable to create comment because issue is locked."}
}
