package sandbox

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// suggestionPayload is a review comment as GitHub delivers it, cut down to what says something.
const suggestionPayload = `{"action":"created",
 "comment":{"id":3100000001,"pull_request_review_id":3100000000,"diff_hunk":"@@ -10,7 +10,7 @@ func hello() {\n \ta := 1\n \tb := 2\n \tc := 3\n-\tprintln(\"helo\")\n+\tprintln(\"helo wold\")",
  "path":"cmd/hello.go","line":13,"side":"RIGHT","user":{"login":"rita","id":77,"type":"User"},"author_association":"MEMBER",
  "body":"Spelling.","created_at":"2026-02-03T10:00:00Z","updated_at":"2026-02-03T10:00:01Z"},
 "pull_request":{"id":55,"number":7,"title":"Say hello","body":"Fixes #3","state":"open","user":{"login":"robot[bot]","id":9,"type":"Bot"},
  "author_association":"NONE","created_at":"2026-02-03T09:00:00Z","updated_at":"2026-02-03T10:00:01Z","labels":[{"name":"bug"}],
  "head":{"ref":"agent/hello","sha":"1111111111111111111111111111111111111111","repo":{"full_name":"acme/site"}},
  "base":{"ref":"trunk","sha":"2222222222222222222222222222222222222222","repo":{"full_name":"acme/site"}}},
 "repository":{"id":1234,"full_name":"acme/site","default_branch":"trunk","private":false,"owner":{"login":"acme","id":4,"type":"Organization"}},
 "sender":{"login":"rita","id":77,"type":"User"}}`

func emptyTown(t *testing.T) *town {
	w := &town{t: t, dir: t.TempDir()}
	s := must.Get(New(Options{StateDir: w.dir, Empty: true}))(t)
	urls := must.Get(s.Start("127.0.0.1:0"))(t)
	w.s, w.url = s, urls.Server
	t.Cleanup(func() { require.NoError(t, w.s.Close()) })
	return w
}

func TestAReviewCommentIsReenactedFromItsPayload(t *testing.T) {
	w := emptyTown(t)
	seeded(t, w.s, "pull_request_review_comment", []byte(suggestionPayload), "")
	require.Equal(t, "acme/site", w.s.URLs().Repository)
	p := w.as("", "GET", "/repos/acme/site/pulls/7", nil).want(200).obj()
	require.EqualValues(t, 55, p["id"])
	require.Equal(t, "agent/hello", p["head"].(obj)["ref"])
	require.Equal(t, "trunk", p["base"].(obj)["ref"])
	require.Equal(t, "bug", p["labels"].([]any)[0].(obj)["name"])

	c := w.as("", "GET", "/repos/acme/site/pulls/comments/3100000001", nil).want(200).obj()
	require.EqualValues(t, 13, c["line"])
	require.Equal(t, "RIGHT", c["side"])
	require.Equal(t, "2026-02-03T10:00:01Z", c["updated_at"])
	require.Equal(t, "rita", c["user"].(obj)["login"])
	require.EqualValues(t, 77, c["user"].(obj)["id"])
	file := w.as("", "GET", "/repos/acme/site/pulls/7/files", nil).want(200).list()[0]
	require.Equal(t, "cmd/hello.go", file["filename"])
	require.Contains(t, file["patch"], "@@ -10,7 +10,7 @@", "the invented file puts the hunk where it was")
	require.Contains(t, file["patch"], "+\tprintln(\"helo wold\")")
	require.Equal(t, "write", w.as("actions", "GET", "/repos/acme/site/collaborators/rita/permission", nil).want(200).obj()["role_name"])
	require.Equal(t, "read", w.as("actions", "GET", "/repos/acme/site/collaborators/robot%5Bbot%5D/permission", nil).want(200).obj()["role_name"])
	w.as("", "GET", "/repos/acme/site/contents/.github/mergexo.toml", nil).want(200)

	again := emptyTown(t)
	seeded(t, again.s, "pull_request_review_comment", []byte(suggestionPayload), "")
	require.Equal(t, p["head"].(obj)["sha"], again.as("", "GET", "/repos/acme/site/pulls/7", nil).obj()["head"].(obj)["sha"], "the same commits at every replay")
	require.Empty(t, again.as("", "GET", "/_sandbox/deliveries", nil).list(), "nothing that is seeded is news")

	reply := w.as("actions", "POST", "/repos/acme/site/pulls/7/comments/3100000001/replies", obj{"body": "Done."}).want(201).obj()
	require.Greater(t, reply["id"], 3100000001.0)
}

