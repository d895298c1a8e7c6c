package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// LocalMerge is a merge without GitHub: between a checkout and its origin, or of branches of the checkout itself.
type LocalMerge struct {
	Checkout     git.LocalOptions
	Branch, Base string // without refs/heads/
	Strategy     string // "": as the settings of the base branch say
	DryRun       bool
}

// localMerger is one such merge under way.
type localMerger struct {
	*Engine
	order    LocalMerge
	checkout *git.Checkout
	settings config.Settings
	way      merge.Way
	met      git.Met
	made     git.Merged
	rep      *model.Report
}

// MergeLocal builds, tests and lands a branch as a merge of a pull request does. The settings are those of the base branch;
// where it has none, the defaults. The error is for what the caller did wrong.
func (e *Engine) MergeLocal(ctx context.Context, order LocalMerge) (model.Report, error) {
	began := e.Now()
	rep := model.Report{Result: model.ResultNothing, Effects: []model.Effect{}}
	err := e.mergeLocal(ctx, order, &rep)
	rep.DurationMS = e.Now().Sub(began).Milliseconds()
	return rep, e.Conclude(err, &rep)
}

func (e *Engine) mergeLocal(ctx context.Context, order LocalMerge, rep *model.Report) error {
	c, err := git.OpenLocal(ctx, order.Checkout)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	l := &localMerger{Engine: e, order: order, checkout: c, rep: rep}
	err = l.run(ctx)
	rep.Calls.Git = c.NetworkCalls()
	if s := (*setback)(nil); errors.As(err, &s) {
		rep.Said = append(rep.Said, model.Saying{Where: "standard output", Text: l.explain(ctx, s)})
		end := stop(merge.Settle(s.Code), "%s", s.Error())
		if end.Result == model.ResultBlocked {
			end.Block = &model.BlockMarker{Reason: string(s.Code), Observed: l.met.HeadSHA}
		}
		err = end
	}
	return errors.Join(err, c.Close())
}

// run builds, tests and lands, anew where the base moved meanwhile, as often as the settings allow.
func (l *localMerger) run(ctx context.Context) error {
	for build := 1; ; build++ {
		err := l.once(ctx)
		s := (*setback)(nil)
		if !errors.As(err, &s) || s.Code != model.CodeBaseMoved || build >= l.settings.Merge.Attempts {
			return err
		}
		l.Log.Info("merge_base_moved", "base", l.order.Base, "build", build)
	}
}

func (l *localMerger) once(ctx context.Context) error {
	if err := l.prepare(ctx); err != nil {
		return err
	}
	if l.order.DryRun {
		l.rep.Effects = append(l.rep.Effects, model.Effect{Kind: "merge", Target: l.order.Base, Token: l.token(), Status: "planned"})
		l.say("would be merged into", l.order.Base)
		return stop(model.ResultNothing, "dry run: %s would be merged into %s as %s", l.order.Branch, l.order.Base, markdown.Short(l.made.Tip))
	}
	if l.order.Checkout.Local {
		if err := l.tests(ctx); err != nil {
			return err
		}
		return l.landHere(ctx)
	}
	lock, err := l.checkout.Lock(ctx, l.order.Base, git.Lease{Holder: l.Random(), Until: l.Now().Add(l.settings.Merge.TestTimeout + claimMargin)})
	if none := (*git.ErrNoLocks)(nil); errors.As(err, &none) { // the leases of the pushes hold without it
		l.Log.Warn("no_lock", "error", err)
	} else if err != nil {
		return setbackOf(err, "")
	}
	err = l.tests(ctx)
	if err == nil {
		err = l.landThere(ctx, lock)
	}
	if err != nil && lock != nil {
		if err := l.checkout.Unlock(context.WithoutCancel(ctx), lock); err != nil {
			l.Log.Warn("lock_left", "base", l.order.Base, "error", err)
		}
	}
	return err
}

// token names the landing of this head on this base.
func (l *localMerger) token() string {
	return journal.Token("merge_local", l.order.Base, l.met.BaseSHA, l.met.HeadSHA, l.way.Strategy)
}

