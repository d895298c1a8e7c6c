package sandbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// pin stops the clock at the start of a story; tick moves it on.
func (w *town) pin() time.Time {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w.s.SetClock(at)
	return at
}

func (w *town) tick(d time.Duration) {
	w.as("", "PUT", "/_sandbox/clock", obj{"advance": d.String()}).want(200)
}

func id(o obj) int64 { return int64(o["id"].(float64)) }

func (w *town) issue(login string) string {
	w.t.Helper()
	return fmt.Sprintf("%s/issues/%v", repoPath, w.as(login, "POST", repoPath+"/issues", obj{"title": "Broken"}).want(201).obj()["number"])
}

func TestWhatRightsAllow(t *testing.T) {
	w := newTown(t)
	w.grant("wendy", "write")
	w.grant("trish", "triage")
	issue := w.issue("stranger")
	comment := fmt.Sprintf("%s/issues/comments/%d", repoPath, id(w.as("stranger", "POST", issue+"/comments", obj{"body": "me too"}).want(201).obj()))

	w.as("other", "PATCH", comment, obj{"body": "x"}).want(403)
	w.as("trish", "PATCH", comment, obj{"body": "x"}).want(403)
	w.as("wendy", "PATCH", comment, obj{"body": "edited"}).want(200)
	w.as("stranger", "PATCH", issue, obj{"title": "Mine"}).want(200)
	w.as("other", "PATCH", issue, obj{"title": "Not mine"}).want(403)
	w.as("other", "POST", issue+"/labels", obj{"labels": []string{"bug"}}).want(403)
	w.as("trish", "POST", issue+"/labels", obj{"labels": []string{"bug"}}).want(200)
	require.Equal(t, "Resource not accessible by integration",
		w.as("actions", "PUT", repoPath+"/collaborators/wendy", obj{}).want(403).obj()["message"])
	require.Equal(t, "Must have admin rights to Repository.",
		w.as("wendy", "PUT", repoPath+"/collaborators/wendy", obj{}).want(403).obj()["message"])
	w.as("", "POST", issue+"/comments", obj{"body": "x"}).want(401)
	w.as("octo", "DELETE", comment, nil).want(204)
	w.as("octo", "GET", comment, nil).want(404)

	w.as("octo", "PATCH", repoPath, obj{"private": true}).want(200)
	w.as("stranger", "GET", repoPath, nil).want(404)
	w.as("", "GET", issue, nil).want(404)
	w.as("stranger", "POST", issue+"/comments", obj{"body": "x"}).want(404)
	w.as("trish", "GET", issue, nil).want(200)
}

func TestPermissionsAndAssociations(t *testing.T) {
	w := newTown(t)
	for login, want := range map[string][2]string{
		"mia": {"maintain", "write"}, "trish": {"triage", "read"}, "wendy": {"write", "write"}, "rita": {"read", "read"},
	} {
		w.grant(login, want[0])
		p := w.as("actions", "GET", repoPath+"/collaborators/"+login+"/permission", nil).want(200).obj()
		require.Equal(t, want[0], p["role_name"], login)
		require.Equal(t, want[1], p["permission"], login)
	}
	w.as("octo", "GET", "/user", nil)
	w.as("nobody", "GET", "/user", nil)
	require.Equal(t, "read", w.as("octo", "GET", repoPath+"/collaborators/nobody/permission", nil).want(200).obj()["permission"])
	w.as("octo", "GET", repoPath+"/collaborators/missing/permission", nil).want(404)
	w.as("octo", "GET", repoPath+"/collaborators/nobody", nil).want(404)
	w.as("octo", "PUT", repoPath+"/collaborators/nobody", obj{"permission": "admin"}).want(204)
	w.as("octo", "GET", repoPath+"/collaborators/nobody", nil).want(204)
	require.Len(t, w.as("octo", "GET", repoPath+"/collaborators", nil).want(200).list(), 6)

	issue := w.issue("octo")
	w.as("", "PUT", "/_sandbox/users/hal", obj{"repository": "octo/widgets", "permission": "maintain", "membership": "private"}).want(200)
	require.Equal(t, "maintain", w.as("actions", "GET", repoPath+"/collaborators/hal/permission", nil).want(200).obj()["role_name"])
	for login, want := range map[string]string{"octo": "OWNER", "rita": "COLLABORATOR", "stranger": "NONE", "actions": "NONE", "hal": "NONE"} {
		require.Equal(t, want, w.as(login, "POST", issue+"/comments", obj{"body": "x"}).want(201).obj()["author_association"], login)
	}
}

