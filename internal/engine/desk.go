package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/landing"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// desk answers the commands that people give in one conversation, and at a terminal.
type desk struct {
	*thread.Thread
	topics *topics

	others map[int]*desk // further pull requests that commands are about
}

// Answer answers every command of this conversation that has no answer yet, oldest first, whichever event it came with.
func (p *desk) Answer(ctx context.Context) error {
	p.Due(model.DueCommand, time.Time{})
	open, err := thread.Commands(ctx, p.Thread, nil)
	if err != nil {
		return err
	}
	for _, said := range open {
		login := said.Comment.Author.Login
		standing := thread.CommandPolicy(p.Thread).RoleOf(said.Comment, p.Memory.Rights[strings.ToLower(login)])
		if standing == command.Stranger {
			continue
		}
		if err := p.obey(ctx, said, standing); err != nil {
			return err
		}
	}
	return nil
}

// obey answers the commands of one comment: a sign that they were seen, the replies, and a sign how they ended. A reply is
// the receipt of its command, and what the command changes is changed with it or before it.
func (p *desk) obey(ctx context.Context, said command.Said, standing command.Role) error {
	places := thread.Unanswered(p.Thread, said)
	if standing == command.Refused { // one refusal is enough
		places = slices.DeleteFunc(places, func(i int) bool { return i > 0 })
	}
	if len(places) > 0 && !said.Comment.Seen && !answersAtOnce(said) {
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
		if v := p.State.Commands[said.Key(p.Event.Number, i)]; v == model.Rejected || v == model.Failed {
			sign = github.ReactionConfused
		}
	}
	return p.react(ctx, said.Comment, sign)
}

// answersAtOnce says that the reply comes as soon as a sign would.
func answersAtOnce(said command.Said) bool {
	return !slices.ContainsFunc(said.Commands, func(c command.Command) bool { return c.Name != "review" })
}

// answerOne decides one command, carries it out and replies to it.
func (p *desk) answerOne(ctx context.Context, said command.Said, i int, standing command.Role) error {
	key := said.Key(p.Event.Number, i)
	d, err := p.lookInto(ctx, said, i, standing)
	if err != nil {
		return err
	}
	answer, err := p.carryOut(ctx, d, said, i)
	if err != nil {
		return err
	}
	if m, ok := answer.Marker.(model.CommandMarker); ok && !p.Snap.IsPull() && said.Comment.Kind == model.KindIssue && i == min(len(said.Commands)-1, command.MaxPerComment) {
		m.Seen = said.Comment.ID // an issue has no other receipts that say how far it is read
		answer.Marker = m
	}
	if _, err := p.respond(ctx, thread.CommandToken(key), command.Text(said, i, answer), answer.Marker); err != nil {
		return err
	}
	p.Log.Info("command_"+string(answer.Verdict), p.NumberKey(), p.Event.Number, "event_key", key, "command", said.Commands[min(i, len(said.Commands)-1)].Name, "by", said.Comment.Author.Login)
	p.Report.Result = model.ResultDone
	return thread.ReadAgain(ctx, p.Thread)
}

// decision says what a command leads to. Nothing of it has been done yet.
type decision struct {
	answer command.Answer
	// revert says that a revert has to be made and tested first; the result answers the case.
	revert bool
	asked  command.Case
	// about is another pull request that the command is about. What changes there is posted there first; posted is that
	// comment, if an earlier run got so far.
	about  *desk
	posted int64
}

// lookInto reads what a command is about and decides about it.
func (p *desk) lookInto(ctx context.Context, said command.Said, i int, standing command.Role) (decision, error) {
	c := command.Case{By: said.Comment.Author.Login, Key: said.Key(p.Event.Number, i), At: said.Comment.SaidAt(), URL: said.Comment.URL, Policy: p.Operators, Thread: p.Event.Number}
	c.Command = said.Commands[min(i, len(said.Commands)-1)]
	if answer, decided, err := p.decideHere(ctx, c, said, i, standing); decided || err != nil {
		return decision{answer: answer}, err
	}
	target, problem, err := p.target(ctx, p.Operators.Target(c.Command, p.Snap, p.Event.Number))
	if err != nil {
		return decision{}, err
	}
	return p.decideAbout(ctx, target, problem, c, said)
}

