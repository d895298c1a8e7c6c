package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// Reset unblocks one pull request.
func (p *desk) Reset(ctx context.Context, head string) error {
	if err := thread.BeginPull(ctx, p.Thread); err != nil {
		return err
	}
	number := p.Event.Number
	if p.State.Block == nil {
		return thread.End(model.ResultNothing, "pull request %d is not blocked", number)
	}
	who := p.Snap.Viewer.Login
	gates := turn.Gates(p.Snap, p.State, p.Policy)
	c := command.Case{
		Command: command.Command{Name: "unblock", Head: strings.ToLower(head)}, By: who, Thread: number, Terminal: true,
		Target: p.Snap, State: p.State, Gates: gates,
		Away: slices.ContainsFunc(gates, func(g model.Gate) bool { return g.Name == model.GateTaken && !g.Met }),
	}
	var err error
	if c.Facts, err = p.facts(ctx, c.Command); err != nil {
		return err
	}
	answer := command.Decide(c)
	m, ok := answer.Marker.(model.UnblockMarker)
	if !ok {
		why := strings.ReplaceAll(markdown.Flat(answer.Text), "`", "")
		return &thread.Stop{Result: model.ResultBlocked, Reason: fmt.Sprintf("pull request %d stays blocked: %s", number, why), Block: &p.State.Block.Marker}
	}
	if !works(p) {
		if p.Snap.Viewer.Bot { // whom no run hears
			return thread.OtherIdentity(blocker(p), who)
		}
		return orders(ctx, p, head)
	}
	// The block and the head that is accepted make the token: whoever says the same again says it once.
	token := journal.Token("reset", strconv.FormatInt(p.State.Block.CommentID, 10), m.Head)
	text := fmt.Sprintf("%s\n\nBy %s, from a terminal.", answer.Text, who)
	if _, err := p.respond(ctx, token, text, m); err != nil {
		return err
	}
	if err := p.Begin(ctx); err != nil {
		return err
	}
	p.Report.Result, p.Report.Reason = model.ResultDone, fmt.Sprintf("pull request %d is unblocked at %s", number, m.Head)
	return nil
}

// works says that the token is the one that the work is done with: the block was said with it, or the settings name it.
func works(p *desk) bool {
	login := p.Snap.Viewer.Login
	return model.Named(p.Settings.Repo.Bots, login) || strings.EqualFold(blocker(p).Author.Login, login)
}

// blocker is who has said the block.
func blocker(p *desk) model.Foreign {
	f := model.Foreign{URL: p.State.Block.URL}
	for _, c := range p.Snap.Comments {
		if c.Kind == model.KindIssue && c.ID == p.State.Block.CommentID {
			f.Author = c.Author
		}
	}
	return f
}

// orders gives the unblock command as the person whose token this is, unless that has been done and is not answered yet.
func orders(ctx context.Context, p *desk, head string) error {
	line := command.Word + " unblock"
	if head != "" {
		line += " head_sha=" + head
	}
	number := p.Event.Number
	token := journal.Token("reset_command", strconv.FormatInt(p.State.Block.CommentID, 10), line)
	reason := fmt.Sprintf("%s gave the command on pull request %d: %s; the next run decides", p.Snap.Viewer.Login, number, line)
	if len(thread.Given(p.Thread, line)) > 0 {
		thread.Applied(p.Thread, "comment", strconv.Itoa(number), token, effect.Present)
		return thread.End(model.ResultNothing, "%s", reason)
	}
	_, err := p.Apply(ctx, effect.Comment(number, token, line, func() int64 { return cmp.Or(append(thread.Given(p.Thread, line), 0)...) }))
	if err != nil {
		return err
	}
	p.Say(model.Saying{Where: fmt.Sprintf("comment on #%d", number), Text: line})
	if err := p.Read(ctx); err != nil {
		return err
	}
	ids := thread.Given(p.Thread, line)
	for _, id := range ids[min(1, len(ids)):] { // several processes gave the same in one moment: the first stays
		if err := p.Remove(ctx, id, ""); err != nil {
			return err
		}
	}
	p.Report.Result, p.Report.Reason = model.ResultDone, reason
	return nil
}
