package app_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/github/app"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox"
	"github.com/mergexo/mergexo/internal/sandbox/conform"
)

// hub is a GitHub with an App on octo, and a machine whose clock may be another one than GitHub's.
type hub struct {
	t       *testing.T
	sandbox *sandbox.Server
	url     string
	now     time.Time     // GitHub's
	off     time.Duration // by which the machine's clock is ahead
	key     *rsa.PrivateKey
	id      string
	given   []string
	log     bytes.Buffer
	calls   atomic.Int64 // the App's own requests
}

var (
	widgets = model.Repo{Owner: "octo", Name: "widgets"}
	client  = model.Repo{Owner: "octo", Name: "client"}
)

func newHub(t *testing.T) *hub {
	t.Helper()
	h := &hub{t: t, now: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)}
	h.sandbox = must.Get(sandbox.New(sandbox.Options{StateDir: t.TempDir()}))(t)
	t.Cleanup(func() { assert.NoError(t, h.sandbox.Close()) })
	held := conform.Handler(t, h.sandbox)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/installation") || strings.Contains(r.URL.Path, "/app/") {
			h.calls.Add(1)
		}
		held.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	h.url = server.URL
	h.sandbox.SetOrigin(h.url)
	h.sandbox.SetClock(h.now)
	h.key = must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	for _, name := range []string{"octo/client", "octo/secret"} {
		h.put("POST", "/_sandbox/repositories", map[string]any{"full_name": name})
	}
	h.install(nil)
	return h
}

// all is what an App needs and a little more.
var all = map[string]string{"contents": "write", "issues": "write", "pull_requests": "write", "actions": "read", "checks": "read", "statuses": "read", "administration": "write"}

// install sets what the App is.
func (h *hub) install(more map[string]any) {
	h.t.Helper()
	der := must.Get(x509.MarshalPKIXPublicKey(&h.key.PublicKey))(h.t)
	body := map[string]any{
		"public_key": string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), "account": "octo",
		"repositories": []string{"octo/widgets", "octo/client"}, "permissions": all,
	}
	for name, v := range more {
		body[name] = v
	}
	h.id = h.put("PUT", "/_sandbox/apps/robot", body)["client_id"].(string)
}

func (h *hub) put(method, path string, body any) map[string]any {
	h.t.Helper()
	text := must.Get(json.Marshal(body))(h.t)
	r := must.Get(http.NewRequest(method, h.url+path, bytes.NewReader(text)))(h.t)
	r.Header.Set("Authorization", "Bearer sandbox-octo")
	answer := must.Get(http.DefaultClient.Do(r))(h.t)
	defer answer.Body.Close()
	said := map[string]any{}
	require.Less(h.t, answer.StatusCode, 300)
	_ = json.NewDecoder(answer.Body).Decode(&said) // a list, of faults
	return said
}

// later lets time pass for everybody.
func (h *hub) later(d time.Duration) {
	h.now = h.now.Add(d)
	h.sandbox.SetClock(h.now)
}

// pkcs1 is the key as GitHub gives it.
func (h *hub) pkcs1() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(h.key)}))
}

