package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/github/workflow"

	"github.com/urfave/cli/v2"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/doctor"
	"github.com/mergexo/mergexo/internal/engine"
	"github.com/mergexo/mergexo/internal/model"
)

func uninstallCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "uninstall", Usage: "remove what MergeXO made in a repository: labels, secrets, variables, branches and hidden refs",
		Description: "Comments, what people named themselves and the branches of open pull requests stay. It prints how to remove the files and the App.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "dry-run", Usage: "print what it would remove, and change nothing"},
			&cli.BoolFlag{Name: "yes", Usage: "remove it"},
			repoFlag,
		},
		Action: func(c *cli.Context) error {
			if !c.Bool("yes") && !c.Bool("dry-run") {
				return usagef("uninstall removes what nobody can restore: add --dry-run to see what, then --yes")
			}
			return p.operate(c, func(ctx context.Context, e *engine.Engine, repo model.Repo) error {
				u := &uninstall{e: e, repo: repo, out: p.Out, dry: c.Bool("dry-run")}
				return u.run(ctx)
			})
		},
	}
}

// uninstall removes what it has seen, and only what has a name that MergeXO gives.
type uninstall struct {
	e    *engine.Engine
	repo model.Repo
	out  io.Writer
	dry  bool

	left   left
	found  int
	failed error // the last thing that was not removed
}

func (u *uninstall) run(ctx context.Context) error {
	for _, step := range []func(context.Context) error{u.files, u.settings, u.labels, u.refs} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if u.found == 0 {
		fmt.Fprintln(u.out, "There is nothing to remove.")
	}
	_, err := io.WriteString(u.out, u.left.String())
	if u.failed != nil {
		return u.failed
	}
	return err
}

// remove removes one thing, unless this is a dry run, and prints the outcome. A failure holds nothing else up.
func (u *uninstall) remove(what string, name string, do func() error) error {
	u.found++
	did := "would remove"
	if !u.dry {
		did = "removed"
		if err := do(); err != nil {
			did, u.failed = "could not remove", err
		}
	}
	_, err := fmt.Fprintf(u.out, "%s the %s %s\n", did, what, oneLine(name))
	return err
}

// files lists the commands that remove the files by a pull request. They come first: a run would make the rest again.
func (u *uninstall) files(ctx context.Context) error {
	var there []string
	for _, dir := range []string{".github", workflowDir, path.Dir(workflow.SetupPath)} {
		files, err := u.e.GitHub.Repositories.Files(ctx, u.repo, "", dir)
		if err != nil {
			return err
		}
		for _, f := range files {
			if slices.Contains([]string{doctor.SettingsPath, doctor.WorkflowPath, workflow.SetupPath}, f.Path) {
				there = append(there, f.Path)
			}
		}
	}
	if len(there) > 0 {
		u.left.add("Remove the files by a pull request, before anything else:", "git switch -c remove-mergexo", "git rm -r "+strings.Join(there, " "),
			`git commit -m "Remove MergeXO"`, "git push -u origin remove-mergexo", "gh pr create --fill")
	}
	return nil
}

// settings removes secrets and variables.
func (u *uninstall) settings(ctx context.Context) error {
	secrets, err := u.e.GitHub.Setup.OwnSecrets(ctx, u.repo)
	variables := map[string]string{}
	if err == nil {
		variables, err = u.e.GitHub.Setup.OwnVariables(ctx, u.repo)
	}
	if err != nil {
		u.left.add("Remove the secrets and variables whose names begin with MERGEXO_. The token may not list them: "+err.Error(), "gh secret list", "gh variable list")
		return nil
	}
	for _, list := range []struct {
		what, kind string
		names      []string
	}{{"secret", "actions/secrets", slices.Sorted(maps.Keys(secrets))}, {"variable", "actions/variables", slices.Sorted(maps.Keys(variables))}} {
		for _, name := range list.names {
			if !strings.HasPrefix(name, "MERGEXO_") {
				continue
			}
			if err := u.remove(list.what, name, func() error { return u.e.GitHub.Setup.Delete(ctx, u.repo, list.kind, name) }); err != nil {
				return err
			}
		}
	}
	if id := variables[appVariable]; id != "" {
		u.left.add(fmt.Sprintf("Uninstall the App %s, under %s/settings/installations, or %s/organizations/%s/settings/installations", id, u.e.ServerURL, u.e.ServerURL, u.repo.Owner))
	}
	return nil
}

// ownLabel is a label of MergeXO's by its name, whatever else the settings name.
var ownLabel = regexp.MustCompile(`^(agent|mergexo|external):`)

// labels removes the labels that the settings name.
func (u *uninstall) labels(ctx context.Context) error {
	settings := config.Defaults()
	if file, found, err := u.e.GitHub.Repositories.File(ctx, u.repo, "", doctor.SettingsPath); err != nil {
		return err
	} else if parsed, err := config.ParseWithoutAgent(file.Text, file.Path); found && err == nil {
		settings = parsed
	}
	l := settings.Labels
	for _, name := range []string{l.SmallJob, l.Bugfix, l.Design, l.Roadmap, l.Ignore, l.Freeze, settings.Review.Label, settings.Merge.AutoLabel, settings.External.Label} {
		if there, _ := u.e.GitHub.Repositories.HasLabel(ctx, u.repo, name); !there || !ownLabel.MatchString(name) {
			continue
		}
		if err := u.remove("label", name, func() error { return u.e.GitHub.Setup.Delete(ctx, u.repo, "labels", name) }); err != nil {
			return err
		}
	}
	return nil
}

// ownBranch is a branch that MergeXO makes: of the train, checkpoints, reverts, work for issues, and mirrors of forks.
var ownBranch = regexp.MustCompile(`^refs/heads/(mergexo/|agent/(design|bugfix|small|impl)/[0-9]+-|gh-pr-[0-9]+/)`)

// refs removes hidden refs, and branches that no open pull request has.
func (u *uninstall) refs(ctx context.Context) error {
	used, err := u.e.GitHub.Pulls.InUse(ctx, u.repo)
	if err != nil {
		return err
	}
	for _, prefix := range []string{"refs/mergexo/", "refs/heads/"} {
		all, err := u.e.GitHub.Refs.List(ctx, u.repo, prefix)
		if err != nil {
			return err
		}
		for _, ref := range all {
			switch branch, is := strings.CutPrefix(ref.Name, "refs/heads/"); {
			case is && !ownBranch.MatchString(ref.Name):
			case used[branch]:
				u.left.add("Close or merge the pull request of the branch " + branch + ", and run this again")
			default:
				what := map[bool]string{true: "branch", false: "hidden ref"}[is]
				if err := u.remove(what, branch, func() error { return u.e.GitHub.Refs.Delete(ctx, u.repo, ref.Name) }); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
