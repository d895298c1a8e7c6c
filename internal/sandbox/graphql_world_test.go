package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// gqlWorld is a sandbox with one pull request (number 2, for issue 1) in octo/widgets, made without the REST API, so that
// times can be chosen and 5,000 comments cost nothing.
type gqlWorld struct {
	*Server
	t     testing.TB
	repo  *Repository
	issue *Issue // number 1
	pull  *Issue // number 2
	now   time.Time
}

var gqlNoon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newGQLWorld(t *testing.T) *gqlWorld {
	t.Helper()
	w := &gqlWorld{t: t, now: gqlNoon}
	s := must.Get(open(Options{StateDir: t.TempDir(), Clock: func() time.Time { return w.now }}))(t)
	close(s.saved) // the stories change what it holds by themselves, which nothing may read meanwhile
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	w.Server, w.repo = s, s.world.repository("octo", "widgets")
	for _, login := range []string{"ann", "bob", "eve"} {
		s.world.ensureUser(login, "")
	}
	w.repo.Lag = &Lag{} // the stories hold what is shown against git; that it is late has stories of its own
	w.repo.Permissions["ann"] = "write"
	w.repo.Permissions["bob"] = "maintain"
	w.commit("main", "", map[string]string{"README.md": "# widgets\n", "a.txt": gqlLines(1, 20), ".github/mergexo.toml": "[repo]\n"})
	w.commit("agent/bugfix/1-x", "main", map[string]string{"a.txt": strings.Replace(gqlLines(1, 20), "line 5\n", "line five\nand more\n", 1), "b.txt": "new\n"})
	w.issue = w.open(&Issue{Title: "A bug", Post: Post{Author: "bob", Body: "It breaks"}})
	w.pull = w.open(&Issue{Title: "Fix it", Post: Post{Author: actionsLogin, Body: "This fixes: #1, Closes #1 and see #2"}, Pull: &Pull{
		ID: s.world.nextID(), HeadRepo: w.repo.ID, HeadRef: "agent/bugfix/1-x", BaseRef: "main",
		HeadSHA: s.git.branchSHA(w.repo, "agent/bugfix/1-x"), BaseSHA: s.git.branchSHA(w.repo, "main")}})
	w.pull.LabelIDs = []int64{w.repo.label("bug").ID}
	return w
}

func gqlLines(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// gqlDeleted stands for the text of a file that a commit removes.
const gqlDeleted = "\x00deleted"

// commit puts files onto a branch, which begins at another one where it is new.
func (w *gqlWorld) commit(branch, from string, files map[string]string) string {
	w.t.Helper()
	var in bytes.Buffer
	fmt.Fprintf(&in, "commit refs/heads/%s\ncommitter ann <1+ann@users.noreply.github.com> %d +0100\ndata 9\nSubject\n\n", branch, w.now.Unix())
	if from != "" {
		fmt.Fprintf(&in, "from refs/heads/%s^0\n", from)
	} else {
		fmt.Fprintf(&in, "from refs/heads/%s^0\n", branch)
	}
	for path, text := range files {
		if text == gqlDeleted {
			fmt.Fprintf(&in, "D %s\n", path)
			continue
		}
		fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", path, len(text), text)
	}
	require.NoError(w.t, must.Err(runGit(w.git.path(w.repo), nil, in.Bytes(), "fast-import", "--quiet")))
	require.NoError(w.t, w.refs.sync(w.repo, w.world.user("octo")))
	return w.git.branchSHA(w.repo, branch)
}

func (w *gqlWorld) open(i *Issue) *Issue {
	w.repo.LastNumber++
	i.ID, i.Number, i.State, i.CreatedAt, i.UpdatedAt = w.world.nextID(), w.repo.LastNumber, "open", w.now, w.now
	w.repo.Issues[i.Number] = i
	w.world.indexIssue(w.repo, i)
	return i
}

// say adds a comment to a conversation.
func (w *gqlWorld) say(i *Issue, author, body string, at time.Time) *Comment {
	c := &Comment{Post: Post{ID: w.world.nextID(), Author: author, Body: body, CreatedAt: at, UpdatedAt: at}}
	i.Comments = append(i.Comments, c)
	w.world.indexIssue(w.repo, i)
	return c
}

// reviewBy adds a review with comments on lines of a.txt; a comment with InReplyTo is a reply.
func (w *gqlWorld) reviewBy(author, state, body string, comments ...*ReviewComment) *Review {
	head := w.pulls.headSHA(w.pull)
	v := &Review{Post: Post{ID: w.world.nextID(), Author: author, Body: body, CreatedAt: w.now, UpdatedAt: w.now}, State: state, CommitID: head}
	if state != "PENDING" {
		v.SubmittedAt = &w.now
	}
	w.pull.Pull.Reviews = append(w.pull.Pull.Reviews, v)
	for _, c := range comments {
		c.ID, c.Author, c.ReviewID, c.CreatedAt, c.UpdatedAt = w.world.nextID(), author, v.ID, w.now, w.now
		c.Path, c.SubjectType, c.Side, c.OriginalCommit, c.OriginalBase = "a.txt", "line", "RIGHT", head, w.pulls.baseSHA(w.pull)
		w.pull.Pull.ReviewComments = append(w.pull.Pull.ReviewComments, c)
	}
	w.world.indexIssue(w.repo, w.pull)
	return v
}

// gqlAnswer is a response as a test reads it.
type gqlAnswer struct {
	t      testing.TB
	status int
	raw    string
	Data   map[string]any
	Errors []map[string]any
}

// ask sends a query with the token of login ("actions" for the workflow's bot).
func (w *gqlWorld) ask(login, query string, vars map[string]any) *gqlAnswer {
	w.t.Helper()
	return w.post("bearer sandbox-"+login, string(must.Get(json.Marshal(map[string]any{"query": query, "variables": vars}))(w.t)))
}

func (w *gqlWorld) post(authorization, body string) *gqlAnswer {
	w.t.Helper()
	r := httptest.NewRequest(http.MethodPost, graphqlPath, strings.NewReader(body))
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	a := &gqlAnswer{t: w.t, status: rec.Code, raw: rec.Body.String()}
	require.NoError(w.t, json.Unmarshal(rec.Body.Bytes(), a), a.raw)
	return a
}

// fine is the answer when there must be no errors.
func (a *gqlAnswer) fine() *gqlAnswer {
	a.t.Helper()
	require.Equal(a.t, http.StatusOK, a.status, a.raw)
	require.Empty(a.t, a.Errors, a.raw)
	return a
}

// at follows a path of names and indices through the data.
func (a *gqlAnswer) at(path ...any) any {
	a.t.Helper()
	var v any = a.Data
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, ok := v.(map[string]any)
			require.True(a.t, ok, "no object before %v in %s", step, a.raw)
			v = m[step]
		case int:
			l, ok := v.([]any)
			require.True(a.t, ok && step < len(l), "no item %v in %s", step, a.raw)
			v = l[step]
		}
	}
	return v
}

// pull is at() below the pull request.
func (a *gqlAnswer) pull(path ...any) any {
	a.t.Helper()
	return a.at(append([]any{"repository", "pullRequest"}, path...)...)
}

// gqlInPull wraps a selection of pull request 2.
func gqlInPull(selection string) string {
	return `{ repository(owner: "octo", name: "widgets") { pullRequest(number: 2) { ` + selection + ` } } }`
}
