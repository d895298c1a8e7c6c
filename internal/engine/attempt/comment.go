package attempt

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
)

// The tokens of a turn's effects. None depends on what the agent said.
func trackToken(ev model.Event) string { return journal.Token("track", strconv.Itoa(ev.Number)) }
func TurnToken(key string) string      { return journal.Token("turn_comment", key) }
func ReplyToken(key string, id int64) string {
	return journal.Token("reply", key, strconv.FormatInt(id, 10))
}

// Edit replaces the comment of the turn at hand, and holds its claim for longer.
func (p *Attempt) Edit(ctx context.Context, text string) error {
	if err := p.Alive(); err != nil {
		return err
	}
	if p.Marker.Open() {
		p.Marker.Expires = p.Expiry()
	}
	return p.put(ctx, text)
}

// GiveUpClaim edits the comment of the turn for the last time in this run and ends its claim, so that the next run may take the
// turn at once.
func (p *Attempt) GiveUpClaim(ctx context.Context, next string) error {
	if err := p.Alive(); err != nil {
		return err
	}
	p.Marker.Expires = p.ServerNow().Add(-time.Second).UTC().Truncate(time.Second)
	err := p.put(ctx, p.Subject.FailedText(next))
	p.ClaimID = 0
	return err
}

// put writes the comment of the turn at hand as its marker stands. Sending the same body twice does no harm.
func (p *Attempt) put(ctx context.Context, text string) error {
	body, err := p.encode(text, p.Marker)
	if err != nil {
		return err
	}
	err = p.Rewrite(ctx, p.ClaimID, TurnToken(p.Marker.Key), body, func() error {
		p.ClaimID = 0
		return p.Subject.Deleted(ctx)
	})
	if err != nil {
		return err
	}
	passing := p.Marker.Open()
	p.Say(model.Saying{Where: fmt.Sprintf("comment on #%d", p.Event.Number), Text: text, Passing: passing})
	return nil
}

// encode is the comment of a turn as a marker stands.
func (p *Attempt) encode(text string, m model.TurnMarker) (string, error) {
	b := p.Subject.Body(text, m)
	b.Tokens = []string{TurnToken(m.Key)}
	return p.Codec.Encode(b)
}
