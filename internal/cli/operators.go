package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/engine"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/report"
)

func pullFlag(usage string) cli.Flag {
	return &cli.IntFlag{Name: "pr", Usage: usage}
}

var dryRunFlag = &cli.BoolFlag{Name: "dry-run", Usage: "print what it would do, and change nothing"}

var repoFlag = &cli.StringFlag{Name: "repo", Usage: "`OWNER/NAME`; by default GITHUB_REPOSITORY, or the remote origin of this directory"}

func (p *program) statusCommand() *cli.Command {
	return &cli.Command{
		Name: "status", Usage: "show the state of the tracked pull requests",
		Flags: outFlags(pullFlag("show only the pull request with this `NUMBER`"), &cli.StringFlag{Name: "html", Usage: "write the dashboard to this `FILE`, and print nothing"}, repoFlag),
		Action: func(c *cli.Context) error {
			if err := page(c.String("html")); err != nil {
				return err
			}
			if c.IsSet("html") && c.IsSet("pr") {
				return usagef("--html shows the whole repository: leave --pr out")
			}
			return p.operate(c, func(ctx context.Context, e *engine.Engine, repo model.Repo) error {
				if file := c.String("html"); file != "" {
					board, err := e.Board(ctx, repo)
					if err != nil {
						return err
					}
					return writePage(file, board)
				}
				all, waiting, err := standings(ctx, e, repo, c.Int("pr"))
				return answer(p, c, err, map[string]any{"pull_requests": all, "needs": waiting}, func() error { return report.Statuses(p.Out, all, waiting) })
			})
		},
	}
}

// answer prints what was found, unless err says why nothing was, as one JSON object where that was asked for, and else as a text.
func answer(p *program, c *cli.Context, err error, object any, text func() error) error {
	switch {
	case err != nil:
		return err
	case c.Bool("json"):
		return report.Object(p.Out, object)
	}
	return text()
}

// standings returns the status of one pull request, or for 0 of all, and what of it waits for a person.
func standings(ctx context.Context, e *engine.Engine, repo model.Repo, pr int) ([]model.Status, []model.Need, error) {
	if pr == 0 {
		return e.Standings(ctx, repo)
	}
	one, _, err := e.Look(ctx, repo, pr)
	waiting := []model.Need{}
	if one.Need != nil {
		waiting = append(waiting, *one.Need)
	}
	return []model.Status{one}, waiting, err
}

func (p *program) whyCommand() *cli.Command {
	return &cli.Command{
		Name: "why", Usage: "explain why nothing happens on a pull request or issue, or what happens next",
		Flags: outFlags(pullFlag("`NUMBER` of the pull request or issue"), &cli.BoolFlag{Name: "all", Usage: "list every condition, met or not, with its evidence"}, repoFlag),
		Action: func(c *cli.Context) error {
			if !c.IsSet("pr") {
				return usagef("why needs --pr NUMBER")
			}
			return p.operate(c, func(ctx context.Context, e *engine.Engine, repo model.Repo) error {
				why, err := e.Why(ctx, repo, c.Int("pr"))
				if err != nil {
					return err
				}
				if why.Issue != nil {
					return answer(p, c, nil, map[string]any{"issue": asJSON(*why.Issue), "next": why.Step}, func() error { return report.Issue(p.Out, *why.Issue, why.Step) })
				}
				return answer(p, c, nil, map[string]any{"pull_request": why.Pull, "conditions": why.Turns, "merge_conditions": why.Merges}, func() error {
					return report.Why(p.Out, why.Pull, command.Because(why.Pull, why.Turns, why.Merges), why.Turns, why.Merges, c.Bool("all"))
				})
			})
		},
	}
}

// asJSON is an issue's machine-readable form.
func asJSON(i model.BoardIssue) map[string]any {
	out := map[string]any{"number": i.Number, "title": i.Title, "url": i.URL, "flow": i.Flow, "status": i.Status, "pull_request": i.Pull, "need": i.Need}
	if i.RoadmapURL != "" {
		out["roadmap"] = map[string]any{"url": i.RoadmapURL, "items": i.Roadmap}
	}
	return out
}

