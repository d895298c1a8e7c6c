package git_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/clock/clocktest"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
)

func TestPublishBesideMakesAndMovesABranch(t *testing.T) {
	for name, more := range map[string][]string{"full": nil, "shallow": {"--depth=1"}, "partial": {"--filter=blob:none"}} {
		t.Run(name, func(t *testing.T) {
			h, c, _ := begun(t, more...)
			calls := c.NetworkCalls()
			write(t, c.Dir(), map[string]string{"a.txt": "two\n"})
			one := snap(t, h, c, "")
			require.NoError(t, c.PublishBeside(ctx, git.Publish{Branch: "mergexo/checkpoint/5/x", SHA: one}))
			assert.Equal(t, one, h.tip("refs/heads/mergexo/checkpoint/5/x"))
			write(t, c.Dir(), map[string]string{"a.txt": "three\n"})
			two := snap(t, h, c, one)
			require.NoError(t, c.PublishBeside(ctx, git.Publish{Branch: "mergexo/checkpoint/5/x", Start: one, SHA: two}))
			require.NoError(t, c.PublishBeside(ctx, git.Publish{Branch: "mergexo/checkpoint/5/x", Start: one, SHA: two}), "it is there already")
			assert.Equal(t, two, h.tip("refs/heads/mergexo/checkpoint/5/x"))
			assert.Equal(t, calls+3, c.NetworkCalls())
			h.git(h.bare, "fsck", "--full")
		})
	}
}

func TestPublishBesideNeverRewindsAndDeletesNothing(t *testing.T) {
	h, c, start, sha := turn(t)
	require.NoError(t, c.PublishBeside(ctx, git.Publish{Branch: "agent/x", Start: start, SHA: sha}))
	calls := c.NetworkCalls()
	var rewind *git.ErrRewind
	require.ErrorAs(t, c.PublishBeside(ctx, git.Publish{Branch: "agent/x", Start: sha, SHA: start}), &rewind)
	assert.Equal(t, model.Behind, rewind.Relation)
	unknown := "00000000000000000000000000000000deadbeef"
	require.ErrorAs(t, c.PublishBeside(ctx, git.Publish{Branch: "agent/x", Start: unknown, SHA: sha}), &rewind)
	assert.Equal(t, model.Unknown, rewind.Relation)
	for _, p := range []git.Publish{
		{Branch: "agent/x", Start: start, SHA: sha, Stage: stage}, {Branch: "agent/x", Start: start, SHA: sha, Drop: []git.Ref{{Name: stage}}},
		{Branch: "../x", SHA: sha}, {Branch: "agent/x", SHA: "HEAD"},
	} {
		require.Error(t, c.PublishBeside(ctx, p))
	}
	assert.Equal(t, calls, c.NetworkCalls(), "the server was not even asked")
	assert.Equal(t, sha, h.tip("refs/heads/agent/x"))
}

func TestPublishBesideSendsALargePackAsItComes(t *testing.T) {
	h, c, start, _ := turn(t)
	big := make([]byte, 6<<20)
	_, err := rand.Read(big)
	require.NoError(t, err)
	write(t, c.Dir(), map[string]string{"big.bin": string(big)})
	sha, err := c.Snapshot(ctx, "", "Snapshot")
	require.NoError(t, err)
	var posts []int64
	h.behave(false, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			posts = append(posts, r.ContentLength)
		}
		return false
	})
	require.NoError(t, c.PublishBeside(ctx, git.Publish{Branch: "agent/x", Start: start, SHA: sha}))
	assert.Equal(t, sha, h.tip("refs/heads/agent/x"))
	assert.Equal(t, []int64{4, -1}, posts, "git asks whether it would be let in, and then streams")
	h.git(h.bare, "fsck", "--full")
}

func TestPublishBesideDoesNotUseWhatLiesInOurGitDirectory(t *testing.T) {
	h, _, start, _ := turn(t)
	var temp string
	c := h.open(h.workspace("agent/x"), func(o *git.Options) { temp = o.Temp })
	sha := h.git(c.Dir(), "commit-tree", "-p", start, "-m", "more", start+"^{tree}")
	ours, err := filepath.Glob(filepath.Join(temp, "mergexo-git-*", "config"))
	require.NoError(t, err)
	require.Len(t, ours, 1)
	h.git(temp, "config", "--file", ours[0], "url.http://127.0.0.1:1/.insteadOf", "http://")
	require.NoError(t, c.PublishBeside(ctx, git.Publish{Branch: "agent/x", Start: start, SHA: sha}))
	assert.Equal(t, sha, h.tip("refs/heads/agent/x"))
}

