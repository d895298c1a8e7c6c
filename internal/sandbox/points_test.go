package sandbox

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

// left is what an answer tells of the hour.
func (a *answer) left() string {
	return fmt.Sprint(a.header.Get("X-RateLimit-Resource"), " ", a.header.Get("X-RateLimit-Remaining"), "/", a.header.Get("X-RateLimit-Limit"), " ", a.header.Get("X-RateLimit-Reset"))
}

// The token of workflows has 1,000 requests and 1,000 points an hour, counted apart; the hour begins with the first of each.
func TestTheHourOfAJobsToken(t *testing.T) {
	w := newTown(t)
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w.s.SetClock(noon)
	reset := noon.Add(time.Hour).Unix()
	assert.Equal(t, fmt.Sprint("core 999/1000 ", reset), w.as("actions", "GET", repoPath, nil).want(200).left())
	assert.Equal(t, fmt.Sprint("core 999/1000 ", reset), w.as("actions", "GET", "/rate_limit", nil).want(200).left(), "asking is free")

	w.as("", "PUT", "/_sandbox/limits", obj{"rest": 2, "graphql": 3}).want(204)
	w.s.SetClock(noon.Add(10 * time.Minute))
	reset = noon.Add(70 * time.Minute).Unix()
	assert.Equal(t, fmt.Sprint("core 1/2 ", reset), w.as("actions", "GET", repoPath, nil).want(200).left())
	w.s.SetClock(noon.Add(20 * time.Minute))
	assert.Equal(t, fmt.Sprint("core 0/2 ", reset), w.as("actions", "GET", repoPath, nil).want(200).left())
	before := w.deliveries()
	refused := w.as("actions", "POST", repoPath+"/issues", obj{"title": "x"}).want(403)
	assert.Equal(t, []any{spent, fmt.Sprint("core 0/2 ", reset), ""}, []any{refused.obj()["message"], refused.left(), refused.header.Get("Retry-After")})
	assert.Equal(t, before, w.deliveries(), "nothing was written")
	assert.Equal(t, "core 4999/5000", w.as("octo", "GET", repoPath, nil).want(200).left()[:14], "people have hours of their own")

	cheap := obj{"query": "{ viewer { login } rateLimit { limit used remaining resetAt } }"}
	dear := obj{"query": `{ viewer { login } repository(owner: "octo", name: "widgets") { pullRequests(first: 100) { nodes { labels(first: 1) { nodes { name } } comments(first: 1) { nodes { id } } } } } }`}
	first := w.request("actions", "POST", graphqlPath, cheap).want(200)
	reset = noon.Add(80 * time.Minute).Unix()
	assert.Equal(t, fmt.Sprint("graphql 2/3 ", reset), first.left())
	assert.Equal(t, obj{"limit": 3.0, "used": 1.0, "remaining": 2.0, "resetAt": "2026-03-01T13:20:00Z"}, first.obj()["data"].(obj)["rateLimit"])
	assert.Equal(t, fmt.Sprint("graphql 0/3 ", reset), w.request("actions", "POST", graphqlPath, dear).want(200).left())
	over := w.request("actions", "POST", graphqlPath, cheap).want(200)
	assert.Equal(t, fmt.Sprint("graphql 0/3 ", reset), over.left())
	assert.Equal(t, obj{"errors": []any{obj{"type": "RATE_LIMITED", "message": spent}}}, over.obj())
	core := w.as("actions", "GET", "/rate_limit", nil).want(200).obj()["resources"].(obj)
	assert.Equal(t, []any{0.0, 0.0}, []any{core["core"].(obj)["remaining"], core["graphql"].(obj)["remaining"]})

	w.s.SetClock(noon.Add(70 * time.Minute))
	w.as("actions", "GET", repoPath, nil).want(200)
	require.NotContains(t, w.request("actions", "POST", graphqlPath, cheap).want(200).obj(), "data")
	w.s.SetClock(noon.Add(80 * time.Minute))
	require.NotContains(t, w.request("actions", "POST", graphqlPath, cheap).want(200).obj(), "errors")

	w.as("", "PUT", "/_sandbox/limits", obj{"rest": 0, "graphql": 0}).want(204)
	for range 5 {
		w.as("actions", "GET", repoPath, nil).want(200)
	}
	w.as("", "PUT", "/_sandbox/limits", obj{"rest": -1}).want(422)
}

// A token is good until its time, for everything.
func TestTokensExpire(t *testing.T) {
	w := newTown(t)
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w.s.SetClock(noon)
	c := w.clone("actions")
	w.as("", "PUT", "/_sandbox/tokens", obj{"token": jobToken, "lives": "1h"}).want(204)
	w.s.SetClock(noon.Add(time.Hour - time.Second))
	w.as("actions", "GET", repoPath, nil).want(200)
	c.git("fetch", "origin")
	w.s.SetClock(noon.Add(time.Hour))
	assert.Equal(t, "Bad credentials", w.as("actions", "GET", repoPath, nil).want(401).obj()["message"])
	w.request("actions", "POST", graphqlPath, obj{"query": "{ viewer { login } }"}).want(401)
	require.Error(t, must.Err(c.try("fetch", "origin")))
	w.as("octo", "GET", repoPath, nil).want(200)
	w.as("", "PUT", "/_sandbox/tokens", obj{"token": jobToken}).want(204)
	w.as("actions", "GET", repoPath, nil).want(200)
	for _, bad := range []obj{{}, {"token": jobToken, "lives": "long"}} {
		w.as("", "PUT", "/_sandbox/tokens", bad).want(422)
	}
}
