package issues

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
	at := slices.IndexFunc(p.Snap.Branch.Pulls, func(r model.PullRef) bool { return r.Number == m.Pull })
	pull := p.Snap.Branch.Pulls[at]
	now, _ := turn.Batch(thread.Untold(p.Thread, p.queue), p.Policy)
	if len(now) == 0 {
		return thread.End(model.ResultNothing, "%s", step.Why)
	}
	var tokens []string
	for _, c := range now {
		tokens = append(tokens, thread.RedirectToken(number, c))
	}
	if pull.State != model.PullOpen { // what was said is for the next attempt to take up, if there is to be one
		return tellClosed(ctx, p, pull, tokens)
	}
	mark := turn.Since(p.Snap, slices.DeleteFunc(slices.Clone(p.queue), func(c model.Comment) bool { return thread.Within([]model.Comment{c}, now) }))
	m.TurnMarker = model.TurnMarker{
		Repo: m.Repo, Number: number, Key: m.Key, Phase: model.PhaseDone, Events: turn.Keys(number, now), Since: mark.At, Seen: mark.ID,
		Session: m.Session, Spent: m.Spent, Head: m.Head,
	}
	m.Status = model.PhaseDone
	body := journal.Body{Text: flow.RedirectText(pull, m.Flow), Tokens: tokens[1:], Kind: journal.KindIssue, Marker: m}
	if _, err := p.Comment(ctx, tokens[0], body, nil); err != nil {
		return err
	}
	if err := p.Read(ctx); err != nil {
		return err
	}
	p.Report.Result = model.ResultDone
	return p.Tidy(ctx)
}

// tellClosed tells people who comment on an issue whose pull request is over how it could go on. It consumes nothing.
func tellClosed(ctx context.Context, p *Issue, pull model.PullRef, tokens []string) error {
	body := journal.Body{Text: flow.ClosedText(pull), Tokens: tokens[1:]}
	if err := thread.SayOnce(ctx, p.Thread, tokens[0], body); err != nil {
		return err
	}
	p.Report.Result = model.ResultDone
	return nil
}
