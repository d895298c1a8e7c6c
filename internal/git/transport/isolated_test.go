package transport_test

import (
	"context"
	"crypto/rand"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/gittest"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func TestPublishBesideMakesAndMovesABranch(t *testing.T) {
	must.Each(t, map[string][]string{"full": nil, "shallow": {"--depth=1"}, "partial": {"--filter=blob:none"}}, func(t *testing.T, more []string) {
		h, c, _ := gittest.Begun(t, more...)
		calls := c.NetworkCalls()
		gittest.Write(t, c.Dir(), map[string]string{"a.txt": "two\n"})
		one := gittest.Snap(t, h, c, "")
		require.NoError(t, transport.PublishIsolated(gittest.Ctx, c, transport.Update{Branch: "mergexo/checkpoint/5/x", SHA: one}))
		assert.Equal(t, one, h.Tip("refs/heads/mergexo/checkpoint/5/x"))
		gittest.Write(t, c.Dir(), map[string]string{"a.txt": "three\n"})
		two := gittest.Snap(t, h, c, one)
		require.NoError(t, transport.PublishIsolated(gittest.Ctx, c, transport.Update{Branch: "mergexo/checkpoint/5/x", Start: one, SHA: two}))
		require.NoError(t, transport.PublishIsolated(gittest.Ctx, c, transport.Update{Branch: "mergexo/checkpoint/5/x", Start: one, SHA: two}), "it exists already")
		assert.Equal(t, two, h.Tip("refs/heads/mergexo/checkpoint/5/x"))
		assert.Equal(t, calls+3, c.NetworkCalls())
		h.Git(h.Bare, "fsck", "--full")
	})
}

func TestNoPublicationRewinds(t *testing.T) {
	for way, publish := range gittest.Ways {
		h, c, start, sha := gittest.Turn(t)
		require.NoError(t, publish(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: start, SHA: sha}))
		calls := c.NetworkCalls()
		rewind := gittest.As[*git.ErrRewind](t, publish(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: sha, SHA: start}))
		assert.Equal(t, model.Behind, rewind.Relation)
		assert.Equal(t, calls, c.NetworkCalls(), "the server was not even asked")
		unknown := "00000000000000000000000000000000deadbeef"
		require.ErrorAs(t, publish(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: unknown, SHA: sha}), &rewind)
		assert.Equal(t, model.Unknown, rewind.Relation)
		if asked := c.NetworkCalls() - calls; way == "isolated" {
			assert.Zero(t, asked)
		} else {
			assert.Equal(t, 1, asked, "for the unknown one, and nothing was sent")
		}
		assert.Equal(t, sha, h.Tip("refs/heads/agent/x"))
	}
}

func TestPublishBesideDeletesNothing(t *testing.T) {
	h, c, start, sha := gittest.Turn(t)
	calls := c.NetworkCalls()
	for _, p := range []transport.Update{
		{Branch: "agent/x", Start: start, SHA: sha, Stage: gittest.Stage}, {Branch: "agent/x", Start: start, SHA: sha, Drop: []git.Ref{{Name: gittest.Stage}}},
		{Branch: "../x", SHA: sha}, {Branch: "agent/x", SHA: "HEAD"},
	} {
		require.Error(t, transport.PublishIsolated(gittest.Ctx, c, p))
	}
	assert.Equal(t, calls, c.NetworkCalls(), "the server was not even asked")
	assert.Equal(t, start, h.Tip("refs/heads/agent/x"))
}

func TestPublishBesideSendsALargePackAsItComes(t *testing.T) {
	h, c, start, _ := gittest.Turn(t)
	big := make([]byte, 6<<20)
	gittest.Must(rand.Read(big))(t)
	gittest.Write(t, c.Dir(), map[string]string{"big.bin": string(big)})
	sha := gittest.Must(checkout.Snapshot(gittest.Ctx, c, "", "Snapshot"))(t)
	var posts []int64
	h.Behave(false, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			posts = append(posts, r.ContentLength)
		}
		return false
	})
	require.NoError(t, transport.PublishIsolated(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: start, SHA: sha}))
	assert.Equal(t, sha, h.Tip("refs/heads/agent/x"))
	assert.Equal(t, []int64{-1}, posts, "streamed")
	h.Git(h.Bare, "fsck", "--full")
}

func TestPublishBesideDoesNotUseWhatLiesInOurGitDirectory(t *testing.T) {
	h, _, start, _ := gittest.Turn(t)
	var temp string
	c := h.Open(h.Workspace("agent/x"), func(o *git.Options) { temp = o.Temp })
	sha := h.Git(c.Dir(), "commit-tree", "-p", start, "-m", "more", start+"^{tree}")
	ours := gittest.Must(filepath.Glob(filepath.Join(temp, "mergexo-git-*", "config")))(t)
	require.Len(t, ours, 1)
	h.Git(temp, "config", "--file", ours[0], "url.http://127.0.0.1:1/.insteadOf", "http://")
	require.NoError(t, transport.PublishIsolated(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: start, SHA: sha}))
	assert.Equal(t, sha, h.Tip("refs/heads/agent/x"))
}

