package github

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func payload(t testing.TB, name string) []byte {
	t.Helper()
	return must.Get(os.ReadFile("testdata/events/" + name + ".json"))(t)
}

func TestEveryTrigger(t *testing.T) {
	hello := model.Repo{Owner: "Codertocat", Name: "Hello-World"}
	coder := model.Actor{Login: "Codertocat", ID: 21031067}
	octo := model.Repo{Owner: "octo-org", Name: "octo-repo"}
	want := []model.Event{
		{Name: "issues", Action: "labeled", Number: 1},
		{Name: "issue_comment", Action: "created", Number: 1, CommentID: 492700400, CommentNode: "MDEyOklzc3VlQ29tbWVudDQ5MjcwMDQwMA==",
			CommentBody: "You are totally right! I'll get this fixed right away.", Author: coder},
		{Name: "pull_request", Action: "labeled", Number: 2, IsPull: true},
		{Name: "pull_request_review", Action: "submitted", Number: 2, IsPull: true, CommentID: 237895671, CommentNode: "MDE3OlB1bGxSZXF1ZXN0UmV2aWV3MjM3ODk1Njcx", Author: coder},
		{Name: "pull_request_review_comment", Action: "created", Number: 2, IsPull: true, CommentID: 284312630,
			CommentNode: "MDI0OlB1bGxSZXF1ZXN0UmV2aWV3Q29tbWVudDI4NDMxMjYzMA==", CommentBody: "Maybe you should use more emoji on this line.", Author: coder},
		{Name: "workflow_run", Action: "completed", Repo: octo, Number: 2, Numbers: []int{2}, IsPull: true, RunID: 289782451},
		{Name: "check_suite", Action: "completed", Number: 2, Numbers: []int{2}, IsPull: true, SHA: "ec26c3e57ca3a959ca5aad62de7213c562f8c821", Branch: "changes"},
		{Name: "check_run", Action: "completed", Number: 2, Numbers: []int{2}, IsPull: true, SHA: "ec26c3e57ca3a959ca5aad62de7213c562f8c821"},
		{Name: "status", SHA: "f95f852bd8fca8fcc58a9a2d6c842781e32a215e", Branches: []string{"master"}},
		{Name: "push", SHA: "f95f852bd8fca8fcc58a9a2d6c842781e32a215e", Branch: "master"},
		{Name: "delete", Branch: "simple-branch"},
		{Name: "workflow_dispatch", Repo: octo},
		{Name: "schedule"},
	}
	assert.Len(t, want, len(triggers))
	for _, w := range want {
		t.Run(w.Name, func(t *testing.T) {
			raw := payload(t, w.Name)
			e := must.Get(ParseEvent(w.Name, raw))(t)
			if w.Repo == (model.Repo{}) {
				w.Repo = hello
			}
			if w.Name != "schedule" {
				w.Sender = coder
			}
			assert.Equal(t, w, e)
			assert.Equal(t, w.Name, must.Get(InferEvent(raw))(t))
		})
	}
}

// edit is the payload of a trigger with one place changed; the last path element's value becomes v, or is removed.
func edit(t testing.TB, name string, v any, path ...string) []byte {
	t.Helper()
	var o map[string]any
	require.NoError(t, json.Unmarshal(payload(t, name), &o))
	at := o
	for _, key := range path[:len(path)-1] {
		at = at[key].(map[string]any)
	}
	at[path[len(path)-1]] = v
	if v == gone {
		delete(at, path[len(path)-1])
	}
	return must.Get(json.Marshal(o))(t)
}

const gone = "\x00gone"

// When the text that the trigger carries was written: a comment's newest edit counts, a review's submission.
func TestWhenItWasSaid(t *testing.T) {
	const created, later = "2026-01-01T00:00:01Z", "2026-01-01T02:00:02+02:00"
	at := time.Date(2026, 1, 1, 0, 0, 1, 0, time.UTC)
	for _, c := range []struct {
		name, within string
		times        map[string]any
		want         time.Time
	}{
		{"issue_comment", "comment", map[string]any{"created_at": created, "updated_at": later}, at.Add(time.Second)},
		{"issue_comment", "comment", map[string]any{"created_at": created, "updated_at": nil}, at},
		{"pull_request_review_comment", "comment", map[string]any{"created_at": created, "updated_at": later}, at.Add(time.Second)},
		{"pull_request_review_comment", "comment", map[string]any{"created_at": created}, at},
		{"pull_request_review", "review", map[string]any{"submitted_at": created, "updated_at": later}, at},
		{"pull_request_review", "review", map[string]any{"submitted_at": nil, "updated_at": later}, time.Time{}},
		{"issue_comment", "comment", map[string]any{}, time.Time{}},
	} {
		var o map[string]any
		require.NoError(t, json.Unmarshal(payload(t, c.name), &o))
		said := o[c.within].(map[string]any)
		for _, key := range []string{"created_at", "updated_at", "submitted_at"} {
			delete(said, key)
		}
		maps.Copy(said, c.times)
		e := must.Get(ParseEvent(c.name, must.Get(json.Marshal(o))(t)))(t)
		assert.Equal(t, c.want, e.CommentAt, "%s %v", c.name, c.times)
	}
}

