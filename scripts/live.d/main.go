// Command live.d implements scripts/live: it asks GitHub, in a scratch repository, what MergeXO relies on and no document
// settles. It records the answers, so that they can be compared with the sandbox's.
//
// It is Go and not a script because it shares the queries of package github, and has to clean up however it ends.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mergexo/mergexo/internal/cli"
)

const usage = `usage: scripts/live [FLAG...] OWNER/SCRATCH     asks GitHub; GITHUB_TOKEN (or GH_TOKEN) is an administrator's
       scripts/live [FLAG...] --sandbox         asks the sandbox, which it starts itself
       scripts/live --compare GITHUB SANDBOX    compares two directories of records; exit 1 on a difference that matters
       scripts/live --list                      names the steps and what they ask
       scripts/live --clean OWNER/SCRATCH       only removes what an earlier run has left

  --only STEP,STEP    these steps only
  --record DIR        write a record for each step to DIR (default: print them, write nothing)
  --i-know            take a repository that is not marked: its description has no "mergexo scratch", or people work in it
  --push-limit N      a push to OWNER/SCRATCH may update N refs at most, which only its settings page can set
  --transfer-to REPO  the name of another repository of OWNER, to which an issue is transferred and left there, closed
  --action USES       what the installed workflow uses (default mergexo/mergexo@v1)
  --expiry            also waits for an App's token to expire, which takes more than an hour

A token of each further kind is asked for the same where the environment has it:
  MERGEXO_LIVE_APP_ID and MERGEXO_LIVE_APP_KEY   an App that is installed there, and the text of its private key
  MERGEXO_LIVE_FINE_GRAINED                      a fine-grained personal token`

// asMergeXO, as the first argument, makes this program mergexo: the sandbox has no runner that would start it.
const asMergeXO = "as-mergexo"

// options are what the caller asked for.
type options struct {
	repository         string
	compare            []string
	sandbox, list      bool
	clean, iKnow       bool
	only               []string
	record             string
	pushLimit          int
	transferTo, action string
	expiry, help       bool

	// For tests: what stands before the sandbox, and other times than GitHub needs.
	front             func(http.Handler) http.Handler
	patience, between time.Duration
}

func parse(args []string) (options, error) {
	var o options
	var only string
	var compare bool
	f := flag.NewFlagSet("live", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.BoolVar(&o.sandbox, "sandbox", false, "")
	f.BoolVar(&o.list, "list", false, "")
	f.BoolVar(&o.clean, "clean", false, "")
	f.BoolVar(&o.iKnow, "i-know", false, "")
	f.BoolVar(&o.expiry, "expiry", false, "")
	f.BoolVar(&compare, "compare", false, "")
	f.StringVar(&only, "only", "", "")
	f.StringVar(&o.record, "record", "", "")
	f.IntVar(&o.pushLimit, "push-limit", 0, "")
	f.StringVar(&o.transferTo, "transfer-to", "", "")
	f.StringVar(&o.action, "action", "mergexo/mergexo@v1", "")
	rest, err := parseAll(f, args)
	if errors.Is(err, flag.ErrHelp) {
		o.help = true
		return o, nil
	}
	if err != nil {
		return o, fmt.Errorf("%w\n%s", err, usage)
	}
	if only != "" {
		o.only = strings.Split(only, ",")
	}
	for _, name := range o.only {
		if !slices.ContainsFunc(steps, func(s step) bool { return s.name == name }) {
			return o, fmt.Errorf("--only %s: there is no such step; --list names them", name)
		}
	}
	switch {
	case o.list && len(rest) == 0:
	case compare && len(rest) == 2:
		o.compare = rest
	case !compare && o.sandbox && len(rest) == 0:
	case !compare && !o.sandbox && len(rest) == 1:
		o.repository = rest[0]
	default:
		return o, errors.New(usage)
	}
	return o, nil
}

// parseAll parses flags, which may follow names, and gives the names.
func parseAll(f *flag.FlagSet, args []string) (names []string, err error) {
	for len(args) > 0 {
		if err := f.Parse(args); err != nil {
			return nil, err
		}
		if args = f.Args(); len(args) > 0 {
			names, args = append(names, args[0]), args[1:]
		}
	}
	return names, nil
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == asMergeXO {
		os.Exit(cli.Main(append([]string{"mergexo"}, os.Args[2:]...), cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	interrupted := ctx.Err() != nil
	stop()
	switch {
	case err == nil:
	case interrupted:
		fmt.Fprintln(os.Stderr, "scripts/live: interrupted", err)
		os.Exit(130)
	case errors.Is(err, errFound): // it has been told
		os.Exit(1)
	default:
		fmt.Fprintln(os.Stderr, "scripts/live:", err)
		os.Exit(2)
	}
}

// errFound is a difference that matters, or a step that failed. What was found has been printed.
var errFound = errors.New("something was found")

// run does what the arguments say. Records go to out, what people read meanwhile to said.
func run(ctx context.Context, args []string, env func(string) string, out, said io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	return o.run(ctx, env, out, said)
}

func (o options) run(ctx context.Context, env func(string) string, out, said io.Writer) error {
	switch {
	case o.help:
		fmt.Fprintln(out, usage)
		return nil
	case o.list:
		for _, s := range steps {
			fmt.Fprintf(out, "%-12s %s\n", s.name, s.asks)
		}
		return nil
	case o.compare != nil:
		return compareDirs(o.compare[0], o.compare[1], o.only, out)
	}
	w, err := open(ctx, o, env, said)
	if err != nil {
		return err
	}
	defer w.close()
	if o.clean {
		return w.cleanUp(ctx)
	}
	return w.goThrough(ctx, o, out)
}