// decideHere decides about a command that is about no pull request; false: about a pull request it has to be decided.
func (p *desk) decideHere(ctx context.Context, c command.Case, said command.Said, i int, standing command.Role) (_ command.Answer, decided bool, err error) {
	switch n := len(p.State.Flows); {
	case standing == command.Refused:
		return command.Refuse(c), true, nil
	case i >= command.MaxPerComment:
		c.Command = command.Command{}
		return command.TooMany(c), true, nil
	case standing == command.Delegate && !c.Command.Delegable(p.Event.Number):
		return command.RefuseDelegate(c), true, nil
	case p.Operators.AboutIssue(c.Command, p.Snap, n > 0 && p.State.Flows[n-1].Marker.Status != model.PhaseDone):
		answer, err := p.evaluateIssue(ctx, c, said)
		return answer, true, err
	}
	return command.Answer{}, false, nil
}

// decideAbout decides about a command on the pull request that it is about; nil: none. The problem says why it cannot be on any.
func (p *desk) decideAbout(ctx context.Context, target *desk, problem string, c command.Case, said command.Said) (d decision, err error) {
	switch {
	case problem != "":
		return decision{answer: command.Misplaced(c, problem)}, nil
	case target == nil:
		return decision{answer: command.Decide(c)}, nil
	}
	c.Away = thread.TakenAt(target.Thread, said.Comment)
	if target == p {
		return p.evaluate(ctx, c)
	}
	if id, done := target.State.Tokens[thread.EffectToken(c.Key)]; done {
		return decision{asked: c, about: target, posted: id}, nil
	}
	d, err = target.evaluate(ctx, c)
	d.about = target
	return d, err
}

// target reads the pull request that a command is about; nil is for a command about none.
func (p *desk) target(ctx context.Context, t command.Target) (*desk, string, error) {
	switch {
	case t.Problem != "" || t == (command.Target{}):
		return nil, t.Problem, nil
	case t.Number == p.Event.Number:
		return pullOnly(p)
	case t.Issue == p.Event.Number:
		return p.target(ctx, command.OnlyPull(p.Snap.Of, t.Issue))
	}
	number := max(t.Number, t.Issue)
	other, known := p.others[number]
	if !known {
		other = topicsOf(thread.Another(p.Thread, model.Event{Name: p.Event.Name, Repo: p.Event.Repo, Number: number}, thread.NewMemory(p.Memory.Rights))).desk
		if p.others == nil {
			p.others = map[int]*desk{}
		}
		p.others[number] = other
	}
	stop := (*thread.Stop)(nil)
	switch err := other.Begin(ctx); {
	case github.KindOf(err) == github.NotFound:
		return nil, fmt.Sprintf("There is no issue or pull request %d in this repository.", number), nil
	case errors.Is(err, config.ErrInvalid): // other commands do not wait for that
		return nil, fmt.Sprintf("MergeXO cannot work on pull request %d: its settings are invalid.\n\n%s", number, markdown.Quote(err.Error())), nil
	case errors.Is(err, thread.ErrIdentity):
		return nil, fmt.Sprintf("This account cannot work on pull request %d.\n\n%s", number, markdown.Quote(err.Error())), nil
	case errors.As(err, &stop) && stop.Result == model.ResultNothing:
		return nil, fmt.Sprintf("MergeXO does not work on #%d: %s.", number, markdown.Plain(stop.Reason)), nil
	case github.KindOf(err) == github.Invalid:
		return nil, fmt.Sprintf("MergeXO cannot work on pull request %d.\n\n%s", number, markdown.Quote(err.Error())), nil
	case err != nil:
		return nil, "", err
	}
	if t.Issue != 0 {
		only := command.OnlyPull(other.Snap.Of, number)
		if only.Number == number {
			return nil, fmt.Sprintf("Number %d is a pull request: name it with `pr`, not `issue`.", number), nil
		}
		return p.target(ctx, only)
	}
	return pullOnly(other)
}

