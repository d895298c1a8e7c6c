package landing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/nearest"
)

// LocalOrder is a merge without GitHub: between a checkout and its origin, or of branches of the checkout itself.
type LocalOrder struct {
	Checkout     git.LocalOptions
	Branch, Base string // without refs/heads/; no Base: what the clone took for the origin's default branch
	Strategy     string // "": as the settings of the base branch say
	DryRun       bool
	Pause        func(context.Context, time.Duration) error // waits for the lock of the base
	// Holder names this process in the lock, so that Gone can tell whether the process of another name is over. Gone is
	// false where that cannot be told, and may be nil.
	Holder string
	Gone   func(holder string) bool
}

// localMerger is one such merge in progress.
type localMerger struct {
	*thread.World
	order    LocalOrder
	checkout *git.Checkout
	settings config.Settings
	way      merge.Way
	div      history.Divergence
	made     merging.Merged
	ran      merge.TestRun
	asked    string   // what the branch was at
	tips     []string // where we have moved the branch of the origin since
	kept     string   // why the branch was not moved, as a note
	steers   []string // what lands of the files that decide over the repository
	ended    string   // what the base branch has since
	rep      *model.Report
}

// Local builds, tests and lands a branch as a merge of a pull request does. The settings are those of the base branch; where
// it has none, the defaults. What ends it is the error, as of a step.
func Local(ctx context.Context, w *thread.World, order LocalOrder, rep *model.Report) error {
	if err := order.check(); err != nil {
		return err
	}
	c, err := git.OpenLocal(ctx, order.Checkout)
	if git.Exhausts(err) {
		return err
	}
	if errors.Is(err, git.ErrNoRepository) {
		return misuse("%w: give --checkout DIR, a directory in a clone", err)
	}
	if err != nil {
		return misuse("%w", err)
	}
	if order.Base == "" {
		order.Base, err = fetch.OriginHead(ctx, c)
	}
	if err == nil {
		err = order.checkBase()
	}
	if err != nil {
		return errors.Join(err, c.Close())
	}
	l := &localMerger{World: w, order: order, checkout: c, rep: rep}
	err = l.run(ctx)
	rep.Calls.Git = c.NetworkCalls()
	told := l.told()
	rep.Merging = &told
	if errors.Is(err, fetch.ErrPartial) {
		err = misuse("%w", err)
	}
	if s := (*Failure)(nil); errors.As(err, &s) {
		l.say(l.explain(ctx, s))
		tellFailure(&told, s.Failure)
		end := thread.End(merge.Settle(s.Code), "%s", s.Error())
		if end.Result == model.ResultBlocked {
			end.Block = &model.BlockMarker{Reason: string(s.Code), Observed: l.div.HeadSHA}
		}
		err = end
	}
	return errors.Join(err, c.Close())
}

// mistake is an ErrUsage that says what is wrong, and no more.
type mistake struct{ error }

func (m mistake) Is(target error) bool { return target == thread.ErrUsage }
func (m mistake) Unwrap() error        { return m.error }

func misuse(format string, args ...any) error { return mistake{fmt.Errorf(format, args...)} }

// check is ErrUsage for what cannot be merged wherever it is: what was asked for comes before what the checkout lacks.
func (o LocalOrder) check() error {
	switch {
	case !syntax.IsBranch(o.Branch):
		return misuse("--branch %q is not a branch name", o.Branch)
	case o.Base != "" && !syntax.IsBranch(o.Base):
		return misuse("--base %q is not a branch name", o.Base)
	case model.ByGitHub(o.Strategy):
		return misuse("strategy %s is GitHub's own; name another one with --strategy", o.Strategy)
	case o.Strategy != "" && !slices.Contains(model.Strategies(), o.Strategy):
		return misuse("strategy %q is unknown%s", o.Strategy, nearest.Hint(o.Strategy, model.Strategies()))
	}
	return nil
}

// checkBase is ErrUsage for a base that a branch cannot be merged into, once the checkout has been asked for it.
func (o LocalOrder) checkBase() error {
	switch o.Base {
	case "":
		return misuse("the checkout does not say what the origin's default branch is: name the branch to merge into with --base")
	case o.Branch:
		return misuse("%s cannot be merged into itself", o.Branch)
	}
	return nil
}

