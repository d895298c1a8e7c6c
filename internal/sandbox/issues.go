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
	{"GET /repos/{owner}/{repo}/issues", needRead, "issues=read", listIssues},
	{"POST /repos/{owner}/{repo}/issues", needComment, "issues=write", withBody(createIssue)},
	{"GET /repos/{owner}/{repo}/issues/{number}", needRead, readsIssue, func(q *request) (any, error) { return q.s.json.issue(q.issue), nil }},
	{"PATCH /repos/{owner}/{repo}/issues/{number}", needComment, writesIssue, withBody(patchIssue)},
	{"POST /repos/{owner}/{repo}/issues/{number}/assignees", needTriage, writesIssue, withBody(addAssignees)},
	{"PUT /repos/{owner}/{repo}/issues/{number}/lock", needTriage, writesIssue, func(q *request) (any, error) { return lockIssue(q, true) }},
	{"DELETE /repos/{owner}/{repo}/issues/{number}/lock", needTriage, writesIssue, func(q *request) (any, error) { return lockIssue(q, false) }},
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
func inState(q *request, i *Issue) bool {
	want := q.query("state")
	return want == "all" || want == i.State || want == "" && i.State == "open"
}

func listIssues(q *request) (any, error) {
	since, err := q.since()
	if err != nil {
		return nil, err
	}
	var found []*Issue
	for _, i := range slices.Backward(q.repo.inOrder()) {
		if !inState(q, i) || i.UpdatedAt.Before(since) || !hasLabels(i, q.query("labels")) {
			continue
		}
		if c := q.query("creator"); c != "" && !strings.EqualFold(c, i.Author) {
			continue
		}
		found = append(found, i)
	}
	sorted(q, found, "desc", issueCreated, issueUpdated)
	return paginate(q, found, q.s.json.issue), nil
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
func (w world) newIssue(r *Repository, author, title, body string) *Issue {
	now := w.now()
	r.LastNumber++
	i := &Issue{Post: Post{ID: w.nextID(), Author: author, Body: body, CreatedAt: now, UpdatedAt: now}, Number: r.LastNumber, Title: title, State: "open"}
	r.Issues[i.Number] = i
	w.indexIssue(r, i)
	w.changed()
	return i
}

func createIssue(q *request, in struct {
	Title, Body string
	Labels      []any
	Assignees   []string
}) (any, error) {
	if err := checkTitle("Issue", in.Title); err != nil {
		return nil, err
	}
	if err := checkBody("Issue", in.Body, true); err != nil {
		return nil, err
	}
	i := q.s.world.newIssue(q.repo, q.user.Login, in.Title, in.Body)
	if q.may(model.PermissionTriage) == nil { // GitHub drops silently what others may not set
		i.labelled(q.s.world.labelsNamed(q.repo, labelNames(in.Labels), q.user))
		i.Assignees = in.Assignees
	}
	q.s.hooks.issue(i, "opened", q.user, nil)
	tellLabels(q, i, nil)
	return &reply{http.StatusCreated, q.s.json.issue(i)}, nil
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
func mayEdit(q *request, p *Post) error {
	if strings.EqualFold(p.Author, q.user.Login) {
		return nil
	}
	return q.may(model.PermissionWrite)
}

// edit sets a post's text and who did so, and keeps what it was before. It tells whether anything changed.
func (w world) edit(p *Post, editor *User, body string) bool {
	if p.Body == body {
		return false
	}
	now := w.now()
	if len(p.Versions) == 0 {
		p.Versions = []*Version{{ID: w.nextID(), Editor: p.Author, Body: p.Body, At: p.CreatedAt}}
	}
	p.Versions = append(p.Versions, &Version{ID: w.nextID(), Editor: editor.Login, Body: body, At: now})
	p.Body, p.UpdatedAt, p.Editor, p.LastEditedAt = body, now, editor.Login, &now
	w.changed()
	return true
}

// rename sets an issue's title and notes it in the timeline.
func (w world) rename(i *Issue, title string, actor *User) {
	now := w.now()
	i.TitleEvents = append(i.TitleEvents, &TitleEvent{ID: w.nextID(), From: i.Title, To: title, Actor: actor.Login, At: now})
	i.Title, i.UpdatedAt = title, now
	w.changed()
}

func bodyChange(from string) obj { return obj{"changes": obj{"body": obj{"from": from}}} }

// issuePatch is what PATCH takes for an issue, and for the issue side of a pull request.
type issuePatch struct {
	Title, Body, State *string
	StateReason        *string `json:"state_reason"`
	Labels             *[]any
	Assignees          *[]string
}

func patchIssue(q *request, in issuePatch) (any, error) {
	if err := applyPatch(q, q.issue, &in); err != nil {
		return nil, err
	}
	return q.s.json.issue(q.issue), nil
}

func applyPatch(q *request, i *Issue, in *issuePatch) error {
	if err := mayEdit(q, &i.Post); err != nil {
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
		q.s.world.rename(i, *in.Title, q.user)
	}
	if in.Body != nil {
		from := i.Body
		if q.s.world.edit(&i.Post, q.user, *in.Body) {
			changes["body"] = obj{"from": from}
		}
	}
	if len(changes) > 0 {
		q.s.world.changed()
		q.s.hooks.issue(i, "edited", q.user, obj{"changes": changes})
	}
	if q.may(model.PermissionTriage) == nil {
		if in.Labels != nil {
			setLabels(q, i, q.s.world.labelsNamed(q.repo, labelNames(*in.Labels), q.user))
		}
		if in.Assignees != nil {
			i.Assignees = *in.Assignees
			q.s.world.changed()
		}
	}
	return setState(q, i, in)
}

// setState opens or closes.
func setState(q *request, i *Issue, in *issuePatch) error {
	if in.State == nil || *in.State == i.State {
		return nil
	}
	if i.Pull != nil {
		if *in.State == "closed" {
			q.s.pulls.close(i, q.user)
			return nil
		}
		return reopenPull(q, i)
	}
	if *in.State == "closed" {
		reason := "completed"
		if in.StateReason != nil {
			reason = *in.StateReason
		}
		q.s.world.closeIssue(i, q.user, reason)
		q.s.hooks.issue(i, "closed", q.user, nil)
		return nil
	}
	q.s.world.reopenIssue(i)
	q.s.hooks.issue(i, "reopened", q.user, nil)
	return nil
}

func (w world) reopenIssue(i *Issue) {
	i.State, i.StateReason, i.ClosedAt, i.ClosedBy, i.UpdatedAt = "open", "", nil, "", w.now()
	if i.Pull == nil {
		i.StateReason = "reopened"
	}
	w.changed()
}

func addAssignees(q *request, in struct{ Assignees []string }) (any, error) {
	for _, login := range in.Assignees {
		u := q.s.world.user(login)
		if u == nil || slices.Contains(q.issue.Assignees, u.Login) {
			continue // GitHub ignores people who cannot be assigned
		}
		q.issue.Assignees = append(q.issue.Assignees, u.Login)
		q.issue.UpdatedAt = q.s.world.now()
		q.s.hooks.issue(q.issue, "assigned", q.user, obj{"assignee": q.s.json.user(u)})
	}
	q.s.world.changed()
	return &reply{http.StatusCreated, q.s.json.issue(q.issue)}, nil
}

func lockIssue(q *request, lock bool) (any, error) {
	action := "locked"
	if !lock {
		action = "unlocked"
	}
	if q.issue.Locked != lock {
		q.issue.Locked, q.issue.UpdatedAt = lock, q.s.world.now()
		q.s.world.changed()
		q.s.hooks.issue(q.issue, action, q.user, nil)
	}
	return &reply{status: http.StatusNoContent}, nil
}

// mayComment refuses comments on a locked conversation to all who may not write, and on a converted one to everybody.
func mayComment(q *request, i *Issue) error {
	if !i.Converted && (!i.Locked || q.may(model.PermissionWrite) == nil) {
		return nil
	}
	return &failure{status: http.StatusForbidden, message: "Unable to create comment because issue is locked."}
}
