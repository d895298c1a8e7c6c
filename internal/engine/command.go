package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// commandToken names the reply to one command; it is its receipt.
func commandToken(key string) string { return journal.Token("command", key) }

// effectToken names the comment that says a command where it has its effect, when that is in another conversation.
func effectToken(key string) string { return journal.Token("command_effect", key) }

// commands answers every command of this conversation that has no answer yet, oldest first, whichever event it came with.
func (p *pass) commands(ctx context.Context) error {
	open := p.openCommands()
	if err := p.askCommanders(ctx, open); err != nil {
		return err
	}
	for _, said := range open {
		login := said.Comment.Author.Login
		standing := p.operators.Stand(login, p.rights[strings.ToLower(login)])
		if standing == command.Stranger {
			continue
		}
		if err := p.obey(ctx, said, standing); err != nil {
			return err
		}
	}
	return nil
}

// openCommands are the comments with commands that have no answer yet, oldest first.
func (p *pass) openCommands() []command.Said {
	var open []command.Said
	for _, c := range p.snap.Comments {
		posted := c
		posted.UpdatedAt = c.CreatedAt // an edit makes no old command new
		if p.snap.SettledBelow(posted, p.state.Settled) || !p.operators.Audible(c, p.snap, p.event) {
			continue
		}
		if said, ok := command.Read(c, p.event); ok && !p.closed(said) {
			open = append(open, said)
		}
	}
	return open
}

// closed says that a comment's commands were answered, whatever became of the replies: whoever deletes or spoils a reply of
// ours must not make an operator's old command be given again. Our reaction is nobody else's to take away.
func (p *pass) closed(said command.Said) bool {
	if p.undone(said) {
		return false
	}
	return said.Comment.Closed || len(p.unanswered(said)) == 0 && !said.Comment.Seen
}

// undone says that the reply is gone that held everything up: then the command is given again, since whoever deletes a
// reply must not set going what an operator has stopped.
func (p *pass) undone(said command.Said) bool {
	c := said.Commands[0]
	_, answered := p.state.Commands[said.Key(p.event.Number, 0)]
	ended, stops := map[string]time.Time{"pause": p.state.Resumed, "release": p.state.Adopted}[c.Name]
	return stops && c.Problem == "" && len(said.Commands) == 1 && !answered && ended.Before(said.Comment.CreatedAt)
}

// unanswered are the places of a comment's commands that have no reply, the notice about all too many among them.
func (p *pass) unanswered(said command.Said) []int {
	var places []int
	for i := range min(len(said.Commands), command.MaxPerComment+1) {
		if _, ok := p.state.Commands[said.Key(p.event.Number, i)]; !ok {
			places = append(places, i)
		}
	}
	return places
}

// askCommanders asks for the rights of those whose words could count and who are not known yet.
func (p *pass) askCommanders(ctx context.Context, open []command.Said) error {
	var ask []string
	for _, said := range open {
		c := said.Comment
		login := strings.ToLower(c.Author.Login)
		if _, known := p.rights[login]; !known && !p.operators.Listed(login) && !p.state.Settled.Settles(c) && !slices.Contains(ask, login) {
			ask = append(ask, login)
		}
	}
	return p.ask(ctx, ask)
}

// obey answers the commands of one comment: a sign that they were seen, the replies, and a sign how they ended. A reply is
// the receipt of its command, and what the command changes is changed with it or before it.
func (p *pass) obey(ctx context.Context, said command.Said, standing command.Standing) error {
	places := p.unanswered(said)
	if standing == command.Refused { // one refusal is enough
		places = slices.DeleteFunc(places, func(i int) bool { return i > 0 })
	}
	if p.DryRun {
		for _, i := range places {
			p.planned("comment", fmt.Sprint(p.event.Number), commandToken(said.Key(p.event.Number, i)))
		}
		return nil
	}
	if len(places) > 0 {
		if err := p.react(ctx, said.Comment, github.ReactionEyes); err != nil {
			return err
		}
	}
	for _, i := range places {
		if err := p.answerOne(ctx, said, i, standing); err != nil {
			return err
		}
	}
	sign := github.ReactionRocket
	for i := range said.Commands {
		if v := p.state.Commands[said.Key(p.event.Number, i)]; v == model.Rejected || v == model.Failed {
			sign = github.ReactionConfused
		}
	}
	return p.react(ctx, said.Comment, sign)
}

