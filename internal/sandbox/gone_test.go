package sandbox

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// stay sends a request and follows nothing.
func (w *town) stay(login, method, path, body string) *http.Response {
	w.t.Helper()
	req := must.Get(http.NewRequest(method, w.url+restPrefix+path, strings.NewReader(body)))(w.t)
	req.Header.Set("Authorization", "Bearer sandbox-"+login)
	resp := must.Get(http.DefaultTransport.RoundTrip(req))(w.t)
	require.NoError(w.t, resp.Body.Close())
	return resp
}

// graph is what GraphQL says of an issue: its title, or the error.
func (w *town) graph(number int) string {
	w.t.Helper()
	g := &gqlWorld{Server: w.s, t: w.t}
	a := g.ask("octo", fmt.Sprintf(`{ repository(owner: "octo", name: "widgets") { issueOrPullRequest(number: %d) { ... on Issue { title closed locked } } } }`, number), nil)
	if len(a.Errors) > 0 {
		return fmt.Sprint(a.Errors[0]["type"], ": ", a.Errors[0]["message"])
	}
	return fmt.Sprint(a.at("repository", "issueOrPullRequest"))
}

func TestATransferredIssue(t *testing.T) {
	w := newTown(t)
	w.as("octo", "POST", "/user/repos", obj{"name": "gears", "auto_init": true}).want(201)
	w.as("octo", "POST", "/repos/octo/gears/issues", obj{"title": "Number one"}).want(201)
	issue := w.issue("rita")
	w.as("octo", "POST", issue+"/labels", []string{"bug", "only-here"}).want(200)
	w.as("rita", "POST", issue+"/comments", obj{"body": "x"}).want(201)
	before := w.deliveries()
	w.as("", "PUT", "/_sandbox/issues", obj{"repository": "octo/widgets", "number": 1, "state": "transferred", "to": "octo/gears", "by": "ada"}).want(200)
	sent := w.as("", "GET", "/_sandbox/deliveries", nil).list()[before:]
	require.Equal(t, []string{"issues.transferred", "issues.opened"}, w.delivered(before))
	moved, opened := sent[0]["payload"].(obj), sent[1]["payload"].(obj)
	require.EqualValues(t, 1, moved["issue"].(obj)["number"])
	require.Equal(t, "octo/gears", moved["changes"].(obj)["new_repository"].(obj)["full_name"])
	require.Equal(t, "octo/widgets", opened["changes"].(obj)["old_repository"].(obj)["full_name"])
	require.Equal(t, []any{"octo/gears", "ada"}, []any{opened["repository"].(obj)["full_name"], opened["sender"].(obj)["login"]})

	there := w.as("octo", "GET", "/repos/octo/gears/issues/2", nil).want(200).obj()
	require.Equal(t, []any{"Broken", "rita", 1}, []any{there["title"], there["user"].(obj)["login"], len(there["labels"].([]any))}, "labels that are there stay")
	require.Len(t, w.as("octo", "GET", "/repos/octo/gears/issues/2/comments", nil).want(200).list(), 1)

	gears := w.s.world.repository("octo", "gears").ID
	for _, call := range []string{"GET ", "PATCH ", "POST /labels", "POST /comments", "DELETE /labels/a%2Fb"} {
		method, path, _ := strings.Cut(call, " ")
		resp := w.stay("octo", method, issue+path, `{"body": "x"}`)
		require.Equal(t, 301, resp.StatusCode, call)
		require.Equal(t, fmt.Sprintf("%s/api/v3/repositories/%d/issues/2%s", w.url, gears, path), resp.Header.Get("Location"))
	}
	require.Equal(t, "Broken", w.as("octo", "GET", issue, nil).want(200).obj()["title"], "who follows gets there")
	require.Equal(t, "NOT_FOUND: Could not resolve to an issue or pull request with the number of 1.", w.graph(1))
	w.as("octo", "PATCH", "/repos/octo/gears", obj{"private": true}).want(200)
	require.Equal(t, 404, w.stay("stranger", "GET", issue, "").StatusCode, "who may not see where it went is not told")
	require.Equal(t, 301, w.stay("octo", "GET", issue, "").StatusCode)
	require.Len(t, w.as("octo", "GET", "/repos/octo/gears/issues/2/comments", nil).want(200).list(), 1, "nothing was said by calls that were not followed")
}
