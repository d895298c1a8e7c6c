package github

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// What GitHub answers that the sandbox does not: half answers, deleted accounts, tokens with odd rights.

const emptyPull = `{"__typename": "PullRequest", "number": 7, "state": "OPEN", "headRef": null, "baseRef": null, "comments": {"nodes": []}, "reviews": {"nodes": []}, "reviewThreads": {"nodes": []}}`

func graphAnswer(pull, errs string) reply {
	if errs != "" {
		errs = `, "errors": [` + errs + `]`
	}
	return reply{200, `{"data": {"viewer": {"login": "x[bot]", "databaseId": 3}, "repository": {"collaborators": null, "issueOrPullRequest": ` + pull + `}}` + errs + `}`, nil}
}

func (l *line) read(t *testing.T, q Query) (model.Snapshot, error) {
	q.Repo, q.Number = widgets, 7
	return l.Threads.Snapshot(t.Context(), q)
}

func TestHalfAnswers(t *testing.T) {
	for _, fine := range []string{
		`{"type": "FORBIDDEN", "path": ["repository", "collaborators"], "message": "Must have push access"}`,
		`{"type": "NOT_FOUND", "path": ["node"], "message": "Could not resolve to a node"}`,
		`{"type": "FORBIDDEN", "path": ["repository", "issueOrPullRequest", "closingIssuesReferences", "nodes", 0], "message": "SAML"}`,
	} {
		l := dial(t, Options{}, graphAnswer(emptyPull, fine))
		snap := must.Get(l.read(t, Query{Author: "ada", Node: "x"}))(t)
		assert.Empty(t, snap.Permissions, "not known, so not there")
		assert.Equal(t, noon, snap.ReadAt, "the server's time")
		assert.Equal(t, model.Actor{Login: "x[bot]", ID: 3, Bot: true}, snap.Viewer)
		assert.False(t, snap.Pull.HeadExists || snap.SettingsFound || snap.Pull.FilesComplete)
	}
	for bad, kind := range map[string]Kind{
		`{"path": ["repository", "issueOrPullRequest", "comments", "nodes", 3, "author"], "message": "timeout"}`:                      Unavailable,
		`{"type": "FORBIDDEN", "path": ["repository", "issueOrPullRequest", "reviews"], "message": "Resource not accessible"}`:        Forbidden,
		`{"type": "NOT_FOUND", "path": ["repository"], "message": "Could not resolve to a Repository with the name 'octo/widgets'."}`: NotFound,
		`{"type": "INSUFFICIENT_SCOPES", "message": "Your token ` + secret + ` has not been granted the required scopes"}`:            Forbidden,
		`{"message": "Field 'x' doesn't exist on type 'Query'", "extensions": {"code": "undefinedField"}}`:                            Outdated,
		`{"type": "FORBIDDEN", "path": ["repository", "branch"], "message": "no"}`:                                                    Forbidden, // or it would look like one that is not there
		`{"type": "FORBIDDEN", "path": ["repository", "branchPulls"], "message": "no"}`:                                               Forbidden,
		`{"message": "Parse error"}`: Invalid,
	} {
		l := dial(t, Options{}, graphAnswer(emptyPull, bad))
		fails(l.read(t, Query{}))(t, kind)
		assert.Len(t, l.seen, 1)
	}
	for _, strange := range []string{`{"data": null}`, `{}`, `[]`, `<html>`, `{"data": {"repository": 3}}`} {
		l := dial(t, Options{}, reply{200, strange, nil})
		fails(l.read(t, Query{}))(t, Unavailable)
	}
}

func TestAQueryThatIsTooMuchOnce(t *testing.T) {
	l := dial(t, Options{}, reply{200, `{"data": null, "errors": [{"message": "Something went wrong while executing your query. This may be the result of a timeout"}]}`, nil}, graphAnswer(emptyPull, ""))
	_ = must.Get(l.read(t, Query{}))(t)
	assert.Equal(t, "0 REST, 2 GraphQL", calls(l.Client))
}

