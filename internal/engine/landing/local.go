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
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/nearest"
)

// LocalOrder describes a merge without GitHub: between a checkout and its origin, or of branches of the checkout itself.
type LocalOrder struct {
	Checkout     git.LocalOptions
	Branch, Base string // without refs/heads/; without Base: the origin's default branch, as the clone knows it
	Strategy     string // "": that of the base branch's settings
	// Explain returns the text about why nothing landed.
	Explain func(model.Pull, model.MergeMarker, merge.Failure) string
	Pause   func(context.Context, time.Duration) error // waits for the lock of the base
	// Holder names this process in the lock. Gone reports whether the process of another holder is over, and false if that is unknown.
	// It may be nil.
	Holder string
	Gone   func(holder string) bool
}

// localMerger is one such merge in progress: a request that nobody has written down.
type localMerger struct {
	g      *merger
	one    *member
	order  LocalOrder
	passed bool // the tests, and not only planned
}

// newLocal is a merge in a checkout.
func newLocal(w *thread.World, order LocalOrder, rep *model.Report, c *git.Checkout) *localMerger {
	p := &Request{Thread: thread.New(w, model.Event{}, rep, nil)} // that nobody can write to: it is there for the effects
	p.Checkout, p.MergeFacts = c, &model.MergeFacts{}
	p.Snap.Pull = model.Pull{HeadRef: order.Branch, BaseRef: order.Base, HeadExists: true}
	one := &member{Request: p, at: onOrigin{}, own: true, is: model.MergeMember{Base: order.Base}}
	if order.Checkout.Local {
		one.at = inCheckout{}
	}
	return &localMerger{g: &merger{Request: p, marker: model.MergeMarker{Base: order.Base}, members: []*member{one}}, one: one, order: order}
}

// Local builds, tests and lands a branch as the merge of a pull request does. It uses the settings of the base branch, or the
// defaults if that has none. The error tells why nothing landed.
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
	l := newLocal(w, order, rep, c)
	err = l.run(ctx)
	rep.Calls.Git = c.NetworkCalls()
	told := l.told()
	rep.Merging = &told
	if err = unanswered(err); errors.Is(err, history.ErrPartial) {
		err = misuse("%w", err)
	}
	if s := (*Failure)(nil); errors.As(err, &s) {
		explain(ctx, l.g, s)
		l.say(order.Explain(l.pull(), l.g.marker, s.Failure))
		tellFailure(&told, s.Failure)
		end := thread.End(merge.Settle(s.Code), "%s", s.Error())
		if end.Result == model.ResultBlocked {
			end.Block = &model.BlockMarker{Reason: string(s.Code), Observed: l.one.head}
		}
		err = end
	}
	return errors.Join(err, c.Close())
}

