package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/landing"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/turns"
	"github.com/mergexo/mergexo/internal/external"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// evaluate gathers what the decision about a command on this pull request needs, and decides.
func (p *desk) evaluate(ctx context.Context, c command.Case) (_ decision, err error) {
	c.Target, c.State, c.Agent = p.Snap, p.State, p.Settings.Agent.Adapter
	c.Gates = turn.Gates(p.Snap, p.State, p.Policy)
	if c.Facts.Halted, err = halted(ctx, p, c.Command); err != nil {
		return decision{}, err
	}
	if answer, early := command.Early(c); early && slices.Contains([]string{"merge", "revert", "review"}, c.Command.Name) {
		return decision{answer: answer, asked: c}, nil
	}
	switch c.Command.Name {
	case "merge":
		c.Found, err = p.topics.merging.Find(ctx, c)
	case "revert":
		return decision{revert: true, asked: c}, nil
	case "review":
		c.Found, err = p.topics.review.Find(ctx, c)
	case "delegate":
		login := strings.ToLower(c.Command.Login)
		err = p.Ask(ctx, []string{login})
		c.Facts.Permission = p.Memory.Rights[login]
	case "why":
		if c.Status, c.Gates, err = p.Explain(ctx); err == nil {
			c.MergeGates, c.Status.Train, err = landing.GatesInTrain(ctx, p.topics.merging)
		}
	case "status", "retry":
		var pending []model.Comment
		pending, err = p.Pending(ctx)
		c.Status = thread.PullStatus(p.Thread, pending)
		if again, failed := command.FailedMerge(c); failed && err == nil && !c.Away {
			c.Found, err = p.topics.merging.Find(ctx, again)
		}
	}
	if err != nil {
		return decision{}, err
	}
	permission := c.Facts.Permission
	if c.Facts, err = p.facts(ctx, c.Command); err != nil {
		return decision{}, err
	}
	c.Facts.Permission = permission
	return decision{answer: command.Decide(c), asked: c}, nil
}

// halted says, of the merge that a command cancels, that a run has begun it, and that none is at it.
func halted(ctx context.Context, p *desk, c command.Command) (bool, error) {
	m := p.State.Merge()
	if c.Name != "merge" || !c.Cancel || m == nil || m.Marker.State != model.MergeRunning {
		return false, nil
	}
	live, err := thread.MergeAtWork(ctx, p.Thread, *m)
	return !live, err
}

// evaluateIssue decides a command about the work on the issue that it was given on.
func (p *desk) evaluateIssue(ctx context.Context, c command.Case, said command.Said) (command.Answer, error) {
	c.Away = thread.TakenAt(p.Thread, said.Comment)
	w := command.Work{Number: p.Event.Number}
	s, err := turns.NextStep(ctx, p.topics.issue)
	if err != nil {
		return command.Answer{}, err
	}
	w.Newest, w.Next = s.From, s.Why
	live := (*thread.Stop)(nil)
	if _, err := thread.DeadClaims(ctx, p.Thread); errors.As(err, &live) {
		w.Next, w.Instead = live.Reason, live.Reason
	} else if err != nil {
		return command.Answer{}, err
	}
	if c.Command.Name == "retry" && live == nil {
		p.State.Retry()
		w.Accepts = p.State.EditAccepted
		if s, err = turns.NextStep(ctx, p.topics.issue); err != nil {
			return command.Answer{}, err
		}
		w.GoesOn, w.Instead = slices.Contains([]flow.Act{flow.Begin, flow.GoOn, flow.Finish}, s.Act), s.Why
	}
	return command.DecideOnIssue(c, w), nil
}