// seeded sets the scene of an event, and returns what had to be assumed.
func seeded(t *testing.T, s *Server, name string, payload []byte, checkout string) []string {
	t.Helper()
	return must.Get(s.SeedFromEvent(name, payload, checkout))(t)
}

func TestACheckoutsOwnCommitsAreUsed(t *testing.T) {
	home := newTown(t)
	c := home.clone("octo")
	c.git("checkout", "-q", "-b", "trunk")
	base := c.commit("cmd/hello.go", "package main\n")
	c.git("checkout", "-q", "-b", "agent/hello")
	head := c.commit("cmd/hello.go", "package main\n\nfunc main() {}\n")
	c.commit("later.txt", "a commit after the payload's\n")
	var payload obj
	require.NoError(t, json.Unmarshal([]byte(suggestionPayload), &payload))
	pull := payload["pull_request"].(obj)
	pull["head"].(obj)["sha"], pull["base"].(obj)["sha"] = head, base
	data := must.Get(json.Marshal(payload))(t)

	w := emptyTown(t)
	seeded(t, w.s, "pull_request_review_comment", data, c.dir)
	p := w.as("", "GET", "/repos/acme/site/pulls/7", nil).want(200).obj()
	require.Equal(t, head, p["head"].(obj)["sha"])
	require.Equal(t, base, p["base"].(obj)["sha"])
	w.as("", "GET", "/repos/acme/site/contents/.github/mergexo.toml", nil).want(404)

	other := emptyTown(t)
	seeded(t, other.s, "pull_request_review_comment", []byte(suggestionPayload), c.dir)
	p = other.as("", "GET", "/repos/acme/site/pulls/7", nil).want(200).obj()
	require.Equal(t, base, p["base"].(obj)["sha"], "the branch stands in for a commit that is not there")
	require.Equal(t, c.git("rev-parse", "HEAD"), p["head"].(obj)["sha"])
}

func TestPayloadsThatSeedLittle(t *testing.T) {
	for _, payload := range []string{
		`{}`, `{"repository":null}`, `{"repository":{"full_name":"acme/site"}}`, `{"action":"created","organization":{}}`,
		`{"repository":{"full_name":"acme/site"},"issue":{"number":3,"user":null}}`,
		`{"repository":{"full_name":"acme/site"},"pull_request":{"number":1,"head":{"ref":"main"},"base":{"ref":"main"}}}`,
		`{"repository":{"full_name":"acme/site"},"pull_request":{"number":1},"comment":{"id":5,"path":"../x","diff_hunk":"@@"}}`,
	} {
		w := emptyTown(t)
		seeded(t, w.s, "x", []byte(payload), "")
		require.NotEmpty(t, w.s.URLs().Repository, payload)
	}
	require.Error(t, must.Err(emptyTown(t).s.SeedFromEvent("x", []byte(`{"action":`), "")))
}

// GitHub lists pull requests into forks as well. They are not of the repository that the run is in.
func TestAPullRequestIntoAForkIsNotSeeded(t *testing.T) {
	w := emptyTown(t)
	seeded(t, w.s, "workflow_run", []byte(`{"repository":{"id":5,"full_name":"acme/site"},"workflow_run":{"id":1,"head_branch":"topic",
		"pull_requests":[{"number":3,"head":{"ref":"topic"},"base":{"ref":"main","repo":{"id":6}}},{"number":4,"head":{"ref":"topic"},"base":{"ref":"main","repo":{"id":5}}}]}}`), "")
	w.as("", "GET", "/repos/acme/site/pulls/3", nil).want(404)
	w.as("", "GET", "/repos/acme/site/pulls/4", nil).want(200)
}

