package sandbox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func id(o obj) int64 { return int64(o["id"].(float64)) }

func (w *town) issue(login string) string {
	w.t.Helper()
	return fmt.Sprintf("%s/issues/%v", repoPath, w.as(login, "POST", repoPath+"/issues", obj{"title": "Broken"}).want(201).obj()["number"])
}

func TestBodiesThatAreRefused(t *testing.T) {
	w := newTown(t)
	issue := w.issue("octo")
	for _, body := range []string{"", "  \n"} {
		w.as("octo", "POST", issue+"/comments", obj{"body": body}).want(422)
	}
	w.as("octo", "POST", issue+"/comments", obj{"body": strings.Repeat("ä", 65536)}).want(201)
	r := w.as("octo", "POST", issue+"/comments", obj{"body": strings.Repeat("ä", 65537)}).want(422)
	require.Contains(t, string(r.body), "body is too long (maximum is 65536 characters)")
	require.Contains(t, string(w.as("octo", "POST", issue+"/comments", obj{"body": 7}).want(422).body), "Invalid request")
	w.as("octo", "POST", repoPath+"/issues", obj{"body": "no title"}).want(422)
	w.as("octo", "PUT", issue+"/lock", nil).want(204)
	w.as("stranger", "POST", issue+"/comments", obj{"body": "x"}).want(403)
	w.as("octo", "POST", issue+"/comments", obj{"body": "x"}).want(201)
}

func TestTitles(t *testing.T) {
	w := newTown(t)
	for _, title := range []string{strings.Repeat("x", 1024), strings.Repeat("ж", 500), "🦆🦆"} {
		w.as("rita", "POST", repoPath+"/issues", obj{"title": title, "body": strings.Repeat("x", 65536)}).want(201)
	}
	long := strings.Repeat("x", 1025)
	for _, a := range []*answer{
		w.as("rita", "POST", repoPath+"/issues", obj{"title": long}),
		w.as("rita", "PATCH", repoPath+"/issues/1", obj{"title": long}),
		w.as("octo", "POST", repoPath+"/pulls", obj{"title": long, "head": "x", "base": "main"}),
	} {
		require.Contains(t, string(a.want(422).body), `"message":"title is too long (maximum is 256 characters)"`)
	}
	w.as("rita", "PATCH", repoPath+"/issues/1", obj{"title": " "}).want(422)
	r := w.as("rita", "POST", repoPath+"/issues", obj{"title": "x", "body": strings.Repeat("x", 65537)}).want(422)
	require.Contains(t, string(r.body), "body is too long (maximum is 65536 characters)")
}

// Whatever is done to an issue, and by whom, GitHub tells of it.
func TestWhatIsToldOfAnIssue(t *testing.T) {
	w := newTown(t)
	before := w.deliveries()
	issue := fmt.Sprintf("%s/issues/%v", repoPath, w.as("octo", "POST", repoPath+"/issues", obj{"title": "Broken", "labels": []string{"bug", "question"}}).want(201).obj()["number"])
	for _, did := range []struct {
		login, method, path string
		in                  any
	}{
		{"actions", "POST", "/labels", []string{"agent:bugfix"}},
		{"actions", "DELETE", "/labels/bug", nil},
		{"octo", "PATCH", "", obj{"title": "Still broken", "body": "how"}},
		{"octo", "PATCH", "", obj{"title": "Still broken"}},
		{"octo", "PUT", "/lock", nil},
		{"octo", "PUT", "/lock", nil},
		{"octo", "DELETE", "/lock", nil},
		{"octo", "PATCH", "", obj{"state": "closed", "state_reason": "not_planned"}},
		{"octo", "PATCH", "", obj{"state": "open"}},
	} {
		require.Less(t, w.as(did.login, did.method, issue+did.path, did.in).status, 300)
	}
	require.Equal(t, []string{"issues.opened", "issues.labeled", "issues.labeled", "label.created", "issues.labeled", "issues.unlabeled",
		"issues.edited", "issues.locked", "issues.unlocked", "issues.closed", "issues.reopened"}, w.delivered(before))
	at := func(n int) obj { return w.as("", "GET", "/_sandbox/deliveries", nil).list()[before+n]["payload"].(obj) }
	require.Len(t, at(0)["issue"].(obj)["labels"], 2, "labels that an issue is opened with are there from the start")
	require.Equal(t, []any{"bug", "octo"}, []any{at(1)["label"].(obj)["name"], at(1)["sender"].(obj)["login"]})
	require.Equal(t, []any{"agent:bugfix", actionsLogin, 3}, []any{at(4)["label"].(obj)["name"], at(4)["sender"].(obj)["login"], len(at(4)["issue"].(obj)["labels"].([]any))})
	require.Equal(t, obj{"title": obj{"from": "Broken"}, "body": obj{"from": ""}}, at(6)["changes"])
	require.Equal(t, []any{true, false}, []any{at(7)["issue"].(obj)["locked"], at(8)["issue"].(obj)["locked"]})
	require.Equal(t, []any{"closed", "not_planned"}, []any{at(9)["issue"].(obj)["state"], at(9)["issue"].(obj)["state_reason"]})
}

// Fixes closes what it names when it lands on the default branch, Refs only mentions it.
func TestWhatAPullRequestCloses(t *testing.T) {
	w, c := townWithClone(t)
	w.issue("octo")
	w.issue("octo")
	c.branch("x", "a.txt", "a\n")
	w.as("octo", "POST", repoPath+"/pulls", obj{"title": "x", "head": "x", "base": "main", "body": "Fixes #1\n\nRefs #2"}).want(201)
	g := &gqlWorld{Server: w.s, t: t}
	a := g.ask("octo", `{ repository(owner: "octo", name: "widgets") { pullRequest(number: 3) { closingIssuesReferences(first: 5) { nodes { number } } } } }`, nil).fine()
	require.Equal(t, []any{obj{"number": 1.0}}, a.at("repository", "pullRequest", "closingIssuesReferences", "nodes"))
	w.as("octo", "PUT", pullPath(3)+"/merge", obj{}).want(200)
	require.Equal(t, "closed", w.as("octo", "GET", repoPath+"/issues/1", nil).obj()["state"])
	require.Equal(t, "open", w.as("octo", "GET", repoPath+"/issues/2", nil).obj()["state"])
}