func (p *program) blockedCommand() *cli.Command {
	list := &cli.Command{
		Name: "list", Usage: "list what waits for a person: blocked pull requests, issues with a question, refused merges",
		Flags: outFlags(repoFlag),
		Action: func(c *cli.Context) error {
			return p.operate(c, func(ctx context.Context, e *engine.Engine, repo model.Repo) error {
				_, waiting, err := e.Standings(ctx, repo)
				return answer(p, c, err, map[string]any{"blocked": waiting}, func() error { return report.Needs(p.Out, waiting) })
			})
		},
	}
	reset := &cli.Command{
		Name: "reset", Usage: "unblock pull requests, with the rules of /mergexo unblock",
		Description: "Without --head-sha, the branch must contain the last accepted head again. With it, SHA must be the current head.\n" +
			"With a person's token, it posts the command as that person, and the next run decides.",
		Flags: outFlags(
			&cli.IntSliceFlag{Name: "pr", Usage: "`NUMBER` of a pull request; may be repeated"},
			&cli.BoolFlag{Name: "all", Usage: "unblock every blocked pull request of the repository; needs --yes"},
			&cli.BoolFlag{Name: "yes", Usage: "confirm --all"},
			&cli.StringFlag{Name: "head-sha", Usage: "accept this `SHA` as the new head: the current head, 7 to 40 digits"},
			dryRunFlag,
			repoFlag,
		),
		Action: func(c *cli.Context) error {
			r, err := resetOf(c)
			if err != nil {
				return err
			}
			return p.operate(c, func(ctx context.Context, e *engine.Engine, repo model.Repo) error {
				r.Repo = repo
				e.DryRun(c.Bool("dry-run"))
				reports, err := e.Reset(ctx, r)
				if len(reports) == 0 && err != nil {
					return err
				}
				rest, graphql := e.GitHub.Calls()
				if ferr := p.finishReset(c, reports, model.Calls{REST: rest, GraphQL: graphql}, err); err == nil || ferr != nil {
					return ferr
				}
				return shownError{err}
			})
		},
	}
	return &cli.Command{Name: "blocked", Usage: "list or unblock blocked pull requests", Subcommands: []*cli.Command{list, reset}}
}

// resetOf reads what is to be reset from the flags.
func resetOf(c *cli.Context) (engine.Reset, error) {
	r := engine.Reset{Numbers: c.IntSlice("pr"), Head: c.String("head-sha")}
	switch {
	case len(r.Numbers) > 0 && c.Bool("all"):
		return r, usagef("blocked reset takes --pr or --all, not both")
	case len(r.Numbers) == 0 && !c.Bool("all"):
		return r, usagef("blocked reset needs --pr NUMBER, or --all --yes for every blocked pull request")
	case c.Bool("all") && !c.Bool("yes") && !c.Bool("dry-run"):
		return r, usagef("--all unblocks every blocked pull request: add --yes, or --dry-run to see which")
	case c.IsSet("head-sha") && !command.NamesCommit(r.Head):
		return r, usagef("--head-sha: want 7 to 40 hexadecimal digits, got %q", r.Head)
	}
	for _, n := range r.Numbers {
		if n <= 0 {
			return r, usagef("--pr: want the number of a pull request, got %d", n)
		}
	}
	return r, nil
}

// resets is the JSON object that a reset of several pull requests prints.
type resets struct {
	model.Report
	Results []model.Report `json:"results"`
}

