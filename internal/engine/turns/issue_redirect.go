package turns

import (
	"context"
	"slices"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// redirect tells people who talk about an issue where its work goes on, once for each comment.
func redirect(ctx context.Context, p *Issue, step flow.Step) error {
	m, number := step.From.Marker, p.Event.Number
	at := slices.IndexFunc(p.pulls, func(r model.PullRef) bool { return r.Number == m.Pull })
	pull := p.pulls[at]
	now, _ := turn.Batch(thread.Untold(p.Thread, p.queue), p.Policy)
	if len(now) == 0 {
		return thread.End(model.ResultNothing, "%s", step.Why)
	}
	var tokens []string
	for _, c := range now {
		tokens = append(tokens, thread.RedirectToken(number, c))
	}
	body := journal.Body{Text: flow.ClosedText(pull), Tokens: tokens[1:]} // it consumes nothing: the next attempt takes up what was said
	if pull.State == model.PullOpen {
		body = redirected(p, m, pull, now, tokens[1:])
	}
	if err := thread.SayOnce(ctx, p.Thread, tokens[0], body); err != nil {
		return err
	}
	p.Report.Result = model.ResultDone
	return nil
}

// redirected is the receipt for comments on an issue whose work goes on at its pull request.
func redirected(p *Issue, m model.IssueMarker, pull model.PullRef, now []model.Comment, tokens []string) journal.Body {
	number := p.Event.Number
	later := slices.DeleteFunc(slices.Clone(p.queue), func(c model.Comment) bool { return thread.Within([]model.Comment{c}, now) })
	mark := turn.Since(p.Snap, later)
	m.TurnMarker = model.TurnMarker{
		Repo: m.Repo, Number: number, Key: m.Key, Phase: model.PhaseDone, Events: turn.Keys(number, now), Since: mark.At, Seen: mark.ID,
		Session: m.Session, Spent: m.Spent, Head: m.Head,
	}
	m.Status = model.PhaseDone
	return journal.Body{Text: flow.RedirectText(pull, m.Flow), Tokens: tokens, Kind: journal.KindIssue, Marker: m}
}
