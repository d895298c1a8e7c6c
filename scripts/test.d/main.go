// Command test.d implements scripts/test: it runs the requested circles of tests, and ends with one line about how many there
// were, how long they took, and what was left out.
//
// It is Go and not a script because it reads the output of go test, and ends everything that it started.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

const usage = `usage: scripts/test [--all] [--complete] [PACKAGE...] [FLAG of go test...]
       scripts/test --stress [--all] [PACKAGE...] [FLAG of go test...]

  (nothing)    what a change needs: formatting, go vet, and a story for each rule
  --all        every circle: each row of the tables, the race detector, the real agents, a browser, a second git, GitHub's
               own examples and descriptions, the linters, and the Action under a workflow runner
  --complete   what cannot be run on this machine is a failure, and not only counted
  --stress     five times, shuffled, on one thread, beside busy loops and on a busy disk
  PACKAGE      the tests of these packages only, such as ./internal/git`

// options are what the caller asked for.
type options struct {
	all, complete, stress, help bool
	packages                    []string // empty: all of them
	flags                       []string // for go test
	seed                        int64    // of the order of the tests
}

func parse(args []string) (options, error) {
	var o options
	for _, arg := range args {
		switch {
		case arg == "--all":
			o.all = true
		case arg == "--complete":
			o.complete = true
		case arg == "--stress":
			o.stress = true
		case arg == "--help" || arg == "-h":
			o.help = true
		case strings.HasPrefix(arg, "--"):
			return o, fmt.Errorf("%s: there is no such flag\n%s", arg, usage)
		case strings.HasPrefix(arg, "./") || strings.HasPrefix(arg, "github.com/"):
			o.packages = append(o.packages, arg)
		default:
			o.flags = append(o.flags, arg)
		}
	}
	return o, nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	os.Exit(exit(err, os.Stderr))
}

// exit is the exit code for how a run ended, once that is told.
func exit(err error, errout io.Writer) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errFailed): // it has been told
		return 1
	}
	fmt.Fprintln(errout, "scripts/test:", err)
	if errors.As(err, new(interruptedError)) {
		return 130
	}
	return 2
}

// errFailed is a check that found something. What it found has been printed.
var errFailed = errors.New("a check failed")

// interruptedError is the end of a run that somebody interrupted: the order of its tests.
type interruptedError string

func (e interruptedError) Error() string {
	return "interrupted before all tests had run; run it again, with " + string(e) + " for the same order"
}

func run(ctx context.Context, args []string, out *os.File) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.help {
		fmt.Fprintln(out, usage)
		return nil
	}
	began := time.Now()
	o.seed = began.UnixNano()
	m, err := newMachine(ctx, o, out)
	if err != nil {
		return o.unless(ctx, err)
	}
	defer m.close()
	return m.run(ctx, o, began)
}

// unless is err, unless somebody has interrupted the run, which may have any error then, or none.
func (o options) unless(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return interruptedError(o.order())
	}
	return err
}

// run runs what was asked for, and tells how that went. An interrupted run tells only what has failed.
func (m *machine) run(ctx context.Context, o options, began time.Time) (err error) {
	switch {
	case o.stress:
		err = m.stress(ctx, o)
	case o.all && len(o.packages) == 0:
		err = m.everything(ctx, o)
	default:
		err = m.change(ctx, o)
	}
	m.tally.again(m.out.to)
	if err = o.unless(ctx, err); errors.As(err, new(interruptedError)) {
		return err
	}
	m.tally.tell(m.out.to, time.Since(began), o, o.order(), m.missing)
	if err == nil && o.complete && len(m.missing) > 0 {
		return fmt.Errorf("--complete was asked for, and something is left out")
	}
	if err == nil && m.tally.failed() {
		return errFailed
	}
	return err
}
