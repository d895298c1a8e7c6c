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

func TestShortLimitsAreWaitedFor(t *testing.T) {
	soon := fmt.Sprint(noon.Add(5 * time.Second).Unix())
	type row struct {
		reply
		wait time.Duration
	}
	must.Each(t, map[string]row{
		"secondary":                  {reply{403, `{"message": "You have exceeded a secondary rate limit"}`, map[string]string{"Retry-After": "1"}}, time.Second},
		"429":                        {reply{429, ``, map[string]string{"Retry-After": "2"}}, 2 * time.Second},
		"a date":                     {reply{429, ``, map[string]string{"Retry-After": noon.Add(3 * time.Second).Format(http.TimeFormat)}}, 3 * time.Second},
		"primary":                    {reply{403, `{}`, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": soon}}, 5 * time.Second},
		"secondary without a time":   {reply{403, `{"message": "You have triggered an abuse detection mechanism"}`, map[string]string{"X-RateLimit-Remaining": "99", "X-RateLimit-Reset": soon}}, time.Minute},
		"the reset is over":          {reply{429, ``, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1"}}, time.Second},
		"429 with nothing but reset": {reply{429, ``, map[string]string{"X-RateLimit-Reset": soon}}, 5 * time.Second},
	}, func(t *testing.T, limit row) {
		l := dial(t, Options{}, limit.reply, reply{status: 201, body: madeComment})
		require.NoError(t, l.comment(t), "a refused write took no effect and may be sent again")
		assert.Equal(t, []time.Duration{limit.wait}, l.waited)
		assert.Len(t, l.seen, 2)
	})
}

func TestLongLimitsAreNot(t *testing.T) {
	must.Each(t, map[string]reply{
		"429":     {429, ``, map[string]string{"Retry-After": "3600"}},
		"primary": {403, `{}`, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": fmt.Sprint(noon.Add(time.Hour).Unix())}},
	}, func(t *testing.T, limit reply) {
		l := dial(t, Options{}, limit)
		e := failure(t, l.comment(t), RateLimited)
		assert.Equal(t, noon.Add(time.Hour), e.Until.UTC())
		assert.Contains(t, e.Error(), "2026-03-01T13:00:00Z")
		assert.Empty(t, l.waited)
		assert.Len(t, l.seen, 1)
	})
	t.Run("again and again", func(t *testing.T) {
		l := dial(t, Options{}, reply{429, ``, map[string]string{"Retry-After": "0"}})
		failure(t, l.comment(t), RateLimited)
		assert.Equal(t, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, l.waited)
	})
}

// go-github refuses on its own account to send anything after an answer with nothing remaining, by the wall clock.
func TestTheLastPermittedRequestBlocksNothing(t *testing.T) {
	later := fmt.Sprint(time.Now().Add(time.Hour).Unix())
	l := dial(t, Options{}, reply{200, `{"status": "ahead"}`, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": later, "X-RateLimit-Limit": "60"}})
	require.NoError(t, l.compare(t))
	require.NoError(t, l.compare(t))
	assert.Len(t, l.seen, 2)
}
