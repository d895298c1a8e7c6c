// Package engine handles events and commands: it reads the world once, lets the pure packages decide, applies the effects in
// order, and reports. Every trigger and every command takes this path, from a different start.
package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/landing"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/handoff"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/train"
)

// Engine handles events, sweeps and what people ask for at a terminal.
type Engine struct{ thread.World }

// Handle takes one event to its end. The error is for what the caller did wrong (settings, token, repository); all else
// is in the report.
func (e *Engine) Handle(ctx context.Context, ev model.Event) (model.Report, error) {
	thread.Begins(&e.World)
	began := e.Now()
	rep := model.Report{Result: model.ResultNothing, Number: ev.Number, Effects: []model.Effect{}}
	handle := e.handle
	if !e.Phase.Writes() {
		handle = e.handOver
	}
	err := handle(ctx, ev, &rep)
	rep.Calls.REST, rep.Calls.GraphQL = e.GitHub.Calls()
	rep.DurationMS = e.Now().Sub(began).Milliseconds()
	return rep, e.Conclude(err, &rep)
}

func (e *Engine) handle(ctx context.Context, ev model.Event, rep *model.Report) error {
	e.Number = ev.Number
	base, ofTrain := train.BaseOf(ev.Branch)
	switch {
	case ofTrain || ev.Number == 0 && ev.Branch != "":
		return e.advance(ctx, landing.TrainOrder{Repo: ev.Repo, Base: cmp.Or(base, ev.Branch), Perhaps: !ofTrain}, rep)
	case ours(ev):
		return thread.End(model.ResultNothing, "the event is MergeXO's own comment")
	case ev.Number == 0 && ev.SHA != "" && ev.Name != "push":
		return e.checked(ctx, ev, rep)
	case ev.Number == 0:
		return thread.End(model.ResultNothing, "the %s event names neither a pull request nor an issue", ev.Name)
	}
	err := e.lookAtAll(ctx, ev, rep)
	if g := (*github.Error)(nil); errors.As(err, &g) && g.Kind == github.NotFound && ev.Action != "" && !ev.IsPull && strings.Contains(g.Message, fmt.Sprintf("%s#%d ", ev.Repo, ev.Number)) {
		// The event itself tells that it was there.
		return thread.End(model.ResultNothing, "%s#%d no longer exists: it was deleted, transferred or converted after the event", ev.Repo, ev.Number)
	}
	return err
}

// checked continues what waits for the checks of a commit of which GitHub tells no number: the trains that test it, else the pull
// requests whose head it is.
func (e *Engine) checked(ctx context.Context, ev model.Event, rep *model.Report) (all error) {
	tested := false
	for _, branch := range ev.Branches {
		if base, is := train.BaseOf(branch); is {
			tested, all = true, errors.Join(all, e.advance(ctx, landing.TrainOrder{Repo: ev.Repo, Base: base}, rep))
		}
	}
	if tested {
		return all
	}
	pulls, err := e.GitHub.Pulls.OfCommits(ctx, ev.Repo, []string{ev.SHA})
	if err != nil {
		return err
	}
	for _, p := range pulls[ev.SHA] {
		if p.State == model.PullOpen && p.HeadSHA == ev.SHA {
			ev.Numbers = append(ev.Numbers, p.Number)
		}
	}
	if len(ev.Numbers) == 0 {
		return thread.End(model.ResultNothing, "commit %s is the head of no open pull request", markdown.Short(ev.SHA))
	}
	ev.Number, ev.IsPull = ev.Numbers[0], true
	e.Number, rep.Number = ev.Number, ev.Number
	return e.lookAtAll(ctx, ev, rep)
}

// lookAtAll takes turns on each number that the event names: a commit that was checked can be the head of several pull requests.
// The report is of the one that needs a person most, with what was done on all of them.
func (e *Engine) lookAtAll(ctx context.Context, ev model.Event, rep *model.Report) (all error) {
	if len(ev.Numbers) < 2 {
		return e.drain(ctx, newTask(ev), rep)
	}
	for i, number := range ev.Numbers {
		ev.Number = number
		one := model.Report{Result: model.ResultNothing, Number: number, Effects: []model.Effect{}}
		err := e.drain(ctx, newTask(ev), &one)
		all = errors.Join(all, e.Conclude(err, &one))
		if i == 0 {
			*rep = one
		} else {
			rep.Join(one)
		}
		// What the next job does at one number keeps no other from its agent.
		if over(ctx, err) && (e.Phase.Writes() || ctx.Err() != nil) || thread.Outlives(err) || e.Handed {
			return all
		}
	}
	return all
}

