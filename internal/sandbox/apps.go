package sandbox

import (
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// appRoutes are what an App asks for itself, with a JSON web token that its key has signed.
var appRoutes = []route{
	{"GET /repos/{owner}/{repo}/installation", needApp, "", getRepoInstallation},
	{"POST /app/installations/{installation_id}/access_tokens", needApp, "", createAppToken},
}

// App is a GitHub App with one installation.
type App struct {
	ID           int64
	Slug         string
	ClientID     string
	PublicKey    string // PEM
	Installation int64
	Account      string         // login that it is installed on; "": not yet
	Owner        string         `json:",omitempty"` // of one made from a manifest
	SetupURL     string         `json:",omitempty"`
	Selected     map[int64]bool `json:",omitempty"` // repositories by id; nil: all of the account
	Permissions  map[string]string
	SuspendedAt  *time.Time `json:",omitempty"`
	CreatedAt    time.Time
}

// AppToken is an installation's token.
type AppToken struct {
	Token        string
	App          int64
	Repositories map[int64]bool `json:",omitempty"` // by id; nil: all of the installation
	Permissions  Permissions
	ExpiresAt    time.Time
}

// login is the account that an App acts as.
func (a *App) login() string { return a.Slug + "[bot]" }

// reaches tells whether an App is installed on a repository.
func (a *App) reaches(r *Repository) bool {
	return strings.EqualFold(a.Account, r.Owner) && (a.Selected == nil || a.Selected[r.ID])
}

// tokenLife is how long an installation's token lives, and jwtLife how long a JSON web token may at most:
// https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
const (
	tokenLife = time.Hour
	jwtLife   = 10 * time.Minute
)

func unauthorized(message string) error {
	return &failure{status: http.StatusUnauthorized, message: message}
}

// The words of GitHub's refusals: https://github.com/actions/create-github-app-token/issues/178,
// https://github.com/sigmavirus24/github3.py/issues/1050
var (
	errNoApp     = &failure{status: http.StatusNotFound, message: "Integration not found"}
	errNoJWT     = unauthorized("A JSON web token could not be decoded")
	errExpLate   = unauthorized("'Expiration time' claim ('exp') is too far in the future")
	errExpired   = unauthorized("'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires")
	errIssued    = unauthorized("'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued")
	errSuspended = &failure{status: http.StatusForbidden, message: "This installation has been suspended"}
)

// appOf is the App that has signed a request.
func (s *Server) appOf(r *http.Request) (*App, error) {
	token, _ := tokenOf(r)
	var app *App
	claims := jwt.RegisteredClaims{}
	_, err := jwt.NewParser(jwt.WithValidMethods([]string{"RS256"}), jwt.WithoutClaimsValidation()).ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) {
		for _, a := range s.st.Apps {
			if claims.Issuer == strconv.FormatInt(a.ID, 10) || claims.Issuer == a.ClientID {
				app = a
				return a.key()
			}
		}
		return nil, errNoApp
	})
	now := s.world.now()
	switch {
	case errors.Is(err, errNoApp):
		return nil, errNoApp
	case err != nil:
		return nil, errNoJWT
	case claims.ExpiresAt == nil || !claims.ExpiresAt.After(now):
		return nil, errExpired
	case claims.ExpiresAt.Sub(now) > jwtLife:
		return nil, errExpLate
	case claims.IssuedAt == nil || claims.IssuedAt.After(now):
		return nil, errIssued
	}
	return app, nil
}

func (a *App) key() (*rsa.PublicKey, error) {
	key, err := jwt.ParseRSAPublicKeyFromPEM([]byte(a.PublicKey))
	if err != nil {
		return nil, fmt.Errorf("public key of %s: %w", a.Slug, err)
	}
	return key, nil
}

func getRepoInstallation(q *request) (any, error) {
	if !q.app.reaches(q.repo) {
		return nil, errNotFound
	}
	return installationOf(q.s.json, q.app), nil
}

// installationOf is https://docs.github.com/en/rest/apps/apps#get-a-repository-installation-for-the-authenticated-app.
func installationOf(js views, a *App) obj {
	account := js.world.author(a.Account)
	selection, suspendedBy := "all", any(nil)
	if a.Selected != nil {
		selection = "selected"
	}
	if a.SuspendedAt != nil {
		suspendedBy = js.user(account)
	}
	self := fmt.Sprintf("%s%s/app/installations/%d", js.origin, restPrefix, a.Installation)
	return obj{
		"id": a.Installation, "account": js.user(account), "repository_selection": selection, "access_tokens_url": self + "/access_tokens",
		"repositories_url": js.origin + restPrefix + "/installation/repositories", "html_url": fmt.Sprintf("%s/settings/installations/%d", js.origin, a.Installation),
		"app_id": a.ID, "client_id": a.ClientID, "target_id": account.ID, "target_type": account.Type, "permissions": a.Permissions, "events": []string{},
		"created_at": stamp(a.CreatedAt), "updated_at": stamp(a.CreatedAt), "single_file_name": nil, "has_multiple_single_files": false,
		"single_file_paths": []string{}, "app_slug": a.Slug, "suspended_by": suspendedBy, "suspended_at": stampOrNil(a.SuspendedAt),
	}
}

