package sandbox

import (
	"net/http"
	"slices"

	"github.com/mergexo/mergexo/internal/model"
)

var subIssueRoutes = []route{
	{"GET /repos/{owner}/{repo}/issues/{number}/sub_issues", needRead, readsIssue, listSubIssues},
	{"POST /repos/{owner}/{repo}/issues/{number}/sub_issues", needTriage, writesIssue, withBody(addSubIssue)},
	{"GET /repos/{owner}/{repo}/issues/{number}/parent", needRead, readsIssue, getParent},
}

// maxSubIssues is how many sub-issues one issue has at most:
// https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/adding-sub-issues
const maxSubIssues = 100

// subIssuesOf are the sub-issues of an issue that are still there, in their order.
func subIssuesOf(w world, i *Issue) []*Issue {
	var out []*Issue
	for _, id := range i.SubIDs {
		if sub := w.issues[id]; sub != nil && sub.ID == id {
			out = append(out, sub)
		}
	}
	return out
}

// parentOf is the issue that an issue is a sub-issue of; nil for none.
func parentOf(w world, i *Issue) *Issue {
	for _, r := range w.st.Repositories {
		for _, parent := range r.inOrder() {
			if slices.Contains(parent.SubIDs, i.ID) {
				return parent
			}
		}
	}
	return nil
}

func listSubIssues(q *request) (any, error) {
	return paginate(q, subIssuesOf(q.s.world, q.issue), q.s.json.issue), nil
}

// addSubIssue is https://docs.github.com/en/rest/issues/sub-issues#add-sub-issue. The words of the refusals are those that people
// report (https://github.com/orgs/community/discussions/139932).
func addSubIssue(q *request, in struct {
	ID      int64 `json:"sub_issue_id"`
	Replace bool  `json:"replace_parent"`
}) (any, error) {
	if in.ID == 0 {
		return nil, unprocessable("Invalid request.\n\n\"sub_issue_id\" wasn't supplied.")
	}
	sub := q.s.world.issues[in.ID]
	if sub == nil || sub.ID != in.ID || sub.repo.Owner != q.repo.Owner || sub.repo.Private && q.s.world.permission(sub.repo, q.user.Login) < model.PermissionRead {
		return nil, &failure{status: http.StatusNotFound, message: "The provided sub-issue does not exist"}
	}
	refused := func(message string) error {
		return &failure{http.StatusUnprocessableEntity, "An error occurred while adding the sub-issue to the parent issue. " + message, nil}
	}
	parent := parentOf(q.s.world, sub)
	switch {
	case q.issue.Pull != nil || sub.Pull != nil:
		return nil, errNotFound
	case parent == q.issue:
		return nil, refused("Issue may not contain duplicate sub-issues")
	case parent != nil && !in.Replace:
		return nil, refused("Sub issue may only have one parent")
	case sub == q.issue || isBelow(q.s.world, sub, q.issue):
		return nil, refused("Sub issue may not create a circular dependency")
	case len(subIssuesOf(q.s.world, q.issue)) >= maxSubIssues:
		return nil, refused("Parent cannot have more than 100 sub-issues")
	}
	if parent != nil {
		unlink(q.s.world, parent, sub)
	}
	now := q.s.world.now()
	q.issue.SubIDs = append(q.issue.SubIDs, sub.ID)
	q.issue.UpdatedAt, sub.UpdatedAt = now, now
	q.s.world.changed()
	return &reply{http.StatusCreated, q.s.json.issue(q.issue)}, nil
}

// isBelow tells whether an issue is somewhere below another one.
func isBelow(w world, top, i *Issue) bool {
	for p := parentOf(w, i); p != nil; p = parentOf(w, p) {
		if p == top {
			return true
		}
	}
	return false
}

func unlink(w world, parent, sub *Issue) {
	parent.SubIDs = slices.DeleteFunc(parent.SubIDs, func(id int64) bool { return id == sub.ID })
	now := w.now()
	parent.UpdatedAt, sub.UpdatedAt = now, now
	w.changed()
}

func getParent(q *request) (any, error) {
	if parent := parentOf(q.s.world, q.issue); parent != nil {
		return q.s.json.issue(parent), nil
	}
	return nil, errNotFound
}

// SubIssues are in the order in which they were added.
func (i *gqlIssue) SubIssues(args pageArgs) (*connection[gqlIssue], error) {
	if err := i.look.forbids(i.repo, "Issue"); err != nil {
		return nil, err
	}
	return pageOf(args, listing[*Issue, gqlIssue]{items: subIssuesOf(i.look.s.world, i.i), key: inOrder[*Issue], wrap: i.look.issue})
}
