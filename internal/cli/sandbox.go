package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/mergexo/mergexo/internal/sandbox"
)

func (p *program) sandboxCommand() *cli.Command {
	return &cli.Command{
		Name: "sandbox", Usage: "serve an offline GitHub to try things out, with real git behind it",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "listen", Usage: "`ADDRESS` to listen on", Value: "127.0.0.1:0"},
			&cli.StringFlag{Name: "state", Usage: "`DIR` for the sandbox's data, which survives a restart"},
			&cli.StringFlag{Name: "seed", Usage: "start from this payload `FILE`"},
			&cli.BoolFlag{Name: "demo", Usage: "start with people, issues, a pull request and an agent, run MergeXO on every event, and show it all in a browser"},
		},
		Action: func(c *cli.Context) error {
			seed := c.String("seed")
			if c.Bool("demo") {
				return demonstrate(p, c)
			}
			if c.String("state") == "" {
				return usagef("sandbox needs --state DIR, where it keeps its data, or --demo")
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
	if _, err := s.SeedFromEvent(name, payload, ""); err != nil {
		return usagef("%s: %w", file, err)
	}
	return nil
}

func (p *program) serve(ctx context.Context, s *sandbox.Server, listen string) error {
	urls, err := s.Start(listen)
	if err != nil {
		return cannotListen(listen, err)
	}
	if err := json.NewEncoder(p.Out).Encode(urls); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
