package sandbox

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/must"
	"github.com/mergexo/mergexo/internal/sandbox/conform"
)

// appSteps are an App's own requests. $jwt is its JSON web token.
var appSteps = []step{
	{"", "GET", "~/installation", "", 401, ""},
	{"$jwt", "GET", "~/installation", "", 200, "installation=id"},
	{"$jwt", "GET", "/repos/octo/none-such/installation", "", 404, ""},
	{"$jwt", "POST", "/app/installations/1/access_tokens", "{}", 404, ""},
	{"$jwt", "POST", "/app/installations/$installation/access_tokens", `{"repositories": ["none-such"]}`, 422, ""},
	{"$jwt", "POST", "/app/installations/$installation/access_tokens", `{"permissions": {"contents": "write", "administration": "read"}}`, 422, ""},
	{"$jwt", "POST", "/app/installations/$installation/access_tokens", `{"repositories": ["widgets"], "permissions": {"issues": "read"}}`, 201, "narrow=token"},
	{"$jwt", "POST", "/app/installations/$installation/access_tokens", "", 201, "token=token"},
	{"$token", "POST", "~/issues", `{"title": "By an App"}`, 201, "opened=number"},
	{"$narrow", "POST", "~/issues", `{"title": "By an App that may only read"}`, 403, ""},
	{"$narrow", "GET", "~/issues/$opened", "", 200, ""},
	{"$narrow", "GET", "~/git/ref/heads/main", "", 403, ""},
	{"$narrow", "GET", "~", "", 200, ""},
	{"$token", "GET", "/repos/octo/gadgets", "", 404, ""},
}

// anApp is an App with its key, installed on octo/widgets.
type anApp struct {
	t   *testing.T
	s   *Server
	url string
	key *rsa.PrivateKey
	id  string
}

func newApp(t *testing.T, s *Server, url string) *anApp {
	t.Helper()
	key := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	a := &anApp{t: t, s: s, url: url, key: key}
	a.set(map[string]any{})
	return a
}

// set changes the App, with what it has by default where more does not say otherwise.
func (a *anApp) set(more map[string]any) {
	a.t.Helper()
	der := must.Get(x509.MarshalPKIXPublicKey(&a.key.PublicKey))(a.t)
	body := map[string]any{
		"public_key": string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), "account": "octo", "repositories": []string{"octo/widgets"},
		"permissions": map[string]string{"contents": "write", "issues": "write", "pull_requests": "write", "checks": "read"},
	}
	for name, v := range more {
		body[name] = v
	}
	text := must.Get(json.Marshal(body))(a.t)
	r := httptest.NewRequest(http.MethodPut, "/_sandbox/apps/robot", strings.NewReader(string(text)))
	w := httptest.NewRecorder()
	a.s.ServeHTTP(w, r)
	require.Equal(a.t, 200, w.Code, w.Body)
	var told struct{ ID int64 }
	require.NoError(a.t, json.Unmarshal(w.Body.Bytes(), &told))
	a.id = fmt.Sprint(told.ID)
}

// sign is a JSON web token with these times from now.
func (a *anApp) sign(issuer string, issued, expires time.Duration) string {
	a.t.Helper()
	now := a.s.world.now()
	token := must.Get(jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.MapClaims{"iss": issuer, "iat": now.Add(issued).Unix(), "exp": now.Add(expires).Unix()}).SignedString(a.key))(a.t)
	return token
}

func (a *anApp) ask(token, method, path, body string) (int, map[string]any) {
	a.t.Helper()
	r := must.Get(http.NewRequest(method, a.url+restPrefix+path, strings.NewReader(body)))(a.t)
	r.Header.Set("Authorization", "Bearer "+token)
	answer := must.Get(http.DefaultClient.Do(r))(a.t)
	defer answer.Body.Close()
	said := map[string]any{}
	require.NoError(a.t, json.NewDecoder(answer.Body).Decode(&said))
	return answer.StatusCode, said
}

func appWorld(t *testing.T) *anApp {
	t.Helper()
	s := must.Get(New(Options{StateDir: t.TempDir()}))(t)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	s.SetClock(time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC))
	server := httptest.NewServer(conform.Handler(t, s))
	t.Cleanup(server.Close)
	s.SetOrigin(server.URL)
	return newApp(t, s, server.URL)
}

const onWidgets = "/repos/octo/widgets/installation"

func TestOnlyTheAppsOwnTimelySignatureCounts(t *testing.T) {
	t.Parallel()
	a := appWorld(t)
	other := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	good := a.sign(a.id, -time.Minute, 9*time.Minute)
	forged := *a
	forged.key = other
	for name, c := range map[string]struct {
		token  string
		status int
		want   string
	}{
		"fine":             {good, 200, ""},
		"ten minutes":      {a.sign(a.id, 0, 10*time.Minute), 200, ""},
		"too long":         {a.sign(a.id, 0, 10*time.Minute+time.Second), 401, "too far in the future"},
		"over":             {a.sign(a.id, -time.Hour, 0), 401, "must be a numeric value representing the future time"},
		"from the future":  {a.sign(a.id, time.Second, 5*time.Minute), 401, "'Issued at' claim"},
		"another App's":    {a.sign("17", -time.Minute, time.Minute), 404, "Integration not found"},
		"another key":      {forged.sign(a.id, -time.Minute, time.Minute), 401, "could not be decoded"},
		"no signature":     {good[:strings.LastIndex(good, ".")+1], 401, "could not be decoded"},
		"a person's token": {"sandbox-octo", 401, "could not be decoded"},
	} {
		status, said := a.ask(c.token, "GET", onWidgets, "")
		assert.Equal(t, c.status, status, name)
		if c.want != "" {
			assert.Contains(t, said["message"], c.want, name)
		}
	}
	status, _ := a.ask(good, "GET", "/repos/octo/widgets", "")
	assert.Equal(t, 401, status, "an App's own token is for the App's own requests")
}
