package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/dashboard"
	"github.com/mergexo/mergexo/internal/engine"
	"github.com/mergexo/mergexo/internal/engine/sweeping"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/report"
	"github.com/mergexo/mergexo/internal/sweep"
)

// maxMatrix is GitHub's limit of jobs in a matrix: https://docs.github.com/actions/reference/limits
const maxMatrix = 256

func (p *program) sweepCommand() *cli.Command {
	return &cli.Command{
		Name: "sweep", Usage: "repair what lost events and dead runners left behind",
		Description: "Checks every open pull request, and the issues with a label for an agent, and handles pending work.\n" +
			"With --matrix it only lists the pending work, as a job matrix for GitHub Actions. Each of those jobs runs sweep --only.",
		Flags: outFlags(
			&cli.BoolFlag{Name: "matrix", Usage: "print the pending work as a job matrix, and do nothing"},
			&cli.StringFlag{Name: "only", Usage: "sweep only these `NUMBERS`, such as 7,9; or repository, for what concerns the whole repository"},
			dryRunFlag,
			&cli.StringFlag{Name: "html", Usage: "write the dashboard to this `FILE`"},
			repoFlag,
		),
		Action: func(c *cli.Context) error {
			w, err := p.where()
			if err != nil {
				return err
			}
			opt, err := sweepOptions(c)
			if err != nil {
				return err
			}
			repo, err := p.repository(c.Context, c.String("repo"), w)
			if err != nil {
				return missing(err, p.noToken())
			}
			return p.sweep(c.Context, c, w, repo, opt)
		},
	}
}

// sweepOptions reads what to sweep from the flags.
func sweepOptions(c *cli.Context) (sweeping.Options, error) {
	opt := sweeping.Options{Plan: c.Bool("matrix")}
	if err := page(c.String("html")); err != nil {
		return opt, err
	}
	if !c.IsSet("only") {
		return opt, nil
	}
	var err error
	opt.Only, opt.Repository, err = sweep.ParseOnly(c.String("only"))
	switch {
	case err != nil:
		return opt, usagef("--only: %w", err)
	case opt.Plan:
		return opt, usagef("--matrix lists all work: remove --only")
	case c.IsSet("html") && !opt.Repository:
		return opt, usagef("--html shows the whole repository, of which --only sees nothing: use mergexo status --html FILE")
	}
	return opt, nil
}

// sweep makes an engine for this place and sweeps a repository.
func (p *program) sweep(ctx context.Context, c *cli.Context, w place, repo model.Repo, opt sweeping.Options) error {
	w.plans = opt.Plan
	e, done, err := p.engine(c, w, repo, fmt.Sprintf("mergexo sweep %s", repo))
	if err != nil {
		return p.unswept(c, w, repo, sweeping.Swept{Results: []model.Report{{Reason: err.Error()}}}, err)
	}
	e.DryRun(c.Bool("dry-run"))
	swept, err := e.Sweep(ctx, repo, opt)
	left := p.leave(w, &swept.Results[len(swept.Results)-1], done)
	if err != nil {
		return p.unswept(c, w, repo, swept, errors.Join(atFault(err), left))
	}
	if opt.Plan && swept.Result() == model.ResultNothing {
		err = p.showMatrix(ctx, w, e, repo, swept.Work)
	} else {
		err = p.finishSweep(c, w, repo, swept)
	}
	if file := c.String("html"); file != "" && err == nil && swept.Board.Repo != (model.Repo{}) {
		return writePage(file, swept.Board)
	}
	return err
}

// unswept ends a sweep with an error that the caller has to fix: exit code 2, after writing the reports.
func (p *program) unswept(c *cli.Context, w place, repo model.Repo, swept sweeping.Swept, err error) error {
	setExits(swept.Results)
	last := len(swept.Results) - 1
	own := &swept.Results[last]
	own.Result, own.Exit = model.ResultFailed, ExitUsage
	told := errors.Join(report.Outputs(w.output, *own), w.summariseSweep(repo, swept))
	switch {
	case c.Bool("json"):
		told = errors.Join(told, report.Results(p.Out, swept.Results))
	case last > 0: // standard error says what the sweep's own report does
		told = errors.Join(told, report.SweepAccount(p.Out, swept.Board, withoutReason(swept.Results, last)))
	}
	return errors.Join(err, told)
}

