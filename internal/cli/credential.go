package cli

import (
	"context"

	"github.com/mergexo/mergexo/internal/credential"
	"github.com/mergexo/mergexo/internal/engine/thread"
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
		return nil, nil, usagef("no token: set the action's token input, INPUT_TOKEN or GITHUB_TOKEN, or give an App by MERGEXO_APP_ID and MERGEXO_PRIVATE_KEY")
	}
	given, err := github.Given(p.secrets.Token)
	if err != nil {
		return nil, nil, usageError{err}
	}
	return given, nil, nil
}

// needs are the permissions that an App's token is made with here.
func (w place) needs() []app.Need {
	if w.plans || w.phase == thread.AgentPhase {
		return app.ToRead
	}
	return app.ToWrite
}
