package github

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func TestJobLog(t *testing.T) {
	w := newWorld(t)
	expired, long := job("expired", "failure"), job("long", "failure")
	expired["expired"], long["log_bytes"] = true, 300_000
	w.run(1, w.tip("main"), job("test", "failure"), expired, long, job("cancelled", "cancelled"))
	c := w.client("actions")
	failed := must.Get(c.Actions.FailedJobs(t.Context(), widgets, 1))(t)
	require.Len(t, failed, 3)

	text, cut, err := c.Actions.JobLog(t.Context(), widgets, failed[0].ID, 1<<20)
	require.NoError(t, err)
	assert.False(t, cut)
	assert.Contains(t, string(text), "Z it\n")
	assert.True(t, strings.HasPrefix(string(text), "\ufeff"), "all of it")
	assert.Equal(t, "3 REST, 0 GraphQL", calls(c), "the jobs, and the log with its redirect")
	end, cut, err := c.Actions.JobLog(t.Context(), widgets, failed[0].ID, 30)
	require.NoError(t, err)
	assert.True(t, cut)
	assert.Equal(t, string(text[len(text)-30:]), string(end))
	end, cut, err = c.Actions.JobLog(t.Context(), widgets, failed[0].ID, int64(len(text)))
	require.NoError(t, err)
	assert.Equal(t, []any{string(text), false}, []any{string(end), cut})

	text, cut, err = c.Actions.JobLog(t.Context(), widgets, failed[2].ID, 1000)
	require.NoError(t, err)
	assert.True(t, cut)
	assert.Len(t, text, 1000)
	assert.Contains(t, string(text), "fails\n")
	for _, id := range []int64{failed[1].ID, failed[2].ID + 1, 12345} { // deleted, of a job without a log, of no job
		text, cut, err := c.Actions.JobLog(t.Context(), widgets, id, 1000)
		require.NoError(t, err)
		assert.Equal(t, []any{"", false}, []any{string(text), cut})
	}
}

// storage is another host, where logs are: it writes size bytes of numbered lines, and breaks off as often as it is told.
func storage(t *testing.T, size int, breaks int32) (url string, seen func() []*http.Request) {
	var requests []*http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r)
		if status, err := strconv.Atoi(r.URL.Path[1:]); err == nil {
			w.WriteHeader(status)
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(size))
		line := bytes.Repeat([]byte("."), 1000)
		for n := 0; n < size; n += 1000 {
			copy(line, fmt.Appendf(line[:0], "\n%d ", n/1000))
			_, _ = w.Write(line)
			if n > size/2 && atomic.AddInt32(&breaks, -1) >= 0 {
				panic(http.ErrAbortHandler)
			}
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []*http.Request { return requests }
}

// A hundred megabytes are read, and hardly any of them are kept. The token stays where it belongs.
func TestAHugeLog(t *testing.T) {
	const size, limit = 100_000_000, 64 << 10
	elsewhere, seen := storage(t, size, 1)
	l := dial(t, Options{Timeout: time.Minute}, reply{302, "", map[string]string{"Location": elsewhere + "/log?sig=s"}})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text, cut, err := l.Actions.JobLog(t.Context(), widgets, 5, limit)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	assert.True(t, cut)
	assert.Len(t, text, limit)
	last := fmt.Sprintf("\n%d ", size/1000-1)
	assert.Equal(t, last+strings.Repeat(".", 1000-len(last)), string(text[limit-1000:]))
	assert.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(20), "MiB, those of the server here too")
	require.Len(t, seen(), 2, "one attempt broke off")
	for _, r := range seen() {
		assert.Empty(t, r.Header.Get("Authorization"))
		assert.NotContains(t, fmt.Sprint(r.Header), secret)
	}
	assert.Equal(t, "Bearer "+secret, l.seen[0].Header.Get("Authorization"))
	assert.NotContains(t, l.log.String(), "sig=s")
}

// What an attempt that broke off had read is forgotten.
func TestALogThatBreaksOff(t *testing.T) {
	elsewhere, seen := storage(t, 50_000, 2)
	l := dial(t, Options{}, reply{302, "", map[string]string{"Location": elsewhere + "/log"}})
	text, cut, err := l.Actions.JobLog(t.Context(), widgets, 5, 50_000)
	require.NoError(t, err)
	assert.Equal(t, []any{50_000, false, "\n0 ", 3}, []any{len(text), cut, string(text[:3]), len(seen())})
}

// The storage of a GitHub Enterprise Server is another part of the same host: it gets no token either. The same job of a
// repository that was renamed does.
func TestALogOnTheSameHost(t *testing.T) {
	l := dial(t, Options{}, reply{301, "", map[string]string{"Location": "/api/v3/repositories/1/actions/jobs/5/logs"}},
		reply{302, "", map[string]string{"Location": "/storage/5?sig=s"}}, reply{200, `{"errors": [{"type": "RATE_LIMITED"}]}`, nil})
	text, cut, err := l.Actions.JobLog(t.Context(), widgets, 5, 1000)
	require.NoError(t, err)
	assert.Equal(t, []any{`{"errors": [{"type": "RATE_LIMITED"}]}`, false}, []any{string(text), cut}, "whatever a log says")
	require.Len(t, l.seen, 3)
	auth := func(n int) string { return l.seen[n].Header.Get("Authorization") }
	assert.Equal(t, []string{"Bearer " + secret, "Bearer " + secret, ""}, []string{auth(0), auth(1), auth(2)})
}

func TestALogThatIsNotTold(t *testing.T) {
	elsewhere, _ := storage(t, 0, 0)
	for _, r := range []reply{{404, `{"message": "Not Found"}`, nil}, {410, `{"message": "Server Error"}`, nil}, {302, "", map[string]string{"Location": elsewhere + "/404"}}} {
		text, cut, err := dial(t, Options{}, r).Actions.JobLog(t.Context(), widgets, 5, 10)
		require.NoError(t, err)
		assert.Equal(t, []any{0, false}, []any{len(text), cut})
	}
	for kind, r := range map[Kind]reply{
		Forbidden:   {403, `{"message": "Must have admin rights to Repository."}`, nil},
		Unavailable: {500, "", nil},
		RateLimited: {429, "", map[string]string{"Retry-After": "3600"}},
		Moved:       {302, "", map[string]string{"Location": "/again"}},
	} {
		_, _, err := dial(t, Options{}, r).Actions.JobLog(t.Context(), widgets, 5, 10)
		failure(t, err, kind)
	}
	for _, status := range []int{400, 403} { // the address is good for a minute; what the token may has nothing to do with it
		l := dial(t, Options{}, reply{302, "", map[string]string{"Location": fmt.Sprint(elsewhere, "/", status)}})
		_, _, err := l.Actions.JobLog(t.Context(), widgets, 5, 10)
		assert.Contains(t, failure(t, err, Unavailable).Error(), "read the log of job 5 of octo/widgets: where GitHub keeps it: ")
	}
	_, _, err := dial(t, Options{}, reply{}).Actions.JobLog(t.Context(), model.Repo{Owner: "a/b"}, 5, 10)
	failure(t, err, Invalid)
	text, cut, err := dial(t, Options{}, reply{200, "text", nil}).Actions.JobLog(t.Context(), widgets, 5, -1)
	require.NoError(t, err)
	assert.Equal(t, []any{0, true}, []any{len(text), cut})
}