// A field that is not what GitHub sends is named. Nothing is made up in its place.
func TestAPayloadOfAnotherShapeIsRefused(t *testing.T) {
	for payload, want := range map[string]string{
		`{"issue":"text"}`:                                            "issue: want an object, got a string",
		`{"issue":{"number":3,"labels":5}}`:                           "issue.labels: want a list, got a number",
		`{"issue":{"number":3,"labels":["bug"]}}`:                     "issue.labels: want objects in the list, got a string",
		`{"issue":{"number":3,"labels":[{"name":true}]}}`:             "issue.labels.name: want a string, got true or false",
		`{"issue":{"number":3,"body":["x"]}}`:                         "issue.body: want a string, got a list",
		`{"issue":{"number":3,"locked":"yes"}}`:                       "issue.locked: want true or false, got a string",
		`{"issue":{"number":3,"user":{"login":{}}}}`:                  "issue.user.login: want a string, got an object",
		`{"issue":{"number":3,"created_at":"today"}}`:                 `issue.created_at: want a time such as 2026-01-31T23:59:59Z, got the string "today"`,
		`{"issue":{"number":3,"updated_at":7}}`:                       "issue.updated_at: want a string, got a number",
		`{"pull_request":{"number":3,"head":7}}`:                      "pull_request.head: want an object, got a number",
		`{"pull_request":{"number":3,"head":{"ref":"a..b"}}}`:         `pull_request.head.ref: want the name of a branch, got the string "a..b"`,
		`{"pull_request":{"number":3,"base":{"ref":"ma in"}}}`:        `pull_request.base.ref: want the name of a branch, got the string "ma in"`,
		`{"comment":{"id":1.5}}`:                                      "comment.id: want a whole number, got the number 1.5",
		`{"check_run":{"pull_requests":{}}}`:                          "check_run.pull_requests: want a list, got an object",
		`{"repository":{"full_name":"a/b","owner":5}}`:                "repository.owner: want an object, got a number",
		`{"repository":{"full_name":"a/b","default_branch":"ma in"}}`: `repository.default_branch: want the name of a branch, got the string "ma in"`,
		`{"repository":{"id":"5"},"issue":7}`:                         "repository.id: want a whole number, got a string",
	} {
		w := emptyTown(t)
		require.EqualError(t, must.Err(w.s.SeedFromEvent("x", []byte(payload), "")), "payload: "+want)
		require.Empty(t, w.s.st.Repositories)
	}
	seeded(t, emptyTown(t).s, "x", []byte(`{"repository":{"full_name":"a/b"},"issue":{"number":3,"labels":null,"created_at":null,"updated_at":"","locked":null}}`), "")
}

func TestImagesOfHunks(t *testing.T) {
	for _, c := range []struct{ hunk, before, after string }{
		{"@@ -1 +1 @@\n-# Hello", "# Hello\n", "Line 1, added.\n"},
		{"@@ -0,0 +1,2 @@\n+a", "", "a\nLine 2, added.\n"},
		{"@@ -2,3 +2,3 @@ x\n a\n-b\n+c", "Line 1.\na\nb\nLine 1 after the change.\n", "Line 1.\na\nc\nLine 1 after the change.\n"},
		{"@@ -1,2 +3,1 @@\n-a\n b", "a\nb\n", "Line 1.\nLine 2.\nb\n"},
		{"nonsense", "", "A line that is new.\n"},
	} {
		before, after := imagesOf(c.hunk)
		require.Equal(t, c.before, before, c.hunk)
		require.Equal(t, c.after, after, c.hunk)
	}
}

const labelledPayload = `{"action": "labeled", "label": {"name": "agent:bugfix"},
 "issue": {"id": 61, "number": 5, "title": "It breaks", "body": "Badly", "state": "open", "locked": true, "user": {"login": "ann", "id": 8, "type": "User"}, "author_association": "NONE",
  "created_at": "2026-02-03T09:00:00Z", "updated_at": "2026-02-03T10:00:00Z", "labels": [{"name": "bug"}, {"name": "agent:bugfix"}]},
 "repository": {"id": 1234, "full_name": "acme/site", "default_branch": "trunk", "owner": {"login": "acme", "id": 4, "type": "Organization"}},
 "sender": {"login": "rita", "id": 77, "type": "User"}}`

// issueScene is what an issue's flow would read of a payload's scene: the rights of two people, and who labeled what.
func issueScene(t *testing.T, name, payload string) (rights map[string]string, labels []string, w *town) {
	t.Helper()
	w = emptyTown(t)
	seeded(t, w.s, name, []byte(payload), "")
	rights = map[string]string{}
	for _, login := range []string{"ann", "rita"} {
		if role := w.as("actions", "GET", "/repos/acme/site/collaborators/"+login+"/permission", nil).obj()["role_name"]; role != nil {
			rights[login] = role.(string)
		}
	}
	for _, e := range w.s.world.repository("acme", "site").Issues[5].LabelEvents {
		labels = append(labels, fmt.Sprintf("%v %s by %s at %s", e.On, e.Label.Name, e.Actor, stamp(e.At)))
	}
	return rights, labels, w
}

