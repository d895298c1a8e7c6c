package engine

import (
	"context"
	"slices"
	"strconv"

	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// redirect tells people who talk about an issue where its work goes on, once for each comment.
func (p *pass) redirect(ctx context.Context, step flow.Step) error {
	m, number := step.From.Marker, p.event.Number
	at := slices.IndexFunc(p.snap.Branch.Pulls, func(r model.PullRef) bool { return r.Number == m.Pull })
	pull := p.snap.Branch.Pulls[at]
	var tokens []string
	now, later := turn.Batch(p.queue, p.policy)
	now = slices.DeleteFunc(now, func(c model.Comment) bool { // an edited one was redirected before
		return p.state.Tokens[journal.Token("redirect", strconv.Itoa(number), strconv.FormatInt(c.ID, 10))] != 0
	})
	if len(now) == 0 {
		return stop(model.ResultNothing, "%s", step.Why)
	}
	for _, c := range now {
		tokens = append(tokens, journal.Token("redirect", strconv.Itoa(number), strconv.FormatInt(c.ID, 10)))
	}
	if p.DryRun {
		p.planned("comment", strconv.Itoa(number), tokens[0])
		return stop(model.ResultNothing, "dry run: %s would be redirected to pull request %d", step.From.URL, m.Pull)
	}
	if pull.State != model.PullOpen { // what was said is for the next attempt to take up, if there is to be one
		return p.tellClosed(ctx, pull, tokens)
	}
	mark := turn.Since(p.snap, later)
	m.TurnMarker = model.TurnMarker{
		Repo: m.Repo, Number: number, Key: m.Key, Phase: model.PhaseDone, Events: turn.Keys(number, now), Since: mark.At, Seen: mark.ID,
		Session: m.Session, Spent: m.Spent, Head: m.Head,
	}
	m.Status = model.PhaseDone
	body := journal.Body{Text: flow.RedirectText(pull, m.Flow), Tokens: tokens[1:], Kind: journal.KindIssue, Marker: m}
	if _, err := p.comment(ctx, tokens[0], body, func() int64 { return p.state.Tokens[tokens[0]] }); err != nil {
		return err
	}
	if err := p.read(ctx); err != nil {
		return err
	}
	p.report.Result = model.ResultDone
	return p.tidy(ctx)
}

// tellClosed tells people who comment on an issue whose pull request is over how it could go on. It consumes nothing.
func (p *pass) tellClosed(ctx context.Context, pull model.PullRef, tokens []string) error {
	body := journal.Body{Text: flow.ClosedText(pull), Tokens: tokens[1:]}
	if _, err := p.comment(ctx, tokens[0], body, func() int64 { return p.state.Tokens[tokens[0]] }); err != nil {
		return err
	}
	p.report.Result = model.ResultDone
	return nil
}
