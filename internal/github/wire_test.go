package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

const secret = "ghs" + "_16C7e42F292c6912E7710c838347Ae178B4a" // in two parts, so that no scanner takes it for one

var (
	widgets = model.Repo{Owner: "octo", Name: "widgets"}
	noon    = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// reply is one answer of a server that misbehaves on purpose.
type reply struct {
	status int
	body   string
	header map[string]string
}

const madeComment = `{"id": 5, "body": "hi", "user": {"login": "octo", "type": "User", "id": 1}}`

// line is a client in front of a server that gives the replies in turn, the last one for ever, and what it saw.
type line struct {
	*Client
	url    string
	mu     sync.Mutex
	seen   []*http.Request
	waited []time.Duration
	log    bytes.Buffer
}

func dial(t *testing.T, o Options, replies ...reply) *line {
	t.Helper()
	l := &line{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		defer l.mu.Unlock()
		io.Copy(io.Discard, r.Body)
		at := min(len(l.seen), len(replies)-1)
		l.seen = append(l.seen, r)
		w.Header().Set("Date", noon.Format(http.TimeFormat))
		for k, v := range replies[at].header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(replies[at].status)
		io.WriteString(w, replies[at].body)
	}))
	t.Cleanup(server.Close)
	l.url = server.URL
	l.open(t, o)
	return l
}

func (l *line) open(t *testing.T, o Options) {
	t.Helper()
	if o.APIURL == "" {
		o.APIURL = l.url + "/api/v3"
	}
	o.Token = secret
	o.Now = func() time.Time { return noon }
	o.Random = func() float64 { return 0.5 }
	o.Log = slog.New(slog.NewTextHandler(&l.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if o.Sleep == nil {
		o.Sleep = func(_ context.Context, d time.Duration) error { l.waited = append(l.waited, d); return nil }
	}
	c := must.Get(New(o))(t)
	l.Client = c
	t.Cleanup(func() { assert.NotContains(t, l.log.String(), secret, "the log") })
}

// failure checks the kind of an error and that it is fit for people: one line, without the token.
func failure(t *testing.T, err error, kind Kind) *Error {
	t.Helper()
	var e *Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, kind, e.Kind, "%v", err)
	for _, text := range []string{e.Error(), e.Fix, fmt.Sprintf("%+v", e)} {
		assert.NotContains(t, text, secret)
		assert.NotContains(t, text, "\n")
	}
	assert.NotEmpty(t, e.Op)
	return e
}

func (l *line) comment(t *testing.T) error {
	_, err := l.Comments.Create(t.Context(), widgets, 7, "hi")
	return err
}

func (l *line) compare(t *testing.T) error {
	_, err := l.Commits.Compare(t.Context(), widgets, "aaa", "bbb")
	return err
}

func TestReadsAreRepeated(t *testing.T) {
	l := dial(t, Options{}, reply{status: 502}, reply{status: 503}, reply{status: 200, body: `{"status": "ahead"}`})
	assert.Equal(t, model.Ahead, must.Get(l.Commits.Compare(t.Context(), widgets, "aaa", "bbb"))(t))
	assert.Equal(t, []time.Duration{375 * time.Millisecond, 750 * time.Millisecond}, l.waited)
	rest, graphql := l.Calls()
	assert.Equal(t, []int{3, 0}, []int{rest, graphql})
	assert.Equal(t, "/api/v3/repos/octo/widgets/compare/aaa...bbb?per_page=1", l.seen[0].RequestURI)
	assert.Equal(t, "Bearer "+secret, l.seen[0].Header.Get("Authorization"))
}

func TestAnUnclearWriteIsSentOnce(t *testing.T) {
	for _, status := range []int{500, 502, 504, 408} {
		l := dial(t, Options{}, reply{status: status}, reply{status: 201, body: madeComment})
		failure(t, l.comment(t), Unclear)
		failure(t, func() error { l.seen = nil; return l.Comments.Edit(t.Context(), widgets, 5, "x") }(), Unclear)
		assert.Len(t, l.seen, 1, "status %d", status)
		assert.Empty(t, l.waited)
	}
	for body, what := range map[string]string{"": "no body", "{}": "no id", "<html>": "not JSON"} {
		l := dial(t, Options{}, reply{status: 201, body: body})
		failure(t, l.comment(t), Unclear)
		assert.Len(t, l.seen, 1, what)
	}
}

// A connection that breaks leaves the effect of a write unknown, before the answer or in the middle of it.
func TestABrokenConnection(t *testing.T) {
	for _, half := range []string{"", "HTTP/1.1 201 Created\r\nContent-Length: 5000\r\n\r\n" + madeComment} {
		var hits int
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			hits++
			io.Copy(io.Discard, r.Body)
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				io.WriteString(conn, half)
				conn.Close()
			}
		}))
		l := &line{url: server.URL}
		l.open(t, Options{Transport: &http.Transport{DisableKeepAlives: true}})
		failure(t, l.comment(t), Unclear)
		assert.Equal(t, 1, hits)
		failure(t, l.compare(t), Unavailable)
		assert.Equal(t, 1+tries, hits)
		rest, _ := l.Calls()
		assert.Equal(t, hits, rest)
		server.Close()
	}
}