// A cursor that does not move would be followed for ever.
func TestAStandingCursor(t *testing.T) {
	page := strings.Replace(emptyPull, `"comments": {"nodes": []}`, `"comments": {"nodes": [], "pageInfo": {"hasNextPage": true, "endCursor": "A"}}`, 1)
	l := dial(t, Options{}, graphAnswer(page, ""))
	_ = must.Get(l.read(t, Query{}))(t)
	assert.Len(t, l.seen, 2)
}

func TestSettingsThatAreNoText(t *testing.T) {
	for _, blob := range []string{`{"text": null, "isBinary": true}`, `{"text": null}`, `{"text": "a", "isTruncated": true}`} {
		for branch, answer := range map[string]string{
			"main":  `"issueOrPullRequest": {"__typename": "PullRequest", "number": 7, "baseRefName": "main", "baseRef": {"target": {"oid": "a", "file": {"object": ` + blob + `}}}}`,
			"trunk": `"defaultBranchRef": {"name": "trunk", "target": {"oid": "a", "file": {"object": ` + blob + `}}}, "issueOrPullRequest": {"__typename": "Issue", "number": 7}`,
		} {
			l := dial(t, Options{}, reply{200, `{"data": {"viewer": {"login": "x"}, "repository": {` + answer + `}}}`, nil})
			assert.Contains(t, fails(l.read(t, Query{}))(t, Invalid).Error(), ".github/mergexo.toml on "+branch)
		}
	}
}

// A token that may not list collaborators can still ask about one.
func TestRightsOneByOne(t *testing.T) {
	for _, forbidden := range []string{
		`{"data": {"repository": {"p0": null, "p1": null, "p2": null, "p3": null}}, "errors": [{"type": "FORBIDDEN", "path": ["repository", "p0"], "message": "no"}, {"type": "FORBIDDEN", "path": ["repository", "p1"], "message": "no"}]}`,
		`{"data": {"repository": {"p0": null, "p1": null, "p2": null, "p3": null}}}`,
		`{"data": null, "errors": [{"type": "FORBIDDEN", "message": "Resource not accessible by integration"}]}`,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/api/graphql":
				io.WriteString(w, forbidden)
			case "/api/v3/repos/octo/widgets/collaborators/ada/permission":
				io.WriteString(w, `{"permission": "write", "role_name": "maintain"}`)
			case "/api/v3/repos/octo/widgets/collaborators/custom/permission":
				io.WriteString(w, `{"permission": "write", "role_name": "Admin of Docs"}`)
			case "/api/v3/repos/octo/widgets/collaborators/old/permission":
				io.WriteString(w, `{"permission": "read"}`)
			default:
				w.WriteHeader(http.StatusNotFound)
			}
		}))
		l := &line{url: server.URL}
		l.open(t, Options{})
		got := must.Get(l.Repositories.Permissions(t.Context(), widgets, []string{"ada", "custom", "old", "nobody"}))(t)
		assert.Equal(t, map[string]model.Permission{"ada": model.PermissionMaintain, "custom": model.PermissionWrite, "old": model.PermissionRead, "nobody": model.PermissionNone}, got)
		assert.Equal(t, "4 REST, 1 GraphQL", calls(l.Client))
		server.Close()
	}
}

func TestARunThatMayNotBeSeen(t *testing.T) {
	l := dial(t, Options{}, reply{403, `{"message": "Resource not accessible by integration"}`, nil})
	assert.False(t, must.Get(l.Actions.Run(t.Context(), widgets, 5))(t).Known)
	l = dial(t, Options{}, reply{500, ``, nil})
	fails(l.Actions.Run(t.Context(), widgets, 5))(t, Unavailable)
}

