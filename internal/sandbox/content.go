package sandbox

import (
	"net/http"
	"strconv"
	"time"
)

// GitHub's limits on content: "in general, no more than 80 content-generating requests per minute and no more than 500
// content-generating requests per hour are allowed". It does not say which requests generate content, so that all count here that
// change something; nor whether the minute slides, so that it does here.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
const (
	contentMinute = 80
	contentHour   = 500
)

// contentBlocked is what GitHub says then: https://github.com/pl-strflt/projects-migration/issues/2
const contentBlocked = "You have exceeded a secondary rate limit and have been temporarily blocked from content creation. Please retry your request again later."

// content is what the token of workflows has created in the last hour.
type content struct {
	At      []time.Time
	Blocked time.Time // until then nothing is created
}

// create counts a request that changes something. wait is above 0 where it is refused: so long the client has to wait. Only the
// token of workflows has the limit, as with the other ones.
func (k tokens) create(token string) (wait time.Duration) {
	if token != jobToken {
		return 0
	}
	if k.st.Content == nil {
		k.st.Content = &content{}
	}
	now, c, limits := k.world.now(), k.st.Content, k.limits()
	if now.Before(c.Blocked) {
		return c.Blocked.Sub(now)
	}
	kept := c.At[:0]
	for _, at := range c.At {
		if now.Sub(at) < time.Hour {
			kept = append(kept, at)
		}
	}
	c.At = kept
	over := func(most int, span time.Duration) time.Duration {
		if n := len(c.At); most > 0 && n >= most {
			return span - now.Sub(c.At[n-most])
		}
		return 0
	}
	if wait = max(over(limits.Minute, time.Minute), over(limits.Hour, time.Hour)); wait > 0 {
		c.Blocked = now.Add(wait)
		return wait
	}
	c.At = append(c.At, now) // written with what the request changes
	return 0
}

// tooMuch is an error that a client gets that has to wait so long. GraphQL says it with the same status as REST, or with
// 200, as here, and gives the error no type:
// https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#exceeding-the-rate-limit
type tooMuch time.Duration

func (t tooMuch) Error() string { return contentBlocked }

func (t tooMuch) seconds() string { return strconv.Itoa(int(time.Duration(t) / time.Second)) }

// writeBlocked refuses a request of REST for the limits on content.
func writeBlocked(w http.ResponseWriter, t tooMuch) {
	w.Header().Set("Retry-After", t.seconds())
	writeFailure(w, &failure{status: http.StatusForbidden, message: contentBlocked})
}

// creates refuses what would create too much.
func (q *request) creates() error {
	if q.r.Method == http.MethodGet || q.r.Method == http.MethodHead {
		return nil
	}
	token, _ := tokenOf(q.r)
	if wait := q.s.tokens.create(token); wait > 0 {
		return tooMuch(wait)
	}
	return nil
}
