package sandbox

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The token of workflows may create so much in a minute and in an hour, whatever it creates.
func TestTheLimitsOnContent(t *testing.T) {
	w := newTown(t)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w.s.SetClock(now)
	w.as("", "PUT", "/_sandbox/limits", obj{"rest": 0}).want(204)
	open := func(n int) *answer { return w.as("actions", "POST", repoPath+"/issues", obj{"title": fmt.Sprint(n)}) }
	refused := func(a *answer, after string) {
		t.Helper()
		a.want(http.StatusForbidden)
		require.Equal(t, []any{contentBlocked, after}, []any{a.obj()["message"], a.header.Get("Retry-After")})
	}
	open(0).want(201)
	now = now.Add(20 * time.Second)
	w.s.SetClock(now)
	for n := range contentMinute - 1 {
		open(n).want(201)
	}
	before := w.deliveries()
	refused(open(80), "40")
	refused(w.as("actions", "POST", repoPath+"/issues/1/labels", obj{"labels": []string{"bug"}}), "40")
	byGraph := w.request("actions", "POST", graphqlPath, obj{"query": `mutation { dequeuePullRequest(input: {id: "x"}) { clientMutationId } }`}).want(200)
	require.Equal(t, []any{obj{"data": nil, "errors": []any{obj{"message": contentBlocked}}}, "40"}, []any{byGraph.obj(), byGraph.header.Get("Retry-After")})
	assert.Equal(t, before, w.deliveries(), "nothing was written")
	w.as("actions", "GET", repoPath, nil).want(200)
	w.request("actions", "POST", graphqlPath, obj{"query": "{ viewer { login } }"}).want(200)
	w.as("octo", "POST", repoPath+"/issues", obj{"title": "people have limits of their own"}).want(201)

	now = now.Add(40 * time.Second)
	w.s.SetClock(now)
	open(81).want(201)
	refused(open(82), "20") // of the other 79
	for made := contentMinute + 1; made < contentHour; {
		now = now.Add(time.Minute)
		w.s.SetClock(now)
		for range min(contentMinute, contentHour-made) {
			open(made).want(201)
			made++
		}
	}
	now = now.Add(time.Minute)
	w.s.SetClock(now)
	refused(open(501), fmt.Sprint(int((time.Hour-now.Sub(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)))/time.Second)))
	now = now.Add(time.Hour)
	w.s.SetClock(now)
	open(502).want(201)

	w.as("", "PUT", "/_sandbox/limits", obj{"rest": 0, "content_minute": 1}).want(204)
	open(503).want(201)
	refused(open(504), "60")
	w.as("", "PUT", "/_sandbox/limits", obj{"rest": 0, "content_minute": 0, "content_hour": 0}).want(204)
	for n := range 90 {
		open(n).want(201)
	}
	w.as("", "PUT", "/_sandbox/limits", obj{"content_hour": -1}).want(422)
}
