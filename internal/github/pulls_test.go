package github

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func (w *world) branch(name string) {
	w.t.Helper()
	main := w.tip("main")
	w.as("octo", "POST", "git/refs", map[string]any{"ref": "refs/heads/" + name, "sha": main})
}

func TestCreatePull(t *testing.T) {
	w := newWorld(t)
	w.branch("agent/bugfix/5-x")
	draft := model.PullDraft{Title: "Mend it", Body: "Fixes #5", Head: "agent/bugfix/5-x", Base: "main"}
	c := w.client("actions")
	fails(c.Pulls.Create(t.Context(), widgets, draft))(t, NoCommits)

	w.put("agent/bugfix/5-x", "a.txt", "a\n")
	made := must.Get(c.Pulls.Create(t.Context(), widgets, draft))(t)
	assert.Equal(t, "2 REST, 0 GraphQL", calls(c))
	p := w.snapshot(c, Query{Number: made.Number}).Pull
	assert.Equal(t, model.PullRef{Number: p.Number, Title: "Mend it", URL: p.URL, State: model.PullOpen, BaseRef: "main", HeadSHA: p.HeadSHA, Ours: true}, made)
	assert.Equal(t, []string{"Mend it", "Fixes #5", "main", "agent/bugfix/5-x", "github-actions[bot]"}, []string{p.Title, p.Body, p.BaseRef, p.HeadRef, p.Author.Login})

	e := fails(c.Pulls.Create(t.Context(), widgets, draft))(t, PullExists)
	assert.Equal(t, "open a pull request from agent/bugfix/5-x to main in octo/widgets: Validation Failed; A pull request already exists for octo:agent/bugfix/5-x. (422)", e.Error())
	for _, bad := range []model.PullDraft{{Title: "x", Head: "nowhere", Base: "main"}, {Title: "x", Head: "agent/bugfix/5-x", Base: "nowhere"}, {Head: "agent/bugfix/5-x", Base: "main"}} {
		fails(c.Pulls.Create(t.Context(), widgets, bad))(t, Invalid)
	}
}

// Opening pull requests is off in new repositories, whatever the job's permissions are.
func TestWorkflowsMayOpenNoPulls(t *testing.T) {
	w := newWorld(t)
	w.branch("x")
	w.put("x", "a.txt", "a\n")
	draft := model.PullDraft{Title: "Mend it", Head: "x", Base: "main"}
	w.as("octo", "PUT", "actions/permissions/workflow", map[string]any{"can_approve_pull_request_reviews": false})
	e := fails(w.client("actions").Pulls.Create(t.Context(), widgets, draft))(t, Forbidden)
	assert.Contains(t, e.Error(), "GitHub Actions is not permitted to create or approve pull requests. (403)")
	for _, part := range []string{"Settings > Actions > General > Workflow permissions", "Allow GitHub Actions to create and approve pull requests", "organization", "GitHub App"} {
		assert.Contains(t, e.Fix, part)
	}
	l := dial(t, Options{}, reply{403, `{"message": "Resource not accessible by integration"}`, nil})
	assert.Equal(t, fixRights, fails(l.Pulls.Create(t.Context(), widgets, draft))(t, Forbidden).Fix)
	_ = must.Get(w.client("ada").Pulls.Create(t.Context(), widgets, draft))(t, "the setting is about workflows")
}

func TestAnUnclearPull(t *testing.T) {
	draft := model.PullDraft{Title: "Mend it", Head: "x", Base: "main"}
	for _, answer := range []reply{{status: 502}, {201, "", nil}, {201, "{}", nil}} {
		l := dial(t, Options{}, answer, reply{201, `{"number": 7}`, nil})
		fails(l.Pulls.Create(t.Context(), widgets, draft))(t, Unclear)
		assert.Len(t, l.seen, 1)
	}
	w := newWorld(t)
	w.branch("x")
	w.put("x", "a.txt", "a\n")
	w.control("faults", map[string]any{"after": true, "drop": true, "times": 1, "match": map[string]any{"method": "POST", "path": "/api/v3/"}})
	c := w.client("actions")
	fails(c.Pulls.Create(t.Context(), widgets, draft))(t, Unclear)
	assert.Len(t, w.snapshot(c, Query{Number: 1, Branch: "x"}).Branch.Pulls, 1, "and the snapshot tells what became of it")
}