// GitHub lists a pull request from a branch here into a fork, too. Its number is the fork's, and may be anything here.
func TestPullRequestsOfAnotherRepositoryDoNotCount(t *testing.T) {
	of := func(number int, repo map[string]any) any {
		return map[string]any{"number": number, "base": map[string]any{"ref": "main", "repo": repo}}
	}
	for name, here := range map[string]struct {
		id  int
		url string
	}{"workflow_run": {300029405, "https://api.github.com/repos/Octo-Org/octo-repo"}, "check_run": {186853002, "https://ghe.example/api/v3/repos/codertocat/hello-world"},
		"check_suite": {186853002, "https://api.github.com/repos/Codertocat/Hello-World"}} {
		for what, c := range map[string]struct {
			pulls []any
			want  []int
		}{
			"another id":         {[]any{of(7, map[string]any{"id": 5, "url": here.url}), of(2, map[string]any{"id": here.id})}, []int{2}},
			"another address":    {[]any{of(7, map[string]any{"url": "https://api.github.com/repos/fork/" + here.url[strings.LastIndex(here.url, "/")+1:]}), of(3, map[string]any{"url": here.url})}, []int{3}},
			"none of ours":       {[]any{of(7, map[string]any{"id": 5})}, nil},
			"without any detail": {[]any{of(4, nil), of(5, map[string]any{}), map[string]any{"number": 6, "base": nil}}, []int{4, 5, 6}},
		} {
			e := must.Get(ParseEvent(name, edit(t, name, c.pulls, name, "pull_requests")))(t)
			assert.Equal(t, c.want, e.Numbers, "%s: %s", name, what)
			assert.Equal(t, c.want != nil, e.IsPull, "%s: %s", name, what)
		}
	}
}

// A push and a deletion are about a branch, whatever became of it; tags are nobody's.
func TestPushesOfBranches(t *testing.T) {
	none := strings.Repeat("0", 40)
	for _, c := range []struct {
		name        string
		change      map[string]any
		branch, sha string
	}{
		{"push", map[string]any{"ref": "refs/heads/mergexo/train/release/2/7"}, "mergexo/train/release/2/7", "f95f852bd8fca8fcc58a9a2d6c842781e32a215e"},
		{"push", map[string]any{"deleted": true, "after": none}, "master", ""},
		{"push", map[string]any{"ref": "refs/tags/v1"}, "", "f95f852bd8fca8fcc58a9a2d6c842781e32a215e"},
		{"delete", map[string]any{"ref": "refs/heads/odd"}, "refs/heads/odd", ""}, // a short name, whatever it looks like
		{"delete", map[string]any{"ref": "v1", "ref_type": "tag"}, "", ""},
	} {
		var o map[string]any
		require.NoError(t, json.Unmarshal(payload(t, c.name), &o))
		maps.Copy(o, c.change)
		e := must.Get(ParseEvent(c.name, must.Get(json.Marshal(o))(t)))(t)
		assert.Equal(t, c.branch, e.Branch, "%s %v", c.name, c.change)
		assert.Equal(t, c.sha, e.SHA, "%s %v", c.name, c.change)
		assert.Zero(t, e.Number)
	}
}

