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
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/git/transport"
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
	// Explain says why nothing landed, as the kind of the run has it.
	Explain func(model.Pull, model.MergeMarker, merge.Failure) string
	Pause   func(context.Context, time.Duration) error // waits for the lock of the base
	// Holder names this process in the lock, so that Gone can tell whether the process of another name is over. Gone is
	// false where that cannot be told, and may be nil.
	Holder string
	Gone   func(holder string) bool
}

// localMerger is one such merge in progress.
type localMerger struct {
	*thread.Thread // that nobody can write to: it is there for the effects
	order          LocalOrder
	way            merge.Way
	div            history.Divergence
	made           merging.Merged
	carries        bool // the branch moves to the result, of which it is not a part
	lock           *transport.Lock
	ran            merge.TestRun
	passed         bool     // and not only planned
	asked          string   // what the branch was at
	tips           []string // where we have moved the branch of the origin since
	kept           string   // why the branch was not moved, as a note
	steers         []string // what lands of the files that decide over the repository
	ended          string   // what the base branch has since
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
		order.Base, err = defaultBase(ctx, c, order.Checkout.Local)
	}
	if err == nil {
		err = order.checkBase()
	}
	if err != nil {
		return errors.Join(unanswered(err), c.Close())
	}
	l := &localMerger{Thread: thread.New(w, model.Event{}, rep, nil), order: order}
	l.Checkout = c
	err = l.run(ctx)
	rep.Calls.Git = c.NetworkCalls()
	told := l.told()
	rep.Merging = &told
	if err = unanswered(err); errors.Is(err, fetch.ErrPartial) {
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

// defaultBase is the default branch of the origin as the clone has it. Where the origin has another one by now, nobody knows which is
// meant.
func defaultBase(ctx context.Context, c *git.Checkout, local bool) (string, error) {
	base, err := fetch.OriginHead(ctx, c)
	if err != nil || base == "" || local {
		return base, err
	}
	now, err := fetch.OriginHeadNow(ctx, c)
	if err == nil && now != "" && now != base {
		err = misuse("the origin's default branch is now %s, and the clone still has %s: run git remote set-head origin --auto, or name the branch to merge into with --base", now, base)
	}
	return base, err
}

// unanswered is ErrUsage where git does not reach the origin by its address.
func unanswered(err error) error {
	failed := (*git.Error)(nil)
	if is[*git.ErrUnclear](err) || !errors.As(err, &failed) || failed.Failure != git.NotFound && failed.Failure != git.Denied {
		return err
	}
	does, set := "read", "git remote set-url origin URL"
	if failed.Args[0] == "push" {
		does, set = "pushed to", "git remote set-url --push origin URL"
	}
	first, _, _ := strings.Cut(strings.TrimSpace(failed.Stderr), "\n")
	return misuse("the origin cannot be %s: %s: check that you have access, or correct the address with %s", does, strings.TrimPrefix(first, "fatal: "), set)
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
		if build >= l.Settings.Merge.Attempts {
			return err
		}
	}
}

func (l *localMerger) once(ctx context.Context) error {
	if err := l.prepare(ctx); err != nil {
		return err
	}
	lock, land := l.lockThere, l.landThere
	if l.order.Checkout.Local {
		lock, land = l.lockHere, l.landHere
	}
	if err := lock(ctx); err != nil {
		return err
	}
	err := l.tests(ctx)
	if err == nil {
		err = land(context.WithoutCancel(ctx))
	}
	if ended := (*effect.Ended)(nil); errors.As(err, &ended) {
		return l.plan(ctx)
	}
	if l.lock != nil {
		if _, err := l.Apply(context.WithoutCancel(ctx), effect.Unlock(l.lock)); err != nil {
			l.Log.Warn("lock_left", "base", l.order.Base, "error", err)
		}
		l.lock = nil
	}
	return err
}

// lockHere only looks whether the base of a checkout can move, before tests take their time: git's own locks see to the rest.
func (l *localMerger) lockHere(ctx context.Context) error {
	return failureOf(merging.CanLandLocal(ctx, l.Checkout, l.order.Base, l.div.BaseSHA, l.made.Tip), l.way.Strategy)
}

