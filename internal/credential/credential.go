// Package credential holds the tokens with which MergeXO authenticates to GitHub. A token may be replaced during a run, so every
// client asks one source for the token of each request and keeps no copy. The code that redacts secrets asks the same source for
// all of them.
package credential

import (
	"cmp"
	"context"
	"encoding/base64"
	"net/url"
	"strings"
	"time"
)

// Source gives tokens. It is safe for concurrent use.
type Source interface {
	// Token is the token to send now. It may have to ask GitHub for a new one; "" is anonymous.
	Token(ctx context.Context) (string, error)
	// Refused says that the server has refused this token with 401. It is true where the next call of Token gives another one,
	// which is worth one more try.
	Refused(token string) bool
	// Fresh reports whether a token was made just now. For some seconds GitHub refuses a new one here and there: it is not known yet,
	// or what it may do is not. https://github.com/octokit/auth-app.js/issues/65
	Fresh(token string) bool
	// Secrets are all values that nobody may read: what tokens are made with, then every token that Token has given so far, the newest last.
	Secrets() []string
}

// FreshPause is how long to wait before a fresh token that was refused is sent again.
const FreshPause = 3 * time.Second

// Fixed is the Source of a token that was given and cannot be renewed.
type Fixed string

// Token is the token.
func (f Fixed) Token(context.Context) (string, error) { return string(f), nil }

// Refused is always false: there is no other token.
func (Fixed) Refused(string) bool { return false }

// Fresh is always false: it is not known when the token was made.
func (Fixed) Fresh(string) bool { return false }

// Secrets are the token.
func (f Fixed) Secrets() []string {
	if f == "" {
		return nil
	}
	return []string{string(f)}
}

// Or is s, and where there is none the Source of a token that was given.
func Or(s Source, token string) Source { return cmp.Or[Source](s, Fixed(token)) }

// Basic is how git sends a token: https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/authenticating-as-a-github-app-installation#about-authentication-as-a-github-app-installation
func Basic(token string) string {
	return base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token))
}

// Redact replaces all secrets of s in a text, also where a URL or an HTTP header spells them another way.
func Redact(s Source, text string) string {
	var pairs []string
	for _, secret := range s.Secrets() {
		for _, spelling := range []string{
			Basic(secret), secret, base64.StdEncoding.EncodeToString([]byte(secret)), url.QueryEscape(secret), url.PathEscape(secret),
		} {
			pairs = append(pairs, spelling, "***")
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