// answerOne decides one command and replies to it.
func (p *pass) answerOne(ctx context.Context, said command.Said, i int, standing command.Standing) error {
	key := said.Key(p.event.Number, i)
	answer, err := p.decide(ctx, said, i, standing)
	if err != nil {
		return err
	}
	if m, ok := answer.Marker.(model.CommandMarker); ok && !p.snap.IsPull && said.Comment.Kind == model.KindIssue && i == min(len(said.Commands)-1, command.MaxPerComment) {
		m.Seen = said.Comment.ID // an issue has no other receipts that say how far it is read
		answer.Marker = m
	}
	if err := p.respond(ctx, commandToken(key), command.Text(said, i, answer), answer.Marker); err != nil {
		return err
	}
	p.Log.Info("command_"+string(answer.Verdict), p.numberKey(), p.event.Number, "event_key", key, "command", said.Commands[min(i, len(said.Commands)-1)].Name, "by", said.Comment.Author.Login)
	p.report.Result = model.ResultDone
	// Another run may have answered in the same moment: the first reply stays.
	if err := p.read(ctx); err != nil {
		return err
	}
	return p.tidy(ctx)
}

// decide finds what a command is about and what comes of it; what it changes elsewhere is changed there.
func (p *pass) decide(ctx context.Context, said command.Said, i int, standing command.Standing) (command.Answer, error) {
	c := command.Case{By: said.Comment.Author.Login, Key: said.Key(p.event.Number, i), At: said.Comment.CreatedAt, URL: said.Comment.URL, Policy: p.operators, Thread: p.event.Number}
	switch {
	case standing == command.Refused:
		c.Command = said.Commands[0]
		return command.Refuse(c), nil
	case i >= command.MaxPerComment:
		return command.TooMany(c), nil
	}
	c.Command = said.Commands[i]
	n := len(p.state.Flows)
	if p.operators.AboutIssue(c.Command, p.snap, n > 0 && p.state.Flows[n-1].Marker.Status != model.PhaseDone) {
		return p.judgeIssue(ctx, c, said)
	}
	target, problem, err := p.target(ctx, p.operators.Target(c.Command, p.snap, p.event.Number))
	if err != nil {
		return command.Answer{}, err
	}
	if problem != "" {
		return command.Misplaced(c, problem), nil
	}
	if target == nil {
		return command.Decide(c), nil
	}
	c.Away = target.takenAt(said.Comment)
	if target == p {
		return p.judge(ctx, c)
	}
	return p.elsewhere(ctx, target, c, said, i)
}

// target reads the pull request that a command is about; nil is for a command about none.
func (p *pass) target(ctx context.Context, t command.Target) (*pass, string, error) {
	switch {
	case t.Problem != "" || t == (command.Target{}):
		return nil, t.Problem, nil
	case t.Number == p.event.Number && !p.snap.IsPull:
		return nil, isIssue(t.Number), nil
	case t.Number == p.event.Number:
		return p, "", nil
	case t.Issue == p.event.Number:
		return p.target(ctx, command.OnlyPull(p.snap, t.Issue))
	}
	number := max(t.Number, t.Issue)
	other, known := p.others[number]
	if !known {
		other = &pass{Engine: p.Engine, event: model.Event{Name: p.event.Name, Repo: p.event.Repo, Number: number}, report: p.report, memory: &memory{rights: p.rights}}
		if p.others == nil {
			p.others = map[int]*pass{}
		}
		p.others[number] = other
	}
	switch err := other.begin(ctx); {
	case github.KindOf(err) == github.NotFound:
		return nil, fmt.Sprintf("There is no issue or pull request %d in this repository.", number), nil
	case errors.Is(err, config.ErrInvalid): // other commands do not wait for that
		return nil, fmt.Sprintf("Pull request %d cannot be worked on: its settings do not hold.\n\n%s", number, markdown.Quote(err.Error())), nil
	case errors.Is(err, ErrIdentity):
		return nil, fmt.Sprintf("Pull request %d cannot be worked on by this account.\n\n%s", number, markdown.Quote(err.Error())), nil
	case err != nil:
		return nil, "", err
	}
	switch {
	case t.Issue != 0:
		only := command.OnlyPull(other.snap, number)
		if only.Number == number {
			return nil, fmt.Sprintf("Number %d is a pull request: name it with `pr`, not `issue`.", number), nil
		}
		return p.target(ctx, only)
	case !other.snap.IsPull:
		return nil, isIssue(number), nil
	}
	return other, "", nil
}