// run builds, tests and lands, again where the base has grown meanwhile, as often as the settings allow.
func (l *localMerger) run(ctx context.Context) error {
	if err := l.findMergeBase(ctx); err != nil {
		return err
	}
	for build := 1; ; build++ {
		err := l.once(ctx)
		s := (*Failure)(nil)
		if !errors.As(err, &s) || s.Code != model.CodeBaseMoved {
			return err
		}
		l.Log.Info("merge_base_moved", "base", l.order.Base, "build", build)
		if err := l.findMergeBase(ctx); err != nil {
			return err
		}
		if build >= l.settings.Merge.Attempts {
			return err
		}
	}
}

func (l *localMerger) once(ctx context.Context) error {
	if err := l.prepare(ctx); err != nil {
		return err
	}
	if l.order.DryRun {
		return l.dryRun(ctx)
	}
	if l.order.Checkout.Local {
		if err := l.tests(ctx); err != nil {
			return err
		}
		return l.landHere(ctx)
	}
	lock, err := l.lock(ctx)
	if err != nil {
		return err
	}
	err = l.tests(ctx)
	if err == nil {
		err = l.landThere(ctx, lock)
	}
	if err != nil && lock != nil {
		if err := transport.Unlock(context.WithoutCancel(ctx), l.checkout, lock); err != nil {
			l.Log.Warn("lock_left", "base", l.order.Base, "error", err)
		}
	}
	return err
}

// lock waits for the lock of the base; nil where the origin keeps none: the leases of the pushes hold without it.
func (l *localMerger) lock(ctx context.Context) (*transport.Lock, error) {
	limit := l.settings.Merge.LockTimeout
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		lease := transport.Lease{Holder: strings.TrimSpace(l.order.Holder + " " + l.Random()), Until: l.Now().Add(l.settings.Merge.TestTimeout + thread.ClaimMargin)}
		lock, err := transport.AcquireLock(ctx, l.checkout, l.order.Base, lease)
		locked, none := (*transport.ErrLocked)(nil), (*transport.ErrNoLocks)(nil)
		if errors.As(err, &locked) && l.order.Gone != nil && l.order.Gone(locked.Holder) {
			lock, err = transport.TakeOverLock(ctx, l.checkout, locked, lease)
		}
		switch {
		case err == nil:
			return lock, nil
		case errors.As(err, &none):
			l.Log.Warn("no_lock", "base", l.order.Base, "error", err)
			return nil, nil
		case !errors.As(err, &locked) || pause > limit:
			return nil, failureOf(err, "")
		}
		if err := l.order.Pause(ctx, pause); err != nil {
			return nil, err
		}
		limit -= pause
	}
}

// dryRun tells what would land, and how it would be tested.
func (l *localMerger) dryRun(ctx context.Context) error {
	run, err := testsOf(ctx, l.World, l.checkout, l.settings.Merge, l.order.Base, l.div.BaseSHA, l.made.Tip)
	if err != nil {
		return err
	}
	l.ran = run
	if l.order.Checkout.Local {
		if err := merging.CanLandLocal(ctx, l.checkout, l.order.Base, l.div.BaseSHA, l.made.Tip); err != nil {
			return failureOf(err, l.way.Strategy)
		}
	}
	l.rep.Effects = append(l.rep.Effects, model.Effect{Kind: "merge", Target: l.order.Base, Token: l.token(), Status: "planned"})
	l.say(merge.DryRunText(l.pull(), l.marker(), merge.Verdict{Go: true, Way: l.way}, &merge.Plan{
		Commits: l.made.Commits, More: l.made.Count - len(l.made.Commits), BaseSHA: l.div.BaseSHA, Tip: l.made.Tip, Tests: run, Notes: l.notes(),
	}))
	return thread.End(model.ResultNothing, "dry run: %s can be merged into %s", l.order.Branch, l.order.Base)
}

// token names the landing of this head on this base.
func (l *localMerger) token() string {
	return journal.Token("merge_local", l.order.Base, l.div.BaseSHA, l.div.HeadSHA, l.way.Strategy)
}

