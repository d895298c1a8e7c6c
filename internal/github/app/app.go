// Package app makes installation tokens from the key of a GitHub App. A token holds only for the run's repositories and the
// permissions that the run needs, and is replaced long before it expires.
package app

import (
	"cmp"
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
)

const (
	// left is how much of a token's time is left when a new one is made. Tokens live for an hour:
	// https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
	left = 10 * time.Minute
	// retryAfter is when a new token is asked for again, where GitHub gave none and the old one still holds.
	retryAfter = time.Minute
	// renewals is how many tokens that GitHub refuses are replaced in one run: one that was revoked is, and a server that
	// refuses them all is not asked forever.
	renewals = 3
)

// Options say whose credential it is.
type Options struct {
	ID   string     // the App's id, or its client id
	Key  string     // the App's private key, as PEM
	Repo model.Repo // the run's repository
	// Needs are the permissions to ask for.
	Needs []Need
	// GitHub is how to reach the server; its Token and Credential are not used.
	GitHub github.Options
	// Given is told every token before it is used first, so that it can be hidden; nil: nobody is.
	Given func(token string) error
}

// Tokens is the credential.Source of an App. It is safe for concurrent use.
type Tokens struct {
	options Options
	client  *github.Client // speaks for the App itself

	known signed

	mu        sync.Mutex
	installed *model.Installation // nil: not asked yet
	reach     []string            // names of the repositories that a token is for
	current   string              // "": a new one is needed
	renew     time.Time           // when a new one is made
	ends      time.Time           // when the current one expires
	refused   int

	made         time.Time // when the current one was
	previous     string    // which is used while the current one is fresh, until it expires; "": none
	previousEnds time.Time
}

// New makes the credential of an App. It sends nothing. Errors name the option.
func New(o Options) (*Tokens, error) {
	id := strings.TrimSpace(o.ID)
	if id == "" || strings.ContainsFunc(id, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '.'
	}) {
		return nil, errors.New("app-id: want the number or the client id that the App's settings show")
	}
	key, err := parseKey(o.Key)
	if err != nil {
		return nil, fmt.Errorf("private-key: %w", err)
	}
	o.ID, o.GitHub.Log = id, cmp.Or(o.GitHub.Log, slog.New(slog.DiscardHandler))
	if o.GitHub.Now == nil {
		o.GitHub.Now = time.Now
	}
	t := &Tokens{
		options: o, reach: []string{o.Repo.Name}, known: signed{id: id, key: key, secrets: secretsOf(o.Key), now: o.GitHub.Now},
	}
	o.GitHub.Token, o.GitHub.Credential = "", &t.known
	t.client, err = github.New(o.GitHub)
	return t, err
}

// Token is a token that holds for some minutes at least. Errors are *github.Error: Unauthorized where a person has to change
// something, and Expired once an earlier token has worked.
func (t *Tokens) Token(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.options.GitHub.Now()
	if t.current != "" && now.Before(t.renew) {
		return t.settled(now), nil
	}
	err := t.make(ctx)
	switch {
	case err == nil:
		return t.settled(now), nil
	case t.current != "" && now.Before(t.ends) && later(err):
		t.options.GitHub.Log.WarnContext(ctx, "app_token_not_renewed", "error", err, "holds_until", t.ends.UTC())
		if t.renew = now.Add(retryAfter); t.renew.After(t.ends) {
			t.renew = t.ends
		}
		return t.current, nil
	}
	if failed := (*github.Error)(nil); !t.ends.IsZero() && errors.As(err, &failed) && !later(err) {
		failed.Kind = github.Expired
		failed.Message += ": the App gets no new token in the middle of this run"
	}
	return "", err
}

// settled is the current token, or the one before it while GitHub may not know the current one everywhere.
func (t *Tokens) settled(now time.Time) string {
	if t.previous != "" && t.fresh(now) && now.Before(t.previousEnds.Add(-time.Minute)) {
		return t.previous
	}
	return t.current
}

func (t *Tokens) fresh(now time.Time) bool { return now.Sub(t.made) < freshFor }

// freshFor is how long GitHub may take to know a new token everywhere: https://github.com/octokit/auth-app.js/issues/168
const freshFor = 10 * time.Second

// Fresh implements credential.Source.
func (t *Tokens) Fresh(token string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return token == t.current && t.fresh(t.options.GitHub.Now())
}

