package cli

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/mergexo/mergexo/internal/engine"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/report"
)

func trainCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "train", Usage: "show the merge train: what is being tested, what waits, and what landed last",
		Flags: outFlags(&cli.StringFlag{Name: "base", Usage: "show only the train of this `BRANCH`"}, repoFlag),
		Action: func(c *cli.Context) error {
			return p.operate(c, func(ctx context.Context, e *engine.Engine, repo model.Repo) error {
				all, err := e.Trains(ctx, repo, c.String("base"))
				return answer(p, c, err, map[string]any{"trains": all}, func() error { return report.Trains(p.Out, all) })
			})
		},
	}
}
