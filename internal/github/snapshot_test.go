package github

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func (w *world) issue(title string) int {
	w.t.Helper()
	return int(w.as("ada", "POST", "issues", map[string]any{"title": title, "body": "Please"})["number"].(float64))
}

func (w *world) say(login string, number int, text string) map[string]any {
	w.t.Helper()
	w.tick()
	return w.as(login, "POST", fmt.Sprintf("issues/%d/comments", number), map[string]any{"body": text})
}

func (w *world) edit(login string, said map[string]any, text string) {
	w.t.Helper()
	w.tick()
	w.as(login, "PATCH", fmt.Sprintf("issues/comments/%d", id(said)), map[string]any{"body": text})
}

func (w *world) label(number int, on bool, name string) model.LabelChange {
	w.t.Helper()
	at := w.tick()
	if on {
		w.as("ada", "POST", fmt.Sprintf("issues/%d/labels", number), map[string]any{"labels": []string{name}})
	} else {
		w.as("ada", "DELETE", fmt.Sprintf("issues/%d/labels/%s", number, name), nil)
	}
	if w.made[name].IsZero() {
		w.made[name] = at
	}
	if on {
		return model.LabelChange{Label: name, On: on, At: at, LabelAt: w.made[name]}
	}
	return model.LabelChange{Label: name, At: at}
}

func TestLabelChanges(t *testing.T) {
	w := newWorld(t)
	issue, n := w.issue("Wanted: a"), w.pull()
	w.as("octo", "PATCH", fmt.Sprintf("pulls/%d", n), map[string]any{"body": fmt.Sprintf("Fixes #%d", issue)})
	onPull := []model.LabelChange{w.label(n, true, "agent:ignore"), w.label(n, false, "agent:ignore"), w.label(n, true, "x")}
	onIssue := []model.LabelChange{w.label(issue, true, "agent:ignore")}
	c := w.client("actions")
	snap := w.snapshot(c, Query{Number: n})
	assert.Equal(t, "0 REST, 1 GraphQL", calls(c))
	ada := snap.Pull.LabelChanges[0].By
	assert.Equal(t, "ada", ada.Login)
	by := func(list []model.LabelChange) []model.LabelChange {
		for i := range list {
			list[i].By = ada
		}
		return list
	}
	assert.Equal(t, by(onPull), snap.Pull.LabelChanges)
	assert.Equal(t, []string{"x"}, snap.Pull.Labels)
	onIssue[0].By = snap.Pull.Issue.Author
	assert.Equal(t, onIssue, snap.Pull.Issue.LabelChanges, "who labeled the issue that it closes is told")
	assert.Equal(t, onIssue, w.snapshot(c, Query{Number: issue}).Issue().LabelChanges, "of the thread itself it is told who did it")

	for range 60 {
		onPull = append(onPull, w.label(n, true, "busy"), w.label(n, false, "busy"))
	}
	assert.Equal(t, by(onPull)[len(onPull)-100:], w.snapshot(c, Query{Number: n}).Pull.LabelChanges, "the newest hundred")
}

// A label that is gone may leave a change that cannot be shown, and a token may not see any; the rest is read all the same.
func TestLabelChangesThatCannotBeSeen(t *testing.T) {
	for changes, want := range map[string][]model.LabelChange{
		`{"nodes": [null, {"__typename": "UnlabeledEvent", "createdAt": "2026-01-01T00:00:02Z", "label": {"name": "b"}}, {"__typename": "LabeledEvent", "createdAt": "2026-01-01T00:00:01Z", "label": {"name": "a"}}]}`: {
			{Label: "a", On: true, At: time.Date(2026, 1, 1, 0, 0, 1, 0, time.UTC)}, {Label: "b", At: time.Date(2026, 1, 1, 0, 0, 2, 0, time.UTC)}},
		`null`: nil,
	} {
		pull := `{"labelChanges": ` + changes + `, ` + emptyPull[1:]
		l := dial(t, Options{}, graphAnswer(pull, `{"type": "NOT_FOUND", "path": ["repository", "issueOrPullRequest", "labelChanges", "nodes", 0, "label"], "message": "gone"}`))
		assert.Equal(t, want, must.Get(l.read(t, Query{}))(t).Pull.LabelChanges)
	}
}

