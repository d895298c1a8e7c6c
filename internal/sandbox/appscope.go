package sandbox

import (
	"net/http"
	"strings"
)

// appToken is an installation's token and its App; nil for another token. ok is false for one that has expired.
func (s *Server) appToken(token string) (t *AppToken, a *App, ok bool) {
	for _, t := range s.st.AppTokens {
		if t.Token != token || !s.world.now().Before(t.ExpiresAt) {
			continue
		}
		for _, a := range s.st.Apps {
			if a.ID == t.App {
				return t, a, true
			}
		}
	}
	return nil, nil, false
}

// scope is what an installation's token was narrowed to. The nil scope is that of every other token: it allows all that the
// account may.
type scope struct {
	token *AppToken
	app   *App
}

// scopeOf is nil for a request with another token.
func (s *Server) scopeOf(r *http.Request) *scope {
	given, _ := tokenOf(r)
	if t, a, ok := s.appToken(given); ok {
		return &scope{t, a}
	}
	return nil
}

// within tells whether a token reaches a repository.
func (c *scope) within(r *Repository) bool {
	return c == nil || c.app.reaches(r) && (c.token.Repositories == nil || c.token.Repositories[r.ID])
}

// has tells whether a token holds a permission.
func (c *scope) has(permission, access string) bool {
	return c == nil || grants(c.token.Permissions, permission, access)
}

// permissionsFor are the permissions any of which an endpoint wants, by the beginning of its path below the repository; the
// first that fits counts. https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
var permissionsFor = []struct{ path, names string }{
	{"/actions/permissions", "administration"},
	{"/actions", "actions"},
	{"/branches/{branch}/protection", "administration"},
	{"/check-runs", "checks"},
	{"/collaborators", "metadata"},
	{"/commits/{ref}/check-runs", "checks"},
	{"/commits/{ref}/pulls", "pull_requests"},
	{"/commits/{ref}/status", "statuses"},
	{"/rules", "metadata"},
	{"/rulesets", "metadata"},
	{"/statuses", "statuses"},
	{"/pulls/{number}/merge", "contents"},
	{"/pulls", "pull_requests"},
	{"/issues", "issues pull_requests"},
	{"/labels", "issues pull_requests"},
	{"/forks", "administration"},
}

// wants are the permissions of an endpoint, any of which will do, and the access.
func (rt route) wants() (names []string, access string) {
	method, path, _ := strings.Cut(rt.pattern, " ")
	access = "write"
	if method == http.MethodGet {
		access = "read"
	}
	path, inRepository := strings.CutPrefix(path, "/repos/{owner}/{repo}")
	switch {
	case !inRepository:
		return []string{"metadata"}, "read"
	case path == "" && access == "read":
		return []string{"metadata"}, access
	case path == "":
		return []string{"administration"}, access
	case strings.HasPrefix(path, "/collaborators") && access == "write":
		return []string{"administration"}, access
	}
	for _, p := range permissionsFor {
		if strings.HasPrefix(path, p.path) {
			return strings.Fields(p.names), access
		}
	}
	return []string{"contents"}, access
}

// allow refuses what an installation's token was not made for. GitHub lets such a token read what everybody may read; this one
// may not, so that a permission that a program forgot to ask for shows.
func (c *scope) allow(q *request, rt route) error {
	switch {
	case c == nil || q.repo == nil:
		return nil
	case c.app.SuspendedAt != nil:
		return errSuspended
	case !c.within(q.repo):
		return errNotFound
	}
	names, access := rt.wants()
	for _, name := range names {
		if c.has(name, access) {
			return nil
		}
	}
	q.head.Set("X-Accepted-GitHub-Permissions", strings.Join(names, "="+access+"; ")+"="+access)
	return &failure{status: http.StatusForbidden, message: "Resource not accessible by integration"}
}

// reads is GraphQL's refusal of what a token may not read; nil where it may.
func (c *scope) reads(permission string) error {
	if c.has(permission, "read") {
		return nil
	}
	return &refusal{kind: "FORBIDDEN", message: "Resource not accessible by integration"}
}
