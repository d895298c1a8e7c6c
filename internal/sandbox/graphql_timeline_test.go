package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

const gqlLabelEvents = `timelineItems(last: 100, itemTypes: [LABELED_EVENT, UNLABELED_EVENT]) { nodes { __typename
	... on LabeledEvent { id createdAt actor { login } label { name } } ... on UnlabeledEvent { id createdAt actor { login } label { name } } } }`

// labelHistory is the timeline of an issue or a pull request, a line an event.
func (w *gqlWorld) labelHistory(number int) []string {
	w.t.Helper()
	a := w.ask("ann", fmt.Sprintf(`{ repository(owner: "octo", name: "widgets") { issueOrPullRequest(number: %d) { ... on Issue { %s } ... on PullRequest { %s } } } }`, number, gqlLabelEvents, gqlLabelEvents), nil).fine()
	var out []string
	for _, n := range a.at("repository", "issueOrPullRequest", "timelineItems", "nodes").([]any) {
		e := n.(map[string]any)
		out = append(out, fmt.Sprintf("%s %s %s by %s", e["createdAt"], e["__typename"], e["label"].(map[string]any)["name"], e["actor"].(map[string]any)["login"]))
		again := w.ask("ann", `query($id: ID!) { node(id: $id) { __typename id } }`, map[string]any{"id": e["id"]}).fine()
		assert.Equal(w.t, map[string]any{"__typename": e["__typename"], "id": e["id"]}, again.at("node"))
	}
	return out
}

