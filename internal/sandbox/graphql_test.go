package sandbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

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

func TestGraphQLPullRequest(t *testing.T) {
	w := newGQLWorld(t)
	require.Equal(t, "UNKNOWN", w.ask("actions", gqlInPull("mergeable"), nil).fine().pull("mergeable"), "asking begins the test")
	a := w.ask("actions", `query($n: Int!) { repository(owner: "octo", name: "widgets") { nameWithOwner defaultBranchRef { name }
		issueOrPullRequest(number: $n) { __typename ... on PullRequest {
			number title state isDraft isCrossRepository fullDatabaseId url viewerDidAuthor authorAssociation
			author { __typename login ... on User { databaseId } ... on Bot { databaseId } }
			labels(first: 10) { nodes { name } } baseRefName headRefName headRefOid headRef { name } mergeable
			baseRef { name target { oid ... on Commit { file(path: ".github/mergexo.toml") { object { ... on Blob { text isBinary isTruncated } } } } } }
			closingIssuesReferences(first: 5) { totalCount nodes { number title author { login } labels(first: 5) { nodes { name } } } }
			files(first: 100) { totalCount nodes { path changeType additions deletions } pageInfo { hasNextPage } }
			commits(first: 10) { totalCount nodes { commit { messageHeadline author { name user { login } date } } } }
			additions deletions changedFiles
		} } } }`, map[string]any{"n": 2}).fine()
	pull := func(path ...any) any { return a.at(append([]any{"repository", "issueOrPullRequest"}, path...)...) }
	assert.Equal(t, "octo/widgets", a.at("repository", "nameWithOwner"))
	assert.Equal(t, "main", a.at("repository", "defaultBranchRef", "name"))
	assert.Equal(t, "PullRequest", pull("__typename"))
	assert.Equal(t, map[string]any{"__typename": "Bot", "login": "github-actions", "databaseId": float64(actionsID)}, pull("author"))
	assert.Equal(t, true, pull("viewerDidAuthor"))
	assert.Equal(t, fmt.Sprint(w.pull.Pull.ID), pull("fullDatabaseId"), "a BigInt is a string")
	assert.Equal(t, "bug", pull("labels", "nodes", 0, "name"))
	assert.Equal(t, w.git.branchSHA(w.repo, "agent/bugfix/1-x"), pull("headRefOid"))
	assert.Equal(t, "agent/bugfix/1-x", pull("headRef", "name"))
	assert.Equal(t, "MERGEABLE", pull("mergeable"))
	assert.Equal(t, map[string]any{"text": "[repo]\n", "isBinary": false, "isTruncated": false}, pull("baseRef", "target", "file", "object"))
	assert.EqualValues(t, 1, pull("closingIssuesReferences", "totalCount"), "one issue, though it is named twice")
	assert.EqualValues(t, 1, pull("closingIssuesReferences", "nodes", 0, "number"))
	assert.Equal(t, []any{
		map[string]any{"path": "a.txt", "changeType": "MODIFIED", "additions": 2.0, "deletions": 1.0},
		map[string]any{"path": "b.txt", "changeType": "ADDED", "additions": 1.0, "deletions": 0.0},
	}, pull("files", "nodes"))
	assert.EqualValues(t, 3, pull("additions"))
	assert.EqualValues(t, 2, pull("changedFiles"))
	assert.Equal(t, map[string]any{"messageHeadline": "Subject", "author": map[string]any{"name": "ann", "date": "2026-03-01T13:00:00+01:00",
		"user": map[string]any{"login": "ann"}}}, pull("commits", "nodes", 0, "commit"))
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

func TestGraphQLEditsByOthersShow(t *testing.T) {
	w := newGQLWorld(t)
	mine := w.say(w.pull, actionsLogin, "a receipt", gqlNoon)
	w.say(w.pull, actionsLogin, "another", gqlNoon)
	edited := gqlNoon.Add(time.Hour)
	mine.Editor, mine.LastEditedAt, mine.UpdatedAt = "ann", &edited, edited
	own := w.say(w.pull, actionsLogin, "corrected", gqlNoon)
	own.Editor, own.LastEditedAt = actionsLogin, &edited

	q := gqlInPull(`comments(first: 10) { nodes { viewerDidAuthor lastEditedAt updatedAt editor { __typename login } author { login } fullDatabaseId databaseId id } }`)
	a := w.ask("actions", q, nil).fine()
	first := a.pull("comments", "nodes", 0).(map[string]any)
	assert.Equal(t, obj{
		"viewerDidAuthor": true, "lastEditedAt": "2026-03-01T13:00:00Z", "updatedAt": "2026-03-01T13:00:00Z", "editor": obj{"__typename": "User", "login": "ann"},
		"author": obj{"login": "github-actions"}, "fullDatabaseId": fmt.Sprint(mine.ID), "databaseId": nil, "id": first["id"], // its number is beyond 32 bits
	}, first)
	assert.Nil(t, a.pull("comments", "nodes", 1, "editor"))
	assert.Equal(t, "github-actions", a.pull("comments", "nodes", 2, "editor", "login"))
	assert.Equal(t, false, w.ask("ann", q, nil).fine().pull("comments", "nodes", 0, "viewerDidAuthor"))

	id := first["id"]
	n := w.ask("eve", `query($id: ID!) { node(id: $id) { __typename id ... on IssueComment { body pullRequest { number } } ... on Comment { author { login } } } }`, map[string]any{"id": id}).fine()
	assert.Equal(t, map[string]any{"__typename": "IssueComment", "id": id, "body": "a receipt", "pullRequest": map[string]any{"number": 2.0}, "author": map[string]any{"login": "github-actions"}}, n.at("node"))
}

func TestGraphQLAnEditKeepsWhatWasBefore(t *testing.T) {
	w := newTown(t)
	w.s.SetClock(gqlNoon)
	w.grant("ann", "write")
	w.as("octo", "POST", "/repos/octo/widgets/issues", obj{"title": "A bug"}).want(201)
	said := w.as("actions", "POST", "/repos/octo/widgets/issues/1/comments", obj{"body": "first"}).want(201).obj()
	w.as("actions", "POST", "/repos/octo/widgets/issues/1/comments", obj{"body": "never edited"}).want(201)
	path := fmt.Sprintf("/repos/octo/widgets/issues/comments/%d", int64(said["id"].(float64)))
	for i, edit := range []struct{ login, body string }{{"actions", "second"}, {"ann", "third"}, {"ann", "third"}} {
		w.s.SetClock(gqlNoon.Add(time.Duration(i+1) * time.Hour))
		w.as(edit.login, "PATCH", path, obj{"body": edit.body}).want(200)
	}
	w.restart()

	ask := func(args string) *gqlAnswer {
		g := &gqlWorld{Server: w.s, t: t}
		return g.ask("ann", fmt.Sprintf(`{ rateLimit { cost nodeCount } repository(owner: "octo", name: "widgets") { issue(number: 1) { comments(first: 100) { nodes {
			includesCreatedEdit userContentEdits(%s) { totalCount pageInfo { hasNextPage } nodes { diff editedAt deletedAt editor { login } } } } } } } }`, args), nil).fine()
	}
	at := func(a *gqlAnswer, path ...any) any {
		return a.at(append([]any{"repository", "issue", "comments", "nodes"}, path...)...)
	}
	version := func(diff, at, login string) any {
		return map[string]any{"diff": diff, "editedAt": at, "deletedAt": nil, "editor": map[string]any{"login": login}}
	}
	first, second, third := version("first", "2026-03-01T12:00:00Z", "github-actions"), version("second", "2026-03-01T13:00:00Z", "github-actions"), version("third", "2026-03-01T14:00:00Z", "ann")

	a := ask("first: 10")
	edits := func(count float64, more bool, nodes ...any) obj {
		return obj{"includesCreatedEdit": count > 0, "userContentEdits": obj{"totalCount": count, "pageInfo": obj{"hasNextPage": more}, "nodes": nodes}}
	}
	assert.Equal(t, []any{edits(3, false, third, second, first), edits(0, false, []any{}...)}, at(a), "an edit that changes nothing is none")
	assert.Equal(t, obj{"cost": 1.0, "nodeCount": 100.0 + 100*10}, a.at("rateLimit"))
	assert.Equal(t, edits(3, true, third, second), at(ask("first: 2"), 0))
	assert.Equal(t, []any{first}, at(ask("last: 1"), 0, "userContentEdits", "nodes"), "the text it was posted with")
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

func TestGraphQLCollaborators(t *testing.T) {
	w := newGQLWorld(t)
	a := w.ask("ann", `{ repository(owner: "octo", name: "widgets") {
		p0: collaborators(login: "bob", first: 1) { totalCount edges { permission node { login } } }
		p1: collaborators(login: "eve", first: 1) { edges { permission } }
		all: collaborators(first: 10) { totalCount nodes { login } }
		viewerPermission } }`, nil).fine()
	assert.Equal(t, []any{map[string]any{"permission": "MAINTAIN", "node": map[string]any{"login": "bob"}}}, a.at("repository", "p0", "edges"))
	assert.Empty(t, a.at("repository", "p1", "edges"), "eve reads as everybody does, and is no collaborator")
	assert.EqualValues(t, 3, a.at("repository", "all", "totalCount"), "octo, ann and bob; bots are none")
	assert.Equal(t, "WRITE", a.at("repository", "viewerPermission"))
	w.ask("actions", `{ repository(owner: "octo", name: "widgets") { collaborators(login: "bob", first: 1) { edges { permission } } } }`, nil).fine()
}

func TestGraphQLListsOfARepository(t *testing.T) {
	w := newGQLWorld(t)
	for i := range 5 {
		w.now = gqlNoon.Add(time.Duration(i) * time.Minute)
		w.open(&Issue{Title: fmt.Sprint("more ", i), Post: Post{Author: "eve"}})
	}
	w.repo.Issues[4].State = "closed"
	a := w.ask("eve", `{ repository(owner: "octo", name: "widgets") {
		pullRequests(first: 10, states: [OPEN], headRefName: "agent/bugfix/1-x") { totalCount nodes { number } }
		none: pullRequests(first: 10, baseRefName: "other") { totalCount }
		issues(last: 2, states: OPEN, orderBy: {field: CREATED_AT, direction: DESC}) { totalCount nodes { number } }
		counted: issues { totalCount }
		ref(qualifiedName: "refs/heads/main") { name prefix target { oid } associatedPullRequests(first: 1) { totalCount } }
		refs(refPrefix: "refs/heads/", first: 10) { nodes { name } }
		object(expression: "main:a.txt") { __typename ... on Blob { byteSize } }
		tree: object(expression: "main:") { ... on Tree { entries { name type mode } } }
		head: object(expression: "main") { ... on Commit { history(first: 1) { totalCount nodes { oid parents(first: 1) { totalCount } } } } }
		} }`, nil).fine()
	repo := func(path ...any) any { return a.at(append([]any{"repository"}, path...)...) }
	count := func(total float64, numbers ...any) obj { return obj{"totalCount": total, "nodes": numbers} }
	assert.Equal(t, count(1, obj{"number": 2.0}), repo("pullRequests"))
	assert.Equal(t, count(5, obj{"number": 3.0}, obj{"number": 1.0}), repo("issues"))
	assert.Equal(t, []any{0.0, 6.0}, []any{repo("none", "totalCount"), repo("counted", "totalCount")})
	main := obj{"name": "main", "prefix": "refs/heads/", "target": obj{"oid": w.git.branchSHA(w.repo, "main")}, "associatedPullRequests": obj{"totalCount": 0.0}}
	assert.Equal(t, main, repo("ref"))
	assert.Equal(t, []any{obj{"name": "agent/bugfix/1-x"}, obj{"name": "main"}}, repo("refs", "nodes"))
	assert.Equal(t, obj{"__typename": "Blob", "byteSize": float64(len(gqlLines(1, 20)))}, repo("object"))
	assert.Equal(t, map[string]any{"name": ".github", "type": "tree", "mode": 16384.0}, repo("tree", "entries", 0))
	assert.EqualValues(t, 2, repo("head", "history", "totalCount"))
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