func TestNobodyListens(t *testing.T) {
	closed := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	closed.Close()
	l := &line{}
	l.open(t, Options{APIURL: "http://" + closed.Addr().String()})
	failure(t, l.comment(t), Unavailable)
	failure(t, l.compare(t), Unavailable)
	fails(l.Threads.Snapshot(t.Context(), Query{Repo: widgets, Number: 7}))(t, Unavailable)
	rest, graphql := l.Calls()
	assert.Zero(t, rest+graphql, "nothing was sent")
}

func TestASilentServer(t *testing.T) {
	release, c := make(chan struct{}), clockwork.NewFakeClock()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		c.Advance(DefaultTimeout)
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(release)
	l := &line{url: server.URL}
	l.open(t, Options{Clock: c})
	failure(t, l.comment(t), Unclear)
	assert.Contains(t, failure(t, l.compare(t), Unavailable).Message, "no answer in time")
	rest, _ := l.Calls()
	assert.Equal(t, 1+tries, rest)
}

func TestACancelledRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	l := dial(t, Options{Sleep: func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }}, reply{status: 502})
	_, err := l.Commits.Compare(ctx, widgets, "aaa", "bbb")
	require.ErrorIs(t, err, context.Canceled)
	assert.Len(t, l.seen, 1)
	fails(l.Comments.Create(ctx, widgets, 7, "hi"))(t, Unavailable)
	require.ErrorIs(t, err, context.Canceled)
	assert.Len(t, l.seen, 1, "a run that is over sends nothing")
}

func TestATokenThatHasWorkedExpires(t *testing.T) {
	bad := reply{401, `{"message": "Bad credentials"}`, nil}
	l := dial(t, Options{}, bad, reply{201, `{"id": 1}`, nil}, bad)
	failure(t, l.comment(t), Unauthorized)
	require.NoError(t, l.comment(t))
	e := failure(t, l.comment(t), Expired)
	assert.Contains(t, e.Error(), "Bad credentials (401): the token has expired or was revoked in the middle of this run")
	assert.Contains(t, e.Fix, "the next run continues with a new token")
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		reply
		kind      Kind
		says, fix string
	}{
		{reply{401, `{"message": "Bad credentials"}`, nil}, Unauthorized, "Bad credentials (401)", "GITHUB_TOKEN"},
		{reply{401, `{}`, map[string]string{"X-GitHub-OTP": "required; app"}}, Unauthorized, "Unauthorized (401)", "GITHUB_TOKEN"},
		{reply{403, `{"message": "Resource not accessible by integration"}`, map[string]string{"X-Accepted-GitHub-Permissions": "issues=write", "X-RateLimit-Remaining": "12", "X-RateLimit-Reset": "9999999999"}},
			Forbidden, "Resource not accessible by integration (403)", "add `issues: write` to the job's `permissions`"},
		{reply{403, ``, nil}, Forbidden, "Forbidden (403)", "permissions:"},
		{reply{404, `{"message": "Not Found"}`, nil}, NotFound, "Not Found (404)", "check the name"},
		{reply{410, `{"message": "This issue was deleted"}`, nil}, Gone, "deleted (410)", ""},
		{reply{422, `{"message": "Validation Failed", "errors": [{"resource": "IssueComment", "field": "body", "code": "missing_field"}, "body is too long", 3]}`, nil},
			Invalid, "Validation Failed; IssueComment.body: missing_field; body is too long (422)", ""},
		{reply{409, "a\nb" + secret, nil}, Invalid, "Conflict (409)", ""},
		{reply{422, `{"message": "your ` + secret + `\nis bad"}`, nil}, Invalid, "your *** is bad (422)", ""},
	} {
		l := dial(t, Options{}, c.reply)
		e := failure(t, l.comment(t), c.kind)
		assert.Contains(t, e.Error(), c.says)
		assert.Contains(t, e.Fix, c.fix)
		assert.True(t, strings.HasPrefix(e.Error(), "comment on octo/widgets#7: "), e.Error())
		assert.Len(t, l.seen, 1)
		_, err := l.Threads.Snapshot(t.Context(), Query{Repo: widgets, Number: 7})
		failure(t, err, c.kind)
	}
}

