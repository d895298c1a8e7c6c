package engine

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// The tokens of a turn's effects. None depends on what the agent said.
func trackToken(ev model.Event) string { return journal.Token("track", strconv.Itoa(ev.Number)) }
func turnToken(key string) string      { return journal.Token("turn_comment", key) }
func replyToken(key string, id int64) string {
	return journal.Token("reply", key, strconv.FormatInt(id, 10))
}

// edit replaces the comment of the turn at hand, and holds its claim for longer.
func (p *pass) edit(ctx context.Context, text string) error {
	if err := p.Alive(); err != nil {
		return err
	}
	if thread.OpenPhase(p.Marker.Phase) {
		p.Marker.Expires = p.Expiry()
	}
	return p.put(ctx, text)
}

// park edits the comment of the turn at hand for the last time in this run, with its claim given up: whoever comes next
// may take the turn at once.
func (p *pass) park(ctx context.Context, next string) error {
	if err := p.Alive(); err != nil {
		return err
	}
	p.Marker.Expires = p.ServerNow().Add(-time.Second).UTC().Truncate(time.Second)
	err := p.put(ctx, p.failedText(next))
	p.ClaimID = 0
	return err
}

// put writes the comment of the turn at hand as its marker stands. Sending the same body twice does no harm.
func (p *pass) put(ctx context.Context, text string) error {
	body, err := p.encode(text, p.Marker)
	if err != nil {
		return err
	}
	err = p.Rewrite(ctx, p.ClaimID, turnToken(p.Marker.Key), body, func() error {
		p.ClaimID = 0
		if p.issue != nil {
			return p.unclaimed(ctx)
		}
		return thread.End(model.ResultRetry, "the claim of this run on %s was deleted meanwhile", p.About())
	})
	if err != nil {
		return err
	}
	passing := thread.OpenPhase(p.Marker.Phase)
	p.Say(model.Saying{Where: fmt.Sprintf("comment on #%d", p.Event.Number), Text: text, Passing: passing})
	return nil
}

// encode is the comment of a turn as a marker stands.
func (p *pass) encode(text string, m model.TurnMarker) (string, error) {
	b := p.bodyOf(text, m)
	b.Tokens = []string{turnToken(m.Key)}
	return p.Codec.Encode(b)
}

// bodyOf is the comment of a turn, on a pull request or on an issue, but for its token.
func (p *pass) bodyOf(text string, m model.TurnMarker) journal.Body {
	m.Reason = thread.Clip(m.Reason)
	if p.issue == nil {
		return journal.Body{Text: text, Kind: journal.KindTurn, Marker: journal.Packed(m)}
	}
	return journal.Body{Text: text, Kind: journal.KindIssue, Marker: packed(p.markerOf(m))}
}

// markerOf is the marker of an attempt on an issue, as that of its turn stands.
func (p *pass) markerOf(m model.TurnMarker) model.IssueMarker {
	whole := p.issue.marker
	whole.TurnMarker, whole.Status = m, m.Phase
	return whole
}

// packed is journal.Packed for an issue's marker.
func packed(m model.IssueMarker) model.IssueMarker {
	m.TurnMarker = journal.Packed(m.TurnMarker)
	return m
}

// claimText, plannedText and failedText are what people read of the turn at hand while it is under way.
func (p *pass) claimText() string {
	if p.issue == nil {
		return turn.ClaimText(p.Snap.Pull, p.feedback, p.Marker)
	}
	return flow.ClaimText(*p.Snap.Thread, p.markerOf(p.Marker), p.feedback, p.saves()) + turn.Earlier(p.Snap.Thread.URL, p.Marker.Tries)
}

func (p *pass) plannedText(m model.TurnMarker) string {
	if p.issue == nil {
		return turn.PlannedText(p.Snap.Pull, p.feedback, m)
	}
	return flow.PlannedText(*p.Snap.Thread, p.markerOf(m))
}

func (p *pass) failedText(next string) string {
	if p.issue == nil {
		return turn.FailedText(p.Snap.Pull, p.feedback, p.Marker, next)
	}
	return flow.FailedText(*p.Snap.Thread, p.markerOf(p.Marker), next, p.kept) + turn.Earlier(p.Snap.Thread.URL, p.Marker.Tries)
}