// outcome is what callers tell errors of a push apart by.
type outcome struct {
	Unclear bool
	Failure git.Failure
	Ref     string
	Reason  git.Reason
}

func outcomeOf(err error) outcome {
	var o outcome
	if failed := (*git.Error)(nil); errors.As(err, &failed) {
		o.Failure = failed.Failure
	}
	if rejected := (*git.ErrRejected)(nil); errors.As(err, &rejected) {
		o.Ref, o.Reason = rejected.Ref, rejected.Reason
	}
	o.Unclear = errors.As(err, new(*git.ErrUnclear))
	return o
}

// answering lets the server answer requests of one method with a status.
func answering(method string, status int) func(*hub, *git.Options) {
	return func(h *hub, _ *git.Options) {
		h.behave(false, func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != method {
				return false
			}
			w.Header().Set("WWW-Authenticate", `Basic realm="hub"`)
			http.Error(w, "the server says no", status)
			return true
		})
	}
}

// hooked gives the server a hook before it takes a push.
func hooked(text string) func(*hub, *git.Options) {
	return func(h *hub, _ *git.Options) {
		require.NoError(h.t, os.WriteFile(filepath.Join(h.bare, "hooks", "pre-receive"), []byte("#!/bin/sh\ncat >/dev/null\n"+text), 0o755))
	}
}

// breaking lets the server break off: after the push was made, and after it has sent some of the answer.
func breaking(some string) func(*hub, *git.Options) {
	return func(h *hub, _ *git.Options) {
		h.behave(false, func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPost {
				return false
			}
			_, err := io.Copy(io.Discard, r.Body)
			assert.NoError(h.t, err)
			if some != "" {
				w.Header().Set("Content-Type", "application/x-git-receive-pack-result")
				_, err := w.Write([]byte(some))
				assert.NoError(h.t, err)
				assert.NoError(h.t, http.NewResponseController(w).Flush())
			}
			panic(http.ErrAbortHandler)
		})
	}
}

// overtaken lets somebody else move the branch once git knows where it is.
func overtaken(h *hub, _ *git.Options) {
	h.behave(false, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			h.git(h.bare, "update-ref", "refs/heads/agent/x", "refs/heads/main")
		}
		return false
	})
}