func isIssue(number int) string {
	return fmt.Sprintf("Number %d is an issue, not a pull request.", number)
}

// elsewhere decides about another pull request than that of the conversation. What is changed is said there first, with
// the marker that makes it so, and then answered here.
func (p *pass) elsewhere(ctx context.Context, target *pass, c command.Case, said command.Said, i int) (command.Answer, error) {
	token := effectToken(c.Key)
	id, done := target.state.Tokens[token]
	if !done {
		answer, err := target.judge(ctx, c)
		if err != nil || !answer.Changes() {
			return answer, err
		}
		if err := target.respond(ctx, token, command.Text(said, i, answer), answer.Marker); err != nil {
			return command.Answer{}, err
		}
		id = target.lastComment
	}
	if takesUp[c.Command.Name] {
		// Before the reply, which ends the command: a run that dies on the way is made good by the next one.
		if err := p.goOn(ctx, model.Event{Name: p.event.Name, Repo: p.event.Repo, Number: target.event.Number, IsPull: true}); err != nil {
			return command.Answer{}, err
		}
	}
	there := fmt.Sprintf("%s#issuecomment-%d", target.snap.Pull.URL, id)
	return command.Answer{
		Verdict: model.Applied, Text: fmt.Sprintf("Done on #%d, see [there](%s).", target.event.Number, there),
		Marker: model.CommandMarker{Key: c.Key, Command: c.Command.Name, Result: model.Applied, By: c.By, At: c.At, About: target.event.Number},
	}, nil
}

// takesUp are the commands after which something may be pending that was held up.
var takesUp = map[string]bool{"unblock": true, "retry": true, "resume": true, "adopt": true, "merge": true}

// goOn takes up what is pending on another pull request or issue. How that ends is the run's end, and not the command's.
func (p *pass) goOn(ctx context.Context, ev model.Event) error {
	err := p.rounds(ctx, ev, p.report)
	p.report.Number = ev.Number
	if ctx.Err() != nil {
		return err
	}
	p.elsewhereEnded = errors.Join(p.elsewhereEnded, err)
	return nil
}

// placed makes a marker name the conversation that it stands in.
func (p *pass) placed(a command.Answer) command.Answer {
	repo, number := p.event.Repo.String(), p.event.Number
	switch m := a.Marker.(type) {
	case model.UnblockMarker:
		m.Repo, m.Number = repo, number
		a.Marker = m
	case model.PRMarker:
		m.Repo, m.Number = repo, number
		a.Marker = m
	case model.CommandMarker:
		m.Repo, m.Number = repo, number
		a.Marker = m
	case model.MergeMarker:
		m.Repo, m.Number = repo, number
		a.Marker = m
	}
	return a
}

// respond posts what came of a command, with the marker that is its receipt.
func (p *pass) respond(ctx context.Context, token, text string, marker any) error {
	body := journal.Body{Text: text, Marker: p.placed(command.Answer{Marker: marker}).Marker}
	switch marker.(type) {
	case model.UnblockMarker:
		body.Kind = journal.KindUnblock
	case model.PRMarker:
		body.Kind = journal.KindPR
	case model.MergeMarker:
		body.Kind = journal.KindMerge
	default:
		body.Kind = journal.KindCommand
	}
	id, err := p.comment(ctx, token, body, func() int64 { return p.state.Tokens[token] })
	p.lastComment = id
	return err
}

// react shows under a comment how far its commands are. It is a courtesy where it cannot be done: the replies say it all.
func (p *pass) react(ctx context.Context, c model.Comment, sign string) error {
	err := p.GitHub.React(ctx, p.event.Repo, c, sign)
	if e := (*github.Error)(nil); errors.As(err, &e) && slices.Contains([]github.Kind{github.Forbidden, github.Invalid, github.Unclear}, e.Kind) {
		p.Log.Warn("reaction_not_left", p.numberKey(), p.event.Number, "comment", c.URL, "error", err)
		return nil
	}
	if err == nil && c.Kind != model.KindReviewSummary {
		p.applied("react", fmt.Sprint(c.ID), journal.Token("react", fmt.Sprint(c.ID), sign), "applied")
	}
	return err
}

// takenAt says that a person had taken this pull request over by label when a comment was posted.
func (p *pass) takenAt(c model.Comment) bool {
	return slices.ContainsFunc(turn.Taken(p.snap.Pull, p.policy), func(s model.Span) bool {
		return s.Holds(c.CreatedAt, p.event.Carries(c))
	})
}