// later says that an error may be gone soon.
func later(err error) bool {
	return slices.Contains([]github.Kind{github.Unavailable, github.RateLimited}, github.KindOf(err))
}

// make makes a new token.
func (t *Tokens) make(ctx context.Context) error {
	if t.installed == nil {
		found, err := t.find(ctx, t.options.Repo)
		if err != nil {
			return err
		}
		t.installed = &found
	}
	if !t.installed.Suspended.IsZero() {
		return t.suspended()
	}
	permissions, missing := grant(t.options.Needs, *t.installed)
	if len(missing) > 0 {
		return t.lacks(missing)
	}
	var made model.InstallationToken
	err := t.ask(func() (err error) {
		made, err = t.client.Apps.NewToken(ctx, t.installed.ID, t.reach, permissions)
		return err
	})
	if err != nil {
		t.installed = nil // what it is now is asked next time
		return t.unmade(err)
	}
	if t.options.Given != nil {
		if err := t.options.Given(made.Token); err != nil {
			return fmt.Errorf("hide the App's token: %w", err)
		}
	}
	t.known.add(made.Token)
	now := t.options.GitHub.Now()
	t.previous, t.previousEnds, t.made = t.current, t.ends, now
	t.current, t.ends, t.renew = made.Token, now.Add(made.Life), now.Add(max(made.Life-left, made.Life/2))
	t.options.GitHub.Log.InfoContext(ctx, "app_token_made", "installation", t.installed.ID,
		"repositories", strings.Join(t.reach, " "), "minutes", int(made.Life.Minutes()))
	return nil
}

// find asks for the installation on a repository.
func (t *Tokens) find(ctx context.Context, repo model.Repo) (found model.Installation, err error) {
	err = t.ask(func() (err error) {
		found, err = t.client.Apps.Installation(ctx, repo)
		return err
	})
	return found, t.explained(repo, err)
}

// ask does something as the App. Where the server refuses our JSON web token and its clock is another one, it goes by that clock
// from then on and asks once more.
func (t *Tokens) ask(do func() error) error {
	err := do()
	failed := (*github.Error)(nil)
	if !errors.As(err, &failed) || failed.Status != 401 || failed.At.IsZero() || !t.known.correct(failed.At) {
		return err
	}
	t.options.GitHub.Log.Warn("clock_is_off", "server", failed.At, "here", t.options.GitHub.Now().UTC())
	return do()
}

// Refused implements credential.Source.
func (t *Tokens) Refused(token string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if token == t.previous { // the current one takes its place
		t.previous = ""
	}
	if token == t.current && t.refused < renewals {
		t.refused++
		t.current = ""
	}
	return token != t.current
}

// Secrets implements credential.Source: the key, then all tokens.
func (t *Tokens) Secrets() []string { return t.known.Secrets() }

// Installation is what GitHub tells of the App on the run's repository. Errors are as those of Token.
func (t *Tokens) Installation(ctx context.Context) (model.Installation, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.find(ctx, t.options.Repo)
}

// Workflows reports whether the tokens may push changes of workflows, as far as it is known.
func (t *Tokens) Workflows() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.installed == nil || t.installed.Grants("workflows", "write")
}

// Reach makes the tokens from now on hold for further repositories, which have to be in the same installation. It is NotFound
// for one that is not. Those that are reached already cost nothing.
func (t *Tokens) Reach(ctx context.Context, repos ...model.Repo) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, repo := range repos {
		same := func(name string) bool { return strings.EqualFold(name, repo.Name) }
		switch {
		case !strings.EqualFold(repo.Owner, t.options.Repo.Owner):
			return t.elsewhere(repo)
		case slices.ContainsFunc(t.reach, same):
			continue
		}
		if _, err := t.find(ctx, repo); err != nil {
			return err
		}
		t.reach, t.current = append(t.reach, repo.Name), ""
	}
	return nil
}

// signed is the App's own credential, which only makes tokens: a JSON web token for each request. It is safe for concurrent use.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
type signed struct {
	id  string
	key *rsa.PrivateKey
	now func() time.Time

	mu        sync.Mutex
	secrets   []string // the key, then the tokens
	newest    string   // JSON web token
	skew      time.Duration
	corrected bool
}