func TestPublishBesideFailsAsPublishDoes(t *testing.T) {
	const ref = "refs/heads/agent/x"
	h := newHub(t)
	start := h.commit("agent/x", "work", map[string]string{"a.txt": "one\n"})
	var settled git.Options
	dir := h.open(h.workspace("agent/x"), func(o *git.Options) { settled = *o }).Dir()
	sha := h.git(dir, "commit-tree", "-p", start, "-m", "more", start+"^{tree}")
	for name, test := range map[string]struct {
		trouble func(*hub, *git.Options)
		want    outcome
		said    string
	}{
		"wrong token":  {func(_ *hub, o *git.Options) { o.Token = "another-token-than-that" }, outcome{Failure: git.Denied}, "terminal prompts disabled"},
		"no token":     {func(_ *hub, o *git.Options) { o.Token = "" }, outcome{Failure: git.Denied}, "terminal prompts disabled"},
		"forbidden":    {answering("GET", 403), outcome{Failure: git.Denied}, "returned error: 403"},
		"no such":      {answering("GET", 404), outcome{Failure: git.NotFound}, "not found"},
		"teapot":       {answering("GET", 418), outcome{}, "returned error: 418"},
		"too many":     {answering("GET", 429), outcome{Failure: git.Unreachable}, "returned error: 429"},
		"server error": {answering("GET", 500), outcome{Failure: git.Unreachable}, "returned error: 500"},
		"unavailable":  {answering("GET", 503), outcome{Failure: git.Unreachable}, "returned error: 503"},
		"gone":         {func(_ *hub, o *git.Options) { o.URL = "http://127.0.0.1:1/octo/widgets" }, outcome{Failure: git.Unreachable}, ""},
		"no such host": {func(_ *hub, o *git.Options) { o.URL = "http://widgets.invalid/octo/widgets" }, outcome{Failure: git.Unreachable}, ""},
		"denied late":  {answering("POST", 403), outcome{Unclear: true, Failure: git.Denied}, "HTTP 403"},
		"error late":   {answering("POST", 502), outcome{Unclear: true, Failure: git.Unreachable}, "HTTP 502"},
		"no answer":    {breaking(""), outcome{Unclear: true, Failure: git.Unreachable}, ""},
		"half answer":  {breaking("0030\x01000eunpack ok\n"), outcome{Unclear: true, Failure: git.Unreachable}, ""},
		"hook":         {hooked("echo 'the secret scanner says no' >&2\nexit 1\n"), outcome{Ref: ref, Reason: git.Other}, "secret scanner"},
		"protected":    {hooked("echo 'GH006: Protected branch update failed.' >&2\nexit 1\n"), outcome{Ref: ref, Reason: git.Protected}, "GH006"},
		"stale": {func(h *hub, _ *git.Options) {
			h.git(h.bare, "update-ref", ref, "refs/heads/main")
		}, outcome{Ref: ref, Reason: git.Stale}, "stale info"},
		"lock lost": {overtaken, outcome{Unclear: true, Ref: ref, Reason: git.Stale}, "failed to update ref"},
	} {
		for way, publish := range map[string]func(*git.Checkout, context.Context, git.Publish) error{
			"publish": (*git.Checkout).Publish, "beside": (*git.Checkout).PublishBeside,
		} {
			t.Run(name+"/"+way, func(t *testing.T) {
				h.behave(false, nil)
				require.NoError(t, os.RemoveAll(filepath.Join(h.bare, "hooks")))
				require.NoError(t, os.Mkdir(filepath.Join(h.bare, "hooks"), 0o755))
				h.git(h.bare, "update-ref", ref, start)
				opt := settled
				test.trouble(h, &opt)
				h.git(opt.Workspace, "remote", "set-url", "origin", opt.URL)
				c, err := git.Open(ctx, opt)
				require.NoError(t, err)
				defer func() { assert.NoError(t, c.Close()) }()
				err = publish(c, ctx, git.Publish{Branch: "agent/x", Start: start, SHA: sha})
				require.Error(t, err)
				assert.Equal(t, test.want, outcomeOf(err), err)
				assert.Contains(t, err.Error(), test.said)
				assert.Equal(t, 1, c.NetworkCalls())
				assert.NotRegexp(t, relayAddress, err.Error(), "people read the server's address")
				if test.said != "" && way == "beside" && outcomeOf(err).Reason == "" && !outcomeOf(err).Unclear {
					assert.Contains(t, err.Error(), strings.TrimSuffix(opt.URL, "/octo/widgets"))
				}
			})
		}
	}
}

func TestPublishBesideEndsWithItsContext(t *testing.T) {
	h, c, start, sha := turn(t)
	ctx, cancel := context.WithCancel(context.Background())
	var over atomic.Bool
	ended := make(chan struct{})
	h.behave(false, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost {
			return false
		}
		_, err := io.Copy(io.Discard, r.Body)
		assert.NoError(t, err)
		cancel()
		<-r.Context().Done() // the relay has left
		over.Store(true)
		close(ended)
		return true
	})
	err := c.PublishBeside(ctx, git.Publish{Branch: "agent/x", Start: start, SHA: sha})
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, outcome{Unclear: true, Failure: outcomeOf(err).Failure}, outcomeOf(err), "it may have been applied")
	<-ended
	assert.True(t, over.Load())
	assert.Equal(t, start, h.tip("refs/heads/agent/x"))
	stays(t)

	calls := c.NetworkCalls()
	require.ErrorIs(t, c.PublishBeside(ctx, git.Publish{Branch: "agent/x", SHA: sha}), context.Canceled, "it was over before it began")
	assert.LessOrEqual(t, c.NetworkCalls(), calls+1)
	stays(t)
}

// stays sees to it that nothing of a relay is left: what ends by itself when its connection is closed may take a moment.
func stays(t *testing.T) {
	t.Helper()
	clocktest.Until(t, func() bool {
		return !regexp.MustCompile(`internal/git\.\(\*relay\)|internal/loopback`).MatchString(goroutines())
	}, "no goroutine of the relay is left")
	clocktest.Until(t, func() bool { return !strings.Contains(goroutines(), "net/http.(*persistConn)") }, "no connection to the server is left")
}

