package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/github"
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

// maxSends bounds how often an effect is sent whose first sending got an unclear answer.
const maxSends = 3

// applied notes an effect in the report and the log.
func (p *pass) applied(kind, target, token, status string) {
	p.report.Effects = append(p.report.Effects, model.Effect{Kind: kind, Target: target, Token: token, Status: status})
	p.Log.Info("effect_"+status, "kind", kind, "target", target, p.numberKey(), p.event.Number, "turn_key", p.marker.Key, "action_token", token)
}

// create makes something that must exist exactly once. After an unclear answer the remote is read, and only what is
// not there is sent again.
func (p *pass) create(ctx context.Context, kind, target, token string, send func() error, found func() bool) error {
	for sends := 1; ; sends++ {
		if err := p.alive(); err != nil {
			return err
		}
		err := send()
		if err == nil {
			p.applied(kind, target, token, "applied")
			return nil
		}
		if github.KindOf(err) != github.Unclear || sends == maxSends {
			return err
		}
		p.Log.Warn("answer_unclear", "kind", kind, "target", target, "action_token", token, "error", err)
		if err := p.read(ctx); err != nil {
			return err
		}
		if found() {
			p.applied(kind, target, token, "present")
			return nil
		}
	}
}

// comment posts a comment on the pull request that is found again by found.
func (p *pass) comment(ctx context.Context, token string, b journal.Body, found func() int64) (int64, error) {
	b.Tokens = append(b.Tokens, token)
	body, err := p.Codec.Encode(b)
	if err != nil {
		return 0, err
	}
	var id int64
	err = p.create(ctx, "comment", strconv.Itoa(p.event.Number), token, func() error {
		c, err := p.GitHub.CreateComment(ctx, p.event.Repo, p.event.Number, body)
		id = c.ID
		return err
	}, func() bool { id = found(); return id != 0 })
	if err == nil {
		attempt, _ := b.Marker.(model.IssueMarker)
		request, _ := b.Marker.(model.MergeMarker)
		passing := b.Kind == journal.KindTurn || openPhase(attempt.Status) || request.State == model.MergeRunning
		p.say(model.Saying{Where: fmt.Sprintf("comment on #%d", p.event.Number), Text: b.Text, Passing: passing})
	}
	return id, err
}

// edit replaces the comment of the turn at hand, and holds its claim for longer.
func (p *pass) edit(ctx context.Context, text string) error {
	if err := p.alive(); err != nil {
		return err
	}
	if openPhase(p.marker.Phase) {
		p.marker.Expires = p.expiry()
	}
	return p.put(ctx, text)
}

// park edits the comment of the turn at hand for the last time in this run, with its claim given up: whoever comes next
// may take the turn at once.
func (p *pass) park(ctx context.Context, next string) error {
	if err := p.alive(); err != nil {
		return err
	}
	p.marker.Expires = p.serverNow().Add(-time.Second).UTC().Truncate(time.Second)
	err := p.put(ctx, p.failedText(next))
	p.claimID = 0
	return err
}

// put writes the comment of the turn at hand as its marker stands. Sending the same body twice does no harm.
func (p *pass) put(ctx context.Context, text string) error {
	body, err := p.encode(text, p.marker)
	if err != nil {
		return err
	}
	err = p.rewrite(ctx, p.claimID, body, func() error {
		p.claimID = 0
		if p.issue != nil {
			return p.unclaimed(ctx)
		}
		return stop(model.ResultRetry, "the claim of this run on %s was deleted meanwhile", p.subject())
	})
	if err != nil {
		return err
	}
	p.applied("edit", strconv.FormatInt(p.claimID, 10), turnToken(p.marker.Key), "applied")
	passing := openPhase(p.marker.Phase)
	p.say(model.Saying{Where: fmt.Sprintf("comment on #%d", p.event.Number), Text: text, Passing: passing})
	return nil
}

// rewrite puts a body in the place of a comment of ours. Sending the same one twice does no harm. gone says what it means that
// the comment was deleted meanwhile.
func (p *pass) rewrite(ctx context.Context, id int64, body string, gone func() error) error {
	for sends := 1; ; sends++ {
		err := p.GitHub.EditComment(ctx, p.event.Repo, id, body)
		switch k := github.KindOf(err); {
		case err == nil:
			return nil
		case k == github.NotFound || k == github.Gone:
			p.forget(id)
			return gone()
		case k != github.Unclear || sends == maxSends:
			return err
		}
	}
}

// encode is the comment of a turn as a marker stands.
func (p *pass) encode(text string, m model.TurnMarker) (string, error) {
	b := p.bodyOf(text, m)
	b.Tokens = []string{turnToken(m.Key)}
	return p.Codec.Encode(b)
}

// maxReason is how many bytes of a reason a marker holds: the comment says it at length.
const maxReason = 2000

// clip is the beginning of a text that is too long for a marker.
func clip(text string) string {
	if len(text) <= maxReason {
		return text
	}
	return strings.ToValidUTF8(text[:maxReason], "") + " […]"
}

// bodyOf is the comment of a turn, on a pull request or on an issue, but for its token.
func (p *pass) bodyOf(text string, m model.TurnMarker) journal.Body {
	m.Reason = clip(m.Reason)
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
		return turn.ClaimText(p.snap.Pull, p.feedback, p.marker)
	}
	return flow.ClaimText(*p.snap.Thread, p.markerOf(p.marker), p.feedback, p.saves()) + turn.Earlier(p.snap.Thread.URL, p.marker.Tries)
}

func (p *pass) plannedText(m model.TurnMarker) string {
	if p.issue == nil {
		return turn.PlannedText(p.snap.Pull, p.feedback, m)
	}
	return flow.PlannedText(*p.snap.Thread, p.markerOf(m))
}

func (p *pass) failedText(next string) string {
	if p.issue == nil {
		return turn.FailedText(p.snap.Pull, p.feedback, p.marker, next)
	}
	return flow.FailedText(*p.snap.Thread, p.markerOf(p.marker), next, p.kept) + turn.Earlier(p.snap.Thread.URL, p.marker.Tries)
}

// openPhase says that a turn in this phase has not come to an end.
func openPhase(phase model.Phase) bool {
	return phase == model.PhaseStarted || phase == model.PhasePlanned
}

// remove deletes a comment of ours; one that is gone already is fine.
func (p *pass) remove(ctx context.Context, id int64, token string) error {
	if err := p.GitHub.DeleteComment(ctx, p.event.Repo, id); err != nil && github.KindOf(err) != github.NotFound {
		return err
	}
	p.forget(id)
	p.applied("delete", strconv.FormatInt(id, 10), token, "applied")
	return nil
}

// forget takes a conversation comment that is gone out of what this run remembers.
func (p *pass) forget(id int64) {
	p.memory.comments = slices.DeleteFunc(slices.Clone(p.memory.comments), func(c model.Comment) bool {
		return c.Kind == model.KindIssue && c.ID == id
	})
}

func (p *pass) say(s model.Saying) { p.report.Said = append(p.report.Said, s) }
