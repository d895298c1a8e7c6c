package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/report"
)

// mistake ends a run with an error that the caller has to fix: exit code 2, after writing the report.
func (p *program) mistake(c *cli.Context, w place, rep model.Report, err error) error {
	rep.Result, rep.Exit = model.ResultFailed, ExitUsage
	if rep.Effects == nil {
		rep.Effects = []model.Effect{}
	}
	return errors.Join(err, p.show(c, w, model.Repo{}, rep))
}

// leave cleans up after a run, and resets the runner's command files to what they were before an agent or a test ran. If either
// goes wrong, the run fails; leave also returns the error, for a run that reports another reason.
func (p *program) leave(w place, rep *model.Report, done func() error) error {
	found, err := w.files.Restore()
	err = errors.Join(err, done())
	if len(found) > 0 {
		err = errors.Join(fmt.Errorf("removed what an agent or a test wrote to the runner's files: %s", strings.Join(found, "; ")), err)
	}
	if err == nil {
		return nil
	}
	whole := err.Error()
	if rep.Reason != "" {
		whole = fmt.Sprintf("%s; the run itself: %s", whole, rep.Reason)
	}
	rep.Result, rep.Reason = model.ResultFailed, strings.ReplaceAll(whole, "\n", "; ")
	return err
}

// atFault turns an error that the caller can fix into a usage error.
func atFault(err error) error {
	var gh *github.Error
	if errors.As(err, &gh) && gh.Fix != "" {
		return usagef("%w; %s", err, gh.Fix)
	}
	return usageError{err}
}

// show writes a report to the step outputs, the job summary and standard output.
func (p *program) show(c *cli.Context, w place, repo model.Repo, rep model.Report) error {
	if err := errors.Join(report.Outputs(w.output, rep), w.summarise(repo, rep)); err != nil {
		return err
	}
	if c.Bool("json") {
		return report.JSON(p.Out, rep)
	}
	if rep.Exit == ExitUsage { // standard error says it already
		return nil
	}
	if complains(p, w, rep) {
		rep.Reason = ""
	}
	return report.Account(p.Out, rep)
}

// complains reports whether the reason of a report is printed on standard error, and not a second time on standard output.
func complains(p *program, w place, rep model.Report) bool {
	return p.exit != ExitOK && (!w.failOnSet || w.fails(rep.Result))
}

// finish writes a report and sets the exit code.
func (p *program) finish(c *cli.Context, w place, repo model.Repo, rep model.Report) error {
	rep.Exit = exitCodes[rep.Result]
	p.exit = rep.Exit
	if err := p.show(c, w, repo, rep); err != nil {
		return err
	}
	return p.verdict(w, rep)
}

// verdict is the one-line reason of a failed run, if it failed.
func (p *program) verdict(w place, rep model.Report) error {
	if p.exit == ExitOK {
		return nil
	}
	if complains(p, w, rep) {
		return report.Complaint(p.Err, rep.Reason)
	}
	p.exit = ExitOK
	first, _, _ := strings.Cut(rep.Reason, "\n")
	return report.Annotate(p.Err, "warning", fmt.Sprintf("mergexo: %s (%s)", first, rep.Result))
}

// fails reports whether this result should fail the step, by the Action's inputs.
func (w place) fails(r model.Result) bool { return slices.Contains(w.failOn, r) }

// summarise writes a report to the job summary.
func (w place) summarise(repo model.Repo, rep model.Report) error {
	url := ""
	if repo != (model.Repo{}) {
		url = w.server + "/" + repo.String()
	}
	return w.inSummary(func(out io.Writer) error { return report.Summary(out, rep, url) })
}

// inSummary appends to the job summary if there is one.
func (w place) inSummary(write func(io.Writer) error) error {
	if w.summary == "" {
		return nil
	}
	f, err := os.OpenFile(w.summary, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the job summary: %w", err)
	}
	return errors.Join(write(f), f.Close())
}