func TestARenamedRepositoryIsFoundOnTheSameServerOnly(t *testing.T) {
	for name, do := range map[string]func(c *git.Checkout, start, sha string) error{
		"beside": func(c *git.Checkout, start, sha string) error {
			return c.PublishBeside(ctx, git.Publish{Branch: "agent/x", Start: start, SHA: sha})
		},
		"push":    func(c *git.Checkout, _, sha string) error { return c.Stage(ctx, stage, sha) },
		"listing": func(c *git.Checkout, _, _ string) error { _, err := c.Remote(ctx); return err },
		"fetch":   func(c *git.Checkout, _, _ string) error { _, err := c.FetchRef(ctx, "refs/heads/main"); return err },
	} {
		t.Run(name, func(t *testing.T) {
			h, c, start, sha := turn(t)
			var seen []string
			other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				seen = append(seen, r.URL.String()+" "+r.Header.Get("Authorization"))
				http.Error(w, "no", http.StatusUnauthorized)
			}))
			defer other.Close()
			for _, elsewhere := range []string{other.URL, ""} {
				h.behave(false, func(w http.ResponseWriter, r *http.Request) bool {
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
				assert.Equal(t, start, h.tip("refs/heads/agent/x"))
				assert.Empty(t, h.tip(stage))
			}
			switch name {
			case "beside":
				assert.Equal(t, sha, h.tip("refs/heads/agent/x"))
			case "push":
				assert.Equal(t, sha, h.tip(stage))
			}
		})
	}
}

// TestReadingFailsAsTheServerDoes: what a git that asked the server itself would have said of it.
func TestReadingFailsAsTheServerDoes(t *testing.T) {
	h := newHub(t)
	for name, test := range map[string]struct {
		trouble func(*hub, *git.Options)
		want    git.Failure
		said    string
	}{
		"wrong token":  {func(_ *hub, o *git.Options) { o.Token = "another-token-than-that" }, git.Denied, "terminal prompts disabled"},
		"no token":     {func(_ *hub, o *git.Options) { o.Token = "" }, git.Denied, "terminal prompts disabled"},
		"forbidden":    {answering("GET", 403), git.Denied, "returned error: 403"},
		"no such":      {answering("GET", 404), git.NotFound, "not found"},
		"teapot":       {answering("GET", 418), "", "returned error: 418"},
		"too many":     {answering("GET", 429), git.Unreachable, "returned error: 429"},
		"server error": {answering("GET", 500), git.Unreachable, "returned error: 500"},
		"unavailable":  {answering("GET", 503), git.Unreachable, "returned error: 503"},
		"gone":         {func(_ *hub, o *git.Options) { o.URL = "http://127.0.0.1:1/octo/widgets" }, git.Unreachable, "connection refused"},
		"no such host": {func(_ *hub, o *git.Options) { o.URL = "http://widgets.invalid/octo/widgets" }, git.Unreachable, "widgets.invalid"},
		"denied late":  {answering("POST", 403), git.Denied, "HTTP 403"},
		"error late":   {answering("POST", 502), git.Unreachable, "HTTP 502"},
		"no answer":    {breaking(""), git.Unreachable, ""},
		"half answer":  {breaking("0030x"), "", "transfer closed"},
	} {
		for way, read := range map[string]func(*git.Checkout) error{
			"listing": func(c *git.Checkout) error { _, err := c.Remote(ctx, "refs/heads/main"); return err },
			"fetch":   func(c *git.Checkout) error { _, err := c.FetchRef(ctx, "refs/heads/main"); return err },
		} {
			t.Run(name+"/"+way, func(t *testing.T) {
				h.behave(false, nil)
				c := h.open("", func(o *git.Options) { test.trouble(h, o) })
				err := read(c)
				require.Error(t, err)
				assert.Equal(t, outcome{Failure: test.want}, outcomeOf(err), err)
				assert.Contains(t, err.Error(), test.said)
				assert.Equal(t, 1, c.NetworkCalls())
				assert.NotRegexp(t, relayAddress, err.Error(), "people read the server's address")
			})
		}
	}
}