func TestCommentsPageBySinceAndLink(t *testing.T) {
	w := newTown(t)
	start := w.pin()
	issue := w.issue("octo")
	var ids []int64
	for n := range 250 {
		ids = append(ids, id(w.as("octo", "POST", issue+"/comments", obj{"body": fmt.Sprint(n)}).want(201).obj()))
	}
	require.Greater(t, ids[0], int64(1)<<31)
	require.Greater(t, ids[1], ids[0])
	var read []int64
	pages, next := 0, issue+"/comments?per_page=100"
	for next != "" {
		a := w.as("octo", "GET", next, nil).want(200)
		for _, c := range a.list() {
			read = append(read, id(c))
		}
		pages++
		next = ""
		for _, l := range strings.Split(a.header.Get("Link"), ", ") {
			if u, ok := strings.CutSuffix(l, `>; rel="next"`); ok {
				next = strings.TrimPrefix(u, "<"+w.url+restPrefix)
			}
		}
	}
	require.Equal(t, ids, read)
	require.Equal(t, 3, pages)
	link := w.as("octo", "GET", issue+"/comments?per_page=100&page=2", nil).header.Get("Link")
	for _, rel := range []string{"prev", "next", "last", "first"} {
		require.Contains(t, link, `rel="`+rel+`"`)
	}
	require.Len(t, w.as("octo", "GET", issue+"/comments?per_page=1000", nil).list(), 100)
	require.Len(t, w.as("octo", "GET", issue+"/comments", nil).list(), 30)
	require.Empty(t, w.as("octo", "GET", issue+"/comments?page=99", nil).list())

	w.tick(time.Minute)
	w.as("octo", "PATCH", fmt.Sprintf("%s/issues/comments/%d", repoPath, ids[3]), obj{"body": "edited"}).want(200)
	since := start.Add(time.Minute).Format(time.RFC3339)
	edited := w.as("octo", "GET", issue+"/comments?since="+since, nil).want(200).list()
	require.Len(t, edited, 1, "since is inclusive and counts the last edit")
	require.Equal(t, ids[3], id(edited[0]))
	require.Equal(t, since, edited[0]["updated_at"])
	require.Equal(t, ids[3], id(w.as("octo", "GET", repoPath+"/issues/comments?sort=updated&per_page=1", nil).list()[0]))
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

func TestLabelsAndReactions(t *testing.T) {
	w := newTown(t)
	issue := w.issue("octo")
	before := w.deliveries()
	w.as("octo", "POST", issue+"/labels", obj{"labels": []string{"agent:bugfix", "BUG"}}).want(200)
	require.Equal(t, []string{"label.created", "issues.labeled", "issues.labeled"}, w.delivered(before))
	require.Len(t, w.as("octo", "GET", issue+"/labels", nil).list(), 2)
	w.as("octo", "POST", issue+"/labels", []string{"bug"}).want(200)
	require.Len(t, w.as("octo", "GET", issue+"/labels", nil).list(), 2, "a label is on an issue once, whatever its case")
	require.Len(t, w.as("octo", "GET", repoPath+"/issues?labels=agent:bugfix,bug", nil).list(), 1)
	w.as("octo", "DELETE", issue+"/labels/nope", nil).want(404)
	w.as("octo", "PUT", issue+"/labels", obj{"labels": []string{"question"}}).want(200)
	require.Equal(t, "question", w.as("octo", "GET", issue, nil).obj()["labels"].([]any)[0].(obj)["name"])
	w.as("octo", "POST", repoPath+"/labels", obj{"name": "bug", "color": "000000"}).want(422)

	c := fmt.Sprintf("%s/issues/comments/%d/reactions", repoPath, id(w.as("octo", "POST", issue+"/comments", obj{"body": "x"}).obj()))
	first := w.as("rita", "POST", c, obj{"content": "eyes"}).want(201).obj()
	require.Equal(t, id(first), id(w.as("rita", "POST", c, obj{"content": "eyes"}).want(200).obj()))
	w.as("rita", "POST", c, obj{"content": "nope"}).want(422)
	require.Len(t, w.as("rita", "GET", c, nil).want(200).list(), 1)
	w.as("other", "DELETE", fmt.Sprintf("%s/%d", c, id(first)), nil).want(404)
	w.as("rita", "DELETE", fmt.Sprintf("%s/%d", c, id(first)), nil).want(204)
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
