package github

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/crypto/nacl/box"

	"github.com/mergexo/mergexo/internal/model"
)

// Setup is what a repository is set up with, once, by somebody who may.
type Setup struct{ *conn }

// CreateLabel makes a label, whose color is six hexadecimal digits. Invalid may mean that there is one.
// https://docs.github.com/rest/issues/labels#create-a-label
func (c Setup) CreateLabel(ctx context.Context, repo model.Repo, name, color, about string) error {
	return c.write(ctx, fmt.Sprintf("create the label %q in %s", oneLine(name), repo), repo, http.MethodPost, "labels",
		map[string]string{"name": name, "color": color, "description": about}, nil)
}

// AllowPullRequests lets workflows open pull requests. It leaves their other rights as they are.
// https://docs.github.com/rest/actions/permissions#set-default-workflow-permissions-for-a-repository
func (c Setup) AllowPullRequests(ctx context.Context, repo model.Repo) error {
	op := fmt.Sprintf("let the workflows of %s open pull requests", repo)
	return c.write(ctx, op, repo, http.MethodPut, "actions/permissions/workflow", map[string]bool{"can_approve_pull_request_reviews": true}, nil)
}

// Secrets are the names of the secrets that workflows of the repository can use, its own and those of its organization.
// https://docs.github.com/rest/actions/secrets#list-repository-organization-secrets
func (c Setup) Secrets(ctx context.Context, repo model.Repo) (map[string]bool, error) {
	return namesOf(c.listed(ctx, repo, "organization-secrets", "secrets"))
}

// OwnSecrets are the names of the repository's own secrets.
// https://docs.github.com/rest/actions/secrets#list-repository-secrets
func (c Setup) OwnSecrets(ctx context.Context, repo model.Repo) (map[string]bool, error) {
	return namesOf(c.listed(ctx, repo, "secrets"))
}

// Variables are the variables that workflows of the repository can use, by name. Its own go before those of its organization.
// https://docs.github.com/rest/actions/variables#list-repository-organization-variables
func (c Setup) Variables(ctx context.Context, repo model.Repo) (map[string]string, error) {
	return c.listed(ctx, repo, "organization-variables", "variables")
}

// OwnVariables are the repository's own variables, by name. https://docs.github.com/rest/actions/variables#list-repository-variables
func (c Setup) OwnVariables(ctx context.Context, repo model.Repo) (map[string]string, error) {
	return c.listed(ctx, repo, "variables")
}

// listed are secrets or variables with their values, which secrets do not show. A repository without an organization has none of it.
func (c Setup) listed(ctx context.Context, repo model.Repo, kinds ...string) (map[string]string, error) {
	values := map[string]string{}
	for _, kind := range kinds {
		what := strings.TrimPrefix(kind, "organization-")
		op := fmt.Sprintf("list the %s of %s", what, repo)
		query := url.Values{"per_page": {setupPage}}
		all, err := listOf[struct{ Name, Value string }](ctx, c.conn, op, repo, "actions/"+kind, query, mostRefPages)
		if err != nil && !(KindOf(err) == NotFound && what != kind) {
			return nil, err
		}
		for _, v := range all {
			values[v.Name] = v.Value
		}
	}
	return values, nil
}

func namesOf(values map[string]string, err error) (map[string]bool, error) {
	names := map[string]bool{}
	for name := range values {
		names[name] = true
	}
	return names, err
}

// Delete deletes a label, a secret or a variable, whose kind is the beginning of its address. One that is not there is deleted.
// https://docs.github.com/rest/issues/labels#delete-a-label
// https://docs.github.com/rest/actions/secrets#delete-a-repository-secret
// https://docs.github.com/rest/actions/variables#delete-a-repository-variable
func (c Setup) Delete(ctx context.Context, repo model.Repo, kind, name string) error {
	op := fmt.Sprintf("delete %s %q in %s", kind, oneLine(name), repo)
	return unless(c.write(ctx, op, repo, http.MethodDelete, kind+"/"+url.PathEscape(name), nil, nil), NotFound)
}

// HasRef tells whether a repository has a branch, a tag or a commit of that name. Of a repository that this token cannot see, GitHub
// does not tell. https://docs.github.com/rest/commits/commits#get-a-commit
func (c Setup) HasRef(ctx context.Context, repo model.Repo, ref string) (bool, error) {
	_, err := c.commitSHA(ctx, repo, ref)
	if err == nil {
		return true, nil
	}
	if e := c.fail(fmt.Sprintf("look for %s in %s", oneLine(ref), repo), err); e.Status != http.StatusUnprocessableEntity {
		return false, e
	}
	return false, nil
}

// HasUser tells whether there is somebody of that name, a person or an App's account.
// https://docs.github.com/rest/users/users#get-a-user
func (c Setup) HasUser(ctx context.Context, login string) (bool, error) {
	_, err := c.send(ctx, http.MethodGet, "users/"+url.PathEscape(login), nil, nil)
	if err == nil {
		return true, nil
	}
	return false, unless(c.fail("look for "+oneLine(login), err), NotFound)
}

// setupPage is the size of a page of these lists.
const setupPage = "30"

// SetSecret makes a secret or replaces it. Its value is encrypted for the repository before it is sent.
// https://docs.github.com/rest/actions/secrets#create-or-update-a-repository-secret
func (c Setup) SetSecret(ctx context.Context, repo model.Repo, name, value string) error {
	var given struct {
		ID  string `json:"key_id"`
		Key string
	}
	op := fmt.Sprintf("read the public key for secrets of %s", repo)
	if err := c.read(ctx, op, repo, "actions/secrets/public-key", &given); err != nil {
		return err
	}
	op = fmt.Sprintf("create the secret %s of %s", name, repo)
	raw, err := base64.StdEncoding.DecodeString(given.Key)
	if err != nil || len(raw) != 32 {
		return &Error{Kind: Unavailable, Op: op, Message: "the public key is not one of 32 bytes", Fix: fixLater}
	}
	sealed, err := box.SealAnonymous(nil, []byte(value), (*[32]byte)(raw), rand.Reader)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return c.write(ctx, op, repo, http.MethodPut, "actions/secrets/"+url.PathEscape(name),
		map[string]string{"encrypted_value": base64.StdEncoding.EncodeToString(sealed), "key_id": given.ID}, nil)
}

// CreateVariable makes a variable that is not there yet.
// https://docs.github.com/rest/actions/variables#create-a-repository-variable
func (c Setup) CreateVariable(ctx context.Context, repo model.Repo, name, value string) error {
	op := fmt.Sprintf("create the variable %s of %s", name, repo)
	return c.write(ctx, op, repo, http.MethodPost, "actions/variables", map[string]string{"name": name, "value": value}, nil)
}

// MadeApp is an App that was made from a manifest, with its private key.
type MadeApp struct {
	ID   int64
	Slug string
	URL  string `json:"html_url"`
	PEM  string
}

// ConvertManifest trades the code of a manifest that somebody agreed to for the App and its key. A code holds once, for one hour.
// https://docs.github.com/rest/apps/apps#create-a-github-app-from-a-manifest
func (c Setup) ConvertManifest(ctx context.Context, code string) (MadeApp, error) {
	const op = "create the App"
	var made MadeApp
	if _, err := c.send(ctx, http.MethodPost, "app-manifests/"+url.PathEscape(code)+"/conversions", nil, &made); err != nil {
		return made, c.failWrite(op, err)
	}
	if made.ID == 0 || made.PEM == "" {
		return made, unreadableWrite(op, "App")
	}
	return made, nil
}