func TestForeignPayloads(t *testing.T) {
	for _, c := range []struct {
		name    string
		payload []byte
		want    string
	}{
		{"issues", nil, "payload: line 1, column 1: the file is empty"},
		{"issues", []byte("  \n"), "payload: line 1, column 1: the file is empty"},
		{"issues", []byte("{\n  \"action\": \"labeled\",\n  \"iss"), "payload: line 3, column 7: ends in the middle"},
		{"issues", []byte("{\n  'action': 1}"), `payload: line 2, column 3: invalid character '\'' looking for beginning of object key string`},
		{"issues", []byte("{} {}"), "payload: line 1, column 4: text after the payload's end"},
		{"issues", []byte("[]"), "payload: line 1, column 1: want an object, got a list"},
		{"issues", []byte("null"), "payload: line 1, column 1: want an object, got null"},
		{"issues", []byte("{}"), "payload: repository: missing"},
		{"issues", []byte(strings.Repeat("[", 20000)), "payload: line 1, column 10001: invalid character '[' exceeded max depth"},
		{"issues", edit(t, "issues", gone, "repository"), "payload: repository: missing"},
		{"issues", edit(t, "issues", nil, "repository"), "payload: repository: missing"},
		{"issues", edit(t, "issues", gone, "repository", "full_name"), "payload: repository.full_name: missing"},
		{"issues", edit(t, "issues", "x", "repository", "full_name"), `payload: repository.full_name: want owner/name, got the string "x"`},
		{"issues", edit(t, "issues", "../..", "repository", "full_name"), `payload: repository.full_name: want owner/name, got the string "../.."`},
		{"issues", edit(t, "issues", gone, "issue", "number"), "payload: issue.number: missing"},
		{"issues", edit(t, "issues", nil, "issue"), "payload: issue: missing"},
		{"issues", edit(t, "issues", "7", "issue", "number"), `payload: issue.number: want a number, got the string "7"`},
		{"issues", edit(t, "issues", -7, "issue", "number"), "payload: issue.number: want a positive whole number, got -7"},
		{"issues", edit(t, "issues", 1.5, "issue", "number"), "payload: issue.number: want a positive whole number, got 1.5"},
		{"issues", edit(t, "issues", 1e30, "issue", "number"), "payload: issue.number: want a positive whole number, got 1e+30"},
		{"issues", edit(t, "issues", 7, "action"), "payload: action: want a string, got the number 7"},
		{"issues", edit(t, "issues", "me", "sender"), `payload: sender: want an object, got the string "me"`},
		{"issue_comment", edit(t, "issue_comment", nil, "comment"), "payload: comment: missing"},
		{"issue_comment", edit(t, "issue_comment", true, "comment", "id"), "payload: comment.id: want a number, got true"},
		{"issue_comment", edit(t, "issue_comment", []int{1}, "comment", "body"), "payload: comment.body: want a string, got a list"},
		{"issue_comment", edit(t, "issue_comment", gone, "comment", "user", "login"), "payload: comment.user.login: missing"},
		{"issue_comment", edit(t, "issue_comment", 1767225600, "comment", "updated_at"), "payload: comment.updated_at: want a string, got the number 1767225600"},
		{"issue_comment", edit(t, "issue_comment", "today", "comment", "created_at"), `payload: comment.created_at: want a time such as 2026-01-31T23:59:59Z, got the string "today"`},
		{"pull_request_review", edit(t, "pull_request_review", true, "review", "submitted_at"), "payload: review.submitted_at: want a string, got true"},
		{"pull_request", edit(t, "pull_request", 3, "pull_request"), "payload: pull_request: want an object, got the number 3"},
		{"pull_request_review", edit(t, "pull_request_review", gone, "review"), "payload: review: missing"},
		{"pull_request_review_comment", edit(t, "pull_request_review_comment", gone, "pull_request"), "payload: pull_request: missing"},
		{"workflow_run", edit(t, "workflow_run", "x", "workflow_run", "pull_requests"), `payload: workflow_run.pull_requests: want a list, got the string "x"`},
		{"workflow_run", edit(t, "workflow_run", []any{nil}, "workflow_run", "pull_requests"), "payload: workflow_run.pull_requests[0]: missing"},
		{"workflow_run", edit(t, "workflow_run", []any{map[string]any{}}, "workflow_run", "pull_requests"), "payload: workflow_run.pull_requests[0].number: missing"},
		{"workflow_run", edit(t, "workflow_run", []any{map[string]any{"number": 7, "base": "main"}}, "workflow_run", "pull_requests"), `payload: workflow_run.pull_requests[0].base: want an object, got the string "main"`},
		{"workflow_run", edit(t, "workflow_run", gone, "workflow_run", "id"), "payload: workflow_run.id: missing"},
		{"workflow_run", edit(t, "workflow_run", 7, "workflow_run", "conclusion"), "payload: workflow_run.conclusion: want a string, got the number 7"},
		{"check_run", edit(t, "check_run", 7, "check_run"), "payload: check_run: want an object, got the number 7"},
		{"status", edit(t, "status", gone, "sha"), "payload: sha: missing"},
		{"workflow_dispatch", edit(t, "workflow_dispatch", "seven", "inputs", "pr"), `payload: inputs.pr: want the number of a pull request, got the string "seven"`},
		{"workflow_dispatch", edit(t, "workflow_dispatch", true, "inputs", "number"), "payload: inputs.number: want a number, got true"},
	} {
		_, err := ParseEvent(c.name, c.payload)
		var e *PayloadError
		require.ErrorAs(t, err, &e, c.want)
		assert.Equal(t, c.want, err.Error())
	}
}

