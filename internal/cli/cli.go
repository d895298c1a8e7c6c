// Package cli implements the command line: commands, flags, wiring and exit codes. It is the only place that reads the
// environment, so everything below it can run and be tested on values.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/mergexo/mergexo/internal/clock"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/nearest"
	"github.com/mergexo/mergexo/internal/report"
	"github.com/mergexo/mergexo/internal/scratch"
)

// Exit codes: the contract with scripts and the Action.
const (
	ExitOK      = 0
	ExitFailed  = 1
	ExitUsage   = 2
	ExitBlocked = 3
	ExitRetry   = 75 // EX_TEMPFAIL of sysexits.h
)

var exitCodes = map[model.Result]int{
	model.ResultDone: ExitOK, model.ResultNothing: ExitOK, model.ResultFailed: ExitFailed,
	model.ResultBlocked: ExitBlocked, model.ResultRetry: ExitRetry,
}

// Streams are the three standard streams, and the clock for all time limits.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Clock measures all time limits; nil: the system's clock.
	Clock clock.Clock
}

// version and commit are set when a release is built.
var (
	version = "dev"
	commit  = ""
)

// identity is what the program says that it is: the version, and the commit of its source where that is known.
func identity() string {
	at, name := commit, version
	if info, ok := debug.ReadBuildInfo(); ok {
		if name == "dev" && strings.HasPrefix(info.Main.Version, "v") { // go install MODULE@VERSION
			name = info.Main.Version
		}
		setting := func(key string) string {
			i := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == key })
			if i < 0 {
				return ""
			}
			return info.Settings[i].Value
		}
		if at == "" {
			at = setting("vcs.revision")
			if setting("vcs.modified") == "true" {
				at += ", with changes"
			}
		}
	}
	if at == "" {
		return "mergexo " + name
	}
	return fmt.Sprintf("mergexo %s (commit %s)", name, at)
}

// program is one invocation.
type program struct {
	Streams
	secrets secrets
	lookup  func(string) (string, bool)
	args    []string // all that it was started with
	exit    int
	scratch *scratch.Space
	out     *report.Screen // Out
	errs    *report.Screen // Err
}

// usageError is a caller's mistake: exit code 2.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Main runs one command and returns its exit code. First of all it removes the token from the environment.
func Main(args []string, s Streams) int {
	secrets, err := takeSecrets()
	if err != nil {
		fmt.Fprintf(s.Err, "mergexo: remove the token from the environment: %v\n", err)
		return ExitFailed
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	p := &program{Streams: s, args: args, secrets: secrets, lookup: os.LookupEnv, scratch: &scratch.Space{}, out: report.NewScreen(s.Out), errs: report.NewScreen(s.Err)}
	p.Out, p.Err = p.out, p.errs
	colour(p, colorAuto, false)
	defer p.scratch.Close()
	if err := p.app().RunContext(ctx, args); err != nil {
		return p.complain(err)
	}
	return p.exit
}

// complain prints the line that reports an error and returns its exit code.
func (p *program) complain(err error) int {
	usage, retry := usageError{}, retryError{}
	switch werr := report.Complaint(p.Err, err.Error()); {
	case werr == nil && errors.As(err, &usage):
		return ExitUsage
	case werr == nil && errors.As(err, &retry):
		return ExitRetry
	default:
		return ExitFailed
	}
}

func (p *program) app() *cli.App {
	usage := func(c *cli.Context, err error, _ bool) error {
		return usagef("%w; see %s --help", badFlag(c.Command, err), c.Command.HelpName)
	}
	app := &cli.App{
		Name:  "mergexo",
		Usage: "run coding agents on issues and pull requests, and merge with tests",
		Commands: []*cli.Command{ // as people need them: set up, look, act, try out, and then what workflows and shells call
			p.initCommand(), p.doctorCommand(),
			p.statusCommand(), p.whyCommand(), p.mergeCommand(), logCommand(p), p.blockedCommand(), trainCommand(p),
			p.replayCommand(), p.sandboxCommand(),
			p.sweepCommand(), p.runCommand(), uninstallCommand(p),
			completionCommand(p), manCommand(p), versionCommand(p),
		},
		CustomAppHelpTemplate: cli.AppHelpTemplate + exampleList("") + topicList(),
		Writer:                p.Out, ErrWriter: p.Err, OnUsageError: usage, HideVersion: true,
		EnableBashCompletion: true, BashComplete: complete(p),
		ExitErrHandler: func(*cli.Context, error) {}, // Main handles errors: only main exits
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return unknown(c, c.App.Commands)
			}
			if c.Bool("version") {
				return p.tellVersion()
			}
			return cli.ShowAppHelp(c)
		},
	}
	app.Flags = append([]cli.Flag{&cli.BoolFlag{Name: "version", Usage: "print the version", DisableDefaultText: true}, colorFlag()}, early()...)
	app.Flags = append(app.Flags, cli.HelpFlag) // the library adds it only with its own command of that name
	strict(p, "", app.Commands, usage)
	app.Commands = append(app.Commands, helpCommand(p, usage))
	return app
}

