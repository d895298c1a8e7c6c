package github

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
)

const proxyPage = "\n<!DOCTYPE html>\n<html><body>Please sign in to the network.</body></html>"

// Whatever comes in place of an answer is one line for people, and a reason to try again.
func TestAnswersThatAreNone(t *testing.T) {
	type row struct {
		reply
		says string
	}
	must.Each(t, map[string]row{
		"cut":             {reply{200, `{"data": {"viewer": {"login": "x`, nil}, "the answer is truncated"},
		"cut on the way":  {reply{200, `{"data": {}}`, map[string]string{"Content-Length": "5000"}}, "the answer is truncated"},
		"nothing":         {reply{200, ``, nil}, "the answer is empty"},
		"HTML":            {reply{200, proxyPage, nil}, "the answer is a page of HTML, not JSON"},
		"text":            {reply{200, `upstream timed out`, nil}, "the answer is not JSON"},
		"two at once":     {reply{200, `{"status": "ahead"} {}`, nil}, "the answer is not JSON"},
		"HTML of a proxy": {reply{503, proxyPage, nil}, "GitHub answered 503 Service Unavailable"},
		"HTML of a 502":   {reply{502, proxyPage, nil}, "GitHub answered 502 Bad Gateway"},
		"a refusal":       {reply{500, `token ` + secret, nil}, "GitHub answered 500 Internal Server Error"},
	}, func(t *testing.T, c row) {
		l := dial(t, Options{}, c.reply)
		e := failure(t, l.compare(t), Unavailable)
		assert.Equal(t, "compare aaa with bbb in octo/widgets: "+c.says, e.Error())
		assert.NotEmpty(t, e.Fix)
		assert.Len(t, l.seen, tries, "a read is repeated")
		require.NoError(t, dial(t, Options{}, c.reply, reply{200, `{"status": "ahead"}`, nil}).compare(t), "once was enough")

		l = dial(t, Options{}, c.reply)
		assert.Equal(t, "look at octo/widgets#7: "+c.says, fails(l.Pulls.Now(t.Context(), widgets, 7))(t, Unavailable).Error())

		l = dial(t, Options{}, c.reply)
		failure(t, l.comment(t), Unclear)
		assert.Len(t, l.seen, 1, "a write may have taken effect")
	})
}

// What is not asked for as JSON need not be JSON.
func TestADiffIsNoJSON(t *testing.T) {
	l := dial(t, Options{}, reply{200, "diff --git a/a b/a\n", nil})
	assert.Equal(t, "diff --git a/a b/a\n", must.Get(l.Pulls.Diff(t.Context(), widgets, 7))(t))
}

// A limit of GraphQL comes in several forms; with a time and without one it is a limit, and never an answer.
func TestLimitsOfGraphQL(t *testing.T) {
	later := map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": fmt.Sprint(noon.Add(time.Hour).Unix())}
	type row struct {
		reply
		until time.Duration
	}
	must.Each(t, map[string]row{
		"secondary":                {reply{403, `{"message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}`, map[string]string{"Retry-After": "600"}}, 10 * time.Minute},
		"secondary without a time": {reply{403, `{"message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}`, nil}, time.Minute},
		"as a page of HTML":        {reply{429, `<html><body>Too many requests</body></html>`, nil}, time.Minute},
		"primary":                  {reply{200, `{"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded for installation ID 1."}]}`, later}, time.Hour},
		"primary by 403":           {reply{403, `{"message": "API rate limit exceeded for installation ID 1."}`, later}, time.Hour},
		"primary without a time":   {reply{200, `{"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}`, nil}, time.Minute},
		"secondary by GraphQL":     {reply{200, `{"data": null, "errors": [{"message": "You have exceeded a secondary rate limit and have been temporarily blocked from content creation."}]}`, map[string]string{"Retry-After": "600"}}, 10 * time.Minute},
		"another word for it":      {reply{200, `{"errors": [{"type": "RATE_LIMIT", "message": "API rate limit already exceeded for user ID 1."}]}`, later}, time.Hour},
	}, func(t *testing.T, c row) {
		l := dial(t, Options{MaxWait: 30 * time.Second}, c.reply)
		e := fails(l.read(t, Query{}))(t, RateLimited)
		assert.Equal(t, noon.Add(c.until), e.Until.UTC())
		assert.Equal(t, "read octo/widgets#7: rate limit of GitHub until "+noon.Add(c.until).Format(time.RFC3339), e.Error())
		assert.Len(t, l.seen, 1)
		assert.Empty(t, l.waited)
	})
	l := dial(t, Options{}, reply{403, `{"message": "You have exceeded a secondary rate limit."}`, nil}, graphAnswer(emptyPull, ""))
	_ = must.Get(l.read(t, Query{}))(t)
	assert.Equal(t, []time.Duration{time.Minute}, l.waited)
	assert.Equal(t, http.MethodPost, l.seen[1].Method)
}
