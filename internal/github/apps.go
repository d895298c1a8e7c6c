package github

import (
	"context"
	"fmt"
	"net/http"
	"time"

	gogithub "github.com/google/go-github/v60/github"

	"github.com/mergexo/mergexo/internal/model"
)

// Installation is the App's installation that reaches a repository. The client's token has to be the App's JSON web token.
// https://docs.github.com/rest/apps/apps#get-a-repository-installation-for-the-authenticated-app
func (c Apps) Installation(ctx context.Context, repo model.Repo) (model.Installation, error) {
	var found struct {
		ID          int64             `json:"id"`
		Slug        string            `json:"app_slug"`
		URL         string            `json:"html_url"`
		Suspended   time.Time         `json:"suspended_at"`
		Permissions map[string]string `json:"permissions"`
		Account     struct {
			Login string `json:"login"`
		} `json:"account"`
	}
	if err := c.read(ctx, fmt.Sprintf("find the App's installation on %s", repo), repo, "installation", &found); err != nil {
		return model.Installation{}, err
	}
	return model.Installation{
		ID: found.ID, App: found.Slug, Account: found.Account.Login, URL: found.URL, Permissions: found.Permissions,
		Suspended: found.Suspended.UTC(),
	}, nil
}

// NewToken makes a token of an installation, for these repositories of its account and with these permissions alone. The
// client's token has to be the App's JSON web token. One token more does no harm, so that it asks again where an answer is
// missing. https://docs.github.com/rest/apps/apps#create-an-installation-access-token-for-an-app
func (c Apps) NewToken(ctx context.Context, installation int64, repositories []string, permissions map[string]string) (model.InstallationToken, error) {
	const op = "make a token for the App's installation"
	wanted := map[string]any{"repositories": repositories, "permissions": permissions}
	var made gogithub.InstallationToken
	path := fmt.Sprintf("app/installations/%d/access_tokens", installation)
	resp, err := c.send(repeatable(ctx), http.MethodPost, path, wanted, &made)
	if err != nil {
		e := c.failWrite(op, err)
		if e.Kind == Unclear {
			e.Kind, e.Fix = Unavailable, fixLater
		}
		return model.InstallationToken{}, e
	}
	if made.GetToken() == "" || made.GetExpiresAt().IsZero() {
		return model.InstallationToken{}, &Error{Kind: Unavailable, Op: op, Message: "the answer has no token with an expiry", Fix: fixProxy}
	}
	return model.InstallationToken{Token: made.GetToken(), Life: made.GetExpiresAt().Sub(serverTime(resp.Header, c.now))}, nil
}
