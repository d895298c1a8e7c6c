package work

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/engine/redact"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// Settle leaves in the checkout what is in head, its HEAD, and nothing else, so that what is tested is what is pushed.
func Settle(ctx context.Context, w *Work, head string) error {
	dirty, err := checkout.Dirty(ctx, w.Checkout, head)
	if err != nil {
		return err
	}
	if dirty {
		where := SetAside(ctx, w) // and its own notes come first
		Note(w, "the agent left changes in its checkout without a commit message; they were not pushed"+where)
	}
	// Where tests run, an index that is not dirty says nothing: it can be told to overlook a file.
	if dirty || len(w.Settings.RequiredTests()) > 0 {
		return checkout.Reset(ctx, w.Checkout, head)
	}
	return nil
}

// GuardLocal holds the history in the checkout against the head that the agent was given.
func GuardLocal(ctx context.Context, w *Work) (string, error) {
	head, err := w.Checkout.Head(ctx)
	if err != nil {
		return "", Failing(err)
	}
	relation := model.Identical
	if head != Base(w) {
		if relation, err = thread.RelationIn(ctx, w.Checkout, Base(w), head); err != nil {
			return "", err
		}
	}
	switch lineage.Decide(relation) {
	case lineage.Block:
		return "", &Ending{Block: thread.Rewritten(Base(w), head, model.GuardLocal)}
	case lineage.Resolve:
		return "", Failing(fmt.Errorf("the history between %s and %s could not be read", markdown.Short(Base(w)), markdown.Short(head)))
	}
	return head, nothingLeftBehind(ctx, w, head)
}

// nothingLeftBehind refuses a checkout whose HEAD lacks commits that the agent made on the branch it was given.
func nothingLeftBehind(ctx context.Context, w *Work, head string) error {
	tip, err := checkout.BranchTip(ctx, w.Checkout, head)
	if err != nil || tip == "" || tip == head {
		return err
	}
	relation, err := history.Relation(ctx, w.Checkout, tip, head)
	if err != nil || lineage.Decide(relation) == lineage.Pass {
		return err
	}
	return Failing(fmt.Errorf("the agent left HEAD at %s, without its own commits up to %s on the branch", markdown.Short(head), markdown.Short(tip)))
}

// RequiredTests gives the end of the output of tests that fail at head, or "". Where head is base there is nothing to test. slow
// says that they were stopped because of their time.
func RequiredTests(ctx context.Context, w *Work, base, head string) (output string, slow bool, err error) {
	if len(w.Settings.RequiredTests()) == 0 || head == base {
		return "", false, nil
	}
	argv := w.Settings.Repo.RequiredTests
	if len(w.Settings.Tests) > 0 {
		changed, err := history.ChangedPaths(ctx, w.Checkout, base, head)
		if err != nil {
			return "", false, err
		}
		if argv, err = w.Settings.TestsOf(changed, func() ([]string, error) { return argv, nil }); err != nil || len(argv) == 0 {
			return "", false, err
		}
	}
	if err := thread.MakePlaces(w.Thread); err != nil { // a run that goes on from another one's record has had no agent
		return "", false, err
	}
	env, err := checkout.TestEnv(w.Checkout, w.Checkout.Dir(), w.Memory.Temp)
	if err != nil {
		return "", false, err
	}
	opt, err := thread.TestOptions(ctx, w.World, w.Settings, w.Settings.Agent.TestTimeout, w.Memory.Temp, env)
	if err == nil {
		opt.Redact = redact.Words(ctx, w.Thread)
		shown := w.Working.Show("running " + strings.Join(argv, " "))
		err = agent.RunTests(ctx, w.Checkout.Dir(), argv, opt)
		shown()
	}
	if alive := Outlived(ctx, w, err); alive != nil {
		return "", false, alive
	}
	reset := checkout.Reset(context.WithoutCancel(ctx), w.Checkout, head) // what tests leave is nobody's work
	var failed *agent.Error
	switch {
	case err != nil && ctx.Err() == nil && agent.NotRun(err): // which can be why the reset failed
		return "", false, Hindered("the required tests could not be run", err)
	case reset != nil:
		return "", false, reset
	case err == nil:
		return "", false, nil
	case ctx.Err() != nil:
		return "", false, errors.Join(context.Canceled, err)
	case !errors.As(err, &failed):
		return "", false, err
	}
	if missing, fix := turn.Unstarted(w.Settings.Repo.RequiredTests, failed.Exit, failed.Stderr); missing != "" && failed.Kind == agent.Exit { // no round of the agent changes that
		return "", false, Blocked(w, model.ReasonTests, missing+": "+fix+"\n"+strings.TrimSpace(failed.Stderr))
	}
	output = strings.TrimSpace(failed.Stderr + "\n" + failed.Detail)
	if slow = failed.Kind == agent.Timeout; slow {
		output += fmt.Sprintf(" ([agent] test_timeout = %q)", thread.Span(w.Settings.Agent.TestTimeout))
	}
	return output, slow, nil
}
