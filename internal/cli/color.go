package cli

import (
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/mergexo/mergexo/internal/nearest"
	"github.com/mergexo/mergexo/internal/report"
)

// The values of --color.
const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

var colorValues = []string{colorAuto, colorAlways, colorNever}

func colorFlag() cli.Flag {
	return &cli.StringFlag{Name: "color", Usage: "use colors: `WHEN` is auto (at a terminal, unless NO_COLOR is set), always or never", Value: colorAuto}
}

// chooseColour obeys --color, which may stand before the command too.
func chooseColour(p *program, ctx *cli.Context) error {
	when := colorAuto
	for _, at := range ctx.Lineage() {
		if at.Command != nil && at.IsSet("color") {
			when = at.String("color")
			break
		}
	}
	if !slices.Contains(colorValues, when) {
		return usagef("--color: %q is unknown%s", when, nearest.Hint(when, colorValues))
	}
	colour(p, when, ctx.Bool("json"))
	return nil
}

// colour sets what the streams show. What programs read, and the logs of GitHub Actions, get no colors and no line about the work.
// https://no-color.org
func colour(p *program, when string, structured bool) {
	able := !structured && env(p, "GITHUB_ACTIONS") != "true"
	for _, s := range []*report.Screen{p.out, p.errs} {
		person := able && s.Terminal() && env(p, "TERM") != "dumb"
		s.Adapt(able && when == colorAlways || person && when == colorAuto && env(p, "NO_COLOR") == "", person)
	}
}

// watch shows at a terminal what is in progress.
func watch(p *program) func(what string) (done func()) {
	return func(what string) func() { return p.errs.Working(p.Clock, what) }
}