func TestWhoSaidIt(t *testing.T) {
	for raw, want := range map[string]model.Actor{
		`null`: {Login: "ghost"},
		`{"__typename": "User", "login": "ada", "databaseId": 5}`:                  {Login: "ada", ID: 5},
		`{"__typename": "Bot", "login": "github-actions", "databaseId": 41898282}`: {Login: "github-actions[bot]", ID: 41898282, Bot: true},
		`{"__typename": "Bot", "login": "dependabot[bot]"}`:                        {Login: "dependabot[bot]", Bot: true},
		`{"__typename": "Mannequin", "login": "moved", "databaseId": null}`:        {Login: "moved"},
		`{"login": "github-actions[bot]", "databaseId": 41898282}`:                 {Login: "github-actions[bot]", ID: 41898282, Bot: true},
	} {
		var n *actorNode
		require.NoError(t, json.Unmarshal([]byte(raw), &n))
		assert.Equal(t, want, n.actor())
	}
	for _, c := range []struct {
		author, editor string
		other          bool
	}{
		{`{"login": "ada"}`, `null`, false},
		{`{"login": "ada"}`, `null, "lastEditedAt": "2026-01-01T00:00:00Z"`, true},
		{`{"login": "ada"}`, `{"login": "ada"}, "lastEditedAt": "2026-01-01T00:00:00Z"`, false},
		{`{"login": "ada"}`, `{"login": "Ada"}`, false},
		{`{"login": "ada"}`, `{"login": "eve"}`, true},
		{`{"__typename": "Bot", "login": "x"}`, `{"__typename": "Bot", "login": "x"}`, false},
		{`{"__typename": "Bot", "login": "x"}`, `{"__typename": "User", "login": "x"}`, true},
		{`null`, `{"login": "ghost"}`, true},
	} {
		var n saidNode
		require.NoError(t, json.Unmarshal([]byte(fmt.Sprintf(`{"author": %s, "editor": %s, "fullDatabaseId": "3"}`, c.author, c.editor)), &n))
		got := n.comment(model.KindIssue)
		assert.Equal(t, c.other, got.EditedByOther, "%+v", c)
		assert.Equal(t, int64(3), got.ID)
	}
}

// However often somebody else edited a comment of ours, on whichever page it is: a marker that it had is not forgotten.
func TestAMarkerThatWasEditedAwayIsKnown(t *testing.T) {
	w, n := newPull(t)
	const token, marker = "<!-- mergexo-action:0 -->", "<!-- mergexo-turn:{} -->"
	post := func(login, text string) map[string]any {
		return w.as(login, "POST", fmt.Sprintf("issues/%d/comments", n), map[string]any{"body": text})
	}
	edit := func(login string, said map[string]any, texts ...string) {
		for _, text := range texts {
			w.as(login, "PATCH", fmt.Sprintf("issues/comments/%d", id(said)), map[string]any{"body": text})
		}
	}
	receipt, shortened, own, reply := post("actions", "receipt\n"+token+"\n"+marker), post("actions", token+"\n"+marker), post("actions", marker), post("actions", "reply\n"+token)
	edit("actions", receipt, "done\n"+marker)
	edit("octo", receipt, "thanks", "thanks!", "thanks a lot", "receipt: thanks")
	edit("octo", shortened, token)
	edit("actions", own, "own: no marker any more")
	edit("octo", reply, "reply: no token any more")
	foreign := post("ada", "foreign")
	edit("octo", foreign, "foreign\n"+marker, "foreign again")
	w.tick()
	for range fullPage.page {
		post("ada", "more")
	}
	c := w.client("actions")
	snap := w.snapshot(c, Query{Number: n})
	require.Equal(t, "0 REST, 2 GraphQL", calls(c))
	marked := map[string]bool{}
	for _, cm := range snap.Comments[:5] {
		marked[cm.Body] = cm.WasMarked
	}
	assert.Equal(t, map[string]bool{"receipt: thanks": true, token: true, "own: no marker any more": false, "reply: no token any more": false, "foreign again": false}, marked)

	var deleted saidNode
	require.NoError(t, json.Unmarshal([]byte(`{"author": {"login": "a"}, "editor": {"login": "b"}, "posted": {"nodes": [{"diff": null}, null]}}`), &deleted))
	assert.False(t, deleted.comment(model.KindIssue).WasMarked, "who deletes that version as well might as well delete the comment")
	require.NoError(t, json.Unmarshal([]byte(`{"posted": null}`), &deleted))
}