// strict makes every command below a place refuse unknown arguments and flags, and gives each its examples and the flags that all have.
func strict(p *program, below string, commands []*cli.Command, usage cli.OnUsageErrorFunc) {
	for _, c := range commands {
		c.OnUsageError, c.BashComplete = usage, complete(p)
		c.HideHelpCommand = true
		path := strings.TrimSpace(below + " " + c.Name)
		c.CustomHelpTemplate = cli.SubcommandHelpTemplate + exampleList(path)
		strict(p, path, c.Subcommands, usage)
		if slices.ContainsFunc(c.Subcommands, func(sub *cli.Command) bool { return takesFlag(sub, "json") }) {
			c.Flags = append(c.Flags, early()...)
		}
		c.Flags = append(c.Flags, colorFlag())
		act, sub := c.Action, c.Subcommands
		c.Action = func(ctx *cli.Context) error {
			switch {
			case len(sub) > 0 && ctx.Args().Present():
				return unknown(ctx, sub)
			case len(sub) > 0: // as mergexo alone: the help, and nothing was done
				return cli.ShowSubcommandHelp(ctx)
			case ctx.Args().Present():
				return usagef("%s takes no argument %q; see %s --help", ctx.Command.Name, ctx.Args().First(), ctx.Command.HelpName)
			}
			if err := inherit(ctx); err != nil {
				return err
			}
			if err := chooseColour(p, ctx); err != nil {
				return err
			}
			return act(ctx)
		}
	}
}

// early are the flags that may also stand before a command, as people type them: mergexo --json status.
func early() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "json", Usage: "same as after the command: print one JSON object"},
		&cli.BoolFlag{Name: "verbose", Usage: "same as after the command: log every step"},
	}
}

func takesFlag(c *cli.Command, name string) bool {
	return slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
}

// inherit gives a command the flags that stand before it, which is a mistake where it has none of that name.
func inherit(ctx *cli.Context) error {
	for _, above := range ctx.Lineage()[1:] {
		for _, f := range early() {
			name := f.Names()[0]
			if above.Command == nil || !above.Bool(name) {
				continue
			}
			if !takesFlag(ctx.Command, name) {
				return usagef("%s takes no --%s; see %s --help", ctx.Command.Name, name, ctx.Command.HelpName)
			}
			if err := ctx.Set(name, "true"); err != nil {
				return err
			}
		}
	}
	return nil
}

func unknown(c *cli.Context, known []*cli.Command) error { return noCommand(c.Args().First(), known) }

func noCommand(name string, known []*cli.Command) error {
	var names []string
	for _, cmd := range known {
		names = append(names, cmd.Name)
	}
	if near, ok := nearest.To(name, names); ok {
		return usagef("unknown command %q; did you mean %s?", name, near)
	}
	slices.Sort(names)
	return usagef("unknown command %q%s", name, nearest.OneOf(names))
}

// helpCommand prints the help of a command at any depth. The library's knows the first level only, and has an exit code of its own.
func helpCommand(p *program, usage cli.OnUsageErrorFunc) *cli.Command {
	return &cli.Command{
		Name: "help", Aliases: []string{"h"}, Usage: "print the help of a command or a page of the manual", ArgsUsage: "[COMMAND... | TOPIC]", OnUsageError: usage, HideHelpCommand: true,
		Action: func(c *cli.Context) error {
			if c.Args().Len() == 1 && isTopic(c.Args().First()) {
				return printPage(c.Context, p, c.Args().First())
			}
			app := p.app()
			known := app.Commands
			for at, name := range c.Args().Slice() {
				if len(known) == 0 {
					path := strings.Join(c.Args().Slice()[:at], " ")
					return usagef("%s has no command %q; see mergexo %s --help", path, name, path)
				}
				i := slices.IndexFunc(known, func(one *cli.Command) bool { return one.HasName(name) })
				if i < 0 && at == 0 {
					return noTopic(name, known)
				}
				if i < 0 {
					return noCommand(name, known)
				}
				known = known[i].Subcommands
			}
			return app.RunContext(c.Context, slices.Concat([]string{app.Name}, c.Args().Slice(), []string{"--help"}))
		},
	}
}

func versionCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "print the version and the commit that it was built from",
		Action: func(*cli.Context) error {
			return p.tellVersion()
		},
	}
}

func (p *program) tellVersion() error {
	_, err := fmt.Fprintln(p.Out, identity())
	return err
}