// What was said first is known however often it was edited, of comments in the conversation.
func TestPosted(t *testing.T) {
	w, n := newPull(t)
	w.say("ada", n, "as it was")
	twice := w.say("ada", n, "/mergexo status")
	w.edit("ada", twice, "/mergexo pause")
	w.edit("octo", twice, "/mergexo unblock")
	back := w.say("ada", n, "there")
	w.edit("ada", back, "and")
	w.edit("ada", back, "there")
	sha := w.as("ada", "GET", fmt.Sprintf("pulls/%d", n), nil)["head"].(map[string]any)["sha"]
	w.tick()
	line := w.as("ada", "POST", fmt.Sprintf("pulls/%d/comments", n), map[string]any{"path": "a.txt", "line": 1, "body": "line", "commit_id": sha})
	w.tick()
	review := w.as("ada", "POST", fmt.Sprintf("pulls/%d/reviews", n), map[string]any{"body": "review", "event": "COMMENT"})
	type posted struct {
		body, posted string
		edited       bool
	}
	read := func() (out []posted) {
		for _, c := range w.snapshot(w.client("actions"), Query{Number: n}).Comments {
			out = append(out, posted{c.Body, c.Posted, c.Edited})
		}
		return out
	}
	conversation := []posted{{"as it was", "as it was", false}, {"/mergexo unblock", "/mergexo status", true}, {"there", "there", true}}
	assert.Equal(t, append(conversation, posted{"line", "line", false}, posted{"review", "review", false}), read())
	w.as("ada", "PATCH", fmt.Sprintf("pulls/comments/%d", id(line)), map[string]any{"body": "line 2"})
	w.as("ada", "PUT", fmt.Sprintf("pulls/%d/reviews/%d", n, id(review)), map[string]any{"body": "review 2"})
	assert.Equal(t, append(conversation, posted{"line 2", "", true}, posted{"review 2", "", true}), read(), "not asked for")

	for raw, want := range map[string]string{
		`{"body": "b"}`: "b",
		`{"body": "b", "lastEditedAt": "2026-01-01T00:00:00Z", "includesCreatedEdit": true, "posted": {"nodes": [{"diff": "a"}]}}`:  "a",
		`{"body": "b", "lastEditedAt": "2026-01-01T00:00:00Z", "includesCreatedEdit": false, "posted": {"nodes": [{"diff": "a"}]}}`: "",
		`{"body": "b", "lastEditedAt": "2026-01-01T00:00:00Z", "includesCreatedEdit": true, "posted": {"nodes": [{"diff": null}]}}`: "",
		`{"body": "b", "lastEditedAt": "2026-01-01T00:00:00Z", "includesCreatedEdit": true, "posted": null}`:                        "",
	} {
		var n saidNode
		require.NoError(t, json.Unmarshal([]byte(raw), &n))
		assert.Equal(t, want, n.comment(model.KindIssue).Posted, raw)
	}
	made := must.Get(w.client("actions").Comments.Create(t.Context(), widgets, n, "ours"))(t)
	assert.Equal(t, []any{"ours", false}, []any{made.Posted, made.Edited})
}

func TestAnIssue(t *testing.T) {
	w := newWorld(t)
	w.put("main", ".github/mergexo.toml", "[agent]\nadapter = \"suggestion\"\n")
	issue, n := w.issue("Wanted: a"), w.pull()
	other := w.issue("Another")
	w.as("octo", "PATCH", fmt.Sprintf("pulls/%d", n), map[string]any{"body": fmt.Sprintf("Fixes #%d", issue)})
	change := w.label(issue, true, "agent:bugfix")
	first := w.say("mallory", issue, "first")
	w.say("actions", issue, "ours")
	w.say("ada", other, "elsewhere")
	c := w.client("actions")
	snap := w.snapshot(c, Query{Number: issue, Author: "ada"})
	assert.Equal(t, "0 REST, 1 GraphQL", calls(c))
	assert.False(t, snap.IsPull())
	assert.Equal(t, model.Pull{}, snap.Pull)
	thread := *snap.Issue()
	assert.Contains(t, thread.URL, fmt.Sprintf("/octo/widgets/issues/%d", issue))
	change.By = thread.Author
	thread.URL, thread.Author.ID = "", 0
	assert.Equal(t, model.Issue{Number: issue, Title: "Wanted: a", Body: "Please", Posted: "Please", Author: model.Actor{Login: "ada"},
		Labels: []string{"agent:bugfix"}, LabelChanges: []model.LabelChange{change}, Association: "COLLABORATOR", Pulls: []int{n}}, thread)
	assert.Equal(t, []any{true, "[agent]\nadapter = \"suggestion\"\n"}, []any{snap.SettingsFound, snap.Settings})
	assert.Equal(t, map[string]model.Permission{"ada": model.PermissionWrite}, snap.Permissions)
	assert.Equal(t, []string{"first", "ours"}, bodies(snap.Comments))
	assert.Equal(t, []any{false, true, true}, []any{snap.Comments[0].Ours, snap.Comments[1].Ours, snap.CommentsComplete})
	assert.False(t, snap.ReadAt.IsZero())
	assert.Nil(t, w.snapshot(c, Query{Number: n}).Issue())

	w.as("octo", "PATCH", fmt.Sprintf("pulls/%d", n), map[string]any{"state": "closed"})
	assert.Empty(t, w.snapshot(c, Query{Number: issue}).Issue().Pulls, "only open ones")

	for i := range 110 {
		w.say("ada", issue, fmt.Sprint(i))
	}
	settled := func(model.Snapshot, []model.Comment) (model.Mark, bool) { return model.Mark{At: w.now}, true }
	c = w.client("actions")
	part := w.snapshot(c, Query{Number: issue, Settled: settled, Node: node(first)})
	assert.Equal(t, "0 REST, 1 GraphQL", calls(c))
	assert.Equal(t, 101, len(part.Comments))
	assert.Equal(t, "first", part.Comments[0].Body, "the trigger's, however old")
	assert.False(t, part.CommentsComplete)
	assert.Equal(t, part.Comments[1].UpdatedAt, part.Floor)
	c = w.client("actions")
	assert.Equal(t, 112, len(w.snapshot(c, Query{Number: issue}).Comments))
	assert.Equal(t, "0 REST, 2 GraphQL", calls(c))
	assert.Equal(t, []string{"elsewhere"}, bodies(w.snapshot(c, Query{Number: other, Node: node(first)}).Comments), "it is not of this issue")
}