// finishReset prints the results of a reset, and sets the exit code of the gravest.
func (p *program) finishReset(c *cli.Context, reports []model.Report, calls model.Calls, err error) error {
	cause := 0 // the report whose reason is that of all
	all := resets{Report: model.Report{Result: model.ResultNothing, Effects: []model.Effect{}, Calls: calls, Reason: "no open pull request is blocked"}, Results: reports}
	setExits(reports)
	for i, r := range reports {
		if i == 0 || r.Result.Graver(all.Result) {
			all.Result, all.Reason, cause = r.Result, r.Reason, i
		}
		all.Effects = append(all.Effects, r.Effects...)
		all.Calls.Git += r.Calls.Git
		all.DurationMS += r.DurationMS
	}
	if len(reports) == 1 {
		all.Number, all.BlockedReason = reports[0].Number, reports[0].BlockedReason
	}
	p.exit = exitCodes[all.Result]
	all.Exit = p.exit
	if err != nil {
		all.Exit = ExitUsage
	}
	if c.Bool("json") {
		if err := report.Object(p.Out, all); err != nil {
			return err
		}
	} else {
		for i, r := range reports {
			if i == cause && p.exit != ExitOK && err == nil { // standard error says it
				r.Reason = ""
			}
			if err := report.Account(p.Out, r); err != nil {
				return err
			}
		}
	}
	if p.exit == ExitOK || err != nil { // the caller reports a mistake
		return nil
	}
	return report.Complaint(p.Err, all.Reason)
}

// operate runs an operator's command on the current repository.
func (p *program) operate(c *cli.Context, do func(context.Context, *engine.Engine, model.Repo) error) error {
	if c.IsSet("pr") && len(c.IntSlice("pr")) == 0 && c.Int("pr") <= 0 {
		return usagef("--pr: want the number of a pull request, got %d", c.Int("pr"))
	}
	w, err := p.where()
	if err != nil {
		return err
	}
	repo, err := p.repository(c.Context, c.String("repo"), w)
	if err != nil {
		return missing(err, p.noToken())
	}
	e, done, err := p.engine(c, w, repo, "mergexo "+c.Command.FullName())
	if err != nil {
		return err
	}
	err = do(c.Context, e, repo)
	if err != nil {
		err = p.trouble(c, e, err)
	}
	return errors.Join(err, done())
}

// trouble ends an operator's command that failed.
func (p *program) trouble(c *cli.Context, e *engine.Engine, err error) error {
	rep := model.Report{Result: model.ResultFailed, Effects: []model.Effect{}}
	rep.Calls.REST, rep.Calls.GraphQL = e.GitHub.Calls()
	wrong := e.Conclude(err, &rep)
	if rep.Exit = exitCodes[rep.Result]; wrong != nil {
		rep.Exit = ExitUsage
	}
	p.exit = rep.Exit
	if shown := (shownError{}); c.Bool("json") && !errors.As(err, &shown) {
		if err := report.JSON(p.Out, rep); err != nil {
			return err
		}
	}
	if wrong != nil {
		return atFault(wrong)
	}
	return report.Complaint(p.Err, rep.Reason)
}

// shownError is a mistake whose JSON object was printed already.
type shownError struct{ error }

func (s shownError) Unwrap() error { return s.error }

// repository is the chosen repository: the named one, the workflow's, or the origin of this directory.
func (p *program) repository(ctx context.Context, named string, w place) (model.Repo, error) {
	if named != "" {
		repo, err := model.ParseRepo(named)
		if err != nil {
			return repo, usagef("--repo: %w", err)
		}
		return repo, nil
	}
	if w.repository != "" {
		repo, err := model.ParseRepo(w.repository)
		if err != nil {
			return repo, usagef("GITHUB_REPOSITORY: %w", err)
		}
		return repo, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return model.Repo{}, fmt.Errorf("find the current directory: %w", err)
	}
	place, err := git.Look(ctx, dir, env(p, "PATH"))
	if err == nil {
		if name, ok := git.Named(place.Origin, w.server); ok {
			return model.ParseRepo(name)
		}
	}
	return model.Repo{}, usagef("which repository? give --repo OWNER/NAME, or run this in a clone whose remote origin is on %s", w.server)
}
