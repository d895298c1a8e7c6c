package main

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func TestLimitsAreWaitedFor(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	of := func(status int, message string, header ...string) answer {
		h := http.Header{}
		for i := 0; i < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return answer{status: status, header: h, body: facts{"message": message}}
	}
	for name, c := range map[string]struct {
		a      answer
		err    error
		method string
		wait   time.Duration
		again  bool
	}{
		"an answer":             {of(200, ""), nil, "GET", 0, false},
		"a refusal":             {of(403, "Resource not accessible by integration", "X-RateLimit-Remaining", "4999"), nil, "GET", 0, false},
		"a limit with its time": {of(403, "secondary rate limit", "Retry-After", "30"), nil, "POST", 31 * time.Second, true},
		"429 with its time":     {of(429, "", "Retry-After", "5"), nil, "GET", 6 * time.Second, true},
		"the hour's limit":      {of(403, "API rate limit exceeded", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1700000100"), nil, "GET", 101 * time.Second, true},
		"a limit without":       {of(403, "You have exceeded a secondary rate limit."), nil, "POST", time.Minute, true},
		"a lost read":           {of(502, ""), nil, "GET", 2 * time.Second, true},
		"a lost write":          {of(502, ""), nil, "POST", 2 * time.Second, false},
		"no answer to a read":   {answer{}, io.ErrUnexpectedEOF, "GET", 2 * time.Second, true},
	} {
		wait, again := limited(c.a, c.err, c.method, now)
		assert.Equal(t, c.again, again, name)
		if again {
			assert.Equal(t, c.wait, wait, name)
		}
	}
}

func TestContentIsSpaced(t *testing.T) {
	assert.True(t, creates("POST", "/repos/o/r/issues/7/comments"))
	assert.False(t, creates("GET", "/repos/o/r/issues/7/comments"))
	assert.False(t, creates("POST", "/repos/o/r/git/refs"))
	now := time.Unix(1_700_000_000, 0)
	w, p := &world{now: func() time.Time { return now }}, &pace{between: time.Hour}
	ended, cancel := context.WithCancel(t.Context())
	require.NoError(t, p.turn(ended, w, true, false))
	require.NoError(t, p.turn(ended, w, false, true), "what makes nothing is not held up")
	cancel()
	require.ErrorIs(t, p.turn(ended, w, true, false), context.Canceled)
	assert.Equal(t, []any{3, 2, 1, time.Hour}, []any{p.calls, p.content, p.queries, p.waited})
}

// An App's token is minted for the one repository and with the permissions that were asked for, by a JWT of a few minutes.
func TestATokenIsMinted(t *testing.T) {
	key := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	now := time.Unix(1_700_000_000, 0)
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		head, rest, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), ".")
		claims, signed, _ := strings.Cut(rest, ".")
		signature, _ := base64.RawURLEncoding.DecodeString(signed)
		sum := sha256.Sum256([]byte(head + "." + claims))
		assert.NoError(t, rsa.VerifyPKCS1v15(&key.PublicKey, crypto.SHA256, sum[:], signature))
		text, _ := base64.RawURLEncoding.DecodeString(claims)
		assert.JSONEq(t, `{"iss": "17", "iat": 1699999940, "exp": 1700000300}`, string(text))
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, r.Method+" "+r.URL.Path+" "+string(body))
		if r.Method == "POST" {
			out.WriteHeader(http.StatusCreated)
		}
		_ = json.NewEncoder(out).Encode(facts{"id": 5, "token": "minted"})
	}))
	defer server.Close()
	w := &world{api: server.URL, repo: model.Repo{Owner: "o", Name: "r"}, now: func() time.Time { return now }, http: server.Client(), pace: &pace{}, said: io.Discard}
	pkcs8 := must.Get(x509.MarshalPKCS8PrivateKey(key))(t)
	for _, block := range []*pem.Block{{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}, {Type: "PRIVATE KEY", Bytes: pkcs8}} {
		asked = nil
		m := must.Get(newMinter(w, "17", string(pem.EncodeToMemory(block))))(t)
		assert.Equal(t, "minted", must.Get(m.mint(t.Context(), map[string]string{"issues": "write"}))(t))
		assert.Contains(t, w.secrets, "minted", "it is kept out of the records")
		assert.Equal(t, []string{"GET /repos/o/r/installation ", `POST /app/installations/5/access_tokens {"permissions":{"issues":"write"},"repositories":["r"]}`}, asked)
	}
	for _, text := range []string{"", "no key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		_, err := newMinter(w, "17", text)
		require.ErrorContains(t, err, "MERGEXO_LIVE_APP_KEY: want")
		assert.Nil(t, errors.Unwrap(err))
	}
}