func TestRedirects(t *testing.T) {
	var got http.Header
	var hits int
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits++
		got = r.Header
		io.WriteString(w, `{"status": "behind", "id": 5}`)
	}))
	defer elsewhere.Close()
	to := func(status int, url string) reply {
		return reply{status, `{"message": "Moved"}`, map[string]string{"Location": url}}
	}

	l := dial(t, Options{}, to(302, elsewhere.URL))
	require.NoError(t, l.compare(t))
	assert.Empty(t, got.Get("Authorization"), "the token stays with the server that it is for")

	hits = 0
	for _, status := range []int{301, 302, 307, 308} {
		l = dial(t, Options{}, to(status, elsewhere.URL))
		e := failure(t, l.comment(t), Moved)
		assert.Equal(t, []any{status, elsewhere.URL}, []any{e.Status, e.Location})
	}
	assert.Zero(t, hits, "a write is not carried to another server")

	// A renamed repository: GitHub answers a write with 307 on the same server.
	l = dial(t, Options{}, to(307, "/api/v3/repositories/1/issues/7/comments"), reply{201, madeComment, nil})
	require.NoError(t, l.comment(t))
	assert.Equal(t, "POST", l.seen[1].Method)
	assert.Equal(t, "Bearer "+secret, l.seen[1].Header.Get("Authorization"))
	rest, _ := l.Calls()
	assert.Equal(t, 2, rest)

	l = dial(t, Options{}, to(301, "/api/v3/repositories/1/issues/7/comments"), reply{200, `[]`, nil})
	failure(t, l.comment(t), Moved) // a POST that became a GET would read a list
	assert.Len(t, l.seen, 1)
}

func TestURLs(t *testing.T) {
	for api, graph := range map[string]string{
		"":                                "https://api.github.com/graphql",
		"https://api.github.com/":         "https://api.github.com/graphql",
		"https://ghe.example.com/api/v3":  "https://ghe.example.com/api/graphql",
		"https://ghe.example.com/api/v3/": "https://ghe.example.com/api/graphql",
		"https://api.octo.ghe.com":        "https://api.octo.ghe.com/graphql",
	} {
		c := must.Get(New(Options{APIURL: api, Token: secret}))(t)
		assert.Equal(t, graph, c.conn.graphql)
		root := must.Get(c.conn.newRequest("GET", "", nil))(t).URL.String()
		assert.Equal(t, strings.TrimSuffix(graph, "/graphql"), strings.TrimSuffix(strings.TrimSuffix(root, "/"), "/v3"))
	}
	c := must.Get(New(Options{APIURL: "https://a.example", GraphQLURL: "https://b.example/q", Token: " " + secret + "\n"}))(t)
	assert.Equal(t, "https://b.example/q", c.conn.graphql)
	for _, bad := range []string{"api.github.com", "ftp://x", "https://", "https://u:" + secret + "@x", "https://x?q=" + secret, "https://x/%zz" + secret} {
		fails(New(Options{APIURL: bad, Token: secret}))(t, Invalid)
		fails(New(Options{GraphQLURL: bad, Token: secret}))(t, Invalid)
	}
	for _, token := range []string{"", "  ", secret + "\n" + secret, secret + "é"} {
		fails(New(Options{Token: token}))(t, Unauthorized)
	}
}

func TestTheAPIOfAServer(t *testing.T) {
	for server, api := range map[string]string{
		"https://github.com": DefaultAPIURL, "https://GitHub.com/": DefaultAPIURL, "https://ghe.example.com": "https://ghe.example.com/api/v3",
		"http://127.0.0.1:8080/": "http://127.0.0.1:8080/api/v3", "https://octo.ghe.com": "https://api.octo.ghe.com", "https://Octo.GHE.com/": "https://api.Octo.GHE.com",
		"https://github.com.example.com": "https://github.com.example.com/api/v3", "https://notghe.com": "https://notghe.com/api/v3", "::": "::/api/v3",
	} {
		assert.Equal(t, api, APIOf(server), server)
	}
}

func TestBadNames(t *testing.T) {
	l := dial(t, Options{}, reply{status: 200, body: "{}"})
	for _, repo := range []model.Repo{{}, {Owner: "..", Name: "x"}, {Owner: "octo", Name: "a/b"}, {Owner: "octo", Name: "a?b"}, {Owner: "o%2f", Name: "x"}} {
		fails(l.Threads.Snapshot(t.Context(), Query{Repo: repo, Number: 1}))(t, Invalid)
		fails(l.Comments.Create(t.Context(), repo, 1, "x"))(t, Invalid)
		fails(l.Actions.Run(t.Context(), repo, 1))(t, Invalid)
		fails(l.Repositories.Permissions(t.Context(), repo, []string{"octo"}))(t, Invalid)
		failure(t, l.Threads.Survey(t.Context(), SurveyQuery{Repo: repo}, nil), Invalid)
	}
	assert.Empty(t, l.seen)
}

// A transport of somebody else that breaks the rules must not take us down.
func TestANilResponse(t *testing.T) {
	for _, broken := range []roundTrip{
		func(*http.Request) (*http.Response, error) { return nil, nil },
		func(*http.Request) (*http.Response, error) { return nil, errors.New("broken by " + secret) },
	} {
		l := &line{}
		l.open(t, Options{APIURL: "https://api.github.com", Transport: broken})
		failure(t, l.comment(t), Unclear)
		failure(t, l.compare(t), Unavailable)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestSleep(t *testing.T) {
	require.NoError(t, sleep(t.Context(), 1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, sleep(ctx, time.Hour), context.Canceled)
}