func (w *gqlWorld) rest(login, method, path, body string) {
	w.t.Helper()
	w.now = w.now.Add(time.Minute)
	r := httptest.NewRequest(method, restPrefix+"/repos/octo/widgets/"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer sandbox-"+login)
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	require.Less(w.t, rec.Code, 300, rec.Body.String())
}

// Whichever way a label comes or goes, the timeline says so.
func TestGraphQLTheTimelineHasEveryLabelling(t *testing.T) {
	w := newGQLWorld(t)
	w.rest("ann", "POST", "issues", `{"title": "Labeled from the start", "labels": ["bug"]}`) // 12:01
	w.rest("ann", "POST", "issues/3/labels", `{"labels": ["bug", "agent:ignore"]}`)
	w.rest("bob", "DELETE", "issues/3/labels/bug", ``)
	w.rest("bob", "PUT", "issues/3/labels", `{"labels": ["question"]}`)
	w.rest("ann", "PATCH", "issues/3", `{"labels": ["agent:ignore"]}`)
	w.rest("ann", "DELETE", "issues/3/labels", ``) // 12:06
	assert.Equal(t, []string{
		"2026-03-01T12:01:00Z LabeledEvent bug by ann", "2026-03-01T12:02:00Z LabeledEvent agent:ignore by ann",
		"2026-03-01T12:03:00Z UnlabeledEvent bug by bob", "2026-03-01T12:04:00Z UnlabeledEvent agent:ignore by bob",
		"2026-03-01T12:04:00Z LabeledEvent question by bob", "2026-03-01T12:05:00Z UnlabeledEvent question by ann",
		"2026-03-01T12:05:00Z LabeledEvent agent:ignore by ann", "2026-03-01T12:06:00Z UnlabeledEvent agent:ignore by ann",
	}, w.labelHistory(3))

	w.rest("ann", "POST", "issues/2/labels", `["mine"]`) // 12:07
	w.rest("ann", "PATCH", "labels/mine", `{"new_name": "hands-off"}`)
	assert.Equal(t, []string{"2026-03-01T12:07:00Z LabeledEvent hands-off by ann"}, w.labelHistory(2), "as it is called today")
	times := func(label string) any {
		return w.ask("eve", fmt.Sprintf(`{ repository(owner: "octo", name: "widgets") { label(name: %q) { createdAt updatedAt } } }`, label), nil).fine().at("repository", "label")
	}
	assert.Equal(t, map[string]any{"createdAt": "2026-03-01T12:07:00Z", "updatedAt": "2026-03-01T12:08:00Z"}, times("hands-off"))
	assert.Equal(t, map[string]any{"createdAt": "2026-03-01T12:00:00Z", "updatedAt": "2026-03-01T12:00:00Z"}, times("question"))
	w.rest("ann", "DELETE", "labels/hands-off", ``)
	assert.Equal(t, []string{"2026-03-01T12:07:00Z LabeledEvent mine by ann", "2026-03-01T12:09:00Z UnlabeledEvent hands-off by ann"}, w.labelHistory(2))

	require.NoError(t, w.Seed(func(d *Seeder) error {
		return d.Issue("octo/widgets", SeedIssue{Number: 9, Author: "bob", Labels: []string{"bug"}, CreatedAt: gqlNoon})
	}))
	assert.Equal(t, []string{"2026-03-01T12:00:00Z LabeledEvent bug by bob"}, w.labelHistory(9), "there since before the payload")

	w.save()
	raw := must.Get(os.ReadFile(filepath.Join(w.dir, "state.json")))(t)
	var kept state
	require.NoError(t, json.Unmarshal(raw, &kept))
	assert.Equal(t, w.repo.Issues[3].LabelEvents, kept.Repositories[0].Issues[3].LabelEvents)
}

func TestGraphQLTheTimelineHasNothingElse(t *testing.T) {
	w := newGQLWorld(t)
	for _, args := range []string{"last: 5", "last: 5, itemTypes: [LABELED_EVENT, CLOSED_EVENT]", "last: 5, itemTypes: [RENAMED_TITLE_EVENT, LOCKED_EVENT]"} {
		a := w.ask("ann", gqlInPull(`timelineItems(`+args+`) { nodes { __typename } }`), nil)
		require.Len(t, a.Errors, 1, a.raw)
		assert.Contains(t, a.Errors[0]["message"], "ask for itemTypes: [LABELED_EVENT,")
	}
	w.rest("ann", "POST", "issues/2/labels", `["x"]`)
	w.rest("ann", "DELETE", "issues/2/labels/x", ``)
	a := w.ask("ann", gqlInPull(`timelineItems(first: 5, itemTypes: [UNLABELED_EVENT]) { nodes { __typename } pageInfo { hasNextPage } }`), nil).fine()
	assert.Equal(t, []any{map[string]any{"__typename": "UnlabeledEvent"}}, a.pull("timelineItems", "nodes"))
}

// Who deletes somebody else's comment leaves a trace, which says neither which comment it was nor, to people without write access, who
// did it.
func TestGraphQLTheTimelineHasDeletedComments(t *testing.T) {
	w := newGQLWorld(t)
	for _, by := range []string{"ann", "bob"} {
		w.rest("bob", "POST", "issues/2/comments", `{"body": "hi"}`)
		last := w.ask("ann", gqlInPull(`comments(last: 1) { nodes { fullDatabaseId } }`), nil).fine().pull("comments", "nodes").([]any)[0]
		w.rest(by, "DELETE", fmt.Sprint("issues/comments/", last.(map[string]any)["fullDatabaseId"]), "")
	}
	w.save()
	for viewer, actor := range map[string]any{"ann": map[string]any{"login": "ann"}, "eve": nil} {
		nodes := w.ask(viewer, gqlInPull(`timelineItems(last: 5, itemTypes: [COMMENT_DELETED_EVENT]) { nodes { __typename
			... on CommentDeletedEvent { id createdAt actor { login } deletedCommentAuthor { login } } } }`), nil).fine().pull("timelineItems", "nodes").([]any)
		require.Len(t, nodes, 1, "bob's own is gone without a trace")
		id := nodes[0].(map[string]any)["id"]
		assert.Equal(t, map[string]any{"__typename": "CommentDeletedEvent", "id": id, "createdAt": "2026-03-01T12:02:00Z", "actor": actor, "deletedCommentAuthor": map[string]any{"login": "bob"}}, nodes[0], viewer)
		again := w.ask(viewer, `query($id: ID!) { node(id: $id) { __typename } }`, map[string]any{"id": id}).fine()
		assert.Equal(t, map[string]any{"__typename": "CommentDeletedEvent"}, again.at("node"))
	}
}

func TestGraphQLTheTimelineHasEveryBase(t *testing.T) {
	w := newGQLWorld(t)
	main := w.ask("ann", gqlInPull(`baseRef { name target { oid } }`), nil).fine().pull("baseRef", "target", "oid")
	w.rest("ann", "POST", "git/refs", fmt.Sprintf(`{"ref": "refs/heads/release", "sha": %q}`, main))
	w.rest("ann", "PATCH", "pulls/2", `{"base": "release"}`) // 12:02
	w.rest("ann", "PATCH", "pulls/2", `{"base": "release"}`)
	w.rest("bob", "PATCH", "pulls/2", `{"base": "main"}`) // 12:04
	w.save()
	const items = `timelineItems(last: 5, itemTypes: [BASE_REF_CHANGED_EVENT, AUTOMATIC_BASE_CHANGE_SUCCEEDED_EVENT]) { nodes { __typename
		... on BaseRefChangedEvent { id createdAt actor { login } previousRefName currentRefName } } }`
	nodes := w.ask("eve", gqlInPull(items), nil).fine().pull("timelineItems", "nodes").([]any)
	require.Len(t, nodes, 2)
	last := nodes[1].(map[string]any)
	id := last["id"]
	assert.Equal(t, map[string]any{"__typename": "BaseRefChangedEvent", "id": id, "createdAt": "2026-03-01T12:04:00Z", "actor": map[string]any{"login": "bob"}, "previousRefName": "release", "currentRefName": "main"}, last)
	again := w.ask("ann", `query($id: ID!) { node(id: $id) { ... on BaseRefChangedEvent { currentRefName } } }`, map[string]any{"id": id}).fine()
	assert.Equal(t, map[string]any{"currentRefName": "main"}, again.at("node"))
}
