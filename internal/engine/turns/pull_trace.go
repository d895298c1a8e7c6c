package turns

import (
	"context"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// restoreReceipts writes the receipts of turns that lost theirs, each once, so that nothing is done twice.
func (d *dueTurn) restoreReceipts(ctx context.Context) error {
	p := d.p
	if len(p.Lost) == 0 {
		return nil
	}
	for _, t := range p.Lost {
		p.Log.Warn("receipt_lost", p.NumberKey(), p.Event.Number, "turn_key", t.Marker.Key, "head", t.Marker.Head)
		if err := restoreReceipt(ctx, p, t); err != nil {
			return err
		}
	}
	p.Report.Result = model.ResultDone
	return thread.ReadAgain(ctx, p.Thread)
}

func restoreReceipt(ctx context.Context, p *Pull, t model.Trace) error {
	m := turn.Restored(t, p.State)
	m.Tokens = []string{TurnToken(m.Key)}
	found := feedbackOf(p, m.Events)
	answers := make([]turn.Answer, len(found))
	for i, c := range found {
		token := ReplyToken(m.Key, c.ID)
		answers[i].Feedback = c
		if answers[i].ReplyURL, _ = thread.Replied(p.Thread, token); answers[i].ReplyURL != "" {
			m.Tokens = append(m.Tokens, token)
		}
	}
	body := journal.Body{Text: turn.RestoredText(p.Snap.Pull, answers, t), Kind: journal.KindTurn, Marker: m}
	receipt := thread.FindTurn(p.Thread, func(t model.TurnMarker) bool { return t.Key == m.Key && t.Phase == model.PhaseDone })
	_, err := p.Comment(ctx, TurnToken(m.Key), body, receipt)
	return err
}