// prepare gets both branches and makes the commits that would land.
func (l *localMerger) prepare(ctx context.Context) (err error) {
	was := l.met.BaseSHA
	if l.order.Checkout.Local {
		l.met, err = l.checkout.MeetLocal(ctx, l.order.Base, l.order.Branch)
	} else {
		l.met, err = l.checkout.Meet(ctx, l.order.Base, "refs/heads/"+l.order.Branch)
	}
	if gone := (*git.ErrNoRef)(nil); errors.As(err, &gone) && gone.Ref == "refs/heads/"+l.order.Base {
		return &setback{Failure: merge.Failure{Code: model.CodeBaseMissing, Detail: fmt.Sprintf("there is no branch %s", l.order.Base)}}
	}
	switch {
	case err != nil:
		return setbackOf(err, "")
	case l.met.Unrelated:
		return setbackOf(&git.ErrUnrelated{Base: l.met.BaseSHA, Head: l.met.HeadSHA}, "")
	}
	if err := l.configure(ctx); err != nil {
		return err
	}
	what := l.what(was)
	if l.made, err = l.checkout.Build(ctx, what); err != nil {
		return setbackOf(err, l.way.Strategy)
	}
	return setbackOf(l.checkout.Verify(ctx, what, l.made), l.way.Strategy)
}

// configure reads the settings off the base branch and chooses the strategy.
func (l *localMerger) configure(ctx context.Context) error {
	text, err := l.checkout.Blob(ctx, l.met.BaseSHA, SettingsPath)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.settings = config.Defaults()
	case err != nil:
		return err
	default:
		if l.settings, err = config.ParseWithoutAgent(string(text), l.order.Base+":"+SettingsPath); err != nil {
			return err
		}
	}
	pull := model.Pull{HeadRef: l.order.Branch, BaseRef: l.order.Base, HeadExists: true}
	l.way, err = merge.Choose(policyOfMerge(l.settings), pull, model.MergeFacts{}, l.order.Strategy)
	if refusal := (*merge.Refusal)(nil); errors.As(err, &refusal) {
		return fmt.Errorf("%w: %s", ErrUsage, refusal.Text)
	}
	if err == nil && l.way.Strategy == model.StrategyAPI {
		return fmt.Errorf("%w: strategy %s is GitHub's own; name another one with --strategy", ErrUsage, l.way.Strategy)
	}
	return err
}

func (l *localMerger) what(was string) git.Merge {
	m := git.Merge{
		Strategy: l.way.Strategy, Base: l.met.BaseSHA, Head: l.met.HeadSHA, Title: fmt.Sprintf("Merge branch '%s'", l.order.Branch),
		BaseWins: l.way.BaseWins, UnionFields: l.way.UnionFields,
	}
	if was != "" && was != m.Base {
		m.Known = []string{was}
	}
	return m
}

func (l *localMerger) tests(ctx context.Context) error {
	run, err := l.testTip(ctx, l.checkout, l.settings, l.met.BaseSHA, l.made.Tip)
	if err == nil {
		l.Log.Info("tests_passed", "argv", run.Argv, "seconds", run.Seconds)
	}
	return err
}

// landHere moves the branches of the checkout: the base first, since it may be in use, and that changes nothing.
func (l *localMerger) landHere(ctx context.Context) error {
	err := l.checkout.LandLocal(ctx, l.order.Base, l.met.BaseSHA, l.made.Tip)
	if rejected := (*git.ErrRejected)(nil); errors.As(err, &rejected) && rejected.Reason == git.Stale {
		return &setback{Failure: merge.Failure{Code: model.CodeBaseMoved, Detail: err.Error()}}
	}
	if err != nil {
		return setbackOf(err, l.way.Strategy)
	}
	if kept := l.checkout.MoveLocal(ctx, l.order.Branch, l.met.HeadSHA, l.made.Tip); kept != nil {
		l.Log.Warn("branch_not_moved", "branch", l.order.Branch, "error", kept)
	}
	return l.landed()
}

