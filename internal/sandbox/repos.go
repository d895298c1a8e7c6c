package sandbox

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

var repositoryName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)

// Commits that the sandbox invents carry this identity and date, so that their SHAs are the same everywhere.
var (
	inventorName, inventorEmail = "octo", "octo@example.com"
	inventedAt                  = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

var userRoutes = []route{
	{"GET /user", needToken, "", getViewer},
	{"GET /users/{login}", needNothing, "", getUser},
	{"GET /rate_limit", needNothing, "", getRateLimit},
}

var repositoryRoutes = []route{
	{"GET /repos/{owner}/{repo}", needRead, "metadata=read", func(q *request) (any, error) { return q.s.json.fullRepository(q.repo, q.user), nil }},
	{"GET /repositories/{id}", needNothing, "", getRepositoryByID},
	{"PATCH /repos/{owner}/{repo}", needAdmin, "administration=write", withBody(patchRepository)},
	{"DELETE /repos/{owner}/{repo}", needAdmin, "administration=write", deleteRepository},
	{"POST /user/repos", needToken, "", createRepository},
	{"GET /user/repos", needToken, "", listRepositories},
	{"POST /repos/{owner}/{repo}/forks", needComment, "administration=write,contents=read", withBody(forkRepository)},
}

var collaboratorRoutes = []route{
	{"GET /repos/{owner}/{repo}/collaborators", needWrite, "metadata=read", listCollaborators},
	{"GET /repos/{owner}/{repo}/collaborators/{login}", needWrite, "metadata=read", checkCollaborator},
	{"PUT /repos/{owner}/{repo}/collaborators/{login}", needAdmin, "administration=write", putCollaborator},
	{"DELETE /repos/{owner}/{repo}/collaborators/{login}", needAdmin, "administration=write", deleteCollaborator},
	{"GET /repos/{owner}/{repo}/collaborators/{login}/permission", needWrite, "metadata=read", getPermission},
}

func getViewer(q *request) (any, error) {
	if q.user == nil {
		return nil, &failure{status: http.StatusUnauthorized, message: "Requires authentication"}
	}
	if q.user.Type == "Bot" {
		return nil, &failure{status: http.StatusForbidden, message: "Resource not accessible by integration"}
	}
	return q.s.json.fullUser(q.user, true), nil
}

func getUser(q *request) (any, error) {
	u := q.s.world.user(q.r.PathValue("login"))
	if u == nil {
		return nil, errNotFound
	}
	return q.s.json.fullUser(u, false), nil
}

func getRepositoryByID(q *request) (any, error) {
	id, err := q.int64Value("id")
	if err != nil {
		return nil, err
	}
	if q.repo = q.s.world.repositoryByID(id); q.repo == nil || q.may(model.PermissionRead) != nil {
		return nil, errNotFound
	}
	return q.s.json.fullRepository(q.repo, q.user), nil
}

func patchRepository(q *request, in struct {
	Name          *string
	Description   *string
	DefaultBranch *string `json:"default_branch"`
	Private       *bool
	mergeSettings
}) (any, error) {
	if err := setMethods(q, in.mergeSettings); err != nil {
		return nil, err
	}
	if in.DefaultBranch != nil {
		if q.s.git.branchSHA(q.repo, *in.DefaultBranch) == "" {
			return nil, invalidText("Repository", "default_branch", "The branch "+*in.DefaultBranch+" was not found. Please push that ref first or create it via the Git Data API.")
		}
		if _, err := q.s.git.run(q.repo, "symbolic-ref", "HEAD", "refs/heads/"+*in.DefaultBranch); err != nil {
			return nil, fmt.Errorf("set default branch: %w", err)
		}
		q.repo.DefaultBranch = *in.DefaultBranch
	}
	if in.Description != nil {
		q.repo.Description = *in.Description
	}
	if in.Name != nil && *in.Name != q.repo.Name {
		if q.s.world.repository(q.repo.Owner, *in.Name) != nil {
			return nil, invalidText("Repository", "name", "name already exists on this account")
		}
		q.repo.Formerly = append(q.repo.Formerly, q.repo.FullName())
		q.repo.Name = *in.Name
	}
	if in.Private != nil {
		q.repo.Private = *in.Private
	}
	q.repo.UpdatedAt = q.s.world.now()
	q.s.world.changed()
	return q.s.json.fullRepository(q.repo, q.user), nil
}

// addRepository makes an empty repository that owner administers and in which workflows may write.
func (w world) addRepository(owner, name, branch string, private bool) (*Repository, error) {
	if branch == "" {
		branch = "main"
	}
	u, now := w.ensureUser(owner, ""), w.now()
	r := &Repository{
		ID: w.nextSmallID(), Owner: u.Login, Name: name, DefaultBranch: branch, Private: private, Issues: map[int]*Issue{},
		Permissions: map[string]string{strings.ToLower(owner): "admin", actionsLogin: "write"}, Protections: map[string]*Protection{},
		Refs: map[string]string{}, CreatedAt: now, UpdatedAt: now, PushedAt: now,
	}
	if err := os.RemoveAll(w.git.path(r)); err != nil { // left by a kill before the state was written
		return nil, fmt.Errorf("create repository %s: %w", r.FullName(), err)
	}
	if err := w.git.init(r); err != nil {
		return nil, err
	}
	for _, l := range defaultLabels {
		l.ID = w.nextID()
		l.CreatedAt = r.CreatedAt
		r.Labels = append(r.Labels, &l)
	}
	w.st.Repositories = append(w.st.Repositories, r)
	w.changed()
	return r, nil
}

// addWidgets makes octo/widgets, what a sandbox without a seed holds.
func (w world) addWidgets() (*Repository, error) {
	r, err := w.addRepository("octo", "widgets", "main", false)
	if err != nil {
		return nil, err
	}
	return r, w.git.firstCommit(r, map[string]string{"README.md": "# widgets\n"})
}

// firstCommit puts files onto the default branch of an empty repository.
func (g gitStore) firstCommit(r *Repository, files map[string]string) error {
	_, err := g.commitFiles(r, r.DefaultBranch, "", files, "Initial commit", inventedAt)
	return err
}

func createRepository(q *request) (any, error) {
	if q.user.Type == "Bot" {
		return nil, &failure{status: http.StatusForbidden, message: "Resource not accessible by integration"}
	}
	var in struct {
		Name, Description string
		Private           bool
		AutoInit          bool `json:"auto_init"`
	}
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	if !repositoryName.MatchString(in.Name) {
		return nil, invalid("Repository", "name", "missing_field")
	}
	if q.s.world.repository(q.user.Login, in.Name) != nil {
		return nil, &failure{http.StatusUnprocessableEntity, "Repository creation failed.", []any{
			obj{"resource": "Repository", "code": "custom", "field": "name", "message": "name already exists on this account"},
		}}
	}
	r, err := q.s.world.addRepository(q.user.Login, in.Name, "", in.Private)
	if err != nil {
		return nil, err
	}
	r.Description = in.Description
	if in.AutoInit {
		if err := q.s.git.firstCommit(r, map[string]string{"README.md": "# " + in.Name}); err != nil {
			return nil, err
		}
	}
	return &reply{http.StatusCreated, q.s.json.fullRepository(r, q.user)}, nil
}

func listRepositories(q *request) (any, error) {
	var mine []*Repository
	for _, r := range q.s.st.Repositories {
		if p := r.Permissions[strings.ToLower(q.user.Login)]; p != "" && p != "none" {
			mine = append(mine, r)
		}
	}
	return paginate(q, mine, func(r *Repository) obj { return q.s.json.repository(r) }), nil
}

func forkRepository(q *request, in struct{ Name string }) (any, error) {
	if q.user.Type == "Bot" {
		return nil, &failure{status: http.StatusForbidden, message: "Resource not accessible by integration"}
	}
	if in.Name == "" {
		in.Name = q.repo.Name
	}
	if r := q.s.world.repository(q.user.Login, in.Name); r != nil {
		if r.Parent == q.repo.ID {
			return &reply{http.StatusAccepted, q.s.json.fullRepository(r, q.user)}, nil
		}
		return nil, invalidText("Repository", "name", "name already exists on this account")
	}
	r, err := q.s.world.addRepository(q.user.Login, in.Name, q.repo.DefaultBranch, q.repo.Private)
	if err != nil {
		return nil, err
	}
	r.Parent, r.Description = q.repo.ID, q.repo.Description
	if err := q.s.git.copyRefs(r, q.s.git.path(q.repo)); err != nil {
		return nil, err
	}
	q.s.hooks.deliver("fork", q.repo, q.user, obj{"forkee": q.s.json.repository(r)})
	return &reply{http.StatusAccepted, q.s.json.fullRepository(r, q.user)}, nil
}

// copyRefs fetches all branches and tags of another repository on this machine.
func (g gitStore) copyRefs(r *Repository, from string) error {
	if _, err := g.run(r, "fetch", "-q", "--no-write-fetch-head", from, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"); err != nil {
		return fmt.Errorf("copy branches into %s: %w", r.FullName(), err)
	}
	refs, err := g.readRefs(r)
	if err != nil {
		return err
	}
	r.Refs = refs
	g.world.changed()
	return nil
}

// collaborators are the people with a right of their own, sorted by login. Bots are none.
func (w world) collaborators(r *Repository) []*User {
	var us []*User
	for login, p := range r.Permissions {
		if u := w.user(login); u != nil && u.Type == "User" && p != "none" {
			us = append(us, u)
		}
	}
	slices.SortFunc(us, func(a, b *User) int { return strings.Compare(strings.ToLower(a.Login), strings.ToLower(b.Login)) })
	return us
}

// roleName is what REST calls a right.
func roleName(p model.Permission) string {
	return []string{"none", "read", "triage", "write", "maintain", "admin"}[p]
}

func (js views) collaborator(r *Repository, u *User) obj {
	o := js.user(u)
	o["permissions"] = js.permission(r, u.Login)
	o["role_name"] = roleName(js.world.permission(r, u.Login))
	return o
}

func listCollaborators(q *request) (any, error) {
	return paginate(q, q.s.world.collaborators(q.repo), func(u *User) obj { return q.s.json.collaborator(q.repo, u) }), nil
}

func checkCollaborator(q *request) (any, error) {
	if p := q.repo.Permissions[strings.ToLower(q.r.PathValue("login"))]; p == "" || p == "none" {
		return nil, errNotFound
	}
	return &reply{status: http.StatusNoContent}, nil
}

// putCollaborator adds somebody at once; on GitHub an invitation would have to be accepted first.
func putCollaborator(q *request) (any, error) {
	in := struct{ Permission string }{"push"}
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	p := model.ParsePermission(in.Permission)
	if p == model.PermissionNone {
		return nil, invalid("Repository", "permission", "invalid")
	}
	login := q.r.PathValue("login")
	if q.s.world.user(login) == nil {
		return nil, errNotFound
	}
	q.repo.Permissions[strings.ToLower(login)] = roleName(p)
	return q.changed()
}

func deleteCollaborator(q *request) (any, error) {
	delete(q.repo.Permissions, strings.ToLower(q.r.PathValue("login")))
	return q.changed()
}

// getPermission answers with the old four words in permission and with all of them in role_name:
// https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
func getPermission(q *request) (any, error) {
	u := q.s.world.user(q.r.PathValue("login"))
	if u == nil {
		return nil, errNotFound
	}
	role := roleName(q.s.world.permission(q.repo, u.Login))
	legacy := map[string]string{"maintain": "write", "triage": "read"}[role]
	if legacy == "" {
		legacy = role
	}
	return obj{"permission": legacy, "role_name": role, "user": q.s.json.collaborator(q.repo, u)}, nil
}