// setExits sets the exit code of each report, and tells whether the caller has to fix something.
func setExits(results []model.Report) (mistaken bool) {
	for i := range results {
		r := &results[i]
		if r.Exit = exitCodes[r.Result]; r.Mistaken {
			r.Exit, mistaken = ExitUsage, true
		}
	}
	return mistaken
}

// showMatrix prints the work as a matrix, and sets it as an output for later jobs. It determines max-parallel only if there
// is work.
func (p *program) showMatrix(ctx context.Context, w place, e *engine.Engine, repo model.Repo, work []model.Work) error {
	m := sweep.Matrix(work, maxMatrix)
	parallel := config.Defaults().Sweep.MaxParallel
	if len(m.Include) > 0 {
		file, _, err := e.GitHub.Repositories.File(ctx, repo, "", thread.SettingsPath)
		var rep model.Report
		if wrong := e.Conclude(err, &rep); wrong != nil || rep.Result == model.ResultFailed {
			return atFault(err)
		}
		if err != nil {
			e.Log.Warn("default_max_parallel", "max_parallel", parallel, "error", err)
		} else if settings, err := config.ParseWithoutAgent(file.Text, thread.SettingsPath); err == nil {
			parallel = settings.Sweep.MaxParallel
		}
	}
	return errors.Join(report.Object(p.Out, m), report.MatrixOutput(w.output, m, parallel))
}

// finishSweep shows the results of a sweep and sets the exit code.
func (p *program) finishSweep(c *cli.Context, w place, repo model.Repo, swept sweeping.Swept) error {
	whole, cause := sum(swept)
	if p.exit = exitCodes[whole.Result]; setExits(swept.Results) {
		p.exit = ExitUsage
	}
	if err := errors.Join(report.Outputs(w.output, whole), w.summariseSweep(repo, swept)); err != nil {
		return err
	}
	shown := swept.Results
	if complains(p, w, whole) {
		shown = withoutReason(shown, cause)
	}
	if c.Bool("json") {
		if err := report.Results(p.Out, swept.Results); err != nil {
			return err
		}
	} else if err := report.SweepAccount(p.Out, swept.Board, shown); err != nil {
		return err
	}
	return p.verdict(w, whole)
}

// summariseSweep writes the job summary: of a sweep that examined the repository, or else of each number as for an event.
func (w place) summariseSweep(repo model.Repo, swept sweeping.Swept) error {
	if swept.Board.Repo != (model.Repo{}) {
		return w.inSummary(func(out io.Writer) error {
			var trains []string
			for _, t := range swept.Board.Trains {
				trains = append(trains, report.TrainMarkdown(t, swept.Board.URL))
			}
			_, err := io.WriteString(out, sweep.SummaryText(swept.Board, swept.Results, trains...)+"\n")
			return err
		})
	}
	var err error
	for _, r := range swept.Results {
		if r.Number != 0 || r.Result != model.ResultNothing {
			err = errors.Join(err, w.summarise(repo, r))
		}
	}
	return err
}

// withoutReason are the reports without the one reason that standard error gives.
func withoutReason(all []model.Report, cause int) []model.Report {
	all = slices.Clone(all)
	all[cause].Reason = ""
	return all
}

// sum merges a whole sweep into one report. cause is the index of the one whose reason is the whole's.
func sum(swept sweeping.Swept) (whole model.Report, cause int) {
	own := len(swept.Results) - 1
	whole = swept.Results[own]
	if whole.Result == model.ResultFailed {
		return whole, own
	}
	whole.Result = swept.Result()
	for i, r := range swept.Results {
		if r.Result == model.ResultFailed {
			whole.Reason = fmt.Sprintf("#%d: %s", r.Number, r.Reason)
			return whole, i
		}
	}
	return whole, own
}

// page refuses an unwritable path for the dashboard before any work is done.
func page(file string) error {
	if file == "" {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
		return usagef("--html: %s is not a directory", filepath.Dir(file))
	}
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return usagef("--html: %s is not a file", file)
	}
	return nil
}

// writePage writes the dashboard to a temporary file and renames it, so that nobody sees a partial file.
func writePage(file string, b model.Board) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".mergexo-*.html")
	if err != nil {
		return fmt.Errorf("write the dashboard: %w", err)
	}
	err = errors.Join(dashboard.Write(f, b), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("write the dashboard: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}