func TestWhatMayBeMissing(t *testing.T) {
	e := must.Get(ParseEvent("schedule", []byte(`{"schedule": "0 0 * * *"}`)))(t)
	assert.Equal(t, model.Event{Name: "schedule"}, e)

	assert.Equal(t, "ghost", must.Get(ParseEvent("issue_comment", edit(t, "issue_comment", nil, "comment", "user")))(t).Author.Login)

	assert.True(t, must.Get(ParseEvent("issue_comment", edit(t, "issue_comment", map[string]any{"url": "x"}, "issue", "pull_request")))(t).IsPull)

	// A run on a fork's pull request: GitHub connects none with it.
	raw := edit(t, "workflow_run", []any{}, "workflow_run", "pull_requests")
	e = must.Get(ParseEvent("workflow_run", bytes.Replace(raw, []byte(`"id":289782451`), []byte(`"id":5,"head_sha":"abc","conclusion":"failure"`), 1)))(t)
	assert.Equal(t, []any{0, "abc", int64(5), "failure"}, []any{e.Number, e.SHA, e.RunID, e.Conclusion})

	e = must.Get(ParseEvent("pull_request_review", edit(t, "pull_request_review", "dismissed", "action")))(t)
	assert.Equal(t, "dismissed", e.Action)
	assert.Equal(t, 2, e.Number)

	e = must.Get(ParseEvent("check_suite", edit(t, "check_suite", []any{map[string]any{"number": 9}, map[string]any{"number": 4}}, "check_suite", "pull_requests")))(t)
	assert.Equal(t, []int{9, 4}, e.Numbers, "a commit can be the head of several pull requests")
	assert.Equal(t, 9, e.Number)

	for _, bot := range []map[string]any{{"login": "github-actions[bot]"}, {"login": "renovate", "type": "Bot"}} {
		assert.True(t, must.Get(ParseEvent("issue_comment", edit(t, "issue_comment", bot, "sender")))(t).Sender.Bot)
	}
}

// Who opened an issue and who labeled it are both named, and whatever else happens to issues is understood as well.
func TestIssueEvents(t *testing.T) {
	user := map[string]any{"login": "ada", "id": 7, "type": "User"}
	e := must.Get(ParseEvent("issues", edit(t, "issues", user, "issue", "user")))(t)
	assert.Equal(t, []string{"ada", "Codertocat"}, []string{e.Author.Login, e.Sender.Login})
	assert.EqualError(t, must.Err(ParseEvent("issues", edit(t, "issues", "ada", "issue", "user"))), `payload: issue.user: want an object, got the string "ada"`)
	for _, action := range []string{"assigned", "closed", "deleted", "demilestoned", "edited", "labeled", "locked", "milestoned", "opened", "pinned",
		"reopened", "transferred", "typed", "unassigned", "unlabeled", "unlocked", "unpinned", "untyped", "field_added"} {
		raw := edit(t, "issues", action, "action")
		e := must.Get(ParseEvent("issues", raw))(t)
		assert.Equal(t, []any{action, 1, false, ""}, []any{e.Action, e.Number, e.IsPull, e.Author.Login})
		assert.Equal(t, "issues", must.Get(InferEvent(raw))(t))
	}
}

