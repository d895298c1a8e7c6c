package sandbox

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// Every endpoint of a repository says what a token needs for it, and nothing else does.
func TestEveryEndpointHasItsPermission(t *testing.T) {
	t.Parallel()
	for _, rt := range allRoutes() {
		if rt.need == needNothing || rt.need == needToken || rt.need == needApp {
			assert.Empty(t, rt.demand, rt.pattern)
			continue
		}
		assert.NotEmpty(t, rt.demand, rt.pattern)
		for _, set := range rt.demand.sets() {
			for _, one := range set {
				assert.Regexp(t, `^[a-z_]+=(read|write)$`, one, rt.pattern)
			}
		}
	}
}

// A set of permissions is enough, and of an endpoint of issues and pull requests that which is about the one at hand.
func TestWhatPermissionsMeet(t *testing.T) {
	t.Parallel()
	plain, pull := &Issue{}, &Issue{Pull: &Pull{}}
	for _, c := range []struct {
		has  Permissions
		want demand
		of   *Issue
		met  bool
	}{
		{Permissions{}, "metadata=read", nil, true},
		{Permissions{"contents": "write"}, "contents=read", nil, true},
		{Permissions{"contents": "read"}, "contents=write", nil, false},
		{Permissions{"administration": "write"}, "administration=write,contents=read", nil, false},
		{Permissions{"administration": "write", "contents": "read"}, "administration=write,contents=read", nil, true},
		{Permissions{"pull_requests": "write"}, writesIssue, nil, true},
		{Permissions{"pull_requests": "write"}, writesIssue, pull, true},
		{Permissions{"pull_requests": "write"}, writesIssue, plain, false},
		{Permissions{"issues": "write"}, writesIssue, plain, true},
		{Permissions{"issues": "write"}, writesIssue, pull, true},
		{Permissions{"issues": "read"}, writesIssue, pull, false},
	} {
		assert.Equal(t, c.met, c.want.of(c.of).metBy(c.has), "%v %s", c.has, c.want)
	}
}

// What the token of a job may do is what the job declares; people's tokens are not asked.
func TestTheTokenOfAJobHasWhatItDeclares(t *testing.T) {
	w := newTown(t)
	w.as("octo", "POST", repoPath+"/issues", obj{"title": "Talk"}).want(201)
	w.as("actions", "POST", repoPath+"/issues/1/comments", obj{"body": "by default"}).want(201)
	refused := w.as("actions", "POST", repoPath+"/statuses/"+w.tip("main"), obj{"state": "success"})
	refused.want(403)
	assert.Equal(t, notAccessible, refused.obj()["message"])
	assert.Equal(t, "statuses=write", refused.header.Get("X-Accepted-GitHub-Permissions"))

	said := w.as("", "PUT", "/_sandbox/permissions", obj{"permissions": obj{"pull-requests": "write", "statuses": "write", "checks": "none"}})
	said.want(200)
	assert.Equal(t, obj{"permissions": obj{"pull_requests": "write", "statuses": "write"}}, said.obj())
	w.as("actions", "POST", repoPath+"/statuses/"+w.tip("main"), obj{"state": "success"}).want(201)
	refused = w.as("actions", "POST", repoPath+"/issues/1/comments", obj{"body": "an issue"})
	refused.want(403)
	assert.Equal(t, "issues=write; pull_requests=write", refused.header.Get("X-Accepted-GitHub-Permissions"))
	w.as("octo", "POST", repoPath+"/issues/1/comments", obj{"body": "a person"}).want(201)
	w.as("actions", "GET", repoPath+"/issues/1", nil).want(200) // what is public needs nothing
	w.as("actions", "GET", repoPath+"/contents/README.md", nil).want(200)

	w.as("octo", "PATCH", repoPath, obj{"private": true}).want(200)
	w.as("actions", "GET", repoPath+"/issues/1", nil).want(403)
	w.as("actions", "GET", repoPath+"/contents/README.md", nil).want(403)
	w.as("actions", "GET", repoPath, nil).want(200)
	w.as("octo", "GET", repoPath+"/issues/1", nil).want(200)

	w.as("", "PUT", "/_sandbox/permissions", obj{}).want(200)
	w.as("actions", "GET", repoPath+"/issues/1", nil).want(200)
	for _, bad := range []obj{{"permissions": obj{"content": "read"}}, {"permissions": obj{"contents": "admin"}}, {"repository": "octo/none"}} {
		w.as("", "PUT", "/_sandbox/permissions", bad).want(422)
	}
}