// lockThere waits for the lock of the base. Where the origin keeps none, the leases of the pushes hold without it.
func (l *localMerger) lockThere(ctx context.Context) error {
	if dir := git.TakenThere(ctx, l.Checkout, l.order.Base); dir != "" {
		return &Failure{Failure: merge.Failure{Code: model.CodeProtected, Detail: fmt.Sprintf(
			"the origin has %s checked out in %s: check out another branch there, or set receive.denyCurrentBranch to updateInstead in it", l.order.Base, dir)}}
	}
	lease := transport.Lease{
		Holder: strings.TrimSpace(l.order.Holder + " " + l.Random()), Until: l.Now().Add(l.Settings.Merge.LockTimeout + l.Settings.Merge.TestTimeout + thread.ClaimMargin),
	}
	gone := func(holder string) (bool, error) { return l.order.Gone != nil && l.order.Gone(holder), nil }
	var err error
	l.lock, err = awaitLock(ctx, l.Thread, l.order.Base, lease, l.Settings.Merge.LockTimeout, gone, l.order.Pause)
	if none := (*transport.ErrNoLocks)(nil); errors.As(err, &none) {
		l.Log.Warn("no_lock", "base", l.order.Base, "error", err)
		return nil
	}
	return failureOf(err, "")
}

// plan tells what would land, and how it would be tested, where the applier has ended the run.
func (l *localMerger) plan(ctx context.Context) (err error) {
	l.ran, err = testsOf(ctx, l.World, l.Checkout, l.Settings, l.order.Base, l.div.BaseSHA, l.made.Tip)
	if err != nil {
		return err
	}
	for _, e := range l.moves() {
		thread.Noted(l.Thread, e.As, effect.Planned)
	}
	l.say(merge.DryRunText(l.pull(), l.marker(), merge.Verdict{Go: true, Way: l.way}, &merge.Plan{
		Commits: l.made.Commits, More: l.made.Count - len(l.made.Commits), BaseSHA: l.div.BaseSHA, Tip: l.made.Tip, Tests: l.ran, Notes: l.notes(),
	}))
	return thread.End(model.ResultNothing, "dry run: %s can be merged into %s", l.order.Branch, l.order.Base)
}

// findMergeBase gets both branches. The base has to have what it had when they were got before.
func (l *localMerger) findMergeBase(ctx context.Context) error {
	var div history.Divergence
	var err error
	if l.order.Checkout.Local {
		div, err = merging.LocalMergeBase(ctx, l.Checkout, l.order.Base, l.order.Branch)
	} else {
		div, err = history.FetchMergeBase(ctx, l.Checkout, l.order.Base, "refs/heads/"+l.order.Branch)
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
	relation, err := ask(ctx, l.Checkout, was, base)
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
	made, err := merging.Build(ctx, l.Checkout, l.what())
	if empty := (*merging.ErrEmpty)(nil); errors.As(err, &empty) {
		return thread.End(model.ResultNothing, "%s", merge.EmptyLine(l.order.Branch, l.order.Base, empty.Cancelled, empty.Proof))
	}
	if err != nil {
		return failureOf(err, l.way.Strategy)
	}
	l.made = made
	relation, err := history.Relation(ctx, l.Checkout, l.div.HeadSHA, made.Tip)
	if err != nil {
		return err
	}
	l.carries = lineage.Decide(relation) != lineage.Pass
	l.steers, err = steering(ctx, l.Checkout, l.Settings, l.div.BaseSHA, made.Tip)
	return err
}

// configure reads the settings off the base branch and chooses the strategy.
func (l *localMerger) configure(ctx context.Context) error {
	text, err := history.Blob(ctx, l.Checkout, l.div.BaseSHA, thread.SettingsPath)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.Settings = config.Defaults()
	case err != nil:
		return err
	default:
		if l.Settings, err = config.ParseWithoutAgent(string(text), l.order.Base+":"+thread.SettingsPath); err != nil {
			return err
		}
	}
	pull := model.Pull{HeadRef: l.order.Branch, BaseRef: l.order.Base, HeadExists: true}
	l.way, err = merge.Choose(PolicyOf(l.Settings), pull, model.MergeFacts{}, l.order.Strategy)
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
	known, _ := model.StrategyNamed(l.way.Strategy)
	switch number, slug, external := transport.MirrorOf(l.order.Branch); {
	case known.Joins && external:
		title, _ = flow.ExternalMerge(number, slug, "")
	case known.Joins:
		title = fmt.Sprintf("Merge branch '%s'", l.order.Branch)
	}
	return merging.Request{
		Strategy: l.way.Strategy, Base: l.div.BaseSHA, Head: l.div.HeadSHA, Title: title, BaseWins: l.way.BaseWins, UnionFields: l.way.UnionFields,
	}
}

func (l *localMerger) tests(ctx context.Context) (err error) {
	if err := l.Outside(ctx, "the tests come next"); err != nil {
		return err
	}
	l.ran, err = testTip(ctx, l.World, l.Checkout, l.Settings, l.order.Base, l.div.BaseSHA, l.made.Tip, nil)
	l.passed = err == nil
	return err
}
