package pages_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox"
	"github.com/mergexo/mergexo/internal/sandbox/pages"
)

// origin is where the pages of tests are, without a port being open.
const origin = "http://127.0.0.1:4711"

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// said is a comment with much of what people and programs write.
const said = "A table:\n\n| command | result |\n| --- | --- |\n| `merge` | **done** |\n\n<!-- mergexo:state=hidden -->\n<details>\n<summary>Log</summary>\n\n```text\nok\n```\n\n</details>\n\n" +
	"See #1 (#2), [#3](https://example.com) `#4` a#5, a <b>bold</b> word\nand <script>alert(1)</script> <img src=x onerror=alert(2)> [a link](javascript:alert(3)) <javascript:alert(4)> https://example.com/b ![a picture](https://example.com/a.png)\n"

// busy is an event that does not come to its end.
type busy struct{}

func (busy) Pending() int               { return 1 }
func (busy) Idle(context.Context) error { return nil }

// shown is a sandbox with pages.
type shown struct {
	t *testing.T
	http.Handler
}

func newPages(t *testing.T, change ...func(*pages.Options)) *shown {
	t.Helper()
	s := must.Get(sandbox.New(sandbox.Options{StateDir: t.TempDir(), Clock: func() time.Time { return noon }, Empty: true}))(t)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	s.SetOrigin(origin)
	require.NoError(t, s.Seed(scene))
	o := pages.Options{API: s, Origin: origin, Repository: "octo/widgets", Reader: "octo"}
	for _, f := range change {
		f(&o)
	}
	return &shown{t, must.Get(pages.New(o))(t)}
}

