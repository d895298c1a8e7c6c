package landing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/clock"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/scratch"
	"github.com/mergexo/mergexo/internal/turn"
)

// testTip runs the tests on a commit that would land on base, the tip of a branch, in a working tree of its own that nothing
// of comes back from. The command is that of the settings, or what the base branch looks like; what the tree needs before it
// is set or found likewise. A *Failure says that they fail, or that there are none.
func testTip(ctx context.Context, e *thread.World, c *git.Checkout, s config.Settings, branch, base, tip string, hide func(string) string) (merge.TestRun, error) {
	run, err := testsOf(ctx, e, c, s, branch, base, tip)
	if err != nil || run.Argv == nil {
		return run, err
	}
	t := &trial{World: e, checkout: c, settings: s, hide: hide, began: clock.Or(e.Clock).Now()}
	if err := t.occupy(ctx, &run, tip); err != nil {
		return run, err
	}
	if t.temp, err = e.Git.Scratch.Make(e.Git.Temp, "tests", e.Log); err == nil {
		t.env, err = checkout.TestEnv(c, t.dir, t.temp)
	}
	if err != nil {
		return run, errors.Join(fmt.Errorf("make directory for the tests: %w", err), t.remove())
	}
	err = t.whole(ctx, &run)
	if thread.Outlives(err) { // nothing is touched that somebody is at work in
		return run, err
	}
	if err := errors.Join(t.remove(), scratch.RemoveAll(t.temp)); err != nil { // what tests leave behind is not worth a merge
		e.Log.Warn("test_tree_not_removed", "error", err)
	}
	return run, err
}

// trial is one tree in which tests run, with what they need before them.
type trial struct {
	*thread.World
	checkout  *git.Checkout
	settings  config.Settings
	hide      func(string) string // as agent.Options.Redact
	dir, temp string
	env       []string
	remove    func() error // whatever happens there
	began     time.Time
}

// occupy gets the tree to test in: one of its own, or the workspace of the runner with what the workflow has installed. That
// is what it was when remove has been called.
func (t *trial) occupy(ctx context.Context, run *merge.TestRun, tip string) (err error) {
	if !run.InCheckout {
		t.dir, t.remove, err = checkout.TestTree(ctx, t.checkout, tip)
		return err
	}
	place, err := checkout.InWorkspace(ctx, t.checkout, t.Git.Workspace, tip)
	if none := (*checkout.ErrNoWorkspace)(nil); errors.As(err, &none) {
		return &Failure{Failure: merge.Failure{Code: model.CodeNoCheckout, Detail: none.Why}}
	}
	if err != nil {
		return err
	}
	t.dir = place.Dir()
	t.Log.Info("tests_in_checkout", "dir", t.dir, "commit", tip)
	t.remove = func() (err error) {
		run.Changed, err = place.Back(context.WithoutCancel(ctx))
		return err
	}
	return nil
}

// whole sets the tree up and tests it. What was found and not set decides nothing where it fails: the tests do.
func (t *trial) whole(ctx context.Context, run *merge.TestRun) error {
	unset := false
	for i := range run.Setup {
		before := &run.Setup[i]
		t.Log.Info("setup", "command", strings.Join(before.Argv, " "), "why", before.Why)
		failure, err := t.one(ctx, before)
		if err != nil {
			return err
		}
		if unset = unset || failure != nil; failure != nil && before.Why == "" {
			return &Failure{Failure: merge.Failure{Code: model.CodeSetup, Detail: trialDetail(failure), Tests: before}}
		}
	}
	failure, err := t.one(ctx, run)
	switch {
	case err != nil || failure == nil:
		return err
	case unset:
		return &Failure{Failure: merge.Failure{Code: model.CodeSetup, Detail: "and so do the tests, with " + trialDetail(failure), Tests: run}}
	}
	return &Failure{Failure: merge.Failure{Code: model.CodeTests, Detail: trialDetail(failure), Tests: run}}
}

func trialDetail(failure *agent.Error) string { return strings.TrimPrefix(failure.Error(), "agent: ") }