// answering lets the server answer requests of one method with a status.
func answering(method string, status int) func(*gittest.Hub, *git.Options) {
	return func(h *gittest.Hub, _ *git.Options) {
		h.Behave(false, func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != method {
				return false
			}
			w.Header().Set("WWW-Authenticate", `Basic realm="hub"`)
			http.Error(w, "the server says no", status)
			return true
		})
	}
}

// answeringAt is answering for a repository of another name.
func answeringAt(name, method string, status int) func(*gittest.Hub, *git.Options) {
	return func(h *gittest.Hub, o *git.Options) {
		answering(method, status)(h, o)
		o.URL = strings.TrimSuffix(o.URL, "octo/widgets") + name
	}
}

// hooked gives the server a hook before it takes a push.
func hooked(text string) func(*gittest.Hub, *git.Options) {
	return func(h *gittest.Hub, _ *git.Options) {
		require.NoError(h.T, os.WriteFile(filepath.Join(h.Bare, "hooks", "pre-receive"), []byte("#!/bin/sh\ncat >/dev/null\n"+text), 0o755))
	}
}

// breaking lets the server break off: after the push was made, and after it has sent some of the answer.
func breaking(some string) func(*gittest.Hub, *git.Options) {
	return func(h *gittest.Hub, _ *git.Options) {
		h.Behave(false, func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPost {
				return false
			}
			assert.NoError(h.T, gittest.Err(io.Copy(io.Discard, r.Body)))
			if some != "" {
				w.Header().Set("Content-Type", "application/x-git-receive-pack-result")
				assert.NoError(h.T, gittest.Err(w.Write([]byte(some))))
				assert.NoError(h.T, http.NewResponseController(w).Flush())
			}
			panic(http.ErrAbortHandler)
		})
	}
}

// ending answers requests of a kind with so much and a proper end, as a proxy does whose server has died.
func ending(method, some string) func(*gittest.Hub, *git.Options) {
	return func(h *gittest.Hub, _ *git.Options) {
		h.Behave(false, func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != method {
				return false
			}
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			assert.NoError(h.T, gittest.Err(w.Write([]byte(some))))
			return true
		})
	}
}

// overtaken lets somebody else move the branch once git knows where it is.
func overtaken(h *gittest.Hub, _ *git.Options) {
	h.Behave(false, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			h.Git(h.Bare, "update-ref", "refs/heads/agent/x", "refs/heads/main")
		}
		return false
	})
}

// trouble is why the server does not do what was asked for, and how that is told.
type trouble struct {
	begin func(*gittest.Hub, *git.Options)
	want  gittest.Outcome
	said  string
}

// early are troubles before git has said what it wants.
var early = map[string]trouble{
	"wrong token":  {func(_ *gittest.Hub, o *git.Options) { o.Token = "another-token-than-that" }, gittest.Outcome{Failure: git.Denied}, "Authentication failed for 'http://"},
	"no token":     {func(_ *gittest.Hub, o *git.Options) { o.Token = "" }, gittest.Outcome{Failure: git.Denied}, "Authentication failed for 'http://"},
	"forbidden":    {answering("GET", 403), gittest.Outcome{Failure: git.Denied}, "returned error: 403"},
	"no such":      {answering("GET", 404), gittest.Outcome{Failure: git.NotFound}, "not found"},
	"teapot":       {answering("GET", 418), gittest.Outcome{}, "returned error: 418"},
	"its name":     {answeringAt("octo/ssl_error_codes", "GET", 418), gittest.Outcome{}, "octo/ssl_error_codes"},
	"too many":     {answering("GET", 429), gittest.Outcome{Failure: git.Unreachable}, "returned error: 429"},
	"server error": {answering("GET", 500), gittest.Outcome{Failure: git.Unreachable}, "returned error: 500"},
	"unavailable":  {answering("GET", 503), gittest.Outcome{Failure: git.Unreachable}, "returned error: 503"},
	"gone":         {func(_ *gittest.Hub, o *git.Options) { o.URL = "http://127.0.0.1:1/octo/widgets" }, gittest.Outcome{Failure: git.Unreachable}, "connection refused"},
	"no such host": {func(_ *gittest.Hub, o *git.Options) { o.URL = "http://widgets.invalid/octo/widgets" }, gittest.Outcome{Failure: git.Unreachable}, "widgets.invalid"},
}

