package trains

import (
	"cmp"
	"context"
	"errors"

	"github.com/mergexo/mergexo/internal/engine/landing"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/train"
)

// land moves the base to a car.
func (l *line) land(ctx context.Context, e train.Land) error {
	if !l.now.Claim.By(l.holder) {
		l.home.Log.Info("train_lands_elsewhere", "base", l.Base, "car", e.Car)
		return nil
	}
	if l.facts.Checks[e.To].State != train.ChecksPassed { // the record alone does not say what was tested
		l.home.Log.Error("train_untested", "base", l.Base, "car", e.Car, "tip", e.To)
		l.learn(train.Untested{Car: e.Car, Tip: e.To})
		return nil
	}
	if err := l.home.Open(ctx); err != nil {
		return err
	}
	all, err := order(ctx, l, e)
	if err != nil || all == nil || l.Seen > l.count {
		return err
	}
	all.Checks = l.facts.Checks[e.To].Required
	sha, err := all.Land(ctx)
	if err != nil {
		return notLanded(ctx, l, e, *all, err)
	}
	l.learn(train.Arrived{Car: e.Car, From: e.From, SHA: sha})
	return nil
}

// notLanded learns why a car did not land. Any other error is returned.
func notLanded(ctx context.Context, l *line, e train.Land, all landing.Landing, err error) error {
	notReady, apart, failure := (*landing.Unready)(nil), (*landing.Apart)(nil), (*landing.Failure)(nil)
	outdated, foreign := (*landing.Outdated)(nil), (*landing.Foreign)(nil)
	switch {
	case errors.As(err, &notReady):
		return unready(ctx, l, e, *notReady)
	case errors.As(err, &apart):
		for i, a := range all.All {
			l.learn(train.Merges{Number: e.Members[i].Number, ByGitHub: a.ByGitHub()})
		}
		l.learn(train.Untested{Car: e.Car, Tip: e.To})
		return nil
	case errors.As(err, &outdated):
		l.home.Log.Info("train_outdated", "base", l.Base, "car", e.Car, "pr_number", outdated.Number, "was", outdated.Was.String(), "now", outdated.Now.String())
		l.learn(train.Outdated{Car: e.Car, Tip: e.To})
		return nil
	case errors.As(err, &foreign):
		l.home.Log.Error("train_record_forged", "base", l.Base, "car", e.Car, "error", err)
		l.learn(train.Foreign{Car: e.Car, Tip: e.To})
		return nil
	case errors.As(err, &failure):
		l.home.Log.Warn("train_not_landed", "base", l.Base, "car", e.Car, "error", err)
		if failure.Code == model.CodeProtected {
			return barred(ctx, l, e, failure)
		}
		l.learn(train.LandRefused{Car: e.Car, Attempt: e.Attempt, Why: failure.Detail})
		if failure.Code == model.CodeBaseMoved || failure.Code == model.CodeRewound {
			l.facts.Base, err = transport.BranchTip(ctx, l.home.Checkout, l.Base)
			return err
		}
		return nil
	}
	return err
}

// barred ends the requests that the rules of a branch keep from landing, which would do so again: that of the pull request whose head
// it is, or all that land where it is the base.
func barred(ctx context.Context, l *line, e train.Land, failure *landing.Failure) error {
	for _, m := range e.Members {
		if failure.Number != 0 && failure.Number != m.Number {
			continue
		}
		token := l.token(m.Number)
		if err := l.finish(ctx, train.Request{Number: m.Number, Token: token}, func(a *landing.Aboard) (*thread.Stop, error) { return a.Fail(ctx, failure.Failure) }); err != nil {
			return err
		}
		l.learn(train.Unready{Car: e.Car, Number: m.Number, Token: token, Over: true})
	}
	return nil
}

// order is a landing with the requests of its members; nil: one of them is over.
func order(ctx context.Context, l *line, e train.Land) (*landing.Landing, error) {
	out := &landing.Landing{Home: l.home, Base: l.Base, From: e.From}
	for _, m := range e.Members {
		a, err := l.open(ctx, m.Number)
		if err != nil {
			return nil, err
		}
		if token := l.token(m.Number); a == nil || a.Marker().Command != token {
			l.ended(train.Request{Number: m.Number, Token: token})
			l.learn(train.Unready{Car: e.Car, Number: m.Number, Token: token, Over: true})
			return nil, nil
		}
		out.All, out.Tips, out.By = append(out.All, a), append(out.Tips, m.Tip), append(out.By, landing.Built{Strategy: m.Strategy, Way: m.Way})
	}
	return out, nil
}

// unready takes a member out of a landing that must not land as things are, before anything has moved.
func unready(ctx context.Context, l *line, e train.Land, u landing.Unready) error {
	l.home.Log.Info("train_not_ready", "base", l.Base, "car", e.Car, "pr_number", u.Number, "why", u.Verdict.Reason)
	l.learn(train.Unready{
		Car: e.Car, Number: u.Number, Token: l.token(u.Number), Over: !u.Verdict.Wait, Code: string(u.Verdict.Code), Why: cmp.Or(u.Verdict.Reason, "it must not land"),
	})
	a, err := l.open(ctx, u.Number)
	if err != nil || a == nil || !u.Verdict.Wait {
		return err
	}
	return a.Hold(ctx, u.Verdict)
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