func TestReviews(t *testing.T) {
	const t1, t2, t3 = "2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z", "2026-01-01T00:00:03Z"
	review := func(raw string) []model.Comment {
		var n saidNode
		require.NoError(t, json.Unmarshal([]byte(raw), &n))
		return n.comments()
	}
	at := func(s string) time.Time {
		return must.Get(time.Parse(time.RFC3339, s))(t)
	}
	summary := `{"fullDatabaseId": "1", "body": "x", "reviewState": "COMMENTED", "createdAt": "` + t1 + `", "submittedAt": "` + t2 + `", "updatedAt": "` + t3 + `"%s}`
	assert.Equal(t, at(t2), review(fmt.Sprintf(summary, ""))[0].UpdatedAt, "a review's updatedAt moves without an edit")
	edited := review(fmt.Sprintf(summary, `, "lastEditedAt": "`+t3+`"`))[0]
	assert.Equal(t, []time.Time{at(t1), at(t2), at(t3)}, []time.Time{edited.CreatedAt, edited.SaidAt(), edited.UpdatedAt})
	assert.Empty(t, review(`{"fullDatabaseId": "1", "body": " \n", "reviewState": "APPROVED"}`))
	assert.Empty(t, review(`{"fullDatabaseId": "1", "body": "draft", "reviewState": "PENDING", "comments": {"nodes": [{"fullDatabaseId": "2", "body": "x"}]}}`))

	said := review(`{"fullDatabaseId": "9", "reviewState": "COMMENTED", "createdAt": "` + t1 + `", "submittedAt": "` + t2 + `", "comments": {"nodes": [
		{"fullDatabaseId": "2", "state": "SUBMITTED", "createdAt": "` + t1 + `", "updatedAt": "` + t1 + `", "diffHunk": "@@ -1 +1,2 @@\n one\n-two", "line": null, "outdated": true},
		{"fullDatabaseId": "3", "state": "SUBMITTED", "createdAt": "` + t1 + `", "updatedAt": "` + t3 + `", "diffHunk": "@@ -1 +1,2 @@\n-one\n+two\n", "line": 4, "startLine": 3, "replyTo": {"fullDatabaseId": "2"}, "commit": {"oid": "c"}},
		{"fullDatabaseId": "4", "state": "PENDING"}, null]}}`)
	require.Len(t, said, 3) // the last is null, which the reading leaves out
	assert.Equal(t, []any{at(t2), "LEFT", 0, true, int64(9)}, []any{said[0].UpdatedAt, said[0].Side, said[0].Line, said[0].Outdated, said[0].ReviewID}, "drafted before it could be seen")
	assert.Equal(t, []time.Time{at(t2), at(t2)}, []time.Time{said[0].SaidAt(), said[1].SaidAt()})
	assert.Equal(t, []any{at(t3), "RIGHT", 4, 3, int64(2), "c"}, []any{said[1].UpdatedAt, said[1].Side, said[1].Line, said[1].StartLine, said[1].InReplyTo, said[1].CommitID})

	r := newReading(Query{}, model.Snapshot{})
	r.add(said...)
	r.threads[2] = reviewThreadNode{IsResolved: true, DiffSide: "RIGHT"}
	got := r.comments()
	require.Len(t, got, 2)
	for _, c := range got {
		assert.True(t, c.Resolved)
		assert.Equal(t, "RIGHT", c.Side, "the thread knows better than the hunk")
	}
	older := got[1]
	older.Body, older.UpdatedAt = "stale", at(t1)
	r.add(older)
	assert.Equal(t, got, r.comments(), "the newer reading stays")
}
