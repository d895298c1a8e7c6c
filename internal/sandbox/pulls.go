package sandbox

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

var pullRoutes = []route{
	{"GET /repos/{owner}/{repo}/pulls", needRead, "pull_requests=read", listPulls},
	{"POST /repos/{owner}/{repo}/pulls", needComment, "pull_requests=write", withBody(createPull)},
	{"GET /repos/{owner}/{repo}/pulls/{number}", needRead, "pull_requests=read", getPull},
	{"PATCH /repos/{owner}/{repo}/pulls/{number}", needComment, "pull_requests=write", withBody(patchPull)},
	{"GET /repos/{owner}/{repo}/pulls/{number}/commits", needRead, "pull_requests=read", listPullCommits},
	{"GET /repos/{owner}/{repo}/pulls/{number}/files", needRead, "pull_requests=read", listPullFiles},
	{"POST /repos/{owner}/{repo}/pulls/{number}/requested_reviewers", needWrite, "pull_requests=write", withBody(requestReviewers)},
	{"DELETE /repos/{owner}/{repo}/pulls/{number}/requested_reviewers", needWrite, "pull_requests=write", withBody(unrequestReviewers)},
}

func listPulls(q *request) (any, error) {
	var found []*Issue
	for _, i := range slices.Backward(q.repo.inOrder()) {
		if err := q.s.pulls.see(i); err != nil {
			return nil, err
		}
		if i.Pull == nil || !inState(q, i) {
			continue
		}
		if base := q.query("base"); base != "" && base != i.Pull.BaseRef {
			continue
		}
		if head := q.query("head"); head != "" && !q.s.pulls.isHead(i, head) {
			continue
		}
		found = append(found, i)
	}
	sorted(q, found, "desc", issueCreated, issueUpdated)
	return paginate(q, found, q.s.json.simplePull), nil
}

// isHead tells whether "owner:branch" is the head of a pull request.
func (pr pulls) isHead(i *Issue, head string) bool {
	owner, branch, ok := strings.Cut(head, ":")
	r := pr.world.repositoryByID(i.Pull.HeadRepo)
	return ok && r != nil && strings.EqualFold(owner, r.Owner) && branch == i.Pull.HeadRef
}

// getPull answers as JSON, or as diff or patch when the Accept header asks so.
func getPull(q *request) (any, error) {
	accept := q.r.Header.Get("Accept")
	switch {
	case strings.Contains(accept, "diff"):
		return q.s.pulls.text(q.issue, "diff")
	case strings.Contains(accept, "patch"):
		return q.s.pulls.text(q.issue, "patch")
	}
	q.s.pulls.testMerge(q.issue)
	return q.s.json.pull(q.issue), nil
}

func (pr pulls) text(i *Issue, kind string) (any, error) {
	base, head := pr.baseSHA(i), pr.headSHA(i)
	args := []string{"diff", "-M", base + "..." + head}
	if kind == "patch" {
		args = []string{"format-patch", "--stdout", base + ".." + head}
	}
	out, err := runGit(pr.git.path(i.repo), nil, nil, args...)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", kind, err)
	}
	return &raw{"application/vnd.github." + kind + "; charset=utf-8", out}, nil
}

// pullInput is the body of POST pulls.
type pullInput struct {
	Title, Body, Head, Base string
	HeadRepo                string `json:"head_repo"`
	Draft                   bool
	MaintainerCanModify     *bool `json:"maintainer_can_modify"`
	Issue                   int
}

