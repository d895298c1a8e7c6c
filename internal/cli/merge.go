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
	"github.com/mergexo/mergexo/internal/model"
)

func (p *program) mergeCommand() *cli.Command {
	return &cli.Command{
		Name: "merge", Usage: "merge a branch into another one, tested, with git alone",
		Description: "Makes the commits that would land beside the checkout, runs the tests on exactly these, and moves both branches of the\n" +
			"origin, the base only from where it was. With --local the branches of the checkout itself are moved, and the origin is\n" +
			"not asked. How to merge and what to test with is in .github/mergexo.toml of the base branch; without it, the tests are\n" +
			"found. The origin is reached as git reaches it for you, but for tokens in INPUT_TOKEN, GITHUB_TOKEN and GH_TOKEN, which\n" +
			"no child is given.\n\n" +
			"Exit code: 0 merged or nothing to merge, 2 bad usage or settings, 3 a person is needed, 75 try again later. A dry run\n" +
			"ends with the code that the merge would end with as far as it can tell: 3 where there is a conflict, say.",
		Flags: outFlags(
			&cli.StringFlag{Name: "checkout", Usage: "`DIR` in a clone of the repository", Value: "."},
			&cli.StringFlag{Name: "branch", Usage: "`NAME` of the branch to merge, as the origin has it"},
			&cli.StringFlag{Name: "base", Usage: "`NAME` of the branch to merge into; else what the clone took for the origin's default branch"},
			&cli.StringFlag{Name: "strategy", Usage: "`NAME` of how to merge, in place of what the settings say"},
			&cli.BoolFlag{Name: "local", Usage: "merge branches of the checkout itself"},
			&cli.BoolFlag{Name: "dry-run", Usage: "tell what would land, and change and test nothing"},
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
		Git: git.Options{Temp: w.temp, Scratch: p.scratch}, Lookup: p.lookup, Foreign: foreign, Log: log, Now: w.now, Clock: p.Clock, Random: random, Wall: self,
		Secrets: p.secrets.all(),
	}}
	rep, err := e.MergeLocal(c.Context, landing.LocalOrder{
		Branch: c.String("branch"), Base: c.String("base"), Strategy: c.String("strategy"), DryRun: c.Bool("dry-run"), Pause: pause,
		Holder: holder(), Gone: gone,
		Checkout: git.LocalOptions{
			Dir: c.String("checkout"), Temp: w.temp, Scratch: p.scratch, Path: path, Now: w.now, Log: log, Env: withoutSecrets(os.Environ()), Local: c.Bool("local"),
		},
	})
	if cerr := errors.Join(foreign.Close(), console.End()); err == nil && cerr != nil {
		return cerr
	}
	if err != nil {
		return p.mistake(c, w, rep, usageError{err})
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
