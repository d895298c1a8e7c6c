package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/mergexo/mergexo/internal/dashboard"
	"github.com/mergexo/mergexo/internal/engine"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/report"
	"github.com/mergexo/mergexo/internal/sweep"
)

// maxMatrix is how many jobs a matrix makes at most: https://docs.github.com/actions/reference/limits
const maxMatrix = 256

func (p *program) sweepCommand() *cli.Command {
	return &cli.Command{
		Name: "sweep", Usage: "take up whatever lost triggers and dead runs left behind in a repository",
		Description: "Looks at every open pull request and at the issues with a label for an agent, and works at those that have something to be done.\n" +
			"With --matrix it only tells what that is, as a job matrix for Actions, each job of which is swept with --only.",
		Flags: outFlags(
			&cli.BoolFlag{Name: "matrix", Usage: "print the work as a job matrix, and do nothing"},
			&cli.StringFlag{Name: "only", Usage: "work at these `NUMBERS` only, such as 7,9, or at what is the whole repository's: repository"},
			&cli.BoolFlag{Name: "dry-run", Usage: "print what would be done and stop before the first effect"},
			&cli.StringFlag{Name: "html", Usage: "write the dashboard to this `FILE`"},
			repoFlag,
		),
		Action: func(c *cli.Context) error {
			w, err := p.where()
			if err != nil {
				return err
			}
			opt := engine.SweepOptions{Plan: c.Bool("matrix")}
			if c.IsSet("only") {
				if opt.Only, opt.Repository, err = sweep.ParseOnly(c.String("only")); err != nil {
					return usagef("--only: %w", err)
				}
				if opt.Plan {
					return usagef("--matrix finds out what there is to be done: leave --only out")
				}
			}
			repo, err := p.repository(c.Context, c.String("repo"), w)
			if err != nil {
				return err
			}
			return p.sweep(c.Context, c, w, repo, opt)
		},
	}
}

// sweep wires an engine to this place and lets it sweep a repository.
func (p *program) sweep(ctx context.Context, c *cli.Context, w place, repo model.Repo, opt engine.SweepOptions) error {
	e, done, err := p.engine(c, w, fmt.Sprintf("mergexo sweep %s", repo))
	if err != nil {
		return p.mistake(c, w, model.Report{Reason: err.Error()}, err)
	}
	e.DryRun = c.Bool("dry-run")
	swept, err := e.Sweep(ctx, repo, opt)
	if cerr := done(); err == nil && cerr != nil {
		return cerr
	}
	if err != nil {
		return p.mistake(c, w, swept.Results[len(swept.Results)-1], p.atFault(err))
	}
	if file := c.String("html"); file != "" {
		if err := writePage(file, swept.Board); err != nil {
			return err
		}
	}
	if opt.Plan && swept.Result() != model.ResultRetry {
		return p.showMatrix(w, swept.Work)
	}
	return p.finishSweep(c, w, swept)
}

// showMatrix prints the work as a matrix, and gives it to the jobs that come after this one.
func (p *program) showMatrix(w place, work []model.Work) error {
	m := sweep.Matrix(work, maxMatrix)
	return errors.Join(report.Object(p.Out, m), report.MatrixOutput(w.output, m))
}

// finishSweep shows what came of a sweep, and sets the exit code.
func (p *program) finishSweep(c *cli.Context, w place, swept engine.Swept) error {
	whole := sum(swept)
	for i := range swept.Results {
		swept.Results[i].Exit = exitCodes[swept.Results[i].Result]
	}
	p.exit = exitCodes[whole.Result]
	if err := errors.Join(report.Outputs(w.output, whole), p.inSummary(w, sweep.SummaryText(swept.Board, swept.Results))); err != nil {
		return err
	}
	if c.Bool("json") {
		if err := report.Results(p.Out, swept.Results); err != nil {
			return err
		}
	} else if err := report.SweepAccount(p.Out, swept.Results); err != nil {
		return err
	}
	return p.verdict(w, whole)
}

// sum is a whole sweep as one report.
func sum(swept engine.Swept) model.Report {
	whole := swept.Results[len(swept.Results)-1]
	whole.Result = swept.Result()
	for _, r := range swept.Results {
		if r.Result == model.ResultFailed {
			whole.Reason = cmp.Or(whole.Reason, r.Reason)
		}
	}
	return whole
}

// writePage writes the dashboard beside its place and moves it there, so that nobody ever sees half of it.
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

// inSummary adds a text to the job summary, where there is one.
func (p *program) inSummary(w place, text string) error {
	if w.summary == "" || text == "" {
		return nil
	}
	f, err := os.OpenFile(w.summary, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the job summary: %w", err)
	}
	_, err = io.WriteString(f, text+"\n")
	return errors.Join(err, f.Close())
}
