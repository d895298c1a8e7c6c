package app

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
)

// mistake is what a person has to change before there can be a token. The run ends before it has done anything.
func (t *Tokens) mistake(status int, fix, format string, args ...any) *github.Error {
	return &github.Error{Kind: github.Unauthorized, Status: status, Message: "sign in as App " + t.options.ID + ": " + fmt.Sprintf(format, args...), Fix: fix}
}

const fixBoth = "give app-id and private-key of the same App, as its settings show them"

// explained says what a person has to change where GitHub does not take us for the App, or does not know it on a repository. It tells
// the reasons apart only in words, which were seen in https://github.com/actions/create-github-app-token/issues/178,
// https://github.com/octokit/auth-app.js/issues/698 and https://github.com/sigmavirus24/github3.py/issues/1050. Other errors are
// returned as they are.
func (t *Tokens) explained(repo model.Repo, err error) error {
	failed := (*github.Error)(nil)
	if !errors.As(err, &failed) {
		return err
	}
	words := strings.ToLower(failed.Message)
	has := func(part string) bool { return strings.Contains(words, part) }
	switch {
	case has("integration not found"), has("('iss')"):
		return t.mistake(failed.Status, fixBoth, "there is no App with this id: %s", failed.Message)
	case failed.Status == 404:
		e := t.mistake(failed.Status, "install it on the account of "+repo.Owner+" and give it this repository",
			"the App is not installed on %s", repo)
		if repo != t.options.Repo {
			e.Kind = github.NotFound
		}
		return e
	case failed.Status != 401:
		return err
	case has("could not be decoded"):
		return t.mistake(failed.Status, fixBoth, "the private key does not belong to this App: %s", failed.Message)
	case has("('exp')"), has("('iat')"):
		return t.mistake(failed.Status, "set this machine's clock", "GitHub says that this machine's clock is wrong: %s", failed.Message)
	}
	return t.mistake(failed.Status, fixBoth, "GitHub does not accept the credentials of the App: %s", failed.Message)
}

func (t *Tokens) elsewhere(repo model.Repo) error {
	e := t.mistake(0, "group repositories of one owner only, or use a token that reaches them all", "a token of the installation on %s does not reach %s", t.options.Repo.Owner, repo)
	e.Kind = github.NotFound
	return e
}

func (t *Tokens) suspended() error {
	return t.mistake(403, "unsuspend it, in the settings of "+t.installed.Account+" under GitHub Apps", "the App's installation on %s has been suspended since %s", t.installed.Account, t.installed.Suspended.Format("2006-01-02"))
}

func (t *Tokens) lacks(missing []Need) error {
	var names, follows []string
	for _, n := range missing {
		names, follows = append(names, n.Permission+": "+n.Access), append(follows, n.Without)
	}
	return t.mistake(403, "add it to the App in its settings, under Permissions, and accept that for the installation",
		"the App's installation on %s lacks the permission %s: %s", t.installed.Account, strings.Join(names, ", "), strings.Join(follows, "; "))
}

// unmade explains why there is no token for an installation that was found.
func (t *Tokens) unmade(err error) error {
	if failed := (*github.Error)(nil); errors.As(err, &failed) && (failed.Status == 403 || failed.Status == 422) {
		return t.mistake(failed.Status, "look at the App's permissions and repositories, in the settings of "+t.options.Repo.Owner+" under GitHub Apps",
			"there is no token for %s: %s", strings.Join(t.reach, ", "), failed.Message)
	}
	return t.explained(t.options.Repo, err)
}
