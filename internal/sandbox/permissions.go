package sandbox

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Permissions are what a token that is no person's may do in a repository: "read" or "write" by the permission's name as the
// API has it ("pull_requests"). A workflow's file writes the same names with hyphens. Every such token may read metadata.
type Permissions map[string]string

// JobPermissions are those that a job declares in the workflow of `mergexo init`, and in our own.
func JobPermissions() Permissions {
	return Permissions{"contents": "write", "pull_requests": "write", "issues": "write", "actions": "write", "checks": "read", "statuses": "read"}
}

// CIPermissions are JobPermissions and those of the jobs that check commits, for who plays both with one token.
func CIPermissions() Permissions {
	p := JobPermissions()
	p["checks"], p["statuses"] = "write", "write"
	return p
}

// declarable are those that a workflow's file can declare, with the two that only Apps have.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#permissions
var declarable = []string{
	"actions", "administration", "attestations", "checks", "contents", "deployments", "discussions", "id_token", "issues", "metadata",
	"models", "packages", "pages", "pull_requests", "security_events", "statuses", "workflows",
}

// readPermissions checks what somebody declares, in either spelling.
func readPermissions(declared map[string]string) (Permissions, error) {
	p := Permissions{}
	for name, level := range declared {
		scope := strings.ReplaceAll(name, "-", "_")
		if !slices.Contains(declarable, scope) {
			return nil, unprocessable("permissions: there is none called " + name)
		}
		if !slices.Contains([]string{"read", "write", "none"}, level) {
			return nil, unprocessable("permissions: " + name + ": want read, write or none")
		}
		if level != "none" {
			p[scope] = level
		}
	}
	return p, nil
}

// demand is what a token needs for one thing, in the form of the header X-Accepted-GitHub-Permissions: sets between
// semicolons, of which one is enough, of permissions between commas, which are needed together.
// https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api#resource-not-accessible
type demand string

// sets are the sets of which one is enough.
func (d demand) sets() [][]string {
	var all [][]string
	for set := range strings.SplitSeq(string(d), "; ") {
		all = append(all, strings.Split(set, ","))
	}
	return all
}

// metBy tells whether a token with these permissions has what is needed.
func (d demand) metBy(p Permissions) bool {
	return slices.ContainsFunc(d.sets(), func(set []string) bool {
		return !slices.ContainsFunc(set, func(one string) bool { return !p.have(one) })
	})
}

// reads tells whether nothing but reading is needed.
func (d demand) reads() bool { return !strings.Contains(string(d), "=write") }

// of is the part of a demand that counts for an issue or a pull request: what an endpoint of both needs goes by which of
// them it is about. https://github.com/ynab/ynab-sdk-ruby/pull/95
func (d demand) of(i *Issue) demand {
	if i == nil || i.Pull != nil || !strings.Contains(string(d), "; ") {
		return d
	}
	sets := slices.DeleteFunc(strings.Split(string(d), "; "), func(set string) bool { return strings.HasPrefix(set, "pull_requests=") })
	return demand(strings.Join(sets, "; "))
}

// have tells whether "scope=level" is among the permissions.
func (p Permissions) have(one string) bool {
	scope, level, _ := strings.Cut(one, "=")
	return scope == "metadata" && level == "read" || p[scope] == "write" || p[scope] == level
}

// notAccessible is what a token is told that lacks a permission.
const notAccessible = "Resource not accessible by integration"

// granted are the permissions of a token in a repository. isLimited is false for a token that may whatever the role of its
// account lets it: a person's, and those of workflows that are not ours.
func (k tokens) granted(token string, r *Repository) (p Permissions, isLimited bool) {
	if t, _, isApp := k.ofApp(token); isApp {
		return t.Permissions, true
	}
	switch {
	case token != jobToken:
		return nil, false
	case r.JobPermissions != nil:
		return r.JobPermissions, true
	}
	return k.jobPermissions, true
}

// lacks tells whether a token has too few permissions. What is public everybody reads; an App's token may not even that, so
// that a permission shows which a program forgot to ask for.
func (k tokens) lacks(token string, r *Repository, d demand, isPublic bool) bool {
	p, isLimited := k.granted(token, r)
	_, _, isApp := k.ofApp(token)
	return isLimited && !(isPublic && !isApp && !r.Private && d.reads()) && !d.metBy(p)
}

// neverPublic reports whether an endpoint that reads needs its permission for a public repository, too.
func (rt route) neverPublic() bool {
	scope, _, _ := strings.Cut(string(rt.demand), "=")
	return slices.Contains([]string{"administration", "secrets", "actions_variables"}, scope) || strings.HasSuffix(rt.pattern, "/logs")
}

// permitted refuses a route to a token without the permissions for it, and says in a header which those are.
func (q *request) permitted(rt route) error {
	if q.repo == nil || rt.demand == "" {
		return nil
	}
	token, _ := tokenOf(q.r)
	if _, isLimited := q.s.tokens.granted(token, q.repo); isLimited {
		q.head.Set("X-Accepted-GitHub-Permissions", string(rt.demand))
	}
	if q.s.tokens.lacks(token, q.repo, rt.demand.of(q.target()), !rt.neverPublic()) {
		return &failure{status: http.StatusForbidden, message: notAccessible}
	}
	return nil
}

// target is the issue or pull request that a request is about, or nil.
func (q *request) target() *Issue {
	if q.issue != nil {
		return q.issue
	}
	if id, err := q.int64Value("id"); err == nil && strings.Contains(q.r.URL.Path, "/issues/comments/") {
		if c := q.s.comments[id]; c != nil {
			return c.issue
		}
	}
	return nil
}

// forbids is the error of a field whose object the query's token may not read, or nil. The rest of the query is answered.
// https://github.com/facebook/sapling/issues/993 has one.
func (l *look) forbids(r *Repository, object string) error {
	if l.s.tokens.lacks(l.token, r, objectDemands[object], true) {
		return &refusal{kind: "FORBIDDEN", message: notAccessible}
	}
	return nil
}

// setPermissions declares what the token of workflows may do in a repository, the first one unless told; without permissions it
// is what the workflow of `mergexo init` declares. As in a workflow's file, what is not named is not granted.
func setPermissions(q *request, r *Repository, in struct{ Permissions map[string]string }) (any, error) {
	r.JobPermissions = nil
	if in.Permissions != nil {
		declared, err := readPermissions(in.Permissions)
		if err != nil {
			return nil, err
		}
		r.JobPermissions = declared
	}
	q.s.world.changed()
	p, _ := q.s.tokens.granted(jobToken, r)
	return obj{"permissions": maps.Clone(p)}, nil
}