func TestPublishBesideFailsAsPublishDoes(t *testing.T) {
	const ref = "refs/heads/agent/x"
	h := gittest.NewHub(t)
	start := h.Commit("agent/x", "work", map[string]string{"a.txt": "one\n"})
	var settled git.Options
	dir := h.Open(h.Workspace("agent/x"), func(o *git.Options) { settled = *o }).Dir()
	sha := h.Git(dir, "commit-tree", "-p", start, "-m", "more", start+"^{tree}")
	troubles := map[string]trouble{
		"denied late": {answering("POST", 403), gittest.Outcome{Unclear: true, Failure: git.Denied}, "HTTP 403"},
		"error late":  {answering("POST", 502), gittest.Outcome{Unclear: true, Failure: git.Unreachable}, "HTTP 502"},
		"no answer":   {breaking(""), gittest.Outcome{Unclear: true, Failure: git.Unreachable}, ""},
		"half answer": {breaking("0030\x01000eunpack ok\n"), gittest.Outcome{Unclear: true, Failure: git.Unreachable}, ""},
		"hook":        {hooked("printf '\\033[31mthe secret scanner says no\\n' >&2\nexit 1\n"), gittest.Outcome{Ref: ref, Reason: git.Other}, "secret scanner"},
		"protected":   {hooked("echo 'GH006: Protected branch update failed.' >&2\nexit 1\n"), gittest.Outcome{Ref: ref, Reason: git.Protected}, "GH006"},
		"ruleset":     {hooked("echo 'GH013: Repository rule violations found.' >&2\nexit 1\n"), gittest.Outcome{Ref: ref, Reason: git.Protected}, "GH013"},
		"workflow": {hooked("echo 'refusing to allow a GitHub App to create or update workflow `x.yml` without `workflows` permission' >&2\nexit 1\n"),
			gittest.Outcome{Ref: ref, Reason: git.Workflow}, "refusing"},
		"stale": {func(h *gittest.Hub, _ *git.Options) {
			h.Git(h.Bare, "update-ref", ref, "refs/heads/main")
		}, gittest.Outcome{Ref: ref, Reason: git.Stale}, "stale info"},
		"lock lost": {overtaken, gittest.Outcome{Unclear: true, Ref: ref, Reason: git.Stale}, "failed to update ref"},
	}
	maps.Copy(troubles, early)
	for name, test := range troubles {
		for way, publish := range gittest.Ways {
			t.Run(name+"/"+way, func(t *testing.T) {
				h.Behave(false, nil)
				require.NoError(t, os.RemoveAll(filepath.Join(h.Bare, "hooks")))
				require.NoError(t, os.Mkdir(filepath.Join(h.Bare, "hooks"), 0o755))
				h.Git(h.Bare, "update-ref", ref, start)
				opt := settled
				test.begin(h, &opt)
				h.Git(opt.Workspace, "remote", "set-url", "origin", opt.URL)
				c := gittest.Must(git.Open(gittest.Ctx, opt))(t)
				defer func() { assert.NoError(t, c.Close()) }()
				err := publish(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: start, SHA: sha})
				require.Error(t, err)
				assert.Equal(t, test.want, gittest.OutcomeOf(err), err)
				assert.Contains(t, err.Error(), test.said)
				assert.Equal(t, 1, c.NetworkCalls())
				assert.NotRegexp(t, gittest.RelayAddress, err.Error(), "people read the server's address")
				assert.NotContains(t, err.Error(), "\x1b")
				if test.said != "" && way == "isolated" && gittest.OutcomeOf(err).Reason == "" && !gittest.OutcomeOf(err).Unclear {
					assert.Contains(t, err.Error(), strings.TrimSuffix(opt.URL, "/octo/widgets"))
				}
			})
		}
	}
}

func TestPublishBesideEndsWithItsContext(t *testing.T) {
	h, c, start, sha := gittest.Turn(t)
	ctx, cancel := context.WithCancel(context.Background())
	var over atomic.Bool
	ended := make(chan struct{})
	h.Behave(false, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost {
			return false
		}
		assert.NoError(t, gittest.Err(io.Copy(io.Discard, r.Body)))
		cancel()
		<-r.Context().Done() // the relay has left
		over.Store(true)
		close(ended)
		return true
	})
	err := transport.PublishIsolated(ctx, c, transport.Update{Branch: "agent/x", Start: start, SHA: sha})
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, gittest.Outcome{Unclear: true, Failure: gittest.OutcomeOf(err).Failure}, gittest.OutcomeOf(err), "it may have been applied")
	<-ended
	assert.True(t, over.Load())
	assert.Equal(t, start, h.Tip("refs/heads/agent/x"))
	gittest.Stays(t)

	calls := c.NetworkCalls()
	require.ErrorIs(t, transport.PublishIsolated(ctx, c, transport.Update{Branch: "agent/x", SHA: sha}), context.Canceled, "it was over before it began")
	assert.LessOrEqual(t, c.NetworkCalls(), calls+1)
	gittest.Stays(t)
}