// Only this repository's open pull requests count, whatever else GitHub says will close the issue.
func TestPullsOfAnIssue(t *testing.T) {
	pull := func(number int, state, repository string) string {
		return fmt.Sprintf(`{"number": %d, "state": "%s", "repository": {"nameWithOwner": "%s"}}`, number, state, repository)
	}
	l := dial(t, Options{}, graphAnswer(`{"__typename": "Issue", "number": 7, "closedBy": {"nodes": [null, `+pull(1, "OPEN", "octo/gears")+`, `+
		pull(2, "MERGED", "octo/widgets")+`, `+pull(3, "OPEN", "Octo/Widgets")+`]}}`, `{"type": "FORBIDDEN", "path": ["repository", "issueOrPullRequest", "closedBy", "nodes", 0], "message": "SAML"}`))
	assert.Equal(t, []int{3}, must.Get(l.read(t, Query{}))(t).Issue().Pulls)
}

// A design closes no issue, so GitHub does not tell which one it is for.
func TestTheIssueThatAPullRequestIsForIsReadAlong(t *testing.T) {
	w := newWorld(t)
	n, c := w.pull(), w.client("octo")
	issue := int(w.as("octo", "POST", "issues", map[string]any{"title": "Say a", "body": "Loudly."})["number"].(float64))
	assert.Nil(t, w.snapshot(c, Query{Number: n}).Pull.Issue)
	snap := w.snapshot(c, Query{Number: n, Source: issue})
	require.NotNil(t, snap.Pull.Issue)
	assert.Equal(t, []any{issue, "Say a", "Loudly."}, []any{snap.Pull.Issue.Number, snap.Pull.Issue.Title, snap.Pull.Issue.Body})
	assert.Nil(t, w.snapshot(c, Query{Number: n, Source: 4242}).Pull.Issue, "one that is gone hides nothing else")
	assert.Nil(t, w.snapshot(c, Query{Number: n, Source: n}).Pull.Issue, "a pull request is no issue")
	assert.Equal(t, "0 REST, 4 GraphQL", calls(c))
}