func (h *hub) tokens(change ...func(*app.Options)) *app.Tokens {
	h.t.Helper()
	o := app.Options{
		ID: h.id, Key: h.pkcs1(), Repo: widgets, Needs: app.ToWrite, Given: func(token string) error { h.given = append(h.given, token); return nil },
		GitHub: github.Options{
			APIURL: h.url + "/api/v3", Now: func() time.Time { return h.now.Add(h.off) }, Log: slog.New(slog.NewTextHandler(&h.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		},
	}
	for _, c := range change {
		c(&o)
	}
	return must.Get(app.New(o))(h.t)
}

// token is the current one, which has to be good.
func (h *hub) token(tokens *app.Tokens) string {
	h.t.Helper()
	token := must.Get(tokens.Token(h.t.Context()))(h.t)
	assert.Equal(h.t, 200, h.status(token, widgets.String()))
	return token
}

// status is GitHub's answer to a token that asks for something in a repository.
func (h *hub) status(token, path string) int {
	h.t.Helper()
	r := must.Get(http.NewRequest(http.MethodGet, h.url+"/api/v3/repos/"+path, nil))(h.t)
	r.Header.Set("Authorization", "Bearer "+token)
	answer := must.Get(http.DefaultClient.Do(r))(h.t)
	defer answer.Body.Close()
	return answer.StatusCode
}

func TestATokenIsRenewedWhenTenMinutesAreLeft(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	tokens := h.tokens()
	first := h.token(tokens)
	assert.EqualValues(t, 2, h.calls.Load(), "the installation, and its token")
	h.later(50*time.Minute - time.Second)
	assert.Equal(t, first, h.token(tokens))
	h.later(time.Second)
	assert.Equal(t, first, h.token(tokens), "while GitHub may not know the new one everywhere")
	assert.EqualValues(t, 3, h.calls.Load(), "where it is installed is known")
	h.later(10 * time.Second)
	second := h.token(tokens)
	assert.NotEqual(t, first, second)
	assert.EqualValues(t, 3, h.calls.Load())
	assert.Equal(t, []string{first, second}, h.given, "whoever masks them hears of both")
	secrets := tokens.Secrets()
	assert.Subset(t, secrets, []string{first, second, h.pkcs1()})
	assert.Equal(t, second, secrets[len(secrets)-1])
	for _, secret := range secrets {
		assert.NotContains(t, h.log.String(), secret)
	}
}

func TestATokenIsForThisRepositoryAndWhatTheRunNeeds(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	token := h.token(h.tokens())
	assert.Equal(t, 404, h.status(token, client.String()))
	assert.Equal(t, 403, h.status(token, widgets.String()+"/branches/main/protection"), "what the App has beside that is left with it")
	assert.Equal(t, 200, h.status(token, widgets.String()+"/actions/runs"), "less than what was wished for is better than nothing")

	reads := h.token(h.tokens(func(o *app.Options) { o.Needs = app.ToRead }))
	r := must.Get(http.NewRequest(http.MethodPost, h.url+"/api/v3/repos/octo/widgets/issues", strings.NewReader(`{"title": "no"}`)))(t)
	r.Header.Set("Authorization", "Bearer "+reads)
	answer := must.Get(http.DefaultClient.Do(r))(t)
	require.NoError(t, answer.Body.Close())
	assert.Equal(t, 403, answer.StatusCode)
}

func TestTheTokenIsExtendedToAGroupsRepositories(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	tokens := h.tokens()
	h.token(tokens)
	require.NoError(t, tokens.Reach(t.Context(), client, widgets))
	assert.Equal(t, 200, h.status(h.token(tokens), client.String()))
	calls := h.calls.Load()
	require.NoError(t, tokens.Reach(t.Context(), client))
	h.token(tokens)
	assert.Equal(t, calls, h.calls.Load(), "what is reached costs nothing")

	err := tokens.Reach(t.Context(), model.Repo{Owner: "octo", Name: "secret"})
	assert.Equal(t, github.NotFound, github.KindOf(err))
	assert.ErrorContains(t, err, "not installed on octo/secret")
	err = tokens.Reach(t.Context(), model.Repo{Owner: "alice", Name: "client"})
	assert.Equal(t, github.NotFound, github.KindOf(err))
	assert.ErrorContains(t, err, "the installation on octo does not reach alice/client")
	assert.Equal(t, 200, h.status(h.token(tokens), client.String()))
}

func TestAClockThatIsOffIsCorrectedOnce(t *testing.T) {
	t.Parallel()
	for name, off := range map[string]time.Duration{"ahead by two minutes": 2 * time.Minute, "behind by an hour": -time.Hour, "ahead by a day": 24 * time.Hour} {
		h := newHub(t)
		h.off = off
		tokens := h.tokens()
		first := h.token(tokens)
		assert.EqualValues(t, 3, h.calls.Load(), "%s: one request is refused", name)
		assert.Contains(t, h.log.String(), "clock_is_off", name)
		h.later(49 * time.Minute)
		assert.Equal(t, first, h.token(tokens), "%s: how long a token holds is told by GitHub's clock", name)
		h.later(2 * time.Minute)
		h.token(tokens) // makes another one
		h.later(10 * time.Second)
		assert.NotEqual(t, first, h.token(tokens), name)
		assert.EqualValues(t, 4, h.calls.Load(), name)
	}
	h := newHub(t)
	tokens := h.tokens()
	h.off = 50 * time.Second
	h.token(tokens)
	assert.EqualValues(t, 2, h.calls.Load(), "a clock that is a little off needs nothing")
}

func TestAnOutageIsLivedThrough(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	tokens := h.tokens()
	fail := func(times int) {
		h.put("PUT", "/_sandbox/faults", map[string]any{"match": map[string]any{"path": "/api/v3/app/"}, "status": 502, "times": times})
	}
	fail(2)
	first := h.token(tokens)
	h.later(51 * time.Minute)
	fail(100)
	assert.Equal(t, first, h.token(tokens), "the old one still holds")
	h.later(9*time.Minute - time.Second)
	assert.Equal(t, first, h.token(tokens))
	h.later(time.Second)
	_, err := tokens.Token(t.Context())
	assert.Equal(t, github.Unavailable, github.KindOf(err), "%v", err)
	h.put("PUT", "/_sandbox/faults", []any{})
	assert.NotEqual(t, first, h.token(tokens))
}

func TestATokenThatIsRefusedIsReplaced(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	tokens := h.tokens()
	first := h.token(tokens)
	assert.True(t, tokens.Refused(first))
	second := h.token(tokens)
	assert.NotEqual(t, first, second)
	assert.True(t, tokens.Refused(first), "another goroutine may have had it replaced")
	assert.Equal(t, second, h.token(tokens))
	assert.True(t, tokens.Refused(second))
	assert.True(t, tokens.Refused(h.token(tokens)))
	assert.False(t, tokens.Refused(h.token(tokens)), "a server that refuses them all is not asked for ever")

	// The gateway does that by itself, and for a write too: what is refused has had no effect.
	h = newHub(t)
	tokens = h.tokens()
	h.put("POST", "/api/v3/repos/octo/widgets/issues", map[string]any{"title": "Talk"})
	h.token(tokens)
	h.later(time.Minute)
	gateway := must.Get(github.New(github.Options{APIURL: h.url + "/api/v3", Credential: tokens, Sleep: func(context.Context, time.Duration) error { return nil }}))(t)
	h.put("PUT", "/_sandbox/faults", map[string]any{"match": map[string]any{"path": "/api/v3/repos/octo/widgets/issues"}, "status": 401, "times": 1, "body": map[string]any{"message": "Bad credentials"}})
	_ = must.Get(gateway.Comments.Create(t.Context(), widgets, 1, "once"))(t)
	assert.Len(t, h.given, 2)
}

// For some seconds GitHub does not know a new token everywhere. Another one would be as new: the same one is sent again.
func TestAFreshTokenThatIsRefusedIsSentAgain(t *testing.T) {
	t.Parallel()
	for refused, message := range map[int]string{401: "Bad credentials", 403: "Resource not accessible by integration"} {
		h := newHub(t)
		tokens := h.tokens()
		h.put("POST", "/api/v3/repos/octo/widgets/issues", map[string]any{"title": "Talk"})
		var waits []time.Duration
		gateway := must.Get(github.New(github.Options{APIURL: h.url + "/api/v3", Credential: tokens, Sleep: func(_ context.Context, d time.Duration) error {
			waits = append(waits, d)
			return nil
		}}))(t)
		fault := map[string]any{"match": map[string]any{"path": "/api/v3/repos/octo/widgets/issues"}, "status": refused, "times": 3, "body": map[string]any{"message": message}}
		h.put("PUT", "/_sandbox/faults", fault)
		_ = must.Get(gateway.Comments.Create(t.Context(), widgets, 1, "once"))(t)
		assert.Len(t, h.given, 1, "no other one is made")
		assert.Equal(t, []time.Duration{3 * time.Second, 3 * time.Second, 3 * time.Second}, waits)

		h.later(time.Minute) // then a refusal is one
		fault["times"] = 1
		h.put("PUT", "/_sandbox/faults", fault)
		_, err := gateway.Comments.Create(t.Context(), widgets, 1, "twice")
		if refused == 403 {
			assert.Equal(t, github.Forbidden, github.KindOf(err))
		} else {
			require.NoError(t, err)
			assert.Len(t, h.given, 2)
		}
	}
}

func TestMistakesAreTold(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	other := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	strange := string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(other)}))
	suspended, installed := map[string]any{"suspended": true}, map[string]any{}
	for name, c := range map[string]struct {
		app    map[string]any
		change func(*app.Options)
		want   string
	}{
		"another id":        {installed, func(o *app.Options) { o.ID = "4711" }, "sign in as App 4711: there is no App with this id"},
		"another key":       {installed, func(o *app.Options) { o.Key = strange }, "the private key does not belong to this App"},
		"not installed":     {installed, func(o *app.Options) { o.Repo.Name = "secret" }, "the App is not installed on octo/secret"},
		"no repository":     {installed, func(o *app.Options) { o.Repo.Name = "nothing" }, "the App is not installed on octo/nothing"},
		"suspended":         {suspended, func(*app.Options) {}, "has been suspended since 2026-01-02"},
		"lacks permissions": {map[string]any{"permissions": map[string]string{"contents": "read", "pull_requests": "write"}}, func(*app.Options) {}, "on octo lacks the permission contents: write, issues: write: MergeXO cannot push; MergeXO cannot comment in the conversation"},
	} {
		h.install(c.app)
		_, err := h.tokens(c.change).Token(t.Context())
		require.ErrorContains(t, err, c.want, name)
		assert.Equal(t, github.Unauthorized, github.KindOf(err), name)
		failed := (*github.Error)(nil)
		require.ErrorAs(t, err, &failed)
		assert.NotEmpty(t, failed.Fix, name)
		assert.NotContains(t, err.Error(), "\n", name)
	}
	h.install(installed)
	tokens := h.tokens()
	h.token(tokens)
	h.install(suspended)
	h.later(55 * time.Minute)
	_, err := tokens.Token(t.Context())
	assert.Equal(t, github.Expired, github.KindOf(err), "in the middle of a run the work is to be saved: %v", err)
}