func TestARenamedRepositoryIsFoundOnTheSameServerOnly(t *testing.T) {
	for name, do := range map[string]func(c *git.Checkout, start, sha string) error{
		"beside": func(c *git.Checkout, start, sha string) error {
			return transport.PublishIsolated(gittest.Ctx, c, transport.Update{Branch: "agent/x", Start: start, SHA: sha})
		},
		"push":    func(c *git.Checkout, _, sha string) error { return transport.Stage(gittest.Ctx, c, gittest.Stage, sha) },
		"listing": func(c *git.Checkout, _, _ string) error { _, err := history.RemoteRefs(gittest.Ctx, c); return err },
		"fetch": func(c *git.Checkout, _, _ string) error {
			_, err := history.FetchRef(gittest.Ctx, c, "refs/heads/main")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			h, c, start, sha := gittest.Turn(t)
			var seen []string
			other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				seen = append(seen, r.URL.String()+" "+r.Header.Get("Authorization"))
				http.Error(w, "no", http.StatusUnauthorized)
			}))
			defer other.Close()
			for _, elsewhere := range []string{other.URL, ""} {
				h.Behave(false, func(w http.ResponseWriter, r *http.Request) bool {
					if strings.HasPrefix(r.URL.Path, "/new/") {
						r.URL.Path = strings.Replace(r.URL.Path, "/new/name/", "/octo/widgets/", 1)
						return false
					}
					http.Redirect(w, r, elsewhere+"/new/name/info/refs?"+r.URL.RawQuery, http.StatusMovedPermanently)
					return true
				})
				err := do(c, start, sha)
				if elsewhere == "" {
					require.NoError(t, err)
					break
				}
				require.ErrorContains(t, err, "returned error: 301")
				assert.Empty(t, seen, "not even asked")
				assert.Equal(t, start, h.Tip("refs/heads/agent/x"))
				assert.Empty(t, h.Tip(gittest.Stage))
			}
			switch name {
			case "beside":
				assert.Equal(t, sha, h.Tip("refs/heads/agent/x"))
			case "push":
				assert.Equal(t, sha, h.Tip(gittest.Stage))
			}
		})
	}
}

// TestReadingFailsAsTheServerDoes: what a git that asked the server itself would have said of it.
func TestReadingFailsAsTheServerDoes(t *testing.T) {
	h := gittest.NewHub(t)
	troubles := map[string]trouble{
		"denied late":  {answering("POST", 403), gittest.Outcome{Failure: git.Denied}, "HTTP 403"},
		"error late":   {answering("POST", 502), gittest.Outcome{Failure: git.Unreachable}, "HTTP 502"},
		"no refs":      {ending("GET", ""), gittest.Outcome{Failure: git.Unreachable}, "unable to access"},
		"half a line":  {ending("GET", "001e# serv"), gittest.Outcome{Failure: git.Unreachable}, "unable to access"},
		"no git":       {ending("GET", "hello"), gittest.Outcome{}, "not the length of a pkt-line"},
		"an error":     {ending("GET", "0013ERR we are away"), gittest.Outcome{}, "fatal: remote error: we are away"},
		"no answer":    {breaking(""), gittest.Outcome{Failure: git.Unreachable}, ""},
		"half answer":  {breaking("0030x"), gittest.Outcome{Failure: git.Unreachable}, "unexpected EOF"},
		"empty answer": {ending("POST", ""), gittest.Outcome{Failure: git.Unreachable}, "unexpected disconnect"},
		"early end":    {ending("POST", "003d"+strings.Repeat("1", 40)+" refs/heads/main\n"), gittest.Outcome{Failure: git.Unreachable}, "unexpected disconnect"},
	}
	maps.Copy(troubles, early)
	for name, test := range troubles {
		for way, read := range map[string]func(*git.Checkout) error{
			"listing": func(c *git.Checkout) error {
				_, err := history.RemoteRefs(gittest.Ctx, c, "refs/heads/main")
				return err
			},
			"fetch": func(c *git.Checkout) error { _, err := history.FetchRef(gittest.Ctx, c, "refs/heads/main"); return err },
		} {
			t.Run(name+"/"+way, func(t *testing.T) {
				h.Behave(false, nil)
				c := h.Open("", func(o *git.Options) { test.begin(h, o) })
				err := read(c)
				require.Error(t, err)
				assert.Equal(t, test.want, gittest.OutcomeOf(err), err)
				assert.Contains(t, err.Error(), test.said)
				assert.Equal(t, 1, c.NetworkCalls())
				assert.NotRegexp(t, gittest.RelayAddress, err.Error(), "people read the server's address")
			})
		}
	}
}
