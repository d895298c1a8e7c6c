package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// Reset is what an operator at a terminal wants unblocked.
type Reset struct {
	Repo model.Repo
	// Numbers are pull requests; none means every one that is blocked.
	Numbers []int
	// Head is the head that is accepted, or its beginning; empty where the old lineage has to be restored.
	Head string
}

// Reset unblocks pull requests by the rules of the unblock command, and gives one report for each, in their order. With
// the token that MergeXO works with it writes the marker itself; with a person's, whose markers would not count, it gives
// the command as that person, and the next run decides. The error is for what the caller did wrong.
func (e *Engine) Reset(ctx context.Context, r Reset) ([]model.Report, error) {
	numbers := r.Numbers
	if len(numbers) == 0 {
		_, waiting, err := e.Standings(ctx, r.Repo)
		if err != nil {
			return nil, err
		}
		for _, n := range waiting {
			if n.Kind == model.NeedBlock {
				numbers = append(numbers, n.Number)
			}
		}
	}
	reports, wrong := []model.Report{}, error(nil)
	for _, n := range slices.Compact(slices.Sorted(slices.Values(numbers))) {
		rep := model.Report{Result: model.ResultNothing, Number: n, Effects: []model.Effect{}}
		restBefore, graphqlBefore := e.GitHub.Calls()
		began := e.Now()
		p := e.onlooker(r.Repo, n, &rep)
		err := p.EndedBy(p.reset(ctx, r.Head))
		p.close()
		rest, graphql := e.GitHub.Calls()
		rep.Calls.REST, rep.Calls.GraphQL = rest-restBefore, graphql-graphqlBefore
		rep.DurationMS = e.Now().Sub(began).Milliseconds()
		mistake := e.Conclude(err, &rep)
		rep.Mistaken, wrong = mistake != nil, errors.Join(wrong, mistake)
		reports = append(reports, rep)
	}
	return reports, wrong
}

// reset unblocks one pull request.
func (p *pass) reset(ctx context.Context, head string) error {
	if err := p.Begin(ctx); err != nil {
		return err
	}
	number := p.Event.Number
	switch {
	case !p.Snap.IsPull:
		return thread.WrongNumber(number)
	case p.State.Block == nil:
		return thread.End(model.ResultNothing, "pull request %d is not blocked", number)
	}
	who := p.Snap.Viewer.Login
	gates := turn.Gates(p.Snap, p.State, p.Policy)
	c := command.Case{
		Command: command.Command{Name: "unblock", Head: strings.ToLower(head)}, By: who, Thread: number, Terminal: true,
		Target: p.Snap, State: p.State, Gates: gates,
		Away: slices.ContainsFunc(gates, func(g model.Gate) bool { return g.Name == turn.GateTaken && !g.Met }),
	}
	var err error
	if c.Facts, err = p.facts(ctx, c.Command); err != nil {
		return err
	}
	answer := command.Decide(c)
	m, ok := answer.Marker.(model.UnblockMarker)
	if !ok {
		return &thread.Stop{Result: model.ResultBlocked, Reason: fmt.Sprintf("pull request %d stays blocked: %s", number, answer.Text), Block: &p.State.Block.Marker}
	}
	if !p.works() {
		if p.Snap.Viewer.Bot { // whom no run hears
			return thread.OtherIdentity(p.blocker(), who, p.SettingsBranch())
		}
		return p.orders(ctx, head)
	}
	// The block and the head that is accepted make the token: whoever says the same again says it once.
	token := journal.Token("reset", strconv.FormatInt(p.State.Block.CommentID, 10), m.Head)
	text := fmt.Sprintf("**Unblocked** by %s, from a terminal\n\n%s", who, answer.Text)
	if err := p.respond(ctx, token, text, m); err != nil {
		return err
	}
	if err := p.Begin(ctx); err != nil {
		return err
	}
	p.Report.Result, p.Report.Reason = model.ResultDone, fmt.Sprintf("pull request %d is unblocked at %s", number, m.Head)
	return nil
}

// works says that the token is the one that the work is done with: the block was said with it, or the settings name it.
func (p *pass) works() bool {
	login := p.Snap.Viewer.Login
	if slices.ContainsFunc(p.Settings.Repo.Bots, func(l string) bool { return strings.EqualFold(l, login) }) {
		return true
	}
	return strings.EqualFold(p.blocker().Author.Login, login)
}

// blocker is who has said the block.
func (p *pass) blocker() model.Foreign {
	f := model.Foreign{URL: p.State.Block.URL}
	for _, c := range p.Snap.Comments {
		if c.Kind == model.KindIssue && c.ID == p.State.Block.CommentID {
			f.Author = c.Author
		}
	}
	return f
}

// orders gives the unblock command as the person whose token this is, unless that has been done and is not answered yet.
func (p *pass) orders(ctx context.Context, head string) error {
	line := command.Word + " unblock"
	if head != "" {
		line += " head_sha=" + head
	}
	number := p.Event.Number
	token := journal.Token("reset_command", strconv.FormatInt(p.State.Block.CommentID, 10), line)
	reason := fmt.Sprintf("%s gave the command on pull request %d: %s; the next run decides", p.Snap.Viewer.Login, number, line)
	switch {
	case len(p.Given(line)) > 0:
		p.Applied("comment", strconv.Itoa(number), token, effect.Present)
		return thread.End(model.ResultNothing, "%s", reason)
	}
	_, err := p.Apply(ctx, effect.Comment{Number: number, Token: token, Body: line, Find: effect.Mark{Line: line}})
	if err != nil {
		return err
	}
	p.Say(model.Saying{Where: fmt.Sprintf("comment on #%d", number), Text: line})
	if err := p.onlyFirst(ctx, line); err != nil {
		return err
	}
	p.Report.Result, p.Report.Reason = model.ResultDone, reason
	return nil
}

// onlyFirst takes back all but the first of the same command that several processes gave in one moment.
func (p *pass) onlyFirst(ctx context.Context, line string) error {
	if err := p.Read(ctx); err != nil {
		return err
	}
	if ids := p.Given(line); len(ids) > 1 {
		for _, id := range ids[1:] {
			if err := p.Remove(ctx, id, ""); err != nil {
				return err
			}
		}
	}
	return nil
}
