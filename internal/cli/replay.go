package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/sandbox"
)

func (p *program) replayCommand() *cli.Command {
	return &cli.Command{
		Name: "replay", Usage: "take an event from a file, offline against a sandbox unless --live is given",
		Description: "Offline, a GitHub in this process is filled from the payload and, with --checkout, from that repository.\n" +
			"With --live the real GitHub is read and the plan printed; with --live --apply it is carried out.",
		Flags: outFlags(
			&cli.StringFlag{Name: "event", Usage: "`FILE` with the webhook payload"},
			&cli.StringFlag{Name: "name", Usage: "name of the `EVENT`; inferred from the payload when it can be"},
			&cli.StringFlag{Name: "checkout", Usage: "`DIR` with a clone of the repository, for the offline sandbox"},
			&cli.BoolFlag{Name: "live", Usage: "read the real GitHub and print what would be done"},
			&cli.BoolFlag{Name: "apply", Usage: "with --live: do it"},
		),
		Action: func(c *cli.Context) error {
			switch {
			case c.String("event") == "":
				return usagef("replay needs --event FILE, a webhook payload; scripts/events has some")
			case c.Bool("apply") && !c.Bool("live"):
				return usagef("--apply needs --live: offline everything is applied to the sandbox")
			case c.Bool("live") && c.String("checkout") != "":
				return usagef("--checkout is for the offline sandbox; with --live the repository is read from GitHub")
			}
			w, err := p.where()
			if err != nil {
				return err
			}
			if !c.Bool("live") {
				w = place{temp: w.temp, actions: w.actions, debug: w.debug, now: func() time.Time { return replayTime }}
			}
			ev, err := readEvent(c.String("name"), c.String("event"), w.repository)
			if errors.Is(err, github.ErrNotOurs) {
				return p.finish(c, place{}, model.Repo{}, model.Report{Result: model.ResultNothing, Effects: []model.Effect{}, Reason: err.Error()})
			}
			if err != nil {
				return p.mistake(c, w, model.Report{Reason: err.Error()}, err)
			}
			if c.Bool("live") {
				return p.handle(c.Context, c, w, ev, !c.Bool("apply"))
			}
			return p.offline(c, w, ev)
		},
	}
}

// clone is the top of the repository that dir is in, which may be bare; where it is in none, that is the caller's mistake.
// "" stays "". Git is found in path.
func clone(ctx context.Context, dir, path string) (string, error) {
	if dir == "" {
		return "", nil
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", usagef("--checkout: %s is not a directory", dir)
	}
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); err == nil { // bare
		return dir, nil
	}
	switch place, err := git.Look(ctx, dir, path); {
	case errors.Is(err, git.ErrNoRepository):
		return "", usagef("--checkout: %s is in no git repository: give a directory in a clone", dir)
	case place.Top != "":
		return place.Top, nil
	}
	return dir, nil // whatever else is wrong shows where it is copied
}

// replayTime is the fixed time of an offline replay, so that the same event always gives the same commits.
var replayTime = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// offline re-enacts the event in its own sandbox and handles it there.
func (p *program) offline(c *cli.Context, w place, ev model.Event) error {
	payload, err := os.ReadFile(c.String("event"))
	if err != nil {
		return usagef("read the payload: %w", err)
	}
	path, _ := p.lookup("PATH")
	checkout, err := clone(c.Context, c.String("checkout"), path)
	if err != nil {
		return err
	}
	dir, err := p.scratch.Make(w.temp, "replay", nil)
	if err != nil {
		return fmt.Errorf("make a place for the sandbox: %w", err)
	}
	defer os.RemoveAll(dir)
	s, err := sandbox.New(sandbox.Options{StateDir: dir, Clock: w.now, Empty: true})
	if err != nil {
		return fmt.Errorf("start the sandbox: %w", err)
	}
	defer s.Close()
	if err := s.SeedFromEvent(ev.Name, payload, checkout); err != nil {
		return usagef("%s: %w", c.String("event"), err)
	}
	urls, err := s.Start("127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("start the sandbox: %w", err)
	}
	w.api, w.graphql, w.server, w.run = urls.API, urls.GraphQL, urls.Server, thread.Run{}
	p.secrets = secrets{Token: "sandbox-actions"}
	return p.handle(c.Context, c, w, ev, false)
}

func (p *program) sandboxCommand() *cli.Command {
	return &cli.Command{
		Name: "sandbox", Usage: "serve a GitHub of your own for trying things out, with real git behind it",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "listen", Usage: "`ADDRESS` to listen on", Value: "127.0.0.1:0"},
			&cli.StringFlag{Name: "state", Usage: "`DIR` that holds what the sandbox knows, over restarts too"},
			&cli.StringFlag{Name: "seed", Usage: "payload `FILE` to begin from"},
		},
		Action: func(c *cli.Context) error {
			seed := c.String("seed")
			if c.String("state") == "" {
				return usagef("sandbox needs --state DIR, where it keeps what it knows")
			}
			s, err := sandbox.New(shipped(c.String("state"), seed != ""))
			if err != nil {
				return fmt.Errorf("open the sandbox in %s: %w", c.String("state"), err)
			}
			if seed != "" {
				if err := seedSandbox(s, seed); err != nil {
					return errors.Join(err, s.Close())
				}
			}
			return errors.Join(p.serve(c.Context, s, c.String("listen")), s.Close())
		},
	}
}

// shipped is a sandbox for who tries things out by hand, or from programs of their own: they play the jobs of CI with the same
// token, do an hour's worth of runs in a minute, and look at what they pushed without being told that GitHub knows of it.
func shipped(dir string, empty bool) sandbox.Options {
	lag := sandbox.UsualLag()
	lag.Own = true
	return sandbox.Options{StateDir: dir, Empty: empty, Permissions: sandbox.CIPermissions(), Lag: &lag, Unlimited: true}
}

func seedSandbox(s *sandbox.Server, file string) error {
	payload, err := os.ReadFile(file)
	if err != nil {
		return usagef("read the payload: %w", err)
	}
	name, err := inferEvent(file, payload)
	if err != nil {
		return err
	}
	if err := s.SeedFromEvent(name, payload, ""); err != nil {
		return usagef("%s: %w", file, err)
	}
	return nil
}

func (p *program) serve(ctx context.Context, s *sandbox.Server, listen string) error {
	urls, err := s.Start(listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", listen, err)
	}
	if err := json.NewEncoder(p.Out).Encode(urls); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