// handOver is an agent's job. It always hands something over, so that nothing in the directory means that the job died. How the number
// stands otherwise is for the next job to tell.
func (e *Engine) handOver(ctx context.Context, ev model.Event, rep *model.Report) error {
	if err := handoff.Fresh(e.Bundle); err != nil {
		return fmt.Errorf("%w: --bundle: %w", thread.ErrUsage, err)
	}
	live, log := e.Effects, e.Log
	defer func() { e.Effects, e.Log = live, log }()
	e.Effects, e.Log = effect.NewHanding(live), effect.Quiet(log)
	err := e.handle(ctx, ev, rep)
	if e.Handed || e.Number == 0 || live != nil {
		return err
	}
	s := (*thread.Stop)(nil)
	if !errors.As(err, &s) && err == nil { // the report says how several numbers ended
		s = thread.End(rep.Result, "%s", rep.Reason)
	}
	switch {
	case s == nil || s.Result == model.ResultFailed || s.Result == model.ResultRetry:
	case s.Result == model.ResultDone || s.Last != nil || s.Reason == "":
		err = thread.End(model.ResultNothing, "nothing needs an agent now; the apply phase continues from here")
	default:
		err = thread.End(model.ResultNothing, "%s", s.Reason)
	}
	nothing := handoff.Handoff{Repository: ev.Repo.String(), Number: e.Number, Ended: handoff.Nothing, Detail: rep.Reason}
	if err != nil {
		nothing.Detail = err.Error()
	}
	e.Handed = true
	_, werr := thread.New(&e.World, ev, rep, nil).Apply(ctx, effect.HandOver(e.Bundle, nothing))
	return errors.Join(err, werr)
}

// advance takes a merge train further, in a run that writes.
func (e *Engine) advance(ctx context.Context, o landing.TrainOrder, rep *model.Report) error {
	if !e.Phase.Writes() {
		return thread.End(model.ResultNothing, "a merge train is for the phase that writes")
	}
	o.Of = mergeRequests
	_, err := landing.AdvanceTrain(ctx, &e.World, rep, o)
	if err == nil && thread.Changed(rep.Effects) {
		rep.Result = model.ResultDone
	}
	return thread.Ended(&e.World, err)
}

// ours recognizes the event of a comment that we wrote ourselves without asking GitHub. Only a bot's comment is taken for
// ours by its shape: a person who copies a marker must not make us deaf to what that person says.
// A bot's review without words is what GitHub makes of each reply to a review comment.
func ours(ev model.Event) bool {
	wordless := ev.Name == "pull_request_review" && ev.CommentBody == ""
	return ev.Author.Bot && ev.Sender.Bot && (wordless || journal.LooksMarked(ev.CommentBody))
}

// MergeLocal builds, tests and lands a branch as a merge of a pull request does. The settings are those of the base branch;
// where it has none, the defaults. The error is for what the caller did wrong.
func (e *Engine) MergeLocal(ctx context.Context, order landing.LocalOrder) (model.Report, error) {
	began := e.Now()
	rep := model.Report{Result: model.ResultNothing, Effects: []model.Effect{}}
	err := landing.Local(ctx, &e.World, order, &rep)
	rep.DurationMS = e.Now().Sub(began).Milliseconds()
	return rep, e.Conclude(err, &rep)
}

// Conclude puts the end of a run into its report. Errors that are the caller's to fix are given back.
func (e *Engine) Conclude(err error, rep *model.Report) error {
	if rep.Result == model.ResultDone && len(rep.Effects) > 0 && !thread.Changed(rep.Effects) {
		rep.Result, rep.Reason = model.ResultNothing, strings.TrimSuffix("dry run: a live run would do this: "+rep.Reason, ": ")
	}
	if err == nil {
		return nil
	}
	rep.Reason = err.Error()
	var s *thread.Stop
	if errors.As(err, &s) {
		rep.Result = s.Result
		rep.Merge = s.Merge
		if s.Block != nil {
			rep.BlockedReason, rep.Expected, rep.Observed = s.Block.Reason, s.Block.Expected, s.Block.Observed
		}
		return nil
	}
	rep.Result = model.ResultFailed
	var gh *github.Error
	var g *git.Error
	switch {
	case errors.Is(err, context.Canceled):
		rep.Result = model.ResultRetry
		rep.Reason = "cancelled; the next run continues where this one stopped"
	case errors.Is(err, config.ErrInvalid), errors.Is(err, thread.ErrNumber), errors.Is(err, thread.ErrUsage), errors.Is(err, thread.ErrIdentity):
		return err
	case errors.As(err, &gh):
		return concludeGitHub(gh, rep)
	case errors.As(err, &g) && (g.Failure == git.Unreachable || g.Failure == git.Exhausted), agent.Starved(err):
		rep.Result = model.ResultRetry
	case errors.As(err, &g) && g.Failure == git.Denied && e.GitHub != nil:
		return fmt.Errorf("%w; %s", err, g.Fix())
	case errors.As(err, &g) && (g.Failure == git.Denied || g.Failure == git.NotFound):
		return err
	}
	return nil
}

func concludeGitHub(gh *github.Error, rep *model.Report) error {
	if gh.Lacks {
		return gh
	}
	switch gh.Kind {
	case github.Unauthorized, github.NotFound, github.Outdated:
		return gh
	case github.RateLimited, github.Unavailable, github.Unclear, github.TooHeavy, github.Expired:
		rep.Result = model.ResultRetry
	}
	if gh.Fix != "" {
		rep.Reason += "; " + gh.Fix
	}
	return nil
}

// Close ends what the engine has made on this machine for its run.
func (e *Engine) Close() error {
	var all error
	for _, i := range e.Isolated {
		all = errors.Join(all, i.Close())
	}
	e.Isolated = nil
	return all
}
