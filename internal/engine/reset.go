package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/command"
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
		err := p.reset(ctx, r.Head)
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
	if err := p.begin(ctx); err != nil {
		return err
	}
	number := p.event.Number
	switch {
	case !p.snap.IsPull:
		return wrongNumber(number)
	case p.state.Block == nil:
		return stop(model.ResultNothing, "pull request %d is not blocked", number)
	}
	who := p.snap.Viewer.Login
	gates := turn.Gates(p.snap, p.state, p.policy)
	c := command.Case{
		Command: command.Command{Name: "unblock", Head: strings.ToLower(head)}, By: who, Thread: number, Terminal: true,
		Target: p.snap, State: p.state, Gates: gates,
		Away: slices.ContainsFunc(gates, func(g model.Gate) bool { return g.Name == turn.GateTaken && !g.Met }),
	}
	var err error
	if c.Facts, err = p.facts(ctx, c.Command); err != nil {
		return err
	}
	answer := command.Decide(c)
	m, ok := answer.Marker.(model.UnblockMarker)
	if !ok {
		return &Stop{Result: model.ResultBlocked, Reason: fmt.Sprintf("pull request %d stays blocked: %s", number, answer.Text), Block: &p.state.Block.Marker}
	}
	if !p.works() {
		return p.orders(ctx, head)
	}
	// The block and the head that is accepted make the token: whoever says the same again says it once.
	token := journal.Token("reset", strconv.FormatInt(p.state.Block.CommentID, 10), m.Head)
	if p.DryRun {
		p.planned("comment", strconv.Itoa(number), token)
		return stop(model.ResultNothing, "dry run: pull request %d would be unblocked at %s", number, m.Head)
	}
	text := fmt.Sprintf("**Unblocked** by %s, from a terminal\n\n%s", who, answer.Text)
	if err := p.respond(ctx, token, text, m); err != nil {
		return err
	}
	if err := p.begin(ctx); err != nil {
		return err
	}
	p.report.Result, p.report.Reason = model.ResultDone, fmt.Sprintf("pull request %d is unblocked at %s", number, m.Head)
	return nil
}

// works says that the token is the one that the work is done with: the block was said with it, or the settings name it.
func (p *pass) works() bool {
	login := p.snap.Viewer.Login
	if slices.ContainsFunc(p.settings.Repo.Bots, func(l string) bool { return strings.EqualFold(l, login) }) {
		return true
	}
	return slices.ContainsFunc(p.snap.Comments, func(c model.Comment) bool {
		return c.Kind == model.KindIssue && c.ID == p.state.Block.CommentID && strings.EqualFold(c.Author.Login, login)
	})
}

// orders gives the unblock command as the person whose token this is, unless that has been done and is not answered yet.
func (p *pass) orders(ctx context.Context, head string) error {
	line := command.Word + " unblock"
	if head != "" {
		line += " head_sha=" + head
	}
	number := p.event.Number
	token := journal.Token("reset_command", strconv.FormatInt(p.state.Block.CommentID, 10), line)
	since := p.state.Block.At
	said := func() (ids []int64) {
		for _, c := range p.snap.Comments {
			mine := strings.EqualFold(c.Author.Login, p.snap.Viewer.Login) && strings.TrimSpace(c.Posted) == line
			_, answered := p.state.Commands[command.Said{Comment: c}.Key(number, 0)]
			if mine && !answered && !c.CreatedAt.Before(since) {
				ids = append(ids, c.ID)
			}
		}
		return ids
	}
	reason := fmt.Sprintf("%s gave the command on pull request %d: %s; the next run decides", p.snap.Viewer.Login, number, line)
	switch {
	case len(said()) > 0:
		p.applied("comment", strconv.Itoa(number), token, "present")
		return stop(model.ResultNothing, "%s", reason)
	case p.DryRun:
		p.planned("comment", strconv.Itoa(number), token)
		return stop(model.ResultNothing, "dry run: %s would comment on pull request %d: %s", p.snap.Viewer.Login, number, line)
	}
	err := p.create(ctx, "comment", strconv.Itoa(number), token, func() error {
		_, err := p.GitHub.CreateComment(ctx, p.event.Repo, number, line)
		return err
	}, func() bool { return len(said()) > 0 })
	if err != nil {
		return err
	}
	p.say(model.Saying{Where: fmt.Sprintf("comment on #%d", number), Text: line})
	if err := p.onlyFirst(ctx, said); err != nil {
		return err
	}
	p.report.Result, p.report.Reason = model.ResultDone, reason
	return nil
}

// onlyFirst takes back all but the first of the same command that several processes gave in one moment.
func (p *pass) onlyFirst(ctx context.Context, said func() []int64) error {
	if err := p.read(ctx); err != nil {
		return err
	}
	if ids := said(); len(ids) > 1 {
		for _, id := range ids[1:] {
			if err := p.remove(ctx, id, ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// wrongNumber is the mistake of whoever named an issue where a pull request is wanted.
func wrongNumber(number int) error {
	return fmt.Errorf("%w: number %d is an issue; name the pull request that closes it", ErrNumber, number)
}