// findMergeBase gets both branches. The base has to have what it had when they were got before.
func (l *localMerger) findMergeBase(ctx context.Context) error {
	var div history.Divergence
	var err error
	if l.order.Checkout.Local {
		div, err = merging.LocalMergeBase(ctx, l.checkout, l.order.Base, l.order.Branch)
	} else {
		div, err = history.FetchMergeBase(ctx, l.checkout, l.order.Base, "refs/heads/"+l.order.Branch)
	}
	if gone := (*git.ErrNoRef)(nil); errors.As(err, &gone) {
		code, name := model.CodeBranchMissing, strings.TrimPrefix(gone.Ref, "refs/heads/")
		if name == l.order.Base {
			code = model.CodeBaseMissing
		}
		return &Failure{Failure: merge.Failure{Code: code, Detail: fmt.Sprintf("branch %s does not exist", name)}}
	}
	if err != nil {
		return failureOf(err, "")
	}
	if !slices.Contains(l.tips, div.HeadSHA) {
		l.asked, l.tips = div.HeadSHA, nil
	}
	if err := l.grown(ctx, div.BaseSHA); err != nil {
		return err
	}
	l.div = div
	return nil
}

// grown refuses a base that no longer has what it had: what was read and tested was for another one.
func (l *localMerger) grown(ctx context.Context, base string) error {
	was, ask := l.div.BaseSHA, thread.RelationIn
	if was == "" || was == base {
		return nil
	}
	if l.order.Checkout.Local { // where nobody can be asked for more history
		ask = func(ctx context.Context, c *git.Checkout, earlier, later string) (model.Relation, error) {
			return history.Relation(ctx, c, earlier, later)
		}
	}
	relation, err := ask(ctx, l.checkout, was, base)
	if err != nil || lineage.Decide(relation) == lineage.Pass {
		return err
	}
	return rewound(l.order.Base, was, base)
}

// prepare makes the commits that would land.
func (l *localMerger) prepare(ctx context.Context) error {
	if l.div.Unrelated {
		return failureOf(&history.ErrUnrelated{Base: l.div.BaseSHA, Head: l.div.HeadSHA}, "")
	}
	if l.div.MergeBase == l.div.HeadSHA {
		return thread.End(model.ResultNothing, "%s is part of %s already", l.order.Branch, l.order.Base)
	}
	if err := l.configure(ctx); err != nil {
		return err
	}
	made, err := merging.Build(ctx, l.checkout, l.what())
	if empty := (*merging.ErrEmpty)(nil); errors.As(err, &empty) {
		return thread.End(model.ResultNothing, "%s", merge.EmptyLine(l.order.Branch, l.order.Base, empty.Cancelled, empty.Proof))
	}
	if err != nil {
		return failureOf(err, l.way.Strategy)
	}
	l.made = made
	l.steers, err = steering(ctx, l.checkout, l.settings, l.div.BaseSHA, made.Tip)
	return err
}

// configure reads the settings off the base branch and chooses the strategy.
func (l *localMerger) configure(ctx context.Context) error {
	text, err := history.Blob(ctx, l.checkout, l.div.BaseSHA, thread.SettingsPath)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.settings = config.Defaults()
	case err != nil:
		return err
	default:
		if l.settings, err = config.ParseWithoutAgent(string(text), l.order.Base+":"+thread.SettingsPath); err != nil {
			return err
		}
	}
	pull := model.Pull{HeadRef: l.order.Branch, BaseRef: l.order.Base, HeadExists: true}
	l.way, err = merge.Choose(policyOfMerge(l.settings), pull, model.MergeFacts{}, l.order.Strategy)
	if refusal := (*merge.Refusal)(nil); errors.As(err, &refusal) {
		return misuse("%s", refusal.Text)
	}
	if err == nil && model.ByGitHub(l.way.Strategy) {
		return misuse("strategy %s is GitHub's own; name another one with --strategy", l.way.Strategy)
	}
	return err
}

// what is the order to git. The one commit of a squash is named after the branch where it has several, since it is no merge.
func (l *localMerger) what() merging.Request {
	title := l.order.Branch
	if s, _ := model.StrategyNamed(l.way.Strategy); s.Joins {
		title = fmt.Sprintf("Merge branch '%s'", l.order.Branch)
	}
	return merging.Request{
		Strategy: l.way.Strategy, Base: l.div.BaseSHA, Head: l.div.HeadSHA, Title: title, Own: true, BaseWins: l.way.BaseWins, UnionFields: l.way.UnionFields,
	}
}

func (l *localMerger) tests(ctx context.Context) (err error) {
	l.ran, err = testTip(ctx, l.World, l.checkout, l.settings, l.order.Base, l.div.BaseSHA, l.made.Tip, nil)
	return err
}
