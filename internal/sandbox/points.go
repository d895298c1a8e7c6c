package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Limits are how much the token of workflows may ask for in an hour; 0 is any amount. "The rate limit for GITHUB_TOKEN is 1,000
// requests per hour per repository", and as many points of GraphQL, which are counted apart. A token belongs to one repository.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#primary-rate-limit-for-github_token-in-github-actions,
// https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#primary-rate-limit
type Limits struct {
	REST    int // requests
	GraphQL int // points
	// Minute and Hour are how many requests may create content.
	Minute, Hour int
}

// usualLimits are GitHub's.
var usualLimits = Limits{REST: 1000, GraphQL: 1000, Minute: contentMinute, Hour: contentHour}

// The resources that are counted apart.
const (
	resourceCore    = "core"
	resourceGraphQL = "graphql"
)

// spending is what was asked for of a resource in an hour, which began with the first request.
type spending struct {
	Used  int
	Reset time.Time
}

// account is how a token stands with a resource.
type account struct {
	spending
	limit    int
	resource string
}

func (a account) remaining() int { return max(0, a.limit-a.Used) }

// headers tell how it stands.
func (a account) headers(h http.Header) {
	h.Set("X-RateLimit-Limit", fmt.Sprint(a.limit))
	h.Set("X-RateLimit-Remaining", fmt.Sprint(a.remaining()))
	h.Set("X-RateLimit-Used", fmt.Sprint(a.Used))
	h.Set("X-RateLimit-Reset", fmt.Sprint(a.Reset.Unix()))
	h.Set("X-RateLimit-Resource", a.resource)
}

// limits are those of the token of workflows.
func (k tokens) limits() Limits {
	if k.st.Limits != nil {
		return *k.st.Limits
	}
	return k.jobLimits
}

// account finds how a token stands. Only that of workflows has a limit that can be reached: every other request is the first of
// its hour, so that people who play on the sandbox are not stopped.
func (k tokens) account(token, resource string) account {
	a := account{limit: pointsPerHour, resource: resource, spending: spending{Reset: k.world.now().Add(time.Hour)}}
	if token != jobToken {
		return a
	}
	if a.limit = k.limits().REST; resource == resourceGraphQL {
		a.limit = k.limits().GraphQL
	}
	if spent := k.st.Spent[resource]; spent != nil && k.world.now().Before(spent.Reset) {
		a.spending = *spent
	}
	return a
}

// spend takes from what a token has left of a resource. ok is false where that is too little: then nothing is taken.
func (k tokens) spend(token, resource string, cost int) (a account, ok bool) {
	a = k.account(token, resource)
	if token == jobToken && a.limit == 0 {
		a.limit = pointsPerHour
		a.Used = min(a.Used+cost, a.limit-1)
		return a, true
	}
	if a.Used+cost > a.limit {
		a.Used = a.limit
		return a, false
	}
	a.Used += cost
	if token == jobToken {
		if k.st.Spent == nil {
			k.st.Spent = map[string]*spending{}
		}
		k.st.Spent[resource] = &a.spending // written with the next change
	}
	return a, true
}

// spent is what a token is told that has nothing left: https://github.com/github/codeql/issues/5106
const spent = "API rate limit exceeded for installation ID 1."

// writeSpent refuses a request for the limit, without Retry-After: when to come back is in X-RateLimit-Reset. GraphQL does so
// with status 200: https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#exceeding-the-rate-limit
func writeSpent(w http.ResponseWriter, resource string) {
	if resource == resourceCore {
		writeFailure(w, &failure{status: http.StatusForbidden, message: spent})
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(graphqlResponse{Errors: []graphqlError{{Type: "RATE_LIMITED", Message: spent}}}) // the client is gone when this fails
}

// setLimits sets how much the token of workflows may ask for in an hour, and begins a new one; without a body it is GitHub's.
func setLimits(q *request, in struct {
	REST, GraphQL *int
	Minute        *int `json:"content_minute"`
	Hour          *int `json:"content_hour"`
}) (any, error) {
	limits := usualLimits
	for to, from := range map[*int]*int{&limits.REST: in.REST, &limits.GraphQL: in.GraphQL, &limits.Minute: in.Minute, &limits.Hour: in.Hour} {
		if from == nil {
			continue
		}
		if *from < 0 {
			return nil, unprocessable("rest, graphql, content_minute, content_hour: want numbers, 0 for no limit")
		}
		*to = *from
	}
	q.s.st.Limits, q.s.st.Spent, q.s.st.Content = &limits, nil, nil
	return q.changed()
}

// getRateLimit costs nothing: https://docs.github.com/en/rest/rate-limit/rate-limit
func getRateLimit(q *request) (any, error) {
	token, _ := tokenOf(q.r)
	resources := obj{}
	for _, name := range []string{resourceCore, "search", resourceGraphQL, "integration_manifest"} {
		a := q.s.tokens.account(token, name)
		resources[name] = obj{"limit": a.limit, "remaining": a.remaining(), "used": a.Used, "reset": a.Reset.Unix(), "resource": name}
	}
	return obj{"resources": resources, "rate": resources[resourceCore]}, nil
}
