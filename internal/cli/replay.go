package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/report"
	"github.com/mergexo/mergexo/internal/sandbox"
)

func (p *program) replayCommand() *cli.Command {
	return &cli.Command{
		Name: "replay", Usage: "try one event offline, in a sandbox",
		Description: "The event comes from a file, or from --make. Replay starts a GitHub of its own, fills it from the payload and, with\n" +
			"--checkout, from that repository, and prints what MergeXO says and does there. Whatever the payload leaves out is assumed,\n" +
			"and listed on standard error. With --live, it reads the real GitHub and prints the plan; --live --apply carries it out.",
		Flags: outFlags(
			&cli.StringFlag{Name: "event", Usage: "`FILE` with the webhook payload"},
			&cli.StringFlag{Name: "name", Usage: "name of the `EVENT`; by default it is inferred from the payload"},
			&cli.StringFlag{Name: "make", Usage: "make this `EVENT` in an example repository, instead of reading one from a file"},
			&cli.StringFlag{Name: "body", Usage: "with --make: the `TEXT` of the comment, review or issue"},
			&cli.BoolFlag{Name: "list", Usage: "list the events that --make can make"},
			&cli.StringFlag{Name: "checkout", Usage: "`DIR` in a clone of the repository, for the sandbox"},
			dryRunFlag,
			&cli.BoolFlag{Name: "live", Usage: "read the real GitHub, and print what it would do"},
			&cli.BoolFlag{Name: "apply", Usage: "with --live: carry it out"},
		),
		Action: func(c *cli.Context) error { return replay(p, c) },
	}
}

// replay runs the event that the flags ask for.
func replay(p *program, c *cli.Context) error {
	if err := replayFlags(c); err != nil {
		return err
	}
	if c.Bool("list") {
		return listMade(p, c)
	}
	w, err := p.where()
	if err != nil {
		return err
	}
	at := replayTime
	if !c.Bool("live") {
		w = place{temp: w.temp, actions: w.actions, debug: w.debug, now: func() time.Time { return at }}
	}
	if c.IsSet("make") {
		m, err := making(c)
		if err != nil {
			return err
		}
		return offline(p, c, w, func(w place, s *sandbox.Server, urls sandbox.URLs) (model.Event, []string, error) {
			if m.name == trainEvent {
				return trainLands(stage{p: p, c: c, place: w, sandbox: s, urls: urls, at: &at})
			}
			ev, err := m.make(c.Context, s, urls)
			return ev, madeAssumed, err
		})
	}
	ev, payload, err := readEvent(c.String("name"), c.String("event"), w.repository)
	if errors.Is(err, github.ErrNotOurs) {
		return p.finish(c, place{}, model.Repo{}, model.Report{Result: model.ResultNothing, Effects: []model.Effect{}, Reason: err.Error()})
	}
	if err != nil {
		return p.mistake(c, w, model.Report{Reason: err.Error()}, err)
	}
	if c.Bool("live") {
		return p.handle(c.Context, c, w, ev, !c.Bool("apply"))
	}
	return offline(p, c, w, func(_ place, s *sandbox.Server, _ sandbox.URLs) (model.Event, []string, error) {
		assumed, err := seedEvent(p, c, s, ev, payload)
		return ev, assumed, err
	})
}

// replayFlags refuses flags that contradict each other.
func replayFlags(c *cli.Context) error {
	given := func(names ...string) string {
		i := slices.IndexFunc(names, c.IsSet)
		if i < 0 {
			return ""
		}
		return "--" + names[i]
	}
	switch other := given("event", "name", "checkout", "live", "apply"); {
	case c.Bool("list"):
		if other := given("event", "name", "checkout", "live", "apply", "make", "body", "dry-run"); other != "" {
			return usagef("--list only lists: remove %s", other)
		}
	case c.IsSet("make") && other != "":
		return usagef("--make invents its event and its repository: remove %s", other)
	case c.IsSet("make"):
	case c.IsSet("body"):
		return usagef("--body is the text of an event that --make makes; see mergexo replay --list")
	case c.String("event") == "":
		return usagef("replay needs --event FILE, a webhook payload, or --make EVENT; mergexo replay --list shows what can be made")
	case c.Bool("apply") && !c.Bool("live"):
		return usagef("--apply needs --live: offline everything is applied to the sandbox")
	case c.Bool("apply") && c.Bool("dry-run"):
		return usagef("--apply carries it out and --dry-run does not: choose one")
	case c.Bool("live") && c.String("checkout") != "":
		return usagef("--checkout is for the offline sandbox; with --live the repository is read from GitHub")
	}
	return nil
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
		return "", usagef("--checkout: %s is not in a git repository: give a directory in a clone", dir)
	case place.Top != "":
		return place.Top, nil
	}
	return dir, nil // whatever else is wrong shows where it is copied
}

// replayTime is the fixed time of an offline replay, so that the same event always gives the same commits.
var replayTime = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// offline sets the scene of an event in a sandbox of its own and handles it there.
func offline(p *program, c *cli.Context, w place, set func(place, *sandbox.Server, sandbox.URLs) (model.Event, []string, error)) error {
	dir, err := p.scratch.Make(w.temp, "replay", nil)
	if err != nil {
		return fmt.Errorf("make a directory for the sandbox: %w", err)
	}
	defer os.RemoveAll(dir)
	s, err := sandbox.New(sandbox.Options{StateDir: dir, Clock: w.now, Empty: true})
	if err != nil {
		return fmt.Errorf("start the sandbox: %w", err)
	}
	defer s.Close()
	urls, err := s.Start("127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("start the sandbox: %w", err)
	}
	w.api, w.graphql, w.server, w.run = urls.API, urls.GraphQL, urls.Server, thread.Run{}
	p.secrets = secrets{Token: "sandbox-actions"}
	ev, assumed, err := set(w, s, urls)
	if err != nil {
		return err
	}
	if err := report.Assumed(p.Err, assumed); err != nil {
		return err
	}
	return p.handle(c.Context, c, w, ev, c.Bool("dry-run"))
}

// seedEvent re-enacts the event of a file, and returns what had to be assumed.
func seedEvent(p *program, c *cli.Context, s *sandbox.Server, ev model.Event, payload []byte) ([]string, error) {
	checkout, err := clone(c.Context, c.String("checkout"), env(p, "PATH"))
	if err != nil {
		return nil, err
	}
	assumed, err := s.SeedFromEvent(ev.Name, payload, checkout)
	if err != nil {
		return nil, usagef("%s: %w", c.String("event"), err)
	}
	return assumed, nil
}