// Whoever said something in an issue after it was labeled must be known: its text, its title, its labels.
func TestWhoChangedAnIssue(t *testing.T) {
	w := newWorld(t)
	issue := w.issue("Wanted: a")
	path := fmt.Sprintf("issues/%d", issue)
	c := w.client("actions")
	thread := *w.snapshot(c, Query{Number: issue}).Issue()
	assert.Equal(t, []any{"COLLABORATOR", false, false, 0}, []any{thread.Association, thread.Closed, thread.Locked, len(thread.TitleEdits)})
	assert.Nil(t, thread.BodyEdit)
	ada := thread.Author
	octo := w.snapshot(c, Query{Number: w.pull()}).Pull.Author

	renamed := w.tick()
	w.as("ada", "PATCH", path, map[string]any{"title": "Wanted: b"})
	w.as("ada", "PATCH", path, map[string]any{"body": "Please do"})
	again := w.tick()
	w.as("octo", "PATCH", path, map[string]any{"title": "Wanted: c", "body": "Please don't"})
	w.as("octo", "PATCH", path, map[string]any{"title": "Wanted: c", "state": "closed"})
	w.as("octo", "PUT", path+"/lock", nil)
	on := w.tick()
	w.as("octo", "POST", path+"/labels", map[string]any{"labels": []string{"agent:bugfix"}})
	w.as("actions", "DELETE", path+"/labels/agent:bugfix", nil)
	c = w.client("actions")
	thread = *w.snapshot(c, Query{Number: issue}).Issue()
	assert.Equal(t, "0 REST, 1 GraphQL", calls(c))
	assert.Equal(t, []any{true, true, "Wanted: c"}, []any{thread.Closed, thread.Locked, thread.Title})
	assert.Equal(t, &model.Edit{By: octo, At: again}, thread.BodyEdit, "the newest")
	assert.Equal(t, []any{[]model.Edit{{By: ada, At: renamed}, {By: octo, At: again}}, false}, []any{thread.BodyEdits, thread.MoreBodyEdits})
	assert.Equal(t, []string{"Please don't", "Please"}, []string{thread.Body, thread.Posted})
	assert.Equal(t, []model.Edit{{By: ada, At: renamed}, {By: octo, At: again}}, thread.TitleEdits)
	bot := w.snapshot(c, Query{Number: issue}).Viewer
	assert.Equal(t, []model.LabelChange{{Label: "agent:bugfix", On: true, At: on, By: octo, LabelAt: on}, {Label: "agent:bugfix", At: on, By: bot}}, thread.LabelChanges)

	w.label(issue, true, "harmless")
	changed := w.tick()
	w.as("octo", "PATCH", "labels/harmless", map[string]any{"new_name": "agent:accept"})
	w.tick()
	w.as("octo", "PATCH", "labels/agent:accept", map[string]any{"new_name": "agent:accept"})
	late := w.snapshot(c, Query{Number: issue}).Issue().LabelChanges[2]
	assert.Equal(t, []any{"agent:accept", changed}, []any{late.Label, late.LabelAt}, "it was called otherwise when it was put on")
}

// Accounts that are gone leave their edits behind; nobody may take such an edit for none.
func TestEditsByNobody(t *testing.T) {
	l := dial(t, Options{}, graphAnswer(`{"__typename": "Issue", "number": 7, "lastEditedAt": "2026-01-01T00:00:00Z", "editor": null,
		"titleEdits": {"nodes": [{"createdAt": "2026-01-01T00:00:01Z", "actor": null}]}, "labelChanges": {"nodes": [{"__typename": "LabeledEvent", "label": {"name": "a"}, "actor": null}]}}`, ""))
	snap := must.Get(l.read(t, Query{}))(t)
	assert.Equal(t, "ghost", snap.Issue().BodyEdit.By.Login)
	assert.Equal(t, "ghost", snap.Issue().TitleEdits[0].By.Login)
	assert.Empty(t, snap.Issue().LabelChanges[0].By.Login)
	assert.Empty(t, snap.Issue().Posted, "GitHub does not say")
}

// GitHub shows a push on the pull request some time after the branch has it: what is read is the branch.
func TestTheHeadIsWhatTheBranchIsAt(t *testing.T) {
	w, n := newPull(t)
	c := w.client("actions")
	status := func(of string) {
		w.as("octo", "POST", "statuses/"+of, map[string]any{"state": "success", "context": "ci"})
	}
	was := w.snapshot(c, Query{Number: n}).Pull.HeadSHA
	status(was)
	assert.Equal(t, "SUCCESS", w.snapshot(c, Query{Number: n}).Pull.Rollup)
	w.as("actions", "PUT", "contents/b.txt", map[string]any{"branch": "agent/7", "message": "b", "content": "Yg=="})
	assert.Equal(t, was, must.Get(c.Pulls.Now(t.Context(), widgets, n))(t).HeadSHA, "not shown yet")
	w.as("actions", "PUT", "contents/c.txt", map[string]any{"branch": "agent/7", "message": "c", "content": "Yg=="})
	read := w.snapshot(c, Query{Number: n}).Pull
	assert.NotEqual(t, was, read.HeadSHA)
	assert.Empty(t, read.Rollup, "of the commit before")
	tip := w.tip("agent/7")
	assert.Equal(t, tip, read.HeadSHA)
	w.as("octo", "PATCH", fmt.Sprintf("pulls/%d", n), map[string]any{"state": "closed"})
	w.as("octo", "PUT", "contents/d.txt", map[string]any{"branch": "agent/7", "message": "d", "content": "Yg=="})
	assert.Equal(t, tip, w.snapshot(c, Query{Number: n}).Pull.HeadSHA, "what is closed stays where it was")
}