// landThere moves the branches of the origin: the head first where it is not part of what lands, as for a pull request.
func (l *localMerger) landThere(ctx context.Context, lock *git.Lock) error {
	ctx = context.WithoutCancel(ctx)
	relation, err := l.checkout.Relation(ctx, l.met.HeadSHA, l.made.Tip)
	if err != nil {
		return err
	}
	if lineage.Decide(relation) != lineage.Pass {
		err := l.checkout.Rewrite(ctx, l.order.Branch, l.met.HeadSHA, l.made.Tip)
		if rejected := (*git.ErrRejected)(nil); errors.As(err, &rejected) && rejected.Reason == git.Stale {
			return &setback{Failure: merge.Failure{Code: model.CodeHeadMoved, Detail: err.Error()}}
		}
		if err != nil {
			return setbackOf(err, l.way.Strategy)
		}
	}
	order := git.Publish{Branch: l.order.Base, Start: l.met.BaseSHA, SHA: l.made.Tip}
	if lock != nil {
		order.Drop = []git.Ref{lock.Ref()}
	}
	err = l.checkout.Publish(ctx, order)
	rejected, unclear := (*git.ErrRejected)(nil), (*git.ErrUnclear)(nil)
	switch {
	case err == nil:
		return l.landed()
	case !errors.As(err, &unclear) && (!errors.As(err, &rejected) || rejected.Reason != git.Stale):
		return setbackOf(err, l.way.Strategy)
	}
	at, lookErr := l.checkout.Where(ctx, l.order.Base)
	switch {
	case lookErr != nil:
		return errors.Join(err, lookErr)
	case at == l.made.Tip:
		return l.landed()
	case at == l.met.BaseSHA:
		return &setback{Failure: merge.Failure{Code: model.CodeRejected, Detail: err.Error()}}
	}
	return &setback{Failure: merge.Failure{Code: model.CodeBaseMoved, Detail: fmt.Sprintf("%s was at %s and is at %s now", l.order.Base, markdown.Short(l.met.BaseSHA), markdown.Short(at))}}
}

func (l *localMerger) landed() error {
	l.rep.Result, l.rep.HeadSHA = model.ResultDone, l.made.Tip
	l.rep.Effects = append(l.rep.Effects, model.Effect{Kind: "merge", Target: l.order.Base, Token: l.token(), Status: "applied"})
	l.rep.Reason = fmt.Sprintf("%s is merged into %s as %s", l.order.Branch, l.order.Base, markdown.Short(l.made.Tip))
	l.say("is merged into", l.order.Base)
	return nil
}

// say tells what landed, or would.
func (l *localMerger) say(what, base string) {
	text := fmt.Sprintf("%s %s %s by %s: %s", l.order.Branch, what, base, l.made.Strategy, moved(l.met.BaseSHA, l.made.Tip, l.made.Commits))
	m := &member{made: l.made}
	for _, note := range m.told() {
		text += "\n" + note
	}
	l.rep.Said = append(l.rep.Said, model.Saying{Where: "standard output", Text: text})
}

// explain is why nothing landed, at length.
func (l *localMerger) explain(ctx context.Context, s *setback) string {
	if s.conflict != nil {
		s.Conflicts = conflictsOf(s.conflict)
		if culprits, err := l.checkout.Culprits(ctx, l.met.BaseSHA, l.met.HeadSHA, s.conflict.Paths); err == nil {
			for _, c := range culprits {
				s.Conflicts.Culprits = append(s.Conflicts.Culprits, merge.Culprit{Commit: c})
			}
		}
	}
	marker := model.MergeMarker{Base: l.order.Base, Head: l.met.HeadSHA, BaseSHA: l.met.BaseSHA, Strategy: l.way.Strategy, At: l.Now().UTC().Truncate(time.Second)}
	return merge.FailText(model.Pull{HeadRef: l.order.Branch, BaseRef: l.order.Base}, marker, s.Failure)
}
