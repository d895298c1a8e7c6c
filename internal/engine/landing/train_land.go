package landing

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/train"
)

// land moves the base to a car.
func (l *line) land(ctx context.Context, e train.Land) error {
	if !l.now.Claim.By(l.holder) {
		l.home.Log.Info("train_lands_elsewhere", "base", l.Base, "car", e.Car)
		return nil
	}
	if l.facts.Checks[e.To].State != model.CheckPassed { // the record alone does not say what was tested
		l.home.Log.Error("train_untested", "base", l.Base, "car", e.Car, "tip", e.To)
		l.learn(train.Untested{Car: e.Car, Tip: e.To})
		return nil
	}
	if err := l.home.Open(ctx); err != nil {
		return err
	}
	all, err := members(ctx, l, e)
	if err != nil || all == nil || l.Seen > l.count {
		return err
	}
	sha, err := landCar(ctx, l, e, all)
	if f := (*Failure)(nil); errors.As(err, &f) {
		return notLanded(ctx, l, e, f)
	}
	if err != nil || sha == "" {
		return err
	}
	l.learn(train.Arrived{Car: e.Car, From: e.From, SHA: sha})
	return nil
}

// landCar moves the heads of the pull requests to their tips, and then the base to the last of them, which it returns, or the commit
// that GitHub made; "": the train has learnt why the car must not land as things are. Nothing moves unless all conditions of all
// still hold.
func landCar(ctx context.Context, l *line, e train.Land, all []*aboard) (sha string, err error) {
	on, moved := e.From, []*member(nil)
	for i, a := range all {
		if ok, err := a.take(ctx, l, e, on, e.Members[i]); err != nil || !ok {
			return "", err
		}
		on = e.Members[i].Tip
	}
	for _, a := range all {
		a.one.car = &merge.Car{Tip: on, Checks: l.facts.Checks[e.To].Required}
		switch why := strayed(a.one, a.one.is.Tip); {
		case a.byGitHub() && why != "":
			return "", unready(ctx, l, e, a, merge.Verdict{Code: model.CodeHeadMoved, Reason: why})
		case a.one.way.Strategy == model.StrategyQueue:
			return "", unready(ctx, l, e, a, merge.Verdict{Code: model.CodeStrategy, Reason: "the settings now leave the merge to GitHub's merge queue: repeat the command to put it there"})
		case len(all) > 1 && a.byGitHub(): // which merges one at a time
			for _, a := range all {
				l.learn(train.Merges{Number: a.one.is.Number, ByGitHub: a.byGitHub()})
			}
			l.learn(train.Untested{Car: e.Car, Tip: e.To})
			return "", nil
		}
		moved = append(moved, a.one)
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	ctx = context.WithoutCancel(ctx)
	for _, a := range all {
		if err := a.announce(ctx); err != nil {
			return "", err
		}
	}
	last := moved[len(moved)-1]
	if last.way.Strategy == model.StrategyAPI { // GitHub takes no word about the base that it merges into: it is looked at just before
		at, err := transport.BranchTip(ctx, l.home.Checkout, l.Base)
		if err == nil && at != e.From {
			err = failed(model.CodeBaseMoved, movedTo(l.Base, e.From, at))
		}
		if err != nil {
			return "", err
		}
	}
	if err := land(ctx, moved); err != nil {
		return "", err
	}
	return last.is.Tip, showMerged(ctx, l.home, moved)
}

// showMerged waits for GitHub to show all as merged that it can show so. What it does not show in time each request settles by
// itself.
func showMerged(ctx context.Context, home *thread.Thread, landed []*member) error {
	var numbers []int
	for _, m := range landed {
		if !merge.NeverShown(m.way.Strategy, m.Snap.Pull) {
			numbers = append(numbers, m.is.Number)
		}
	}
	if len(numbers) < 2 {
		return nil
	}
	all, _, err := home.GitHub.Pulls.AwaitAll(ctx, home.Event.Repo, numbers, badgeLimit, func(all map[int]model.PullNow) bool {
		return !slices.ContainsFunc(numbers, func(n int) bool { return all[n].State == model.PullOpen })
	})
	for _, m := range landed {
		if all[m.is.Number].State == model.PullMerged {
			m.Snap.Pull.State = model.PullMerged
		}
	}
	return err
}

// take looks once more at all conditions of a request, and takes over what was built and tested for it; false: it must not land as
// things are, as the train has learnt.
func (a *aboard) take(ctx context.Context, l *line, e train.Land, on string, as train.Member) (bool, error) {
	v, err := a.ready(ctx)
	if err != nil {
		return false, err
	}
	m, tip := a.one, as.Tip
	if !v.Go {
		return false, unready(ctx, l, e, a, v)
	}
	if a.g.marker.Tries() { // whatever the record says
		return false, unready(ctx, l, e, a, merge.Verdict{Code: model.CodeStrategy, Reason: "it was only a try"})
	}
	if err := halted(ctx, a.g); err != nil {
		if s := (*Failure)(nil); errors.As(err, &s) {
			return false, unready(ctx, l, e, a, merge.Verdict{Wait: true, Code: s.Code, Reason: s.Detail})
		}
		return false, err
	}
	thread.Share(m.Thread, l.home)
	if err := findMergeBase(ctx, a.g, m); err != nil {
		return false, err
	}
	head, _ := m.source()
	if err := history.FetchCommits(ctx, m.Checkout, on, tip, head); err != nil { // in one go
		return false, failureOf(err, "")
	}
	if err := m.buildOn(ctx, on); err != nil {
		if was, old := a.outdated(as); old && is[*Failure](err) { // which building it again tells
			return false, outdated(l, e, a, was)
		}
		return false, err
	}
	if m.is.Tree, err = history.TreeOf(ctx, m.Checkout, tip); err != nil {
		return false, err
	}
	same, err := m.makes(ctx, on, tip)
	if err != nil {
		return false, err
	}
	if same == nil {
		return false, unlike(ctx, l, e, a, on, as)
	}
	m.is.Tip, m.made.Tip = tip, tip
	for i, c := range m.made.Commits {
		m.made.Commits[i].SHA = cmp.Or(same[c.SHA], c.SHA)
	}
	return true, nil
}

// notLanded learns why a car did not land.
func notLanded(ctx context.Context, l *line, e train.Land, failure *Failure) (err error) {
	l.home.Log.Warn("train_not_landed", "base", l.Base, "car", e.Car, "error", failure)
	if failure.Code == model.CodeProtected {
		return barred(ctx, l, e, failure)
	}
	l.learn(train.LandRefused{Car: e.Car, Attempt: e.Attempt, Why: failure.Detail})
	if failure.Code == model.CodeBaseMoved || failure.Code == model.CodeRewound {
		l.facts.Base, err = transport.BranchTip(ctx, l.home.Checkout, l.Base)
	}
	return err
}

// barred ends the requests that the rules of a branch keep from landing, which would do so again: that of the pull request whose head
// it is, or all that land where it is the base.
func barred(ctx context.Context, l *line, e train.Land, failure *Failure) error {
	for _, m := range e.Members {
		if failure.Number != 0 && failure.Number != m.Number {
			continue
		}
		token := l.token(m.Number)
		if err := l.close(ctx, train.Request{Number: m.Number, Token: token}, func(a *aboard) (*thread.Stop, error) { return a.fail(ctx, failure.Failure) }); err != nil {
			return err
		}
		l.learn(train.Unready{Car: e.Car, Number: m.Number, Token: token, Over: true})
	}
	return nil
}

// members are the requests of a car; nil: one of them is over.
func members(ctx context.Context, l *line, e train.Land) (all []*aboard, err error) {
	for _, m := range e.Members {
		a, err := l.open(ctx, m.Number)
		if err != nil {
			return nil, err
		}
		if token := l.token(m.Number); a == nil || a.g.marker.Command != token {
			l.ended(train.Request{Number: m.Number, Token: token})
			l.learn(train.Unready{Car: e.Car, Number: m.Number, Token: token, Over: true})
			return nil, nil
		}
		all = append(all, a)
	}
	return all, nil
}

// unready takes a member out of a landing that must not land as things are, before anything has moved. Once nothing is in the way, the
// request joins the train again.
func unready(ctx context.Context, l *line, e train.Land, a *aboard, v merge.Verdict) error {
	number := a.one.is.Number
	l.home.Log.Info("train_not_ready", "base", l.Base, "car", e.Car, "pr_number", number, "why", v.Reason)
	l.learn(train.Unready{Car: e.Car, Number: number, Token: l.token(number), Over: !v.Wait, Code: v.Code, Why: cmp.Or(v.Reason, "it must not land")})
	if !v.Wait {
		return nil
	}
	a.g.tried = false // the comment says what it waits for, as that of one that is in no train
	_, err := a.g.wait(ctx, v.Code, v.Reason, merge.WaitText(a.g.Snap.Pull, waiting(a.g, v), v))
	return told(err)
}

// token is that of the request of a pull request in the queue.
func (l *line) token(number int) string {
	for _, r := range l.now.Queue {
		if r.Number == number {
			return r.Token
		}
	}
	return ""
}