// one runs one command in the tree, and writes down how that went. Both have test_timeout together.
func (t *trial) one(ctx context.Context, run *merge.TestRun) (*agent.Error, error) {
	limit := t.settings.Merge.TestTimeout
	left := max(limit-clock.Or(t.Clock).Since(t.began), time.Nanosecond)
	began := t.Now()
	opt, err := thread.TestOptions(ctx, t.World, t.settings, left, t.temp, t.env)
	if err != nil {
		return nil, err
	}
	opt.Reads, opt.Redact = []string{t.checkout.Objects}, t.hide
	shown := t.Working.Show("running " + strings.Join(run.Argv, " "))
	err = agent.RunTests(ctx, t.dir, run.Argv, opt)
	shown()
	if alive := thread.StillAlive(err, ""); alive != nil {
		return nil, alive
	}
	run.Seconds = int(t.Now().Sub(began).Round(time.Second).Seconds())
	if err := t.checkout.Recreate(); err != nil { // they could find our directory and leave a configuration in it
		return nil, err
	}
	failed := (*agent.Error)(nil)
	switch {
	case err == nil:
		return nil, nil
	case ctx.Err() != nil:
		return nil, errors.Join(context.Canceled, err)
	case !errors.As(err, &failed), failed.Kind == agent.Unreturned, agent.Starved(err):
		return nil, err
	}
	run.Tail = strings.TrimSpace(failed.Stderr)
	switch failed.Kind {
	case agent.Timeout:
		run.Timeout = clock.Text(limit)
		failed.Detail = fmt.Sprintf("timed out after %s ([merge] test_timeout)", run.Timeout)
	case agent.Start, agent.NotInstalled:
		run.Problem = failed.Detail
	default:
		run.Exit = failed.Exit
		missing, fix := turn.Unstarted(run.Argv, failed.Exit, failed.Stderr)
		if run.Problem = missing; missing != "" && t.GitHub != nil {
			run.Problem += ": " + fix
		}
	}
	return failed, nil
}

// testsOf finds the command of the tests, by the base and by what the tip changes of it, and what comes before it, by the tip: a lockfile
// there lists what it needs, and decides nothing but that.
func testsOf(ctx context.Context, e *thread.World, c *git.Checkout, s config.Settings, branch, base, tip string) (merge.TestRun, error) {
	var unread error
	var changed []string
	m, run := s.Merge, merge.TestRun{}
	if m.Tests.None {
		s.Tests = nil
	}
	if len(s.Tests) > 0 {
		if changed, unread = history.ChangedPaths(ctx, c, base, tip); unread != nil {
			return run, unread
		}
	}
	plain := func() ([]string, error) {
		if m.Tests.None || len(m.Tests.Argv) > 0 {
			return m.Tests.Argv, nil
		}
		argv, why, ok := merge.DetectTests(rootOf(ctx, c, base, &unread))
		if run.Why = why; unread == nil && !ok {
			return nil, &Failure{Failure: merge.Untestable(branch)}
		}
		return argv, unread
	}
	argv, err := s.TestsOf(changed, plain)
	if run.Argv = argv; err != nil {
		return run, err
	}
	run.InCheckout = m.InCheckout() && run.Argv != nil && e.GitHub != nil // a person's own checkout is left alone
	switch {
	case run.Argv == nil || m.Setup.None || run.InCheckout:
	case len(m.Setup.Argv) > 0:
		run.Setup = []merge.TestRun{{Argv: m.Setup.Argv}}
	default:
		run.Setup = merge.DetectSetup(rootOf(ctx, c, tip, &unread), run.Argv)
		if e.GitHub == nil { // on a machine of their own people decide themselves what is installed
			run.Setup = slices.DeleteFunc(run.Setup, merge.TestRun.Installs)
		}
		return run, unread
	}
	return run, nil
}

// rootOf reads the root of a tree for what is found out about a project, which asks for many files that are not there. What it
// cannot read is in unread.
func rootOf(ctx context.Context, c *git.Checkout, sha string, unread *error) merge.Root {
	list := sync.OnceValues(func() ([]string, error) { return history.Names(ctx, c, sha, "") })
	absent := func(name string) bool {
		names, err := list()
		first, _, _ := strings.Cut(name, "/")
		return err == nil && len(names) < history.MaxFiles && first != "." && !slices.Contains(names, first)
	}
	return func(name string) (string, bool) {
		if name == merge.Nested {
			paths, err := history.Everywhere(ctx, c, sha, merge.Manifests...)
			*unread = errors.Join(*unread, err)
			return strings.Join(paths, "\n"), err == nil
		}
		if absent(name) {
			return "", false
		}
		if dir, isDir := strings.CutSuffix(name, "/"); isDir {
			names, err := history.Names(ctx, c, sha, strings.TrimPrefix(dir, "."))
			*unread = errors.Join(*unread, err)
			return strings.Join(names, "\n"), len(names) > 0
		}
		text, err := history.Blob(ctx, c, sha, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			*unread = errors.Join(*unread, err)
		}
		return string(text), err == nil
	}
}
