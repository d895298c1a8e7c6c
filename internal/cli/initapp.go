package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/mergexo/mergexo/internal/doctor"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/github/app"
	"github.com/mergexo/mergexo/internal/markdown"
)

// appVariable and appSecret are what the workflow gives the action.
const (
	appVariable = "MERGEXO_APP_ID"
	appSecret   = "MERGEXO_PRIVATE_KEY"
)

// registration is how the App is made, but for who is asked.
func (h *hubSetup) registration() app.Registration {
	return app.Registration{
		Server: h.server, Repo: h.repo, Organization: h.facts.Organization, Convert: h.gh.Setup.ConvertManifest, Keep: h.keepKey, Installed: h.appInstalled,
		Ask: func(address string) error {
			_, err := fmt.Fprintf(h.Err, "Open this address in a browser on this machine to create a GitHub App:\n  %s\n", address)
			return err
		},
	}
}

// makeApp has an App made and installed. Its key is stored as soon as it is there, and its ID once it is installed: where only
// the key is there, somebody was interrupted in between.
func (h *hubSetup) makeApp(ctx context.Context) error {
	if !h.choice.App {
		return nil
	}
	variables, err := h.gh.Setup.Variables(ctx, h.repo)
	if err != nil || h.secrets == nil {
		return h.may(errors.Join(err, h.unseen), "Run this with a token that may write secrets and variables, to create a GitHub App", "mergexo init --github --app")
	}
	known, stored := variables[appVariable] != "", h.secrets[appSecret]
	switch {
	case known && stored:
		return nil
	case stored:
		h.left.add("Install your GitHub App on the repository, and store the App ID that its settings show; gh asks for it:", h.ghLine("variable", "set", appVariable))
		return nil
	}
	r := h.registration()
	made, err := r.Run(ctx)
	if err != nil {
		return err
	}
	if known {
		h.left.add(fmt.Sprintf("Store the ID of the new App, %d, in place of the old one:", made.ID), h.ghLine("variable", "set", appVariable, "--body", strconv.FormatInt(made.ID, 10)))
	} else if err = h.gh.Setup.CreateVariable(ctx, h.repo, appVariable, strconv.FormatInt(made.ID, 10)); err != nil {
		if err = h.may(err, "Store the App's ID", h.ghLine("variable", "set", appVariable, "--body", strconv.FormatInt(made.ID, 10))); err != nil {
			return err
		}
	}
	if bot := made.Slug + "[bot]"; h.choice.Bot != "" && h.choice.Bot != bot {
		h.left.add(fmt.Sprintf("Name the App's account in [repo] bots of %s: %s in place of %s", doctor.SettingsPath, bot, h.choice.Bot))
	}
	return h.say("created the App %s, the secret %s and the variable %s", made.Slug, appSecret, appVariable)
}

// keepKey stores the key of an App, or where that fails writes it to a file: nobody can ask for it again.
func (h *hubSetup) keepKey(ctx context.Context, made github.MadeApp) error {
	err := h.gh.Setup.SetSecret(ctx, h.repo, appSecret, made.PEM)
	if err == nil {
		return nil
	}
	file := filepath.Join(os.TempDir(), "mergexo-app-"+random()+".pem")
	f, failed := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if failed != nil {
		return errors.Join(err, failed)
	}
	_, failed = f.WriteString(made.PEM)
	if failed = errors.Join(failed, f.Close()); failed != nil {
		return errors.Join(err, failed)
	}
	return fmt.Errorf("%w: the key of the App %d is in %s: store it with %s < %s, and delete the file", err, made.ID, file, h.ghLine("secret", "set", appSecret), markdown.Quoted(file))
}

// appInstalled asks as the App whether it is installed.
func (h *hubSetup) appInstalled(ctx context.Context, made github.MadeApp) (bool, error) {
	tokens, err := app.New(app.Options{ID: strconv.FormatInt(made.ID, 10), Key: made.PEM, Repo: h.repo, Needs: app.ToRead, GitHub: h.options})
	if err != nil {
		return false, err
	}
	_, err = tokens.Installation(ctx)
	var refused *github.Error
	if errors.As(err, &refused) && refused.Status == 404 {
		return false, nil
	}
	return err == nil, err
}