// pullOnly is a desk if it is a pull request's; else the problem says so.
func pullOnly(p *desk) (*desk, string, error) {
	if !p.Snap.IsPull() {
		return nil, fmt.Sprintf("Number %d is an issue, not a pull request.", p.Event.Number), nil
	}
	return p, "", nil
}

// carryOut does all that a command leads to but the reply, which it returns.
func (p *desk) carryOut(ctx context.Context, d decision, said command.Said, i int) (answer command.Answer, err error) {
	if d.revert {
		on := p
		if d.about != nil {
			on = d.about
		}
		if d.asked.Found, err = landing.Revert(ctx, on.topics.merging, d.asked); err != nil {
			return command.Answer{}, err
		}
		d.answer = command.Decide(d.asked)
		if n := d.asked.Found.Request; n != 0 {
			if err := p.request(ctx, d.asked, said, i, n); err != nil {
				return command.Answer{}, err
			}
		}
	}
	if d.about == nil || d.posted == 0 && !d.answer.Changes() {
		return d.answer, nil
	}
	c := d.asked
	if d.posted == 0 {
		if d.posted, err = d.about.respond(ctx, thread.EffectToken(c.Key), command.Text(said, i, d.answer), d.answer.Marker); err != nil {
			return command.Answer{}, err
		}
	}
	if c.Command.Wakes() && !slices.Contains(p.Memory.Followed, c.Key) {
		// Before the reply, which ends the command: if this run dies, the next one continues.
		return command.Answer{}, thread.Follow(p.Thread, d.about.Event.Number, c.Key)
	}
	there := fmt.Sprintf("%s#issuecomment-%d", d.about.Snap.Pull.URL, d.posted)
	return command.Answer{
		Verdict: model.Applied, Text: fmt.Sprintf("**Done on #%d**, see [the reply](%s).", d.about.Event.Number, there),
		Marker: model.CommandMarker{Key: c.Key, Command: c.Command.Name, Result: model.Applied, By: c.By, At: c.At, About: d.about.Event.Number},
	}, nil
}

// request asks for the merge of a pull request that a command has opened, as somebody would with the same words there.
func (p *desk) request(ctx context.Context, c command.Case, said command.Said, i, number int) error {
	other, problem, err := p.target(ctx, command.Target{Number: number})
	if err != nil || problem != "" {
		return cmp.Or(err, errors.New(problem))
	}
	token := thread.EffectToken(c.Key)
	if other.State.Tokens[token] != 0 {
		return nil
	}
	c.Command, c.Found = command.Command{Name: "merge", Train: c.Command.Train}, nil
	d, err := other.evaluate(ctx, c)
	if err != nil {
		return err
	}
	if _, err := other.respond(ctx, token, command.Text(said, i, d.answer), d.answer.Marker); err != nil {
		return err
	}
	if m, ok := d.answer.Marker.(model.MergeMarker); ok && slices.Contains([]model.MergeCode{"", model.CodeTrain, model.CodeQueue}, m.Reason) {
		return thread.Follow(p.Thread, number, c.Key) // nothing is missing, and no run hears of our own comment
	}
	return nil
}

// respond posts the answer to a command, with the marker that is its receipt.
func (p *desk) respond(ctx context.Context, token, text string, marker any) (id int64, err error) {
	body := journal.Body{Text: text}
	body.Marker, body.Kind = journal.Place(marker, p.Event.Repo, p.Event.Number)
	return p.Comment(ctx, token, body, nil)
}

// react shows under a comment how far its commands are. It is a courtesy where it cannot be done: the replies say it all.
func (p *desk) react(ctx context.Context, c model.Comment, sign string) error {
	_, err := p.Apply(ctx, effect.React(c, sign))
	if e := (*github.Error)(nil); errors.As(err, &e) && slices.Contains([]github.Kind{github.Forbidden, github.Invalid, github.Unclear}, e.Kind) {
		p.Log.Warn("reaction_not_left", p.NumberKey(), p.Event.Number, "comment", c.URL, "error", err)
		return nil
	}
	if err == nil {
		p.Memory.Reacted(c, sign)
	}
	return err
}