func TestABranch(t *testing.T) {
	w := newWorld(t)
	issue := w.issue("Wanted: a")
	c := w.client("actions")
	snap := w.snapshot(c, Query{Number: issue, Branch: "agent/7"})
	assert.Equal(t, &model.Branch{Name: "agent/7"}, snap.Branch, "there is none")
	assert.Equal(t, "main", snap.DefaultBranch)
	main := w.tip("main")
	assert.Equal(t, main, snap.DefaultSHA)

	first := w.pull()
	w.as("octo", "PATCH", fmt.Sprintf("pulls/%d", first), map[string]any{"state": "closed"})
	w.as("mallory", "POST", "forks", map[string]any{})
	w.as("mallory", "POST", "pulls", map[string]any{"title": "Not ours", "head": "mallory:agent/7", "base": "main"})
	w.tick()
	made := must.Get(c.Pulls.Create(t.Context(), widgets, model.PullDraft{Title: "Again", Head: "agent/7", Base: "main"}))(t)
	w.put("main", "b.txt", "b\n")

	c = w.client("actions")
	snap = w.snapshot(c, Query{Number: issue, Branch: "agent/7"})
	assert.Equal(t, "0 REST, 1 GraphQL", calls(c))
	head := w.snapshot(c, Query{Number: first}).Pull
	closed := model.PullRef{Number: first, Title: "Add a", URL: head.URL, State: model.PullClosed, BaseRef: "main", HeadSHA: head.HeadSHA, ClosedAt: snap.Branch.Pulls[1].ClosedAt}
	made.Author, closed.Author = snap.Branch.Pulls[0].Author, snap.Branch.Pulls[1].Author
	assert.Equal(t, []string{"github-actions[bot]", "octo"}, []string{made.Author.Login, closed.Author.Login})
	assert.False(t, closed.ClosedAt.IsZero())
	assert.Equal(t, &model.Branch{Name: "agent/7", SHA: head.HeadSHA, Pulls: []model.PullRef{made, closed}}, snap.Branch, "the newest first, and none of a fork")
	assert.NotEqual(t, main, snap.DefaultSHA)
	assert.Nil(t, w.snapshot(c, Query{Number: issue}).Branch)

	w.as("octo", "PUT", fmt.Sprintf("pulls/%d/merge", made.Number), map[string]any{})
	w.as("octo", "DELETE", "git/refs/heads/agent/7", nil)
	b := w.snapshot(c, Query{Number: issue, Branch: "agent/7"}).Branch
	assert.Equal(t, []any{"", model.PullMerged, 2}, []any{b.SHA, b.Pulls[0].State, len(b.Pulls)}, "a branch that is gone still has its pull requests")
}

func TestTwoPeople(t *testing.T) {
	w := newWorld(t)
	issue := w.issue("Wanted: a")
	for _, c := range []struct {
		author, sender string
		want           map[string]model.Permission
	}{
		{"mallory", "tri", map[string]model.Permission{"mallory": model.PermissionNone, "tri": model.PermissionTriage}},
		{"Ada", "ada", map[string]model.Permission{"ada": model.PermissionWrite}},
		{"", "grace", map[string]model.Permission{"grace": model.PermissionMaintain}},
		{"renovate[bot]", "ada", map[string]model.Permission{"ada": model.PermissionWrite}},
		{"ada", "github-actions[bot]", map[string]model.Permission{"ada": model.PermissionWrite}},
	} {
		client := w.client("actions")
		assert.Equal(t, c.want, w.snapshot(client, Query{Number: issue, Author: c.author, Sender: c.sender}).Permissions)
		assert.Equal(t, "0 REST, 1 GraphQL", calls(client))
	}
	l := dial(t, Options{}, graphAnswer(emptyPull, `{"type": "FORBIDDEN", "path": ["repository", "sender"], "message": "Must have push access"}`))
	assert.Empty(t, must.Get(l.read(t, Query{Author: "ada", Sender: "tri"}))(t).Permissions, "not known, so not there")
}

// A write to an issue that went to another repository is not carried there; GitHub answers with 301, some proxies with 307.
func TestATransferredIssue(t *testing.T) {
	for _, to := range []string{"/api/v3/repositories/2/issues/3/comments", "/api/v3/repos/octo/gears/issues/3/comments", "/api/v3/repositories/2"} {
		for _, status := range []int{301, 302, 307, 308} {
			l := dial(t, Options{}, reply{status, `{"message": "Moved Permanently"}`, map[string]string{"Location": to}}, reply{201, madeComment, nil})
			e := failure(t, l.comment(t), Moved)
			assert.Equal(t, []any{to, status, 1}, []any{e.Location, e.Status, len(l.seen)})
			assert.Equal(t, fmt.Sprintf("comment on octo/widgets#7: moved to %s (%d)", to, status), e.Error())
		}
	}
	l := dial(t, Options{}, reply{301, `{"message": "Moved Permanently"}`, nil})
	assert.Equal(t, "comment on octo/widgets#7: Moved Permanently (301)", failure(t, l.comment(t), Moved).Error())
	l = dial(t, Options{}, reply{status: 301, header: map[string]string{"Location": "/x?token=" + secret}})
	failure(t, l.comment(t), Moved)

	var path string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path == "" {
			path = r.URL.Path
			http.Redirect(w, r, "/api/v3/repositories/1/issues/7/comments", http.StatusTemporaryRedirect)
			return
		}
		path = r.Method + " " + r.URL.Path
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, madeComment)
	}))
	defer server.Close()
	l = &line{url: server.URL}
	l.open(t, Options{})
	require.NoError(t, l.comment(t))
	assert.Equal(t, "POST /api/v3/repositories/1/issues/7/comments", path, "the same thing in a repository that was renamed")
}
