package cli

import (
	"context"
	"net/url"
	"strings"

	"github.com/mergexo/mergexo/internal/credential"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/github/app"
	"github.com/mergexo/mergexo/internal/model"
)

// credential is what this process proves itself to GitHub with, and how it is extended to further repositories. An App comes
// before a token: the action's token input is never empty, so that whoever gives an App means it.
func (p *program) credential(o github.Options, repo model.Repo, needs []app.Need, mask func(string) error) (credential.Source, func(context.Context, ...model.Repo) error, error) {
	switch s := p.secrets; {
	case s.AppID == "" && s.AppKey != "":
		return nil, nil, usagef("private-key is given, and app-id is not: set both inputs of the action, or MERGEXO_APP_ID and MERGEXO_PRIVATE_KEY")
	case s.AppID != "" && s.AppKey == "":
		return nil, nil, usagef("app-id is given, and private-key is not, or it is empty, as secrets are in runs for forks: set both inputs of the action, or MERGEXO_APP_ID and MERGEXO_PRIVATE_KEY")
	case s.AppID != "":
		tokens, err := app.New(app.Options{ID: s.AppID, Key: s.AppKey, Repo: repo, Needs: needs, GitHub: o, Given: mask})
		if err != nil {
			return nil, nil, usageError{err}
		}
		return tokens, tokens.Reach, nil
	case s.Token == "":
		return nil, nil, p.noToken()
	}
	given, err := github.Given(p.secrets.Token)
	if err != nil {
		return nil, nil, usageError{err}
	}
	return given, nil, nil
}

// noToken says that there is nothing to sign in to GitHub with, and what helps here; nil if there is something.
func (p *program) noToken() error {
	if s := p.secrets; s.Token != "" || s.AppID != "" || s.AppKey != "" {
		return nil
	}
	const orApp = "or set MERGEXO_APP_ID and MERGEXO_PRIVATE_KEY for a GitHub App"
	if env(p, "GITHUB_ACTIONS") == "true" {
		return usagef("no token: set the action's token input, INPUT_TOKEN or GITHUB_TOKEN, %s", orApp)
	}
	return usagef("no token: run %s, %s", exportToken(env(p, "GITHUB_SERVER_URL")), orApp)
}

// exportToken is the command that gives a terminal the token of GitHub's own command line (https://cli.github.com/manual/gh_auth_token).
// Without --hostname gh prints its token for github.com, which another server must not get.
func exportToken(server string) string {
	host := ""
	if at, err := url.Parse(server); err == nil && at.Host != "" && at.Host != "github.com" {
		host = " --hostname " + at.Host
	}
	return "export GITHUB_TOKEN=$(gh auth token" + host + ")"
}

// missing is one error about all that is missing, so that nobody learns of it one by one; nil if nothing is.
func missing(all ...error) error {
	var texts []string
	for _, err := range all {
		if err != nil {
			texts = append(texts, err.Error())
		}
	}
	if texts == nil {
		return nil
	}
	return usagef("%s", strings.Join(texts, "; also "))
}

// needs are the permissions that an App's token is made with here.
func (w place) needs() []app.Need {
	if w.plans || !w.phase.Writes() {
		return app.ToRead
	}
	return app.ToWrite
}