func createPull(q *request, in pullInput) (any, error) {
	if err := mayOpenPulls(q); err != nil {
		return nil, err
	}
	if in.Title != "" || in.Issue == 0 {
		if err := checkTitle("PullRequest", in.Title); err != nil {
			return nil, err
		}
	}
	if err := checkBody("PullRequest", in.Body, true); err != nil {
		return nil, err
	}
	headRepo, branch, err := pullEnds(q, &in)
	if err != nil {
		return nil, err
	}
	if err := q.s.git.bring(q.repo, headRepo, q.s.git.branchSHA(headRepo, branch)); err != nil {
		return nil, err
	}
	if err := pullRefused(q, &in, headRepo, branch); err != nil {
		return nil, err
	}
	modify := in.MaintainerCanModify == nil || *in.MaintainerCanModify
	i := q.s.world.newIssue(q.repo, q.user.Login, in.Title, in.Body)
	if err := q.s.pulls.create(i, headRepo, branch, in.Base); err != nil {
		return nil, err
	}
	i.Pull.Draft, i.Pull.MaintainerCanModify = in.Draft, modify && headRepo != q.repo
	q.s.hooks.pull(i, "opened", q.user, nil)
	return &reply{http.StatusCreated, q.s.json.pull(i)}, nil
}

// pullEnds finds the head, "branch" or "owner:branch", and checks that both ends are there.
func pullEnds(q *request, in *pullInput) (*Repository, string, error) {
	if in.Head == "" || in.Base == "" {
		field := "head"
		if in.Base == "" {
			field = "base"
		}
		return nil, "", invalid("PullRequest", field, "missing_field")
	}
	headRepo, branch := q.repo, in.Head
	if owner, b, ok := strings.Cut(in.Head, ":"); ok {
		branch = b
		headRepo = nil
		for _, r := range q.s.st.Repositories {
			related := r.ID == q.repo.ID || r.Parent == q.repo.ID || r.ID == q.repo.Parent
			named := in.HeadRepo == "" || in.HeadRepo == r.Name || in.HeadRepo == r.FullName()
			if strings.EqualFold(r.Owner, owner) && related && named {
				headRepo = r
			}
		}
	}
	if headRepo == nil || q.s.git.branchSHA(headRepo, branch) == "" {
		return nil, "", invalid("PullRequest", "head", "invalid")
	}
	if q.s.git.branchSHA(q.repo, in.Base) == "" {
		return nil, "", invalid("PullRequest", "base", "invalid")
	}
	in.Base = strings.TrimPrefix(in.Base, "refs/heads/")
	// Somebody without write permission may only offer what is in a repository of theirs.
	if q.s.world.permission(headRepo, q.user.Login) < model.PermissionWrite {
		return nil, "", &failure{status: http.StatusForbidden, message: "Must have push access to repository"}
	}
	return headRepo, branch, nil
}

// pullRefused says why two ends that are there make no pull request.
func pullRefused(q *request, in *pullInput, headRepo *Repository, branch string) error {
	head, base := q.s.git.branchSHA(headRepo, branch), q.s.git.branchSHA(q.repo, in.Base)
	name := branch
	if headRepo != q.repo {
		name = headRepo.Owner + ":" + branch
	}
	for _, other := range q.repo.openPulls() {
		if other.Pull.HeadRepo == headRepo.ID && other.Pull.HeadRef == branch && other.Pull.BaseRef == in.Base {
			return invalidText("PullRequest", "", fmt.Sprintf("A pull request already exists for %s:%s.", headRepo.Owner, branch))
		}
	}
	mb, err := q.s.git.mergeBase(q.repo, base, head)
	switch {
	case err != nil:
		return err
	case mb == "":
		return invalidText("PullRequest", "", fmt.Sprintf("The %s branch has no history in common with %s", name, in.Base))
	case mb == head:
		return invalidText("PullRequest", "", fmt.Sprintf("No commits between %s and %s", in.Base, name))
	}
	return nil
}

// create turns an issue into a pull request between two branches that are there.
func (pr pulls) create(i *Issue, headRepo *Repository, headRef, baseRef string) error {
	head := pr.git.branchSHA(headRepo, headRef)
	i.Pull = &Pull{
		ID: pr.world.nextID(), HeadRepo: headRepo.ID, HeadRef: headRef, BaseRef: baseRef, HeadSHA: head, BaseSHA: pr.git.branchSHA(i.repo, baseRef),
	}
	pr.issues[i.Pull.ID] = i
	pr.world.changed()
	return pr.showHead(i, head)
}

