package sandbox

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/mergexo/mergexo/internal/must"
)

func TestGraphQLSDLStandsOnItsOwn(t *testing.T) {
	require.NoError(t, must.Err(gqlparser.LoadSchema(&ast.Source{Name: "schema.graphql", Input: SDL()})))
	require.NoError(t, must.Err(graphqlSchema()))
}

func TestGraphQLWhoIsAsking(t *testing.T) {
	w := newGQLWorld(t)
	bot := w.ask("actions", `{ viewer { __typename login databaseId } rateLimit { cost remaining limit resetAt nodeCount used } }`, nil).fine()
	assert.Equal(t, obj{"__typename": "User", "login": "github-actions[bot]", "databaseId": float64(actionsID)}, bot.at("viewer"), "the viewer keeps its [bot]")
	assert.Equal(t, obj{"cost": 1.0, "remaining": 999.0, "limit": 1000.0, "resetAt": "2026-03-01T13:00:00Z", "nodeCount": 0.0, "used": 1.0}, bot.at("rateLimit"))
	ann := w.ask("ann", `{ viewer { login databaseId isViewer } repository(owner: "octo", name: "widgets") { databaseId } }`, nil).fine()
	id := float64(w.world.user("ann").ID) // accounts fit into 32 bits, comments do not
	assert.Equal(t, obj{"viewer": obj{"login": "ann", "databaseId": id, "isViewer": true}, "repository": obj{"databaseId": float64(w.repo.ID)}}, ann.at())

	type row struct {
		authorization, body, message string
		status                       int
	}
	must.Each(t, map[string]row{
		"bad token":     {"bearer nonsense", `{"query": "{ viewer { login } }"}`, "Bad credentials", 401},
		"no token":      {"", `{"query": "{ viewer { login } }"}`, "This endpoint requires you to be authenticated.", 401},
		"not JSON":      {"bearer sandbox-ann", `{"query": `, "Problems parsing JSON", 400},
		"without query": {"bearer sandbox-ann", `{}`, "A query attribute must be specified and must be a string.", 400},
	}, func(t *testing.T, c row) {
		a := w.post(c.authorization, c.body)
		assert.Equal(t, c.status, a.status)
		assert.Contains(t, a.raw, c.message)
	})
}

func TestGraphQLWhatIsGoneIsNull(t *testing.T) {
	w := newGQLWorld(t)
	w.say(w.pull, "somebody-deleted", "boo", gqlNoon)
	w.pull.State = "closed"
	require.NoError(t, must.Err(w.git.run(w.repo, "update-ref", "-d", "refs/heads/agent/bugfix/1-x")))
	require.NoError(t, w.refs.sync(w.repo, w.world.user("ann")))
	a := w.ask("ann", `{ repository(owner: "octo", name: "widgets") { ref(qualifiedName: "nowhere") { name }
		object(expression: "main:nothing") { oid } issueOrPullRequest(number: 2) { ... on PullRequest { headRef { name } headRefOid state
			baseRef { target { ... on Commit { file(path: "no/such/file") { path } } } }
			comments(first: 5) { nodes { author { login } viewerDidAuthor editor { login } } } } } } }`, nil).fine()
	comment := obj{"author": nil, "viewerDidAuthor": false, "editor": nil} // of an account that is gone
	assert.Equal(t, obj{"ref": nil, "object": nil, "issueOrPullRequest": obj{
		"headRef": nil, "headRefOid": w.pull.Pull.HeadSHA, "state": "CLOSED", "baseRef": obj{"target": obj{"file": nil}}, "comments": obj{"nodes": []any{comment}},
	}}, a.at("repository"))
}

