package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/mergexo/mergexo/internal/engine/sweeping"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/report"
	"github.com/mergexo/mergexo/internal/sweep"
)

// plan finds out whether the event of this workflow run has work, before anything is checked out and installed for it. It goes the way
// of a run, up to the first thing that one would change or need a checkout for. In doubt there is work: the run tells what is wrong.
func plan(p *program, c *cli.Context, w place) error {
	ev, _, err := readEvent(w.event, w.eventPath, w.repository)
	if err != nil {
		return planned(p, c, w, err.Error())
	}
	if w.ofDependabot(ev) {
		return errors.Join(report.WorkOutput(w.output, false), p.finish(c, w, ev.Repo, dependabots(ev)))
	}
	w.plans = ev.Sweeps() // the run of an event decides by what its token may do
	e, done, err := p.engine(c, w, ev.Repo, fmt.Sprintf("mergexo run --plan: %s #%d", ev.Name, ev.Number))
	if err != nil {
		return planned(p, c, w, err.Error())
	}
	probe, rep, swept := e.Probe(), model.Report{}, sweeping.Swept{}
	if ev.Sweeps() {
		swept, err = e.Sweep(c.Context, ev.Repo, sweeping.Options{Plan: true})
		rep, _ = sum(swept)
	} else {
		rep, err = e.Handle(c.Context, ev)
	}
	err = errors.Join(err, p.leave(w, &rep, done))
	switch {
	case err != nil:
		return planned(p, c, w, err.Error())
	case probe.Next() != "", len(swept.Work) > 0:
		return planned(p, c, w, cmp.Or(probe.Next(), due(swept.Work)))
	case rep.Result != model.ResultNothing:
		return planned(p, c, w, rep.Reason)
	}
	if err := report.WorkOutput(w.output, false); err != nil {
		return err
	}
	if ev.Sweeps() {
		return p.finishSweep(c, w, ev.Repo, swept)
	}
	return p.finish(c, w, ev.Repo, rep)
}

// due names what a sweep has found to do.
func due(work []model.Work) string {
	var all []string
	for _, one := range sweep.Matrix(work, maxMatrix).Include {
		all = append(all, fmt.Sprintf("%s (%s)", one.Group, one.Why))
	}
	return strings.Join(all, ", ")
}

// planned ends a plan that has found work, or cannot tell.
func planned(p *program, c *cli.Context, w place, why string) error {
	why, _, _ = strings.Cut(why, "\n") // the run says the rest
	rep := model.Report{Result: model.ResultNothing, Effects: []model.Effect{}, Reason: "there is work: " + oneLine(why)}
	if err := report.WorkOutput(w.output, true); err != nil {
		return err
	}
	if c.Bool("json") {
		return report.JSON(p.Out, rep)
	}
	_, err := fmt.Fprintln(p.Out, rep.Reason)
	return err
}