func patchPull(q *request, in struct {
	issuePatch
	Base                *string
	MaintainerCanModify *bool `json:"maintainer_can_modify"`
}) (any, error) {
	if in.Base != nil && *in.Base != q.issue.Pull.BaseRef {
		if err := changeBase(q, *in.Base); err != nil {
			return nil, err
		}
	}
	if err := applyPatch(q, q.issue, &in.issuePatch); err != nil {
		return nil, err
	}
	if in.MaintainerCanModify != nil {
		q.issue.Pull.MaintainerCanModify = *in.MaintainerCanModify
	}
	return q.s.json.pull(q.issue), nil
}

func changeBase(q *request, base string) error {
	i := q.issue
	if err := mayEdit(q, &i.Post); err != nil {
		return err
	}
	switch {
	case i.State != "open":
		return &failure{http.StatusUnprocessableEntity, "Validation Failed", []any{obj{
			"resource": "PullRequest", "field": "base", "code": "invalid", "message": "Cannot change the base branch of a closed pull request.",
		}}}
	case q.s.git.branchSHA(q.repo, base) == "":
		return &failure{http.StatusUnprocessableEntity, "Validation Failed", []any{obj{
			"resource": "PullRequest", "field": "base", "code": "invalid", "message": fmt.Sprintf("Proposed base branch '%s' was not found", base),
		}}}
	case q.s.git.isAncestor(q.repo, q.s.pulls.headSHA(i), q.s.git.branchSHA(q.repo, base)):
		return invalidText("PullRequest", "base", fmt.Sprintf("There are no new commits between base branch '%s' and head branch '%s'", base, i.Pull.HeadRef))
	}
	for _, other := range q.repo.openPulls() { // one open pull request of a head for each base
		if other != i && other.Pull.HeadRepo == i.Pull.HeadRepo && other.Pull.HeadRef == i.Pull.HeadRef && other.Pull.BaseRef == base {
			return invalidText("PullRequest", "base", fmt.Sprintf("A pull request already exists for base branch '%s' and head branch '%s'", base, i.Pull.HeadRef))
		}
	}
	q.s.refs.retarget(i, base, q.user)
	return nil
}

// retarget gives a pull request another base.
func (f pushes) retarget(i *Issue, base string, actor *User) {
	from := obj{"ref": obj{"from": i.Pull.BaseRef}, "sha": obj{"from": i.Pull.BaseSHA}}
	now := f.world.now()
	i.Pull.BaseEvents = append(i.Pull.BaseEvents, &BaseEvent{ID: f.world.nextID(), From: i.Pull.BaseRef, To: base, Actor: actor.Login, At: now})
	i.Pull.BaseRef, i.UpdatedAt, i.Pull.NewMerge = base, now, nil
	f.pulls.recordBase(i)
	f.world.changed()
	f.hooks.pull(i, "edited", actor, obj{"changes": obj{"base": from}})
}

// reopenPull opens a closed pull request again, when its head has not been lost: https://github.com/isaacs/github/issues/361
func reopenPull(q *request, i *Issue) error {
	refuse := func(why string) error { return invalidText("PullRequest", "state", "state cannot be changed. "+why) }
	if i.Pull.merged() {
		return refuse("The pull request cannot be reopened.")
	}
	r := q.s.world.repositoryByID(i.Pull.HeadRepo)
	if r == nil {
		return refuse("The repository that submitted this pull request has been deleted.")
	}
	head := q.s.git.branchSHA(r, i.Pull.HeadRef)
	base := q.s.git.branchSHA(i.repo, i.Pull.BaseRef)
	if head == "" || base == "" {
		gone := i.Pull.HeadRef
		if head != "" {
			gone = i.Pull.BaseRef
		}
		return refuse(fmt.Sprintf("The %s branch has been deleted.", gone))
	}
	if err := q.s.git.bring(i.repo, r, head); err != nil {
		return err
	}
	if !q.s.git.isAncestor(i.repo, i.Pull.HeadSHA, head) {
		return refuse(fmt.Sprintf("The %s branch was force-pushed or recreated.", i.Pull.HeadRef))
	}
	if q.s.git.isAncestor(i.repo, head, base) {
		return refuse(fmt.Sprintf("There are no new commits on the %s branch.", i.Pull.HeadRef))
	}
	for _, other := range i.repo.openPulls() {
		if other.Pull.HeadRepo == r.ID && other.Pull.HeadRef == i.Pull.HeadRef && other.Pull.BaseRef == i.Pull.BaseRef {
			return invalidText("PullRequest", "", fmt.Sprintf("A pull request already exists for %s:%s.", r.Owner, i.Pull.HeadRef))
		}
	}
	q.s.world.reopenIssue(i)
	i.Pull.HeadSHA, i.Pull.BaseSHA = head, base
	q.s.hooks.pull(i, "reopened", q.user, nil)
	return q.s.pulls.showHead(i, head)
}