// GraphQL leaves out what the token may not see, says where, and answers the rest.
func TestAQueryWithoutPermissionsIsAnsweredInPart(t *testing.T) {
	w := newTown(t)
	w.as("octo", "POST", repoPath+"/issues", obj{"title": "Talk"}).want(201)
	w.as("octo", "POST", repoPath+"/statuses/"+w.tip("main"), obj{"state": "success", "context": "ci"}).want(201)
	w.as("github-actions[bot]", "POST", repoPath+"/check-runs", obj{"name": "tests", "head_sha": w.tip("main"), "conclusion": "success"}).want(201)
	const query = `{ repository(owner: "octo", name: "widgets") {
		name
		issue(number: 1) { title }
		defaultBranchRef { target { ... on Commit { statusCheckRollup { contexts(first: 5) { nodes {
			... on CheckRun { name status } ... on StatusContext { context state }
		} } } } } }
	} }`
	w.as("octo", "PATCH", repoPath, obj{"private": true}).want(200)
	for name, c := range map[string]struct {
		has   obj
		paths []any
	}{
		"all":      {obj{"issues": "read", "contents": "read", "checks": "read", "statuses": "read"}, nil},
		"issues":   {obj{"contents": "read", "checks": "read", "statuses": "read"}, []any{"repository.issue"}},
		"contents": {obj{"issues": "read", "checks": "read", "statuses": "read"}, []any{"repository.defaultBranchRef"}},
		"statuses": {obj{"issues": "read", "contents": "read", "checks": "read"}, []any{"repository.defaultBranchRef.target.statusCheckRollup.contexts.nodes.1"}},
		"checks":   {obj{"issues": "read", "contents": "read", "statuses": "read"}, []any{"repository.defaultBranchRef.target.statusCheckRollup.contexts.nodes.0"}},
		"both":     {obj{"issues": "read", "contents": "read"}, []any{"repository.defaultBranchRef.target.statusCheckRollup"}},
	} {
		w.as("", "PUT", "/_sandbox/permissions", obj{"permissions": c.has}).want(200)
		var a struct {
			Data   map[string]map[string]any
			Errors []graphqlError
		}
		require.NoError(t, json.Unmarshal(w.request("actions", "POST", graphqlPath, obj{"query": query}).want(200).body, &a))
		assert.Equal(t, "widgets", a.Data["repository"]["name"], name)
		var paths []any
		for _, e := range a.Errors {
			assert.Equal(t, graphqlError{Type: "FORBIDDEN", Message: notAccessible, Extensions: map[string]any{"saml_failure": false}, Path: e.Path, Locations: e.Locations}, e, name)
			paths = append(paths, strings.Trim(strings.ReplaceAll(fmt.Sprint(e.Path), " ", "."), "[]"))
		}
		assert.Equal(t, c.paths, paths, name)
	}
}

// tip is where a branch is.
func (w *town) tip(branch string) string {
	w.t.Helper()
	return w.as("octo", "GET", repoPath+"/git/ref/heads/"+branch, nil).want(200).obj()["object"].(obj)["sha"].(string)
}

// A token without contents pushes nothing, and fetches only what is public.
func TestGitWithoutContents(t *testing.T) {
	w := newTown(t)
	w.as("", "PUT", "/_sandbox/permissions", obj{"permissions": obj{"issues": "write"}}).want(200)
	c := w.clone("actions")
	c.commit("a.txt", "a\n")
	assert.Contains(t, c.fails("push", "origin", "HEAD:main"), "Permission to octo/widgets.git denied to github-actions[bot].")
	w.as("octo", "PATCH", repoPath, obj{"private": true}).want(200)
	assert.Contains(t, c.fails("fetch", "origin"), "not found")
	w.as("", "PUT", "/_sandbox/permissions", obj{"permissions": obj{"contents": "read"}}).want(200)
	c.git("fetch", "origin")
	require.Error(t, must.Err(c.try("push", "origin", "HEAD:main")))
	w.as("", "PUT", "/_sandbox/permissions", obj{"permissions": obj{"contents": "write"}}).want(200)
	c.git("push", "origin", "HEAD:main")
}
