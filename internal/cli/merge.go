package cli

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/engine"
	"github.com/mergexo/mergexo/internal/engine/landing"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

func (p *program) mergeCommand() *cli.Command {
	return &cli.Command{
		Name: "merge", Usage: "merge a branch with tests, without GitHub",
		Description: "Prepares the merge in a separate directory, runs the tests on exactly the commits that would land, and then moves both\n" +
			"branches of the origin. The base moves only if nobody else has moved it. With --local, the branches of the checkout\n" +
			"move instead, and the origin is not contacted. No branch is deleted. The strategy and the tests come from\n" +
			".github/mergexo.toml of the base branch; without that file, MergeXO detects the tests. Git reaches the origin as\n" +
			"usual, but no child process gets the tokens in INPUT_TOKEN, GITHUB_TOKEN and GH_TOKEN.\n\n" +
			"Exit code: 0 merged or nothing to merge, 2 bad usage or settings, 3 a person is needed, 75 try again later. A dry run\n" +
			"exits with the code that the merge would have as far as it can tell, such as 3 for a conflict.",
		Flags: outFlags(
			&cli.StringFlag{Name: "checkout", Usage: "`DIR` in a clone of the repository", Value: "."},
			&cli.StringFlag{Name: "branch", Usage: "`NAME` of the branch to merge, on the origin"},
			&cli.StringFlag{Name: "base", Usage: "`NAME` of the branch to merge into; by default the origin's default branch, as the clone knows it"},
			&cli.StringFlag{Name: "strategy", Usage: "`NAME` of the strategy, instead of the one in the settings"},
			&cli.BoolFlag{Name: "local", Usage: "merge the branches of the checkout itself"},
			&cli.BoolFlag{Name: "dry-run", Usage: "print what would land; change and test nothing"},
		),
		Action: func(c *cli.Context) error {
			if c.String("branch") == "" {
				return usagef("merge needs --branch NAME, the branch to merge")
			}
			if c.IsSet("base") && c.String("base") == "" {
				return usagef("--base: want the name of a branch, got nothing")
			}
			w, err := p.where()
			if err != nil {
				return err
			}
			return p.mergeLocal(c, w)
		},
	}
}

// mergeLocal merges with an engine that does not use GitHub.
func (p *program) mergeLocal(c *cli.Context, w place) error {
	log, console := p.voice(c, w)
	self, err := agent.Self()
	if err != nil {
		return err
	}
	if w.actions {
		if err := console.Group("mergexo merge"); err != nil {
			return err
		}
	}
	foreign := console.Foreign()
	path, _ := p.lookup("PATH")
	e := &engine.Engine{World: thread.World{
		Git: git.Options{Temp: w.temp, Scratch: p.scratch}, Lookup: p.lookup, Foreign: foreign, Working: watch(p), Log: log, Now: w.now, Clock: p.Clock, Random: random, Isolator: self,
		Secrets: p.secrets.all(),
	}}
	e.DryRun(c.Bool("dry-run"))
	explain := merge.LocalText
	if c.Bool("dry-run") {
		explain = merge.LocalDryRunText
	}
	rep, err := e.MergeLocal(c.Context, landing.LocalOrder{
		Branch: c.String("branch"), Base: c.String("base"), Strategy: c.String("strategy"), Explain: explain, Pause: pause,
		Holder: holder(), Gone: gone,
		Checkout: git.LocalOptions{
			Dir: c.String("checkout"), Temp: w.temp, Scratch: p.scratch, Path: path, Now: w.now, Log: log, Env: withoutSecrets(os.Environ()), Local: c.Bool("local"),
		},
	})
	left := p.leave(w, &rep, func() error { return errors.Join(foreign.Close(), console.End()) })
	if err != nil {
		return p.mistake(c, w, rep, errors.Join(usageError{err}, left))
	}
	return p.finish(c, w, model.Repo{}, rep)
}

// pause waits for d, or until ctx ends, whose error it then returns.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
