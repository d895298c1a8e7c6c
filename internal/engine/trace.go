package engine

import (
	"context"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git/commits"
	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// trace is what the turn at hand leaves beside its receipt.
func (p *pass) trace() model.AnswerMarker {
	m := p.Marker
	return model.AnswerMarker{Repo: m.Repo, Number: m.Number, Key: m.Key, Events: m.Events, Start: m.Start, Head: m.Planned, Since: m.Since, Seen: m.Seen, Session: m.Session}
}

// trail has the last commit of the turn at hand say which turn it is of, and gives the head that it is then.
func (p *pass) trail(ctx context.Context, head string) (string, error) {
	if p.issue != nil || head == p.base() {
		return head, nil
	}
	done, err := commits.Reword(ctx, p.Checkout, p.base(), head, fetch.Tips(p.Checkout), func(message string) string { return p.Codec.Trail(message, p.trace()) })
	if err == nil {
		err = commits.Follow(ctx, p.Checkout, done)
	}
	return done.Head, err
}

// restoreReceipts writes the receipts of turns that lost theirs, each once, so that nothing is done twice.
func (p *pass) restoreReceipts(ctx context.Context) error {
	if len(p.Lost) == 0 || p.Phase == thread.AgentPhase {
		return nil
	}
	for _, t := range p.Lost {
		p.Log.Warn("receipt_lost", p.NumberKey(), p.Event.Number, "turn_key", t.Marker.Key, "head", t.Marker.Head)
		if err := p.restoreReceipt(ctx, t); err != nil {
			return err
		}
	}
	if err := p.Read(ctx); err != nil {
		return err
	}
	p.Report.Result = model.ResultDone
	return p.Tidy(ctx)
}

func (p *pass) restoreReceipt(ctx context.Context, t model.Trace) error {
	m := turn.Restored(t, p.State)
	m.Tokens = []string{turnToken(m.Key)}
	found, missing := turn.Find(p.Snap, m.Events)
	found = append(found, turn.Recall(p.Event.Number, missing, p.Memory.Runs)...)
	answers := make([]turn.Answer, len(found))
	for i, c := range found {
		token := replyToken(m.Key, c.ID)
		answers[i] = turn.Answer{Feedback: c, ReplyURL: p.ReplyURL(token)}
		if answers[i].ReplyURL != "" {
			m.Tokens = append(m.Tokens, token)
		}
	}
	body := journal.Body{Text: turn.RestoredText(p.Snap.Pull, answers, t), Kind: journal.KindTurn, Marker: m}
	_, err := p.Comment(ctx, turnToken(m.Key), body, effect.Mark{Receipt: m.Key})
	return err
}