// listPullCommits lists at most 250, as GitHub does.
func listPullCommits(q *request) (any, error) {
	shas, err := q.s.pulls.commits(q.issue)
	if err != nil {
		return nil, err
	}
	cs, err := q.s.git.commitsOf(q.repo, shas[:min(len(shas), 250)])
	if err != nil {
		return nil, err
	}
	return paginate(q, cs, func(c *commitInfo) obj { return q.s.json.commit(q.repo, c) }), nil
}

// listPullFiles lists at most 3,000, as GitHub does.
func listPullFiles(q *request) (any, error) {
	files, err := q.s.pulls.files(q.issue)
	if err != nil {
		return nil, err
	}
	head := q.s.pulls.headSHA(q.issue)
	return paginate(q, files[:min(len(files), 3000)], func(f *fileChange) obj { return q.s.json.file(q.repo, head, f) }), nil
}

// reviewers are the people and the teams that a request names.
type reviewers struct {
	Reviewers     []string
	TeamReviewers []string `json:"team_reviewers"`
}

func requestReviewers(q *request, in reviewers) (any, error) {
	for _, login := range in.Reviewers {
		u := q.s.world.user(login)
		if u == nil || q.s.world.permission(q.repo, login) == model.PermissionNone || q.repo.Permissions[strings.ToLower(login)] == "" {
			return nil, unprocessable("Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the " + q.repo.FullName() + " repository.")
		}
		if strings.EqualFold(login, q.issue.Author) {
			return nil, unprocessable("Review cannot be requested from pull request author.")
		}
	}
	for _, team := range in.TeamReviewers {
		if !slices.Contains(q.issue.Pull.RequestedTeams, team) {
			q.issue.Pull.RequestedTeams = append(q.issue.Pull.RequestedTeams, team)
		}
	}
	for _, login := range in.Reviewers {
		u := q.s.world.user(login)
		if slices.Contains(q.issue.Pull.RequestedReviewers, u.Login) {
			continue
		}
		q.issue.Pull.RequestedReviewers = append(q.issue.Pull.RequestedReviewers, u.Login)
		q.issue.UpdatedAt = q.s.world.now()
		q.s.hooks.pull(q.issue, "review_requested", q.user, obj{"requested_reviewer": q.s.json.user(u)})
	}
	q.s.world.changed()
	return &reply{http.StatusCreated, q.s.json.simplePull(q.issue)}, nil
}

func unrequestReviewers(q *request, in reviewers) (any, error) {
	q.issue.Pull.RequestedTeams = slices.DeleteFunc(q.issue.Pull.RequestedTeams, func(team string) bool { return slices.Contains(in.TeamReviewers, team) })
	for _, login := range in.Reviewers {
		at := slices.IndexFunc(q.issue.Pull.RequestedReviewers, func(l string) bool { return strings.EqualFold(l, login) })
		if at < 0 {
			continue
		}
		q.issue.Pull.RequestedReviewers = slices.Delete(q.issue.Pull.RequestedReviewers, at, at+1)
		q.issue.UpdatedAt = q.s.world.now()
		q.s.hooks.pull(q.issue, "review_request_removed", q.user, obj{"requested_reviewer": q.s.json.user(q.s.world.author(login))})
	}
	q.s.world.changed()
	return q.s.json.simplePull(q.issue), nil
}