// Look gathers all that tells why something happens here or does not. How the head stands to the last accepted one is asked
// only where a turn would ask it now.
func (p *desk) Look(ctx context.Context) (model.Status, []model.Gate, error) {
	e := turn.Evidence{Relation: model.Unknown, Rights: p.Memory.Rights}
	var err error
	if e.Pending, err = p.Pending(ctx); err != nil {
		return model.Status{}, nil, err
	}
	if e.Live, err = thread.LiveTurn(ctx, p.Thread); err != nil {
		return model.Status{}, nil, err
	}
	if len(e.Pending) > 0 && e.Live == nil && p.State.Block == nil && p.State.Accepted != "" && p.State.Accepted != p.Snap.Pull.HeadSHA {
		if e.Relation, err = thread.Compare(ctx, p.Thread, p.State.Accepted, p.Snap.Pull.HeadSHA); err != nil {
			return model.Status{}, nil, err
		}
	}
	standing := thread.PullStatus(p.Thread, e.Pending)
	if p.Snap.Pull.CrossRepo && p.Settings.External.Enabled {
		if err := thread.AskHost(ctx, p.Thread); err != nil {
			return model.Status{}, nil, err
		}
		return standing, external.Gates(thread.ForkFacts(p.Thread, p.MayLetIn)), nil
	}
	return standing, turn.Why(p.Snap, p.State, p.Policy, e), nil
}

// Explain is Look, and asks a run itself where all conditions of a turn are met: a merge may be at work, or the budget used up.
func (p *desk) Explain(ctx context.Context) (model.Status, []model.Gate, error) {
	standing, gates, err := p.Look(ctx)
	if _, unmet := model.Unmet(gates); err != nil || unmet || standing.Pending == 0 {
		return standing, gates, err
	}
	ended, stop := p.topics.foresee(ctx), (*thread.Stop)(nil)
	switch {
	case ended == nil:
		gates = append(gates, model.NewGate(turn.GateNext, true, "a run has work here"))
	case errors.As(ended, &stop) || errors.Is(ended, config.ErrInvalid):
		gates = append(gates, model.NewGate(turn.GateNext, false, "%s", ended))
	default:
		return standing, gates, ended
	}
	return standing, gates, nil
}

// maxLost is how many commits a reply lists that a rewrite took away.
const maxLost = 20

// facts asks what an unblock depends on: how the heads stand to each other, and what a rewrite took away.
func (p *desk) facts(ctx context.Context, c command.Command) (f command.Facts, err error) {
	accepted, head := p.State.Accepted, p.Snap.Pull.HeadSHA
	named := c.Head != "" && len(c.Head) < len(head) && strings.HasPrefix(head, c.Head)
	switch {
	case c.Name != "unblock" || p.State.Block == nil || p.Snap.Pull.State != model.PullOpen:
		return f, nil
	case c.Head != "" && !strings.HasPrefix(head, c.Head):
		f.Missing, err = unresolved(ctx, p, c.Head)
		return f, err
	case accepted == "" || accepted == head:
		f.Relation = model.Identical
		if named {
			f.Ambiguous, err = unresolved(ctx, p, c.Head)
		}
		return f, err
	}
	// The head is asked about by the name that was given: GitHub knows no commit by an abbreviation that means several.
	name := cmp.Or(c.Head, head)
	f.Relation, f.Lost, f.More, err = p.GitHub.Commits.Lost(ctx, p.Event.Repo, accepted, name, maxLost)
	switch {
	case github.KindOf(err) == github.Unavailable && c.Head != head:
		f.Problem = "GitHub did not compare the head with the last accepted one"
		return f, nil
	case github.KindOf(err) == github.Unavailable: // the head is named in full: only what is lost cannot be told
		p.Log.Warn("lost_commits_unknown", p.NumberKey(), p.Event.Number, "error", err)
		return f, nil
	case err != nil || f.Relation != model.Unknown:
		return f, err
	case named: // one of the two names means none or several, and the old head's is whole
		f.Ambiguous = true
	case c.Head == "":
		if err = p.Open(ctx); err != nil {
			return f, err
		}
		if f.Relation, err = thread.RelationIn(ctx, p.Checkout, accepted, head); f.Relation == model.Unknown && err == nil {
			f.Problem = "The head has not been compared with the last accepted one yet"
		}
	}
	return f, err
}

// unresolved says that a name of a commit means none, or several.
func unresolved(ctx context.Context, p *desk, name string) (bool, error) {
	_, err := p.GitHub.Commits.Resolve(ctx, p.Event.Repo, name)
	if k := github.KindOf(err); k == github.NotFound || k == github.Invalid {
		return true, nil
	}
	return false, err
}
