package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// caller asks the server's API with one kind of token.
type caller struct {
	kind, token string
	w           *world
}

// answer is one answer, whatever its status.
type answer struct {
	status int
	header http.Header
	body   any // as JSON; a text where it is none
}

// at is what a path leads to, such as "user.login" or "0.id"; nil where there is nothing.
func (a answer) at(path string) any { return at(a.body, path) }

func at(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

// str is the text or number at a path, as text; "" where there is none.
func (a answer) str(path string) string {
	if v := a.at(path); v != nil {
		return fmt.Sprint(v)
	}
	return ""
}

// list is the list at the top of an answer.
func (a answer) list() []any {
	l, _ := a.body.([]any)
	return l
}

// refusal is the status, and for an error GitHub's words.
func (a answer) refusal() facts {
	f := facts{"status": a.status}
	if a.status >= 400 {
		f["message"] = a.at("message")
		if first := a.at("errors.0"); first != nil {
			f["error"] = first
		}
	}
	return f
}

// want is the answer, or an error unless it has one of these statuses.
func (a answer) want(err error, statuses ...int) (answer, error) {
	if err != nil {
		return a, err
	}
	for _, s := range statuses {
		if a.status == s {
			return a, nil
		}
	}
	return a, fmt.Errorf("answered with %d, want %d: %.300s", a.status, statuses, fmt.Sprint(a.body))
}

// need asks the REST API, and takes nothing but these statuses.
func (c *caller) need(ctx context.Context, method, path string, body any, statuses ...int) (answer, error) {
	a, err := c.rest(ctx, method, path, body)
	return a.want(err, statuses...)
}

// want200 is want for GraphQL, which answers with no other status.
func want200(a answer, err error) (answer, error) { return a.want(err, http.StatusOK) }

// pace spaces requests as GitHub asks for: https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
type pace struct {
	mu                      sync.Mutex
	between                 time.Duration // content-creating requests
	last                    time.Time
	calls, content, queries int
	first, used             int // points of GraphQL that the hour had before, and has now, by GitHub's own count
	waited                  time.Duration
}

// creates says whether a request makes something that people are told about, which GitHub limits most.
func creates(method, path string) bool {
	if method != http.MethodPost {
		return false
	}
	for _, word := range []string{"/issues", "/pulls", "/comments", "/reviews", "/replies", "/reactions"} {
		if strings.HasSuffix(path, word) {
			return true
		}
	}
	return false
}

// mostTries bounds how often a request is sent that GitHub asks to wait with, or that a gateway lost.
const mostTries = 5

// rest asks the REST API. The path begins behind the API's root; "~" at its beginning is the repository. Whatever status
// comes back is an answer, but for limits, which are waited for. An error is no answer at all.
func (c *caller) rest(ctx context.Context, method, path string, body any) (answer, error) {
	path = strings.Replace(path, "~", "/repos/"+c.w.repo.String(), 1)
	return c.send(ctx, method, c.w.api+path, body)
}

// graph asks the GraphQL API.
func (c *caller) graph(ctx context.Context, query string, variables facts) (answer, error) {
	return c.send(ctx, http.MethodPost, c.w.graphql, facts{"query": query, "variables": variables})
}

func (c *caller) send(ctx context.Context, method, url string, body any) (answer, error) {
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return answer{}, fmt.Errorf("%s %s: %w", method, url, err)
		}
	}
	for try := 1; ; try++ {
		if err := c.w.pace.turn(ctx, c.w, creates(method, url), url == c.w.graphql); err != nil {
			return answer{}, err
		}
		a, err := c.once(ctx, method, url, raw)
		wait, again := limited(a, err, method, c.w.now())
		if !again || try == mostTries {
			if err != nil {
				return a, fmt.Errorf("%s %s: %w", method, url, err)
			}
			return a, nil
		}
		fmt.Fprintf(c.w.said, "  waiting %s: %s %s answered %d\n", wait, method, url, a.status)
		if err := c.w.wait(ctx, wait); err != nil {
			return a, err
		}
	}
}

func (c *caller) once(ctx context.Context, method, url string, raw []byte) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(raw))
	if err != nil {
		return answer{}, err
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if len(raw) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/vnd.github+json")
	req.Header.Set("User-Agent", "mergexo-live")
	resp, err := c.w.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return answer{}, err
	}
	a := answer{status: resp.StatusCode, header: resp.Header}
	c.w.pace.note(resp.Header)
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&a.body); err != nil {
		a.body = string(text)
	}
	return a, nil
}

// limited says how long to wait before a request is sent again: a limit, or a read that a gateway lost.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
func limited(a answer, err error, method string, now time.Time) (time.Duration, bool) {
	if err != nil || a.status >= 500 {
		return 2 * time.Second, method == http.MethodGet
	}
	if a.status != http.StatusForbidden && a.status != http.StatusTooManyRequests {
		return 0, false
	}
	if s, err := strconv.Atoi(a.header.Get("Retry-After")); err == nil {
		return time.Duration(s)*time.Second + time.Second, true
	}
	if a.header.Get("X-RateLimit-Remaining") == "0" {
		if at, err := strconv.ParseInt(a.header.Get("X-RateLimit-Reset"), 10, 64); err == nil {
			return max(time.Unix(at, 0).Sub(now), 0) + time.Second, true
		}
	}
	return time.Minute, strings.Contains(strings.ToLower(a.str("message")), "secondary rate limit")
}

// note takes down how many points have been used. The count begins again with each hour, and each token has its own: what is
// told in the end is about the administrator's within the last hour.
func (p *pace) note(h http.Header) {
	used, err := strconv.Atoi(h.Get("X-RateLimit-Used"))
	if err != nil || h.Get("X-RateLimit-Resource") != "graphql" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.used == 0 || used < p.first {
		p.first = used
	}
	p.used = max(used, p.used)
}

// turn waits until a request may be sent, and counts it.
func (p *pace) turn(ctx context.Context, w *world, content, query bool) error {
	p.mu.Lock()
	p.calls++
	if query {
		p.queries++
	}
	var d time.Duration
	if content {
		p.content++
		now := w.now()
		d = max(p.last.Add(p.between).Sub(now), 0)
		p.last = now.Add(d)
		p.waited += d
	}
	p.mu.Unlock()
	return w.wait(ctx, d)
}

// shape is which keys an answer has, and of which type each is: "user.login: text". Lists are by their first entry.
func shape(v any) facts {
	out := facts{}
	addShape(out, "", v)
	return out
}

func addShape(out facts, path string, v any) {
	switch v := v.(type) {
	case nil:
		out[path] = "null"
	case bool:
		out[path] = "boolean"
	case string:
		out[path] = "text"
	case json.Number:
		out[path] = "number"
	case []any:
		if len(v) == 0 {
			out[path] = "empty list"
			return
		}
		addShape(out, path+"[]", v[0])
	case map[string]any:
		if len(v) == 0 {
			out[path] = "empty object"
		}
		for k, e := range v {
			addShape(out, strings.TrimPrefix(path+"."+k, "."), e)
		}
	}
}