// defaultBase is the default branch of the origin as the clone has it. Where the origin has another one by now, nobody knows which is
// meant.
func defaultBase(ctx context.Context, c *git.Checkout, local bool) (string, error) {
	base, err := history.OriginHead(ctx, c)
	if err != nil || base == "" || local {
		return base, err
	}
	now, err := history.OriginHeadNow(ctx, c)
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

// run builds, tests and lands.
func (l *localMerger) run(ctx context.Context) error {
	defer func() { l.g.unlock(context.WithoutCancel(ctx)) }()
	err := landAll(ctx, l.g, l)
	switch {
	case is[*effect.Ended](err):
		return l.plan(ctx)
	case err != nil:
		return err
	}
	l.landed()
	return nil
}

// prepare makes the commits that would land, by the settings of the base, and waits for its lock.
func (l *localMerger) prepare(ctx context.Context, m *member) error {
	m.notes = nil
	if err := findMergeBase(ctx, l.g, m); err != nil {
		return err
	}
	l.g.marker.Head = m.is.Head
	if m.div.MergeBase == m.div.HeadSHA {
		return thread.End(model.ResultNothing, "%s is part of %s already", l.order.Branch, l.order.Base)
	}
	if err := l.configure(ctx); err != nil {
		return err
	}
	// What is merged into what: the commits that land are others when they are built again.
	l.g.marker.Strategy, m.command = m.way.Strategy, journal.Token("merge_local", l.order.Branch, l.order.Base, m.div.BaseSHA, m.div.HeadSHA, m.way.Strategy)
	err := m.buildOn(ctx, m.div.BaseSHA)
	if s := (*Failure)(nil); errors.As(err, &s) && s.empty != nil {
		return thread.End(model.ResultNothing, "%s", merge.EmptyLine(l.order.Branch, l.order.Base, s.empty.Cancelled, s.empty.Proof))
	}
	if err != nil || l.order.Checkout.Local { // where git's own locks see to the rest
		return err
	}
	gone := func(holder string) (bool, error) { return l.order.Gone != nil && l.order.Gone(holder), nil }
	lease := transport.Lease{Holder: strings.TrimSpace(l.order.Holder + " " + l.g.Random()), Until: expiry(l.g.Request)}
	return awaitLock(ctx, m, lease, gone, l.order.Pause)
}

func (l *localMerger) test(ctx context.Context, m *member) (err error) {
	if err := thread.Outside(ctx, m.Thread, "the tests come next"); err != nil {
		return err
	}
	m.tests, err = testTip(ctx, m.World, m.Checkout, m.Settings, m.is.Base, m.is.BaseSHA, m.made.Tip, nil)
	l.passed = err == nil
	return err
}

// begin refuses branches that are not where they were when they were tested: onto a base that has gone back the branch would bring
// what was taken away there.
func (l *localMerger) begin(ctx context.Context) (err error) {
	sum(l.g)
	m, head, base := l.one, "refs/heads/"+l.order.Branch, "refs/heads/"+l.order.Base
	at := map[string]string{base: m.is.BaseSHA} // which in a checkout its move asks for
	if l.order.Checkout.Local {
		at[head], err = m.Checkout.TipOf(ctx, head+"^{commit}")
	} else {
		at, err = history.RemoteRefs(ctx, m.Checkout, base, head)
	}
	switch {
	case err != nil:
		return err
	case at[base] != m.is.BaseSHA:
		return m.elsewhere(ctx, at[base])
	case at[head] == "":
		return failed(model.CodeBranchMissing, fmt.Sprintf("branch %s was deleted while it was tested", l.order.Branch))
	case at[head] != m.head:
		return failed(model.CodeHeadMoved, movedTo(l.order.Branch, m.head, at[head]))
	}
	return nil
}

// plan tells what would land, and how it would be tested, where the applier has ended the run.
func (l *localMerger) plan(ctx context.Context) (err error) {
	m := l.one
	if m.tests, err = testsOf(ctx, m.World, m.Checkout, m.Settings, m.is.Base, m.is.BaseSHA, m.made.Tip); err != nil {
		return err
	}
	moves, err := m.at.moves(ctx, l.g.members)
	if err != nil {
		return err
	}
	for _, one := range moves {
		thread.Noted(m.Thread, one.As, effect.Planned)
	}
	plan := plan(m)
	l.say(merge.DryRunText(l.pull(), l.g.marker, merge.Verdict{Go: true, Way: m.way}, &plan))
	return thread.End(model.ResultNothing, "dry run: %s can be merged into %s", l.order.Branch, l.order.Base)
}

// configure reads the settings off the base branch and chooses the strategy.
func (l *localMerger) configure(ctx context.Context) error {
	m := l.one
	text, err := history.Blob(ctx, m.Checkout, m.is.BaseSHA, thread.SettingsPath)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		m.Settings = config.Defaults()
	case err != nil:
		return err
	default:
		if m.Settings, err = config.ParseWithoutAgent(string(text), l.order.Base+":"+thread.SettingsPath); err != nil {
			return err
		}
	}
	m.way, err = merge.Choose(policyOf(m.Settings), m.Snap.Pull, model.MergeFacts{}, l.order.Strategy)
	if refusal := (*merge.Refusal)(nil); errors.As(err, &refusal) {
		return misuse("%s", refusal.Text)
	}
	if err == nil && model.ByGitHub(m.way.Strategy) {
		return misuse("strategy %s is GitHub's own; name another one with --strategy", m.way.Strategy)
	}
	return err
}