func TestGraphQLErrorsAreGitHubs(t *testing.T) {
	w := newGQLWorld(t)
	w.st.Repositories = append(w.st.Repositories, &Repository{ID: w.world.nextID(), Owner: "octo", Name: "secret", Private: true, Permissions: map[string]string{}})
	repo := `repository(owner: "octo", name: "widgets")`
	type row struct {
		query string
		want  map[string]any
		data  any // below "repository" where that is there
	}
	must.Each(t, map[string]row{
		"unknown number": {`{ ` + repo + ` { issueOrPullRequest(number: 99) { __typename } } }`,
			map[string]any{"type": "NOT_FOUND", "path": []any{"repository", "issueOrPullRequest"}, "message": "Could not resolve to an issue or pull request with the number of 99."}, map[string]any{"issueOrPullRequest": nil}},
		"issue as pull request": {`{ ` + repo + ` { pullRequest(number: 1) { id } } }`,
			map[string]any{"type": "NOT_FOUND", "path": []any{"repository", "pullRequest"}, "message": "Could not resolve to a PullRequest with the number of 1."}, map[string]any{"pullRequest": nil}},
		"unknown repository": {`{ repository(owner: "octo", name: "nope") { id } }`,
			map[string]any{"type": "NOT_FOUND", "path": []any{"repository"}, "message": "Could not resolve to a Repository with the name 'octo/nope'."}, nil},
		"hidden repository": {`{ repository(owner: "octo", name: "secret") { id } }`,
			map[string]any{"type": "NOT_FOUND", "path": []any{"repository"}, "message": "Could not resolve to a Repository with the name 'octo/secret'."}, nil},
		"unknown node": {`{ node(id: "IC_nothing") { id } }`,
			map[string]any{"type": "NOT_FOUND", "path": []any{"node"}, "message": "Could not resolve to a node with the global id of 'IC_nothing'"}, nil},
		"collaborators without the right": {`{ ` + repo + ` { collaborators(first: 1, login: "ann") { edges { permission } } } }`,
			map[string]any{"type": "FORBIDDEN", "path": []any{"repository", "collaborators"}, "message": "You do not have permission to view repository collaborators."}, map[string]any{"collaborators": nil}},
		"bad cursor": {`{ ` + repo + ` { issues(first: 1, after: "xyz") { nodes { id } } } }`,
			map[string]any{"type": "INVALID_CURSOR_ARGUMENTS", "path": []any{"repository", "issues"}, "message": "`xyz` does not appear to be a valid cursor."}, nil},
	}, func(t *testing.T, c row) {
		a := w.ask("eve", c.query, nil)
		require.Equal(t, 200, a.status)
		require.Len(t, a.Errors, 1, a.raw)
		assert.Contains(t, a.Errors[0], "locations", "GitHub names the place in the query")
		delete(a.Errors[0], "locations")
		assert.Equal(t, c.want, a.Errors[0])
		assert.Equal(t, c.data, a.Data["repository"])
	})
}

func TestGraphQLErrorsNameThePlace(t *testing.T) {
	w := newGQLWorld(t)
	a := w.ask("ann", "{\n  repository(owner: \"octo\", name: \"widgets\") {\n    gone: issue(number: 99) { id }\n  }\n}", nil)
	assert.Equal(t, []any{map[string]any{"line": 3.0, "column": 5.0}}, a.Errors[0]["locations"])
	assert.Equal(t, []any{"repository", "gone"}, a.Errors[0]["path"])

	a = w.ask("ann", `{ viewer { shoeSize } }`, nil)
	assert.Equal(t, "Field 'shoeSize' doesn't exist on type 'User'", a.Errors[0]["message"])
	assert.Equal(t, map[string]any{"code": "undefinedField", "typeName": "User", "fieldName": "shoeSize"}, a.Errors[0]["extensions"])
	assert.Nil(t, a.Data, "a query that is not valid is not run")

	a = w.ask("ann", `query($n: Int!) { repository(owner: "octo", name: "widgets") { issue(number: $n) { id } } }`, nil)
	require.NotEmpty(t, a.Errors, a.raw)
	assert.Nil(t, a.Data)
}

func TestGraphQLFilesOfEveryKind(t *testing.T) {
	w := newGQLWorld(t)
	w.commit("agent/bugfix/1-x", "", map[string]string{"README.md": gqlDeleted, "logo.bin": "\x00\x01\xff", "big.txt": strings.Repeat("0123456789\n", 60_000)})
	a := w.ask("ann", gqlInPull(`files(first: 10) { nodes { path changeType deletions } }
		headRef { target { ... on Commit { bin: file(path: "logo.bin") { ...B } big: file(path: "big.txt") { ...B } } } }`)+
		` fragment B on TreeEntry { size object { ... on Blob { isBinary isTruncated text byteSize } } }`, nil).fine()
	assert.Contains(t, a.pull("files", "nodes"), map[string]any{"path": "README.md", "changeType": "DELETED", "deletions": 1.0})
	assert.Contains(t, a.pull("files", "nodes"), map[string]any{"path": "logo.bin", "changeType": "ADDED", "deletions": 0.0})
	assert.Equal(t, map[string]any{"size": 3.0, "object": map[string]any{"isBinary": true, "isTruncated": false, "text": nil, "byteSize": 3.0}}, a.pull("headRef", "target", "bin"))
	assert.Equal(t, true, a.pull("headRef", "target", "big", "object", "isTruncated"))
	assert.Len(t, a.pull("headRef", "target", "big", "object", "text"), maxText)
}
