// Package github talks to GitHub's API for the whole program. It turns webhook payloads, REST and GraphQL into the nouns of
// package model, and every failure into one typed Error. No other package sees go-github.
//
// It may repeat a read, but never a write. A write whose effect is unknown is reported as Unclear, and the caller reads the
// remote before it does anything else.
package github

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	gogithub "github.com/google/go-github/v60/github"

	"github.com/mergexo/mergexo/internal/clock"
	"github.com/mergexo/mergexo/internal/credential"
	"github.com/mergexo/mergexo/internal/model"
)

// Defaults of Options.
const (
	DefaultAPIURL  = "https://api.github.com"
	DefaultTimeout = 30 * time.Second
	DefaultMaxWait = 60 * time.Second
)

// Options say where GitHub is and how the gateway spends its time. The zero value of each field but Token has a default.
type Options struct {
	// APIURL is the REST root: https://api.github.com, or https://HOST/api/v3 on GitHub Enterprise Server.
	APIURL string
	// GraphQLURL is derived from APIURL when empty: https://api.github.com/graphql, https://HOST/api/graphql.
	GraphQLURL string
	// Token is the one that every request is sent with; Credential, where it is set, gives them in its place.
	Token      string
	Credential credential.Source
	UserAgent  string
	// Transport carries the requests; nil is http.DefaultTransport.
	Transport http.RoundTripper
	Now       func() time.Time
	// Sleep waits or returns the context's error; the default waits on a timer.
	Sleep func(context.Context, time.Duration) error
	// Random gives numbers in [0,1) for the jitter between retries.
	Random func() float64
	// MaxWait is the longest wait for a rate limit. What takes longer is RateLimited.
	MaxWait time.Duration
	// Timeout bounds one attempt of one request, its answer's body included.
	Timeout time.Duration
	// Clock measures Timeout; nil: the machine's own does.
	Clock clock.Clock
	Log   *slog.Logger
}

// Client speaks to one GitHub server with one token, by topic. It is safe for concurrent use.
type Client struct {
	Actions      Actions
	Apps         Apps
	Comments     Comments
	Commits      Commits
	Issues       Issues
	Pulls        Pulls
	Refs         Refs
	Repositories Repositories
	Setup        Setup
	Threads      Threads

	conn *conn
}

// The topics of GitHub's API, each a handle on the same connection.
type (
	// Actions are workflow runs, their jobs and logs.
	Actions struct{ *conn }
	// Apps are installations of the App that the client's token speaks for.
	Apps struct{ *conn }
	// Comments are what is said in conversations and on lines.
	Comments struct{ *conn }
	// Commits are those that GitHub has, and how they stand to each other.
	Commits struct{ *conn }
	// Issues are opened, found and labeled.
	Issues struct{ *conn }
	// Pulls are pull requests: found, opened, merged and closed.
	Pulls struct{ *conn }
	// Refs are branches and other refs, and what was pushed to them.
	Refs struct{ *conn }
	// Repositories are settings, rules, files and people's permissions.
	Repositories struct{ *conn }
	// Threads are pull requests and issues with all that was said on them, read by GraphQL.
	Threads struct{ *conn }
)

// conn sends requests, and turns what comes back into values or an Error.
type conn struct {
	// The calls of go-github. A field of its client's type would make the linker keep everything that the client can do, 0.4 MB of the download.
	newRequest func(method, path string, body any, options ...gogithub.RequestOption) (*http.Request, error)
	do         func(ctx context.Context, req *http.Request, into any) (*gogithub.Response, error)

	graphql string
	source  credential.Source
	now     func() time.Time
	sleep   func(context.Context, time.Duration) error
	log     *slog.Logger

	restCalls, graphqlCalls atomic.Int64
	steps                   sync.Map // by the kind of query: the index of the page limit that was answered last
}

// New makes a client. It sends nothing. Bad URLs are Invalid, an empty token is Unauthorized.
func New(o Options) (*Client, error) {
	o = o.withDefaults()
	api, err := parseRoot("GITHUB_API_URL", o.APIURL)
	if err != nil {
		return nil, err
	}
	graph := graphqlRoot(api)
	if o.GraphQLURL != "" {
		if graph, err = parseRoot("GITHUB_GRAPHQL_URL", o.GraphQLURL); err != nil {
			return nil, err
		}
	}
	if o.Credential == nil {
		if o.Credential, err = Given(o.Token); err != nil {
			return nil, err
		}
	}
	c := &conn{graphql: graph.String(), source: o.Credential, now: o.Now, sleep: o.Sleep, log: o.Log}
	w := &wire{options: o, api: api, graph: graph, rest: &c.restCalls, graphql: &c.graphqlCalls}
	rest := gogithub.NewClient(&http.Client{Transport: w, CheckRedirect: w.redirect})
	rest.BaseURL = api.JoinPath("/") // go-github wants the trailing slash
	rest.UserAgent = o.UserAgent
	c.newRequest, c.do = rest.NewRequest, rest.Do
	return &Client{
		Actions: Actions{c}, Apps: Apps{c}, Comments: Comments{c}, Commits: Commits{c}, Issues: Issues{c},
		Pulls: Pulls{c}, Refs: Refs{c}, Repositories: Repositories{c}, Setup: Setup{c}, Threads: Threads{c}, conn: c,
	}, nil
}

