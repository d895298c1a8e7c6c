package turns

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// The tokens of a turn's effects. None depends on what the agent said.
func trackToken(ev model.Event) string { return journal.Token("track", strconv.Itoa(ev.Number)) }

// TurnToken returns the token of a turn's comment.
func TurnToken(key string) string { return journal.Token("turn_comment", key) }

// ReplyToken returns the token of a turn's reply to a comment.
func ReplyToken(key string, id int64) string {
	return journal.Token("reply", key, strconv.FormatInt(id, 10))
}

// recordOf is the comment of the turn at hand.
func recordOf(p *Attempt) thread.Record {
	m := p.Marker
	return thread.Record{
		Thread: p.Thread, Comment: &p.ClaimID, Marker: written{p}, Kind: p.Words.Kind, Token: TurnToken(m.Key),
		About: p.About(), Term: term(p), Hidden: superseded(p),
		Find: thread.FindTurn(p.Thread, func(other model.TurnMarker) bool { return other.Claim == m.Claim }),
	}
}

// superseded reports whether a block tells how the attempt ended.
func superseded(p *Attempt) bool {
	m, block := p.Marker, p.State.Block
	return m.Phase == model.PhaseFailed && (m.Attempt >= turn.MaxAttempts || block != nil && block.Marker.Key == m.Key)
}

// written is the turn's marker as its subject completes it.
type written struct{ p *Attempt }

func (w written) Holder() *model.Lease { return &w.p.Marker.Lease }
func (w written) Open() bool           { return w.p.Marker.Open() }
func (w written) MarshalJSON() ([]byte, error) {
	return json.Marshal(body(w.p, "", w.p.Marker).Marker)
}

// term is how long one landing may take: each round the agent's time and that of the required tests, each round of git operations and
// a new session the agent's.
func term(p *Attempt) time.Duration {
	tests := p.Settings.Feedback.RepairRounds + 1
	agents := tests + thread.MaxGitRounds + 1
	return time.Duration(agents)*p.Settings.Agent.Timeout + time.Duration(tests)*p.Settings.Agent.TestTimeout + thread.ClaimMargin
}

// Sign returns the marker with a lease that this process holds.
func Sign(p *Attempt, m model.TurnMarker) model.TurnMarker {
	thread.Record{Thread: p.Thread, Marker: &m, Term: term(p)}.Sign()
	m.Reason = ""
	return m
}

// Edit replaces the comment of the turn at hand and renews its claim.
func Edit(ctx context.Context, p *Attempt, text string) error {
	return unlessDeleted(ctx, p, recordOf(p).Write(ctx, text))
}

// unlessDeleted is how writing the comment ended, which somebody may have deleted.
func unlessDeleted(ctx context.Context, p *Attempt, err error) error {
	switch {
	case err == nil || p.ClaimID != 0:
		return err
	case p.Issue != nil:
		return p.Flow.Deleted(ctx)
	}
	return thread.End(model.ResultRetry, "somebody deleted this run's claim on %s", p.About())
}

// GiveUpClaim edits the turn's comment for the last time in this run and ends its claim, so that the next run can take the turn
// at once.
func GiveUpClaim(ctx context.Context, p *Attempt, next string) error {
	err := unlessDeleted(ctx, p, recordOf(p).Release(ctx, p.Words.Failed(next)))
	p.ClaimID = 0
	return err
}

// body is the comment of the attempt, but for its token.
func body(p *Attempt, text string, m model.TurnMarker) journal.Body {
	m.Reason = thread.Clip(m.Reason)
	return journal.Body{Text: text, Kind: p.Words.Kind, Marker: p.Words.Marker(m)}
}

// encode is the comment of an attempt with a result.
func encode(p *Attempt, m model.TurnMarker) (string, error) {
	b := body(p, p.Words.Planned(m), m)
	b.Tokens = []string{TurnToken(m.Key)}
	return p.Codec.Encode(b)
}
