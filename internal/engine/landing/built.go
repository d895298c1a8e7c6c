package landing

import (
	"context"
	"fmt"

	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/train"
)

// built is how the request was built: the strategy, and a key of all that decides over the commit beside the head and what it stands on:
// the strategy, the settings that it goes by, the message, and who commits.
func (a *aboard) built() train.Member {
	w := a.one.what()
	way := journal.Token("way", w.Strategy, fmt.Sprintf("%q", w.BaseWins), fmt.Sprintf("%q", w.UnionFields), w.Title, w.Body, a.one.Checkout.Opt.Identity.String())
	return train.Member{Strategy: w.Strategy, Way: way[:16]}
}

// makes pairs the commits that were built on a commit with those of a tip, whose tree is read; nil: they are not alike.
func (m *member) makes(ctx context.Context, on, tip string) (map[string]string, error) {
	if m.is.Tree != m.made.Tree {
		return nil, nil
	}
	return merging.Alike(ctx, m.Checkout, on, m.made.Tip, tip)
}

// outdated says that a car was built in another way than its request is built now, by our comment or by the record of the train, and in
// which. Whoever may push can write that record, so that this is never a reason to land anything.
func (a *aboard) outdated(by train.Member) (was train.Member, is bool) {
	now := a.built()
	if was := a.g.marker.Strategy; was != now.Strategy {
		return train.Member{Strategy: was}, true
	}
	return by, by.Way != "" && by.Way != now.Way
}

// outdated has a car built again.
func outdated(l *line, e train.Land, a *aboard, was train.Member) error {
	now := a.built()
	l.home.Log.Info("train_outdated", "base", l.Base, "car", e.Car, "pr_number", a.one.is.Number, "was", was.Strategy+" "+was.Way, "now", now.Strategy+" "+now.Way)
	l.learn(train.Stale{Car: e.Car, Tip: e.To, Why: train.WhyOutdated})
	return nil
}

// unlike learns why a tip is not what was built now: it is outdated, or nothing that the approved head makes. Where the record names
// only a strategy, as those of earlier versions do, building it once more shows whether that is true.
func unlike(ctx context.Context, l *line, e train.Land, a *aboard, on string, by train.Member) (err error) {
	was, old := a.outdated(by)
	now := a.one.way.Strategy
	if !old && by.Way == "" && by.Strategy != "" && by.Strategy != now && model.ByGitHub(by.Strategy) == model.ByGitHub(now) {
		other := *a.one
		other.way.Strategy = by.Strategy
		if err = other.buildOn(ctx, on); err == nil {
			var same map[string]string
			same, err = other.makes(ctx, on, by.Tip)
			old = same != nil
		}
		if err != nil && !is[*Failure](err) {
			return err
		}
	}
	if old {
		return outdated(l, e, a, was)
	}
	// The record of the train names a commit that the approved head does not make. Whoever may push can write that record.
	l.home.Log.Error("train_record_forged", "base", l.Base, "car", e.Car, "pr_number", a.one.is.Number, "tip", by.Tip)
	l.learn(train.Foreign{Car: e.Car, Tip: e.To})
	return nil
}