// createAppToken narrows a token to what is asked for, and refuses what the installation does not have.
func createAppToken(q *request) (any, error) {
	a := q.app
	if q.r.PathValue("installation_id") != strconv.FormatInt(a.Installation, 10) {
		return nil, errNotFound
	}
	if a.SuspendedAt != nil {
		return nil, errSuspended
	}
	var in struct {
		Repositories []string
		Permissions  map[string]string
	}
	if err := q.decode(&in); err != nil {
		return nil, err
	}
	token := &AppToken{Token: "ghs_" + rand.Text(), App: a.ID, Repositories: maps.Clone(a.Selected), Permissions: a.Permissions, ExpiresAt: q.s.world.now().Add(tokenLife)}
	var named []obj
	if len(in.Repositories) > 0 {
		token.Repositories = map[int64]bool{}
	}
	for _, name := range in.Repositories {
		r := q.s.world.repository(a.Account, name)
		if r == nil || !a.reaches(r) {
			return nil, unprocessable("There is at least one repository that does not exist or is not accessible to the parent installation.")
		}
		token.Repositories[r.ID] = true
		named = append(named, q.s.json.repository(r))
	}
	if in.Permissions != nil {
		for name, access := range in.Permissions {
			if !grants(a.Permissions, name, access) {
				return nil, unprocessable("The permissions requested are not granted to this installation.")
			}
		}
		token.Permissions = in.Permissions
	}
	q.s.st.AppTokens = append(slices.DeleteFunc(q.s.st.AppTokens, func(t *AppToken) bool { return !q.s.world.now().Before(t.ExpiresAt) }), token)
	q.s.world.changed()
	selection := "all"
	if token.Repositories != nil {
		selection = "selected"
	}
	answer := obj{"token": token.Token, "expires_at": stamp(token.ExpiresAt), "permissions": token.Permissions, "repository_selection": selection}
	if named != nil {
		answer["repositories"] = named
	}
	return &reply{http.StatusCreated, answer}, nil
}

// grants tells whether permissions hold at least this access. Metadata can be read with any.
func grants(permissions map[string]string, name, access string) bool {
	rank := []string{"", "read", "write", "admin"}
	return name == "metadata" && access == "read" || slices.Index(rank, permissions[name]) >= max(1, slices.Index(rank, access))
}

// setApp makes an App or changes it, with its one installation.
func setApp(q *request, in struct {
	PublicKey    string `json:"public_key"`
	Account      string
	Repositories []string // owner/name; absent: all of the account
	Permissions  map[string]string
	Suspended    bool
}) (any, error) {
	slug, w := q.r.PathValue("slug"), q.s.world
	i := slices.IndexFunc(w.st.Apps, func(a *App) bool { return a.Slug == slug })
	if i < 0 {
		a := &App{ID: w.nextSmallID(), Slug: slug, Installation: w.nextSmallID(), CreatedAt: w.now()}
		a.ClientID = fmt.Sprintf("Iv23%d", a.ID)
		i, w.st.Apps = len(w.st.Apps), append(w.st.Apps, a)
	}
	a := w.st.Apps[i]
	a.PublicKey, a.Account, a.Permissions, a.Selected, a.SuspendedAt = in.PublicKey, in.Account, in.Permissions, nil, nil
	if _, err := a.key(); err != nil {
		return nil, unprocessable("public_key: want an RSA public key as PEM")
	}
	if in.Suspended {
		now := w.now()
		a.SuspendedAt = &now
	}
	for _, name := range in.Repositories {
		r, err := w.named(name)
		if err != nil {
			return nil, err
		}
		if a.Selected == nil {
			a.Selected = map[int64]bool{}
		}
		a.Selected[r.ID] = true
	}
	w.ensureUser(a.login(), "Bot")
	for _, r := range w.st.Repositories {
		delete(r.Permissions, strings.ToLower(a.login()))
		if a.reaches(r) {
			r.Permissions[strings.ToLower(a.login())] = "write"
		}
	}
	w.changed()
	return obj{"id": a.ID, "client_id": a.ClientID, "installation_id": a.Installation, "login": a.login()}, nil
}
