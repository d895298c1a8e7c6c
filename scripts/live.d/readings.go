package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
)

// place is what a reading is about.
type place struct {
	Repo   model.Repo
	Pull   int
	Issue  int
	Branch string
	Base   string
	SHA    string
	Node   string
	Login  string
}

// reading is one question to the gateway. What it gives says in short what the gateway has understood.
type reading struct {
	name string
	read func(ctx context.Context, c *github.Client, p place) (any, error)
}

// readings are those that what was recorded can be put to again.
var readings = []reading{
	{"snapshot of a pull request", func(ctx context.Context, c *github.Client, p place) (any, error) {
		s, err := c.Threads.Snapshot(ctx, github.Query{Repo: p.Repo, Number: p.Pull, Author: p.Login, Branch: p.Branch, Node: p.Node})
		return told(s), err
	}},
	{"snapshot of an issue", func(ctx context.Context, c *github.Client, p place) (any, error) {
		s, err := c.Threads.Snapshot(ctx, github.Query{Repo: p.Repo, Number: p.Issue})
		return told(s), err
	}},
	{"survey", func(ctx context.Context, c *github.Client, p place) (any, error) {
		seen := 0
		err := c.Threads.Survey(ctx, github.SurveyQuery{Repo: p.Repo}, func(model.Snapshot) error { seen++; return nil })
		return seen > 0, err
	}},
	{"survey of issues", func(ctx context.Context, c *github.Client, p place) (any, error) {
		var seen []facts
		_, err := c.Threads.SurveyIssues(ctx, github.IssueSurveyQuery{Repo: p.Repo, Labels: []string{prefix}, Also: []int{p.Issue}}, func(s model.Snapshot) error {
			seen = append(seen, told(s))
			return nil
		})
		return seen, err
	}},
	{"what a merge needs", func(ctx context.Context, c *github.Client, p place) (any, error) {
		f, err := c.Threads.MergeFacts(ctx, p.Repo, p.Pull, p.Branch, "main")
		return facts{"head": f.HeadSHA, "checks": len(f.Checks)}, err
	}},
	{"a pull request now", func(ctx context.Context, c *github.Client, p place) (any, error) {
		n, err := c.Pulls.Now(ctx, p.Repo, p.Pull)
		return facts{"state": n.State, "head": n.HeadSHA}, err
	}},
	{"pull requests from a branch", func(ctx context.Context, c *github.Client, p place) (any, error) {
		l, err := c.Pulls.FromBranch(ctx, p.Repo, p.Branch)
		return len(l), err
	}},
	{"pull requests of a commit", func(ctx context.Context, c *github.Client, p place) (any, error) {
		l, err := c.Pulls.OfCommits(ctx, p.Repo, []string{p.SHA})
		return len(l[p.SHA]), err
	}},
	{"runs on a commit", func(ctx context.Context, c *github.Client, p place) (any, error) {
		l, err := c.Actions.RunsOn(ctx, p.Repo, []string{p.SHA})
		return len(l[p.SHA]), err
	}},
	{"states", func(ctx context.Context, c *github.Client, p place) (any, error) {
		l, err := c.Threads.States(ctx, p.Repo, []int{p.Pull})
		return l[p.Pull].State, err
	}},
	{"rights", func(ctx context.Context, c *github.Client, p place) (any, error) {
		l, err := c.Repositories.Permissions(ctx, p.Repo, []string{p.Login})
		return fmt.Sprint(l[p.Login]), err
	}},
	{"our issues", func(ctx context.Context, c *github.Client, p place) (any, error) {
		l, err := c.Issues.Ours(ctx, p.Repo)
		return len(l) > 0, err
	}},
	{"two commits compared", func(ctx context.Context, c *github.Client, p place) (any, error) {
		r, err := c.Commits.Compare(ctx, p.Repo, p.Base, p.SHA)
		return fmt.Sprint(r), err
	}},
	{"refs", func(ctx context.Context, c *github.Client, p place) (any, error) {
		l, err := c.Refs.List(ctx, p.Repo, "refs/heads/"+p.Branch)
		return len(l), err
	}},
	{"pushes", func(ctx context.Context, c *github.Client, p place) (any, error) {
		l, err := c.Refs.Pushes(ctx, p.Repo, p.Branch)
		return len(l) > 0, err
	}},
	{"settings", func(ctx context.Context, c *github.Client, p place) (any, error) {
		f, err := c.Repositories.Facts(ctx, p.Repo)
		return facts{"default branch": f.DefaultBranch}, err
	}},
}

// told is a snapshot in short.
func told(s model.Snapshot) facts {
	return facts{"pull": s.IsPull(), "comments": len(s.Comments), "complete": s.CommentsComplete, "bot": s.Viewer.Bot, "branch": s.DefaultBranch}
}

// outcome is what a reading came to: its value, or the kind of its error.
func outcome(v any, err error) any {
	if e := (*github.Error)(nil); errors.As(err, &e) {
		return facts{"error": string(e.Kind)}
	}
	if err != nil {
		return facts{"error": "untyped"}
	}
	return v
}

// exchange is one request of a reading, and its answer.
type exchange struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Status int    `json:"status"`
	Body   any    `json:"body"`
}

// recorder is a transport that notes what is exchanged.
type recorder struct {
	mu   sync.Mutex
	next http.RoundTripper
	api  string
	seen []exchange
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(text))
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var body any
	if err := dec.Decode(&body); err != nil {
		body = string(text)
	}
	path, _ := strings.CutPrefix(req.URL.String(), r.api)
	if strings.HasSuffix(req.URL.Path, "/graphql") {
		path = "graphql"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, exchange{req.Method, path, resp.StatusCode, body})
	return resp, nil
}

func askGateway(ctx context.Context, w *world) any {
	s := w.setScene(ctx)
	p := place{Repo: w.repo, Branch: s.pull.head, Base: w.main, SHA: s.pull.headSHA, Node: s.node, Login: s.login}
	p.Pull, _ = strconv.Atoi(s.pull.number)
	p.Issue, _ = strconv.Atoi(s.issue)
	var all []facts
	for _, r := range readings {
		seen := &recorder{next: http.DefaultTransport, api: w.api}
		c := got(github.New(github.Options{APIURL: w.api, GraphQLURL: w.graphql, Token: w.admin.token, Transport: seen}))
		v, err := r.read(ctx, c, p)
		check(ctx.Err())
		w.pace.calls += len(seen.seen)
		all = append(all, facts{"reading": r.name, "understood": outcome(v, err), "exchanges": seen.seen})
	}
	return facts{"readings": all, "place": facts{
		"pull": facts{"number": p.Pull}, "issue": facts{"number": p.Issue}, "branch": p.Branch, "base": p.Base, "sha": p.SHA, "node": facts{"id": p.Node}, "login": p.Login,
	}}
}