// The branch of a checked commit is one of this repository that is at it. Without one, the commit alone tells.
func TestTheBranchOfACheckedCommit(t *testing.T) {
	const sha = "f95f852bd8fca8fcc58a9a2d6c842781e32a215e"
	at := func(name, sha string) map[string]any {
		return map[string]any{"name": name, "commit": map[string]any{"sha": sha}}
	}
	e := must.Get(ParseEvent("status", edit(t, "status", []any{at("mergexo/train/main/3", sha), at("gone on", "other"), at("agent/7", sha)}, "branches")))(t)
	assert.Equal(t, []string{"mergexo/train/main/3", "agent/7"}, e.Branches)
	e = must.Get(ParseEvent("status", edit(t, "status", nil, "branches")))(t)
	assert.Equal(t, []any{sha, 0}, []any{e.SHA, len(e.Branches)})
	for _, bad := range []struct {
		branches any
		says     string
	}{
		{"main", `payload: branches: want a list, got the string "main"`}, {[]any{7}, "payload: branches[0]: want an object, got the number 7"},
		{[]any{map[string]any{}}, "payload: branches[0].name: missing"},
	} {
		assert.EqualError(t, must.Err(ParseEvent("status", edit(t, "status", bad.branches, "branches"))), bad.says)
	}

	for branch, want := range map[any]string{"mergexo/train/main/3": "mergexo/train/main/3", nil: ""} {
		e = must.Get(ParseEvent("check_run", edit(t, "check_run", map[string]any{"head_branch": branch}, "check_run", "check_suite")))(t)
		assert.Equal(t, want, e.Branch)
	}
	for repository, want := range map[string]string{"Octo-Org/octo-repo": "main", "mallory/octo-repo": ""} {
		raw := edit(t, "workflow_run", map[string]any{"full_name": repository}, "workflow_run", "head_repository")
		e = must.Get(ParseEvent("workflow_run", bytes.Replace(raw, []byte(`"id":289782451`), []byte(`"id":5,"head_branch":"main"`), 1)))(t)
		assert.Equal(t, want, e.Branch, repository)
	}
}

func TestDispatchInputs(t *testing.T) {
	for _, c := range []struct {
		inputs any
		want   int
	}{
		{nil, 0}, {map[string]any{}, 0}, {map[string]any{"pull_request": "7"}, 7}, {map[string]any{"number": "#8"}, 8}, {map[string]any{"pr": 9}, 9},
		{map[string]any{"pull_request": "", "pr": " 10 "}, 10}, {map[string]any{"other": "11"}, 0},
	} {
		assert.Equal(t, c.want, must.Get(ParseEvent("workflow_dispatch", edit(t, "workflow_dispatch", c.inputs, "inputs")))(t).Number, "%v", c.inputs)
	}
}

func TestOtherEvents(t *testing.T) {
	_, err := ParseEvent("gollum", []byte("not even JSON"))
	require.ErrorIs(t, err, ErrNotOurs)
	assert.Equal(t, `event "gollum": not an event that mergexo handles`, err.Error())
	for _, raw := range []string{string(payload(t, "pull_request_review_thread")), "{}", `{"ref": "refs/heads/main", "commits": []}`, `{"comment": {}, "repository": {}}`} {
		require.ErrorIs(t, must.Err(InferEvent([]byte(raw))), ErrNotOurs, raw)
	}
	_, err = InferEvent([]byte("{"))
	var e *PayloadError
	require.ErrorAs(t, err, &e)
}

// understood holds of an example that it is understood, or known not to be ours, and its name told from its keys.
func understood(t *testing.T, name string, raw []byte) {
	t.Helper()
	_, err := ParseEvent(name, raw)
	inferred, inferErr := InferEvent(raw)
	if slices.ContainsFunc(triggers, func(t trigger) bool { return t.name == name }) {
		require.NoError(t, err, "%s: %s", name, raw)
		require.NoError(t, inferErr, "%s: %s", name, raw)
		assert.Equal(t, name, inferred)
		return
	}
	require.ErrorIs(t, err, ErrNotOurs)
	require.ErrorIs(t, inferErr, ErrNotOurs, "%s was taken for %s: %s", name, inferred, raw)
}

func TestExamples(t *testing.T) {
	files := must.Get(filepath.Glob("testdata/events/*.json"))(t)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		understood(t, name, payload(t, name))
	}
	assert.Greater(t, len(files), len(triggers))
}

// No payload panics; what is refused is refused in one line, and what is understood can be used as it is.
func FuzzParseEvent(f *testing.F) {
	for _, trigger := range triggers {
		name := trigger.name
		f.Add(name, payload(f, name))
		f.Add(name, []byte("{}"))
	}
	f.Fuzz(func(t *testing.T, name string, raw []byte) {
		e, err := ParseEvent(name, raw)
		var bad *PayloadError
		switch {
		case err == nil:
			require.Equal(t, name, e.Name)
			require.GreaterOrEqual(t, e.Number, 0)
			if e.Repo != (model.Repo{}) {
				require.NoError(t, checkRepo(e.Repo))
			}
		case errors.As(err, &bad), errors.Is(err, ErrNotOurs):
			require.NotContains(t, err.Error(), "\n")
		default:
			t.Fatalf("an error of another kind: %v", err)
		}
		_, _ = InferEvent(raw)
	})
}