// Given is the credential of a token that was given. One that cannot be a token is Unauthorized.
func Given(given string) (credential.Source, error) {
	token := strings.TrimSpace(given)
	if token == "" {
		return nil, &Error{Kind: Unauthorized, Op: "open the connection", Message: "no token", Fix: fixToken}
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, &Error{Kind: Unauthorized, Op: "open the connection", Message: "the token contains characters that are not allowed in a token", Fix: fixToken}
	}
	return credential.Fixed(token), nil
}

// Calls is how many HTTP requests went to the server so far, retries and redirects included.
func (c *Client) Calls() (rest, graphql int) {
	return int(c.conn.restCalls.Load()), int(c.conn.graphqlCalls.Load())
}

func (o Options) withDefaults() Options {
	o.APIURL, o.UserAgent = cmp.Or(o.APIURL, DefaultAPIURL), cmp.Or(o.UserAgent, "mergexo")
	o.MaxWait, o.Timeout = cmp.Or(o.MaxWait, DefaultMaxWait), cmp.Or(o.Timeout, DefaultTimeout)
	o.Transport, o.Log = cmp.Or(o.Transport, http.DefaultTransport), cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	return o
}

// sleep waits for d, or until ctx ends, whose error it then returns.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// CheckServer holds GITHUB_SERVER_URL to be a URL. The error is as that of New.
func CheckServer(text string) error {
	_, err := parseRoot("GITHUB_SERVER_URL", text)
	return err
}

// roots are what the variables are set to that name a server.
var roots = map[string]string{
	"GITHUB_API_URL":     "https://api.github.com or https://HOST/api/v3",
	"GITHUB_GRAPHQL_URL": "https://api.github.com/graphql or https://HOST/api/graphql",
	"GITHUB_SERVER_URL":  "https://github.com or https://HOST",
}

// parseRoot reads the URL that a variable names a server by. The text itself is not repeated in errors: it could hold a
// password.
func parseRoot(name, text string) (*url.URL, error) {
	invalid := func(problem string) error {
		fix := "set it to one such as " + roots[name]
		return &Error{Kind: Invalid, Op: name, Message: problem + ": " + fix, Fix: fix}
	}
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil:
		return nil, invalid("not a URL")
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return nil, invalid("want http(s)://HOST/PATH")
	case u.User != nil:
		return nil, invalid("must not hold a user name or a password")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, invalid("must not hold a query")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	return u, nil
}

// APIOf is the REST root of the server with that web address, by GitHub's rule. A token of one server must not go to another.
// https://docs.github.com/enterprise-server/rest/enterprise-admin#endpoint-urls
// https://docs.github.com/enterprise-cloud@latest/admin/data-residency/network-details-for-ghecom
func APIOf(server string) string {
	server = strings.TrimRight(strings.TrimSpace(server), "/")
	at, err := url.Parse(server)
	switch {
	case err == nil && strings.EqualFold(at.Hostname(), "github.com"):
		return DefaultAPIURL
	case err == nil && strings.HasSuffix(strings.ToLower(at.Hostname()), ".ghe.com"):
		return at.Scheme + "://api." + at.Host
	}
	return server + "/api/v3"
}

// graphqlRoot follows GitHub's rule: /api/v3 has /api/graphql beside it, everything else has /graphql below.
// https://docs.github.com/enterprise-server/graphql/guides/forming-calls-with-graphql#the-graphql-endpoint
func graphqlRoot(api *url.URL) *url.URL {
	u := *api
	u.Path = strings.TrimSuffix(u.Path, "/v3") + "/graphql"
	return &u
}

// checkRepo refuses names that would bend a request's path; GitHub's names hold only these characters.
func checkRepo(repo model.Repo) error {
	if !isName(repo.Owner) || !isName(repo.Name) {
		return fmt.Errorf("repository %q: want owner/name", repo)
	}
	return nil
}

func isName(s string) bool {
	if s == "" || s == "." || s == ".." {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
	})
}
