package turns

import (
	"context"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/sweep"
)

// tellLost reports, once and in a sweep, answers of ours that somebody has deleted or edited. They are not posted again: whoever
// took them away may have had a reason.
func (d *dueTurn) tellLost(ctx context.Context) error {
	p := d.p
	lost := thread.LostReplies(p.Thread)
	if len(lost) == 0 || p.Event.Name != "schedule" {
		return nil
	}
	tokens := make([]string, 0, len(lost))
	for _, l := range lost {
		tokens = append(tokens, thread.DriftToken(l.Token))
	}
	body := journal.Body{Text: sweep.DriftText(lost, p.State.Distrusted), Tokens: tokens[1:]}
	return thread.SayOnce(ctx, p.Thread, tokens[0], body)
}
