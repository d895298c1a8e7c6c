package landing

import (
	"context"
	"errors"
	"slices"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/train"
)

// recorded is the manifest as it is recorded. The error says why it cannot be read.
func (l *line) recorded() (train.Manifest, error) {
	if l.at == "" {
		if slices.ContainsFunc(l.view.Branches, func(b model.TrainBranch) bool { return carOf(l, b) > 0 }) { // pushed after the record names it
			return train.New(l.Base), errors.New("it was deleted")
		}
		return train.New(l.Base), nil
	}
	raw, err := signed(l)
	if err != nil {
		return train.Manifest{}, err
	}
	m, err := train.Decode(raw, l.Base)
	l.count, m.Count, m.Writer = m.Count, 0, ""
	if err == nil && l.count < l.Seen {
		return train.Manifest{}, errSetBack
	}
	return m, err
}

var errSetBack = errors.New("somebody has set it back to an older one")

// signed is the content of the record, which is signed with the name that the repository had when it was written.
func signed(l *line) (raw []byte, err error) {
	raw, err = l.home.Codec.Open(journal.KindTrain, l.Repo, l.view.Manifest)
	for _, name := range thread.Formerly(l.home.World, l.Repo) {
		if err == nil {
			break
		}
		if was, wrong := model.ParseRepo(name); wrong == nil {
			raw, err = l.home.Codec.Open(journal.KindTrain, was, l.view.Manifest)
		}
	}
	return raw, err
}

// lost names the record that is not obeyed: its commit, or for one that was deleted the branches that it left.
func lost(l *line) string {
	if l.at != "" {
		return l.at
	}
	parts := []string{"deleted"}
	for _, b := range l.view.Branches {
		if carOf(l, b) > 0 {
			parts = append(parts, b.SHA)
		}
	}
	return journal.Token(parts...)
}

// tellLoss says in the conversation of a request what the record of the train has lost, once.
func tellLoss(ctx context.Context, l *line, e train.TellLoss) error {
	mine := slices.ContainsFunc(l.now.Losses, func(k train.Loss) bool { return k.Record == e.Loss.Record && k.By != nil && k.By.Holder == l.holder })
	if !mine {
		l.home.Log.Info("train_loss_told_elsewhere", "base", l.Base, "pr_number", e.Request.Number)
		return nil
	}
	a, err := l.open(ctx, e.Request.Number)
	if err != nil {
		return err
	}
	if a != nil && a.g.marker.Command == e.Request.Token {
		text := merge.TrainLostText(a.g.Snap.Pull, a.g.marker, merge.TrainLoss{Ref: transport.TrainRef(l.Base), Why: e.Loss.Why, Car: e.Loss.Car})
		if err := a.say(ctx, journal.Token("train-loss", l.Base, e.Loss.Record), text); err != nil {
			return err
		}
	}
	l.learn(train.LossTold{Number: e.Request.Number, Record: e.Loss.Record})
	return nil
}