// scene is an issue, and a pull request with a review and a thread.
func scene(d *sandbox.Seeder) error {
	const repo = "octo/widgets"
	first, last := "hello\nworld\n", "hello\nWorld\n"
	for _, do := range []func() error{
		func() error {
			return d.Repository(sandbox.SeedRepository{FullName: repo, ID: 5, At: noon, Files: map[string]string{"greeting.txt": first}})
		},
		func() error { return d.Permission(repo, "octo", "admin") },
		func() error { return d.Permission(repo, "alice", "write") },
		func() error {
			return d.Issue(repo, sandbox.SeedIssue{Number: 1, ID: 101, Title: "Greet <everybody>", Body: "By name.", Author: "alice", Labels: []string{"bug"}})
		},
		func() error {
			_, err := d.Commit(repo, "agent/greet", "main", map[string]string{"greeting.txt": last}, "Greet the World\n\nIt has a name.", noon)
			return err
		},
		func() error {
			return d.Pull(repo, sandbox.SeedPull{SeedIssue: sandbox.SeedIssue{Number: 2, ID: 102, Title: "Greet", Body: "Fixes #1", Author: "octo"}, PullID: 202, Base: "main", Head: "agent/greet"})
		},
		func() error { return d.Comment(repo, 2, sandbox.SeedComment{ID: 103, Author: "alice", Body: said}) },
		func() error {
			return d.Review(repo, 2, sandbox.SeedReview{SeedComment: sandbox.SeedComment{ID: 104, Author: "alice", Body: "Nearly."}, State: "CHANGES_REQUESTED"})
		},
		func() error {
			return d.ReviewComment(repo, 2, sandbox.SeedReviewComment{
				SeedComment: sandbox.SeedComment{ID: 105, Author: "alice", Body: "Louder:\n```suggestion\nWORLD\n```"}, ReviewID: 104, Path: "greeting.txt", Line: 2,
				DiffHunk: "@@ -1,2 +1,2 @@\n hello\n-world\n+World",
			})
		},
		func() error {
			return d.ReviewComment(repo, 2, sandbox.SeedReviewComment{SeedComment: sandbox.SeedComment{ID: 106, Author: "octo", Body: "Why?"}, Path: "greeting.txt", Line: 2, InReplyTo: 105})
		},
	} {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// ask sends a request as a browser at the origin does.
func (s *shown) ask(method, path string, form url.Values, change ...func(*http.Request)) *http.Response {
	s.t.Helper()
	req := httptest.NewRequestWithContext(s.t.Context(), method, origin+path, strings.NewReader(form.Encode()))
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for _, f := range change {
		f(req)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, req)
	return w.Result()
}

func (s *shown) page(path string) string {
	s.t.Helper()
	got := s.ask(http.MethodGet, path, nil)
	require.Equal(s.t, http.StatusOK, got.StatusCode, path)
	return text(s.t, got)
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	return string(must.Get(io.ReadAll(r.Body))(t))
}

func TestPages(t *testing.T) {
	s := newPages(t, func(o *pages.Options) {
		o.Events = busy{}
		o.Trains = func(context.Context, string) ([]model.Train, error) {
			return []model.Train{{Base: "main",
				Cars:   []model.TrainCar{{Number: 3, State: "red", Members: []int{2}, On: "aaaaaaaaaaaa", Tip: "bbbbbbbbbbbb", Failed: []model.TrainCheck{{Name: "test"}}}, {Number: 4, Behind: 3, State: "testing", Members: []int{5}, Checks: []model.TrainCheck{{Name: "ci", State: model.CheckFailed}, {Name: "lint", State: model.CheckPending}}}},
				Queue:  []model.TrainPlace{{Number: 2, Car: 3}, {Number: 9, Why: "for an approval"}},
				Landed: []model.TrainLanding{{Number: 8, SHA: "cccccccccccc", At: noon}},
			}}, nil
		}
	})
	made := s.ask(http.MethodPut, "/_sandbox/runs/7", nil, func(r *http.Request) {
		r.Body = io.NopCloser(strings.NewReader(`{"status": "completed", "conclusion": "failure", "actor": "alice", "event": "issue_comment", "jobs": [{"name": "mergexo", "step": "Answer", "log": "one <two>\n2026 three\n"}]}`))
	})
	require.Equal(t, http.StatusOK, made.StatusCode)
	for name, path := range map[string]string{
		"home": "/octo/widgets", "issues": "/octo/widgets/issues", "issue": "/octo/widgets/issues/1", "pull": "/octo/widgets/pull/2?wait",
		"commits": "/octo/widgets/pull/2/commits", "files": "/octo/widgets/pull/2/files", "branches": "/octo/widgets/branches", "train": "/octo/widgets/train",
		"tree": "/octo/widgets/tree/agent/greet", "blob": "/octo/widgets/blob/main/greeting.txt", "history": "/octo/widgets/commits/agent/greet", "runs": "/octo/widgets/actions",
		"compare": "/octo/widgets/compare/main...agent/greet", "run": "/octo/widgets/actions/runs/7",
	} {
		t.Run(name, func(t *testing.T) {
			golden.File(t, name+".html", s.page(path))
		})
	}
}

// Every address on a page leads to a page, as does every html_url of the API.
func TestEveryLinkOpens(t *testing.T) {
	s := newPages(t)
	links := regexp.MustCompile(`(?:href="|"html_url":")(?:` + regexp.QuoteMeta(origin) + `)?(/[^"#]*)`)
	seen, next := map[string]bool{}, []string{
		"/octo/widgets", "/api/v3/repos/octo/widgets", "/api/v3/repos/octo/widgets/issues?state=all", "/api/v3/repos/octo/widgets/pulls/2/comments",
		"/api/v3/repos/octo/widgets/pulls/2/commits", "/api/v3/repos/octo/widgets/pulls/2/reviews", "/api/v3/repos/octo/widgets/issues/2/comments",
	}
	for len(next) > 0 {
		path := next[0]
		next = next[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		got := s.ask(http.MethodGet, path, nil)
		if got.StatusCode == http.StatusSeeOther {
			next = append(next, got.Header.Get("Location"))
			continue
		}
		assert.Equal(t, http.StatusOK, got.StatusCode, path)
		for _, at := range links.FindAllStringSubmatch(text(t, got), -1) {
			next = append(next, at[1])
		}
	}
	assert.Greater(t, len(seen), 20)
}

func TestWithoutATrainThePageSaysHowToHaveOne(t *testing.T) {
	s := newPages(t, func(o *pages.Options) {
		o.Trains = func(context.Context, string) ([]model.Train, error) { return nil, nil }
	})
	assert.Contains(t, s.page("/octo/widgets/train"), `<code>verify = "ci"</code> in <code>[merge]</code>`)
	assert.Equal(t, http.StatusNotFound, newPages(t).ask(http.MethodGet, "/octo/widgets/train", nil).StatusCode)
}

func TestHTMLInACommentStaysText(t *testing.T) {
	s := newPages(t)
	page := s.page("/octo/widgets/pull/2")
	assert.Contains(t, page, "&lt;script&gt;alert(1)&lt;/script&gt; &lt;img src=x onerror=alert(2)&gt;")
	assert.Contains(t, page, "<b>bold</b> word<br>")
	for _, not := range []string{"<script", "<img", "href=\"javascript", "(javascript:", "mergexo:state", "example.com/a.png"} {
		assert.NotContains(t, page, not)
	}
}

func TestWhoIsIgnoredAndWhatIsMerged(t *testing.T) {
	s := newPages(t, func(o *pages.Options) { o.Events = busy{} })
	ask := func(login, method, path, body string) {
		req := httptest.NewRequestWithContext(t.Context(), method, origin+path, strings.NewReader(body))
		req.Header.Set("Authorization", "Bearer sandbox-"+login)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, req)
		require.Less(t, w.Code, 300, w.Body)
	}
	ask("octo", http.MethodPut, "/_sandbox/users/bob", `{"repository": "octo/widgets", "permission": "read"}`)
	ask("bob", http.MethodPost, "/api/v3/repos/octo/widgets/issues/2/comments", `{"body": "From bob."}`)
	ask("alice", http.MethodPost, "/api/v3/repos/octo/widgets/issues/2/comments", `{"body": "From alice."}`)
	ask("octo", http.MethodPut, "/api/v3/repos/octo/widgets/pulls/2/merge", `{"merge_method": "merge"}`)
	ask("octo", http.MethodPost, "/api/v3/repos/octo/widgets/issues/2/comments", `{"body": "It landed."}`)
	page := s.page("/octo/widgets/pull/2")
	assert.Less(t, strings.Index(page, "octo merged"), strings.Index(page, "It landed."))
	assert.Equal(t, 1, strings.Count(page, "Not acted on: bob has no write access"))
	assert.Less(t, strings.Index(page, "From bob."), strings.Index(page, "Not acted on"))
	assert.Less(t, strings.Index(page, "Not acted on"), strings.Index(page, "From alice."))
	assert.Regexp(t, `(?s)From alice\..*<p class="event"><span class="badge violet">merged</span> octo merged <a href="/octo/widgets/commit/\w{40}"><code>\w{10}</code></a> into <code>main</code>`, page)
	assert.NotContains(t, newPages(t).page("/octo/widgets/pull/2"), "Not acted on", "where nothing acts")
}

func TestOnlyThisMachineIsServed(t *testing.T) {
	s := newPages(t)
	rebound := func(r *http.Request) { r.Host = "evil.example:4711" }
	for _, path := range []string{"/octo/widgets", "/api/v3/repos/octo/widgets", "/_sandbox/calls"} {
		assert.Equal(t, http.StatusMisdirectedRequest, s.ask(http.MethodGet, path, nil, rebound).StatusCode, path)
		byName := s.ask(http.MethodGet, path, nil, func(r *http.Request) { r.Host = "localhost:4711" })
		assert.Equal(t, http.StatusOK, byName.StatusCode, path)
	}
	form := url.Values{"as": {"alice"}, "body": {"Hello."}}
	for name, foreign := range map[string]func(*http.Request){
		"a page of another site":   func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"another port":             func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
		"a browser that says less": func(r *http.Request) { r.Header.Del("Sec-Fetch-Site"); r.Header.Set("Origin", "null") },
	} {
		for _, path := range []string{"/octo/widgets/2/comment", "/api/v3/repos/octo/widgets/issues/2/comments", "/_sandbox/repositories"} {
			assert.Equal(t, http.StatusForbidden, s.ask(http.MethodPost, path, form, foreign).StatusCode, "%s: %s", name, path)
		}
	}
	h := s.ask(http.MethodGet, "/octo/widgets", nil).Header
	assert.Equal(t, "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'", h.Get("Content-Security-Policy"))
	for _, wrong := range []string{"http://192.0.2.1:80", "http://sandbox.example", "http://[::]:80"} {
		assert.ErrorContains(t, must.Err(pages.New(pages.Options{Origin: wrong})), "want an address on the loopback device", wrong)
	}
}

func TestFormsSpeakAsSomebody(t *testing.T) {
	s := newPages(t)
	for _, c := range []struct {
		path string
		form url.Values
		to   string
		want []string // on that page
	}{
		{"/2/comment", url.Values{"body": {"More,\r\nplease."}}, "/issues/2?wait#end", []string{"More,<br>\nplease."}},
		{"/2/reply", url.Values{"body": {"Because."}, "to": {"105"}}, "/pull/2?wait#discussion_r", []string{"<p>Because.</p>"}},
		{"/2/review", url.Values{"event": {"APPROVE"}}, "/pull/2?wait#end", []string{"approved these changes"}},
		{"/2/line", url.Values{"body": {"Here."}, "path": {"greeting.txt"}, "line": {"1"}, "side": {"RIGHT"}}, "/pull/2?wait#discussion_r", []string{"<p>Here.</p>"}},
		{"/2/line", url.Values{"body": {"Gone."}, "path": {"greeting.txt"}, "line": {"2"}, "side": {"LEFT"}}, "/pull/2?wait#discussion_r", []string{"<p>Gone.</p>"}},
		{"/1/label", url.Values{"name": {"question"}}, "/issues/1?wait#end", []string{`<span class="badge violet">question</span>`}},
		{"/1/unlabel", url.Values{"name": {"bug"}}, "/issues/1?wait#end", []string{`<option>bug</option>`}},
		{"/1/state", url.Values{"to": {"closed"}}, "/issues/1?wait#end", []string{`<span class="badge red">closed</span>`}},
		{"/new", url.Values{"title": {"Wave"}, "body": {"With a hand."}, "name": {"bug"}}, "/issues/3?wait#end", []string{"Wave", "With a hand.", `<span class="badge red">bug</span>`}},
	} {
		c.form.Set("as", "alice")
		if c.path == "/2/line" { // its commit stands in the form
			form := s.page("/octo/widgets/pull/2/files?" + c.form.Encode())
			c.form.Set("commit", regexp.MustCompile(`name="commit" value="(.*?)"`).FindStringSubmatch(form)[1])
			assert.Equal(t, c.form.Get("side") == "RIGHT", strings.Contains(form, "```suggestion\n"), "a line that is gone has no suggestion")
		}
		got := s.ask(http.MethodPost, "/octo/widgets"+c.path, c.form)
		require.Equal(t, http.StatusSeeOther, got.StatusCode, "%s: %s", c.path, text(t, got))
		to := got.Header.Get("Location")
		assert.Contains(t, to, "/octo/widgets"+c.to, c.path)
		to, _, _ = strings.Cut(to, "#")
		next := s.ask(http.MethodGet, to, nil)
		if next.StatusCode == http.StatusSeeOther {
			next = s.ask(http.MethodGet, next.Header.Get("Location"), nil)
		}
		shown := text(t, next)
		for _, want := range c.want {
			assert.Contains(t, shown, want, c.path)
		}
	}
}

func TestARefusedFormComesBack(t *testing.T) {
	s := newPages(t)
	form := func(as string, pairs ...string) url.Values {
		v := url.Values{"as": {as}}
		for i := 0; i < len(pairs); i += 2 {
			v.Set(pairs[i], pairs[i+1])
		}
		return v
	}
	const kept = `<a href="#draft">What you wrote</a> is kept.`
	for _, c := range []struct {
		path   string
		form   url.Values
		status int
		why    string
		shows  []string
	}{
		{"/2/comment", form("mallory", "body", "</textarea>x"), 422, "as: choose one of the repository&#39;s people", []string{kept, "\n&lt;/textarea&gt;x</textarea>", `id="draft"`}},
		{"/2/comment", form("alice"), 422, "Body cannot be blank", []string{"<h1>Greet "}},
		{"/1/comment", form("mallory", "body", "More."), 422, "as: choose", []string{kept, "\nMore.</textarea>", "<h1>Greet &lt;everybody&gt; "}},
		{"/9/comment", form("alice", "body", "x"), 404, "Not Found", nil},
		{"/2/review", form("octo", "event", "APPROVE", "body", "Good."), 422, "Can not approve your own pull request", []string{kept, "\nGood.</textarea>", `value="octo" selected`, `value="alice" selected`}}, // who may approve
		{"/2/line", form("alice", "line", "x"), 422, "line: want the number of a line", nil},
		{"/2/line", form("mallory", "path", "greeting.txt", "line", "2", "side", "RIGHT", "body", "Here."), 422, "as: choose", []string{kept, "\nHere.</textarea>", "Comment on line 2"}},
		{"/2/reply", form("alice", "to", "", "body", "x"), 422, "to: want the comment that is answered", nil},
		{"/2/reply", form("mallory", "to", "105", "body", "Why?"), 422, "as: choose", []string{kept, `<details class="pad" open id="draft">`, "\nWhy?</textarea>"}},
		{"/new", form("mallory", "title", "Wave", "body", "Both hands."), 422, "as: choose", []string{kept, `value="Wave"`, "\nBoth hands.</textarea>"}},
	} {
		got := s.ask(http.MethodPost, "/octo/widgets"+c.path, c.form)
		shown := text(t, got)
		assert.Equal(t, c.status, got.StatusCode, c.path)
		for _, want := range append(c.shows, c.why) {
			assert.Contains(t, shown, want, "%s: %s", c.path, c.why)
		}
	}
	got := s.ask(http.MethodGet, "/octo/widgets/nothing/here", nil)
	assert.Equal(t, http.StatusNotFound, got.StatusCode)
	assert.Contains(t, text(t, got), "There is nothing here.")
}

func TestOnlyWhoKnowsTheKeyIsLetIn(t *testing.T) {
	s := newPages(t, func(o *pages.Options) { o.Key = "secret" })
	get := func(path string, header ...string) *http.Response {
		return s.ask(http.MethodGet, path, nil, func(r *http.Request) {
			if len(header) > 0 {
				r.Header.Set(header[0], header[1])
			}
		})
	}
	basic := func(user, password string) string {
		r := httptest.NewRequest(http.MethodGet, origin, nil)
		r.SetBasicAuth(user, password)
		return r.Header.Get("Authorization")
	}
	const user, refs = "/api/v3/user", "/octo/widgets/info/refs?service=git-upload-pack"
	for _, path := range []string{"/octo/widgets", user, refs, "/_sandbox/calls", "/?key=Secret"} {
		got := get(path)
		assert.Equal(t, http.StatusUnauthorized, got.StatusCode, path)
		assert.NotEmpty(t, got.Header.Get("WWW-Authenticate"), path)
		assert.Empty(t, got.Cookies(), path)
	}
	for _, wrong := range []string{"Bearer sandbox-octo", "Bearer .sandbox-octo", "Bearer secre.sandbox-octo", "Basic nonsense", basic("octo", "sandbox-octo")} {
		assert.Equal(t, http.StatusUnauthorized, get(user, "Authorization", wrong).StatusCode, wrong)
	}
	assert.Equal(t, http.StatusUnauthorized, get("/octo/widgets", "Cookie", "key=other").StatusCode)

	assert.Equal(t, http.StatusOK, get("/_pages.css").StatusCode, "it is on the page for those who have no key")
	told := get("/octo/widgets", "Accept", "text/html,*/*")
	assert.Equal(t, http.StatusForbidden, told.StatusCode)
	assert.Empty(t, told.Header.Get("WWW-Authenticate"), "a browser would ask for a name and a password")
	page := text(t, told)
	assert.Contains(t, page, "open the address of its first line")
	assert.NotContains(t, page, "octo", "nothing of the repository is there")

	let := get("/octo/widgets?key=secret")
	assert.Equal(t, http.StatusSeeOther, let.StatusCode)
	assert.Equal(t, "/octo/widgets", let.Header.Get("Location"), "the key does not stay in the address")
	assert.Equal(t, "/example.com", get("//example.com?key=secret").Header.Get("Location"), "another host's page is none of ours")
	assert.Contains(t, let.Header.Get("Set-Cookie"), "HttpOnly; SameSite=Strict")
	assert.Equal(t, http.StatusOK, get("/octo/widgets", "Cookie", let.Header.Get("Set-Cookie")).StatusCode)
	assert.Contains(t, text(t, get(user, "Authorization", "Bearer secret.sandbox-alice")), `"login":"alice"`)
	assert.Contains(t, text(t, get(user, "Authorization", basic("x", "secret.sandbox-alice"))), `"login":"alice"`)
	assert.Equal(t, http.StatusOK, get(refs, "Authorization", basic("octo", "secret.sandbox-octo")).StatusCode)
	assert.Equal(t, http.StatusOK, get("/_sandbox/calls", "Authorization", "Bearer secret.").StatusCode)
}