func TestAClockThatCannotBeCorrectedIsTold(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	h.put("PUT", "/_sandbox/faults", map[string]any{"match": map[string]any{"path": "/api/v3/repos"}, "status": 401, "headers": map[string]string{"Date": "never"},
		"body": map[string]any{"message": "'Expiration time' claim ('exp') is too far in the future"}})
	assert.ErrorContains(t, must.Err(h.tokens().Token(t.Context())), "GitHub says that this machine's clock is wrong")
}

func TestKeysInEverySpelling(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	der := must.Get(x509.MarshalPKCS8PrivateKey(h.key))(t)
	pkcs8 := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	for name, key := range map[string]string{
		"PKCS#1": h.pkcs1(), "PKCS#8": pkcs8, "on one line": strings.ReplaceAll(h.pkcs1(), "\n", `\n`), "quoted": `"` + strings.ReplaceAll(pkcs8, "\n", `\n`) + `"`,
		"Windows": strings.ReplaceAll(h.pkcs1(), "\n", "\r\n"), "no last newline": strings.TrimSpace(h.pkcs1()),
	} {
		tokens := h.tokens(func(o *app.Options) { o.Key = key })
		h.token(tokens)
		line := strings.Split(h.pkcs1(), "\n")[3]
		if name == "PKCS#8" || name == "quoted" {
			line = strings.Split(pkcs8, "\n")[3]
		}
		assert.Contains(t, tokens.Secrets(), line, "%s: a part of the key is as secret", name)
	}

	weak := must.Get(rsa.GenerateKey(rand.Reader, 1024))(t)
	curve := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	curved := must.Get(x509.MarshalPKCS8PrivateKey(curve))(t)
	block := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	for want, key := range map[string]string{
		"not a PEM file":                     "ghp_notakey",
		"a public key or a certificate":      block("PUBLIC KEY", x509.MarshalPKCS1PublicKey(&h.key.PublicKey)),
		"locked with a password":             block("ENCRYPTED PRIVATE KEY", der),
		"not an RSA key":                     block("PRIVATE KEY", curved),
		"damaged":                            block("RSA PRIVATE KEY", der[:100]),
		"of 1024 bits, and GitHub's have 20": block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(weak)),
	} {
		_, err := app.New(app.Options{ID: "1", Key: key, Repo: widgets})
		require.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, "private-key: ")
	}
	assert.ErrorContains(t, must.Err(app.New(app.Options{ID: "my app", Key: h.pkcs1(), Repo: widgets})), "app-id: want the number or the client id")
}