func TestALabelledIssueIsReenactedFromItsPayload(t *testing.T) {
	rights, labels, w := issueScene(t, "issues", labelledPayload)
	require.Equal(t, map[string]string{"ann": "read", "rita": "write"}, rights, "who labels somebody else's issue has the right to")
	require.Equal(t, []string{"true bug by rita at 2026-02-03T09:00:00Z", "true agent:bugfix by rita at 2026-02-03T10:00:00Z"}, labels)
	issue := w.as("", "GET", "/repos/acme/site/issues/5", nil).want(200).obj()
	require.Equal(t, []any{"It breaks", "ann", true, 2}, []any{issue["title"], issue["user"].(obj)["login"], issue["locked"], len(issue["labels"].([]any))})
	require.Empty(t, w.as("", "GET", "/_sandbox/deliveries", nil).list())
	w.as("", "GET", "/repos/acme/site/contents/.github/mergexo.toml", nil).want(200)

	swap := func(from, to string) string { return strings.Replace(labelledPayload, from, to, 1) }
	own := strings.Replace(labelledPayload, `"sender": {"login": "rita", "id": 77`, `"sender": {"login": "ann", "id": 8`, 1)
	rights, labels, w = issueScene(t, "issues", own)
	require.Equal(t, map[string]string{"ann": "read"}, rights, "a template labels in the name of whoever uses it")
	require.Equal(t, "true agent:bugfix by ann at 2026-02-03T10:00:00Z", labels[1])
	require.Equal(t, "true bug by octo at 2026-02-03T09:00:00Z", labels[0], "an organization labels nothing")
	require.Equal(t, "write", w.as("actions", "GET", "/repos/acme/site/collaborators/octo/permission", nil).obj()["role_name"])
	rights, _, _ = issueScene(t, "issues", strings.Replace(own, `"NONE"`, `"MEMBER"`, 1))
	require.Equal(t, "write", rights["ann"])
	_, _, w = issueScene(t, "issues", swap(`"sender": {"login": "rita", "id": 77, "type": "User"}`, `"sender": {"login": "labeler[bot]", "id": 9, "type": "Bot"}`))
	require.Empty(t, w.s.world.repository("acme", "site").Permissions["labeler[bot]"])

	_, labels, w = issueScene(t, "issues", strings.NewReplacer(`"labeled"`, `"unlabeled"`, `, {"name": "agent:bugfix"}]`, `]`).Replace(labelledPayload))
	require.Equal(t, []string{"true bug by rita at 2026-02-03T09:00:00Z", "true agent:bugfix by rita at 2026-02-03T09:00:00Z", "false agent:bugfix by rita at 2026-02-03T10:00:00Z"}, labels)
	require.Len(t, w.s.world.repository("acme", "site").Issues[5].LabelIDs, 1)
}

func TestACommentOnALabelledIssueIsReenacted(t *testing.T) {
	said := strings.Replace(strings.Replace(labelledPayload, `"action": "labeled", "label": {"name": "agent:bugfix"}`,
		`"action": "created", "comment": {"id": 3100000009, "body": "go on", "user": {"login": "rita", "id": 77, "type": "User"}, "author_association": "MEMBER", "created_at": "2026-02-03T11:00:00Z"}`, 1), `"id": 61`, `"id": 62`, 1)
	rights, labels, w := issueScene(t, "issue_comment", said)
	require.Equal(t, map[string]string{"ann": "read", "rita": "write"}, rights)
	require.Equal(t, []string{"true bug by rita at 2026-02-03T09:00:00Z", "true agent:bugfix by rita at 2026-02-03T09:00:00Z"}, labels)
	require.Equal(t, "go on", w.as("", "GET", "/repos/acme/site/issues/comments/3100000009", nil).want(200).obj()["body"])
	_, labels, _ = issueScene(t, "issue_comment", strings.Replace(strings.Replace(said, `"MEMBER"`, `"NONE"`, 1), `"Organization"`, `"User"`, 1))
	require.Equal(t, "true bug by acme at 2026-02-03T09:00:00Z", labels[0], "nobody who is named may have done it")
}
