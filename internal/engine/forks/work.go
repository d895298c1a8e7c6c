package forks

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/landing"
	"github.com/mergexo/mergexo/internal/engine/redact"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/external"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// goOn takes what was let in from where it stands to a request to merge, or to its end.
func (g *admission) goOn(ctx context.Context) (*thread.Stop, error) {
	if !g.Claims[g.marker.Claim] {
		g.record().Sign()
		g.marker.Attempt++
		if err := g.record().Claim(ctx, text(g)); err != nil {
			return nil, err
		}
	}
	if err := reach(ctx, g); err != nil {
		return g.stumble(ctx, err)
	}
	for g.marker.Open() {
		var err error
		switch g.marker.State {
		case model.ExternalLetIn:
			err = g.evaluate(ctx)
		case model.ExternalFix:
			err = g.repair(ctx)
		default:
			return g.request(ctx)
		}
		if err != nil {
			return g.stumble(ctx, err)
		}
	}
	return g.conclude(ctx)
}

// text is what the comment says while it is open.
func text(g *admission) string {
	if g.marker.State == model.ExternalLetIn {
		return external.LetInText(g.Snap.Pull, g.marker, len(g.Settings.External.Evaluate) > 0)
	}
	return external.GoingText(g.Snap.Pull, g.marker)
}

// stumble is for an error on the way: what the commands did wrong counts as an attempt and is told, and all else is the
// run's.
func (g *admission) stumble(ctx context.Context, err error) (*thread.Stop, error) {
	var failed *agent.Error
	var moved *git.ErrNoRef
	var late *work.Ending // the run's time is up, or the machine does not run what it has to
	if !errors.As(err, &late) && agent.Starved(err) {
		late = &work.Ending{Cause: err, Waits: true}
	}
	switch {
	case late != nil && late.Waits:
		g.marker.Attempt--
		if err := g.record().Release(ctx, text(g)); err != nil {
			return nil, err
		}
		return late.Stopped(g.Thread), nil
	case late != nil:
	case ctx.Err() != nil:
		return nil, errors.Join(context.Canceled, err)
	case errors.As(err, &moved):
		return thread.End(model.ResultRetry, "the head of pull request %d moved in the meantime", g.Event.Number), nil
	case !errors.As(err, &failed) && !errors.As(err, new(*mistake)):
		return nil, err
	}
	why := redact.Text(ctx, g.Thread, err.Error())
	g.marker.Reason = thread.Clip(why)
	if g.marker.Attempt < thread.ForkFacts(g.Thread, g.MayLetIn).Policy.MaxAttempts {
		if err := g.record().Release(ctx, text(g)); err != nil {
			return nil, err
		}
		return thread.End(model.ResultFailed, "pull request %d, attempt %d: %s", g.Event.Number, g.marker.Attempt, why), nil
	}
	g.marker.State = model.ExternalFailed
	return g.conclude(ctx)
}

// mistake is something that a command did wrong, in words.
type mistake struct{ text string }

func (s *mistake) Error() string { return s.text }

// reach makes sure that the mirror has what is to be evaluated, and that it is not on the base already.
func reach(ctx context.Context, g *admission) error {
	if err := g.Open(ctx); err != nil {
		return err
	}
	m := &g.marker
	ref := thread.HeadRef(g.Thread)
	div, err := history.FetchMergeBase(ctx, g.Checkout, m.Base, ref)
	if err != nil {
		return err
	}
	if div.HeadSHA != m.Head {
		return thread.End(model.ResultRetry, "the head of pull request %d moved in the meantime", g.Event.Number)
	}
	if div.Unrelated {
		m.State, m.Reason = model.ExternalWanting, fmt.Sprintf("The head has no history in common with %s.", m.Base)
		return nil
	}
	landed, all, err := merging.AlreadyApplied(ctx, g.Checkout, div.BaseSHA, div.HeadSHA)
	if err != nil {
		return err
	}
	if all {
		m.State, m.Landed = model.ExternalLanded, landed
		return nil
	}
	at, err := transport.BranchTip(ctx, g.Checkout, m.Mirror)
	if err != nil {
		return err
	}
	if at == "" { // what an agent may not push, a stranger's commits may not bring onto a branch either: workflows run from there
		found, err := work.InspectBeyond(ctx, g.Pull.Work, div.MergeBase, div.HeadSHA, []string{div.BaseSHA})
		if err != nil {
			return err
		}
		if found.Reason != "" {
			m.State, m.Reason = model.ExternalWanting, "This must not be pushed to a branch of this repository: "+found.Detail
			return nil
		}
	}
	return follow(ctx, g, ref, at)
}

// follow puts the head on the mirror where it is not, and takes over the repair that a run which died has put on top of it.
// Anything else there is somebody's, and nobody has let it in.
func follow(ctx context.Context, g *admission, ref, at string) error {
	m := &g.marker
	switch at {
	case m.Tip:
		return history.FetchCommits(ctx, g.Checkout, at)
	case "":
		m.Tip, m.Next = m.Head, ""
		_, err := g.Apply(ctx, effect.Mirror(ref, m.Head, m.Mirror, journal.Token("mirror", token(g, "let_in"))))
		if rejected := (*git.ErrRejected)(nil); errors.As(err, &rejected) && rejected.Reason == git.Workflow {
			return &mistake{fmt.Sprintf("GitHub lets MergeXO's token push a branch only if another branch here has the same workflow files. Merge %s into the pull request's branch. "+
				"If the pull request changes workflows, MergeXO needs a GitHub App that may write them", m.Base)}
		}
		if err != nil {
			return err
		}
		g.Say(model.Saying{Where: "push to " + m.Mirror, Text: markdown.Short(m.Head)})
		return nil
	case m.Next:
		if err := history.FetchCommits(ctx, g.Checkout, at); err != nil {
			return err
		}
		m.Tip, m.Next, m.State = at, "", model.ExternalLetIn
		return nil
	}
	return &mistake{fmt.Sprintf("branch %s moved from %s to %s: somebody else pushed commits there that nobody has accepted", m.Mirror, markdown.Short(m.Tip), markdown.Short(at))}
}

// evaluate has the tip evaluated, by the command of the settings or else by the label.
func (g *admission) evaluate(ctx context.Context) error {
	s, m := g.Settings.External, &g.marker
	found := model.EvaluationResult{Verdict: model.VerdictApprove}
	if len(s.Evaluate) > 0 {
		out, err := g.run(ctx, "evaluate", s.Evaluate, "")
		if err != nil {
			return err
		}
		if found, err = external.ParseEvaluation(out); err != nil {
			return &mistake{"the evaluation's answer cannot be read: " + err.Error()}
		}
		m.Evaluated = true
	}
	found.Reason = redact.Text(ctx, g.Thread, found.Reason)
	*m = external.Decide(thread.ForkFacts(g.Thread, g.MayLetIn).Policy, *m, found)
	m.Attempt = 1
	if !m.Open() {
		return nil
	}
	if away, err := g.stands(ctx); away != nil || err != nil {
		return cmp.Or(err, error(away))
	}
	return g.record().Write(ctx, text(g))
}

// repair has the command of the settings put commits on top of the tip, and the mirror with it. Nothing is rewritten.
func (g *admission) repair(ctx context.Context) error {
	m := &g.marker
	if err := checkout.Restore(ctx, g.Checkout, m.Mirror, m.Base, m.Tip); err != nil {
		return err
	}
	if _, err := g.run(ctx, "fix", g.Settings.External.Fix, g.Checkout.Dir()); err != nil {
		return err
	}
	head, err := g.repaired(ctx)
	if err != nil {
		return err
	}
	if head == m.Tip {
		return &mistake{"the fix changed nothing"}
	}
	var output string
	err = work.InTime(ctx, g.Pull.Work, func(ctx context.Context) (err error) {
		output, _, err = work.RequiredTests(ctx, g.Pull.Work, m.Tip, head)
		return err
	})
	if err != nil {
		return err
	}
	if output != "" {
		return &mistake{"the required tests fail after the fix; the end of their output:\n" + output}
	}
	ctx = context.WithoutCancel(ctx)
	if away, err := g.stands(ctx); away != nil || err != nil {
		return cmp.Or(err, error(away))
	}
	m.Next = head // before it is there: what else turns up on the mirror is nobody's repair
	if err := g.record().Write(ctx, text(g)); err != nil {
		return err
	}
	pushed := model.Effect{Kind: "push", Target: m.Mirror, Token: journal.Token("fix", token(g, "let_in"), head)}
	if _, err := thread.Move(ctx, g.Thread, effect.Move{Update: transport.Update{Branch: m.Mirror, Start: m.Tip, SHA: head}, As: pushed}); err != nil {
		return err
	}
	commits, err := history.List(ctx, g.Checkout, m.Tip, head)
	if err != nil {
		return err
	}
	g.Say(model.Saying{Where: "push to " + m.Mirror, Text: work.PushedText(m.Tip, head, commits)})
	m.Tip, m.Next, m.State, m.Attempt = head, "", model.ExternalLetIn, 1
	return g.record().Write(ctx, text(g))
}

// repaired is the head that the fix led to, held against the rules that hold for an agent.
func (g *admission) repaired(ctx context.Context) (string, error) {
	m := g.marker
	head, err := g.Checkout.Head(ctx)
	if err != nil {
		return "", err
	}
	dirty, err := checkout.Dirty(ctx, g.Checkout, head)
	if err != nil {
		return "", err
	}
	if dirty {
		if head, _, err = checkout.Commit(ctx, g.Checkout, head, fmt.Sprintf("Fix #%d\n\n%s", g.Event.Number, m.Reason)); err != nil {
			return "", err
		}
	}
	relation, err := history.Relation(ctx, g.Checkout, m.Tip, head)
	if err != nil {
		return "", err
	}
	if lineage.Decide(relation) != lineage.Pass {
		return "", &mistake{fmt.Sprintf("the fix left a head, %s, that does not descend from %s", markdown.Short(head), markdown.Short(m.Tip))}
	}
	if head, err = work.OwnHere(ctx, g.Pull.Work, m.Tip, head); err != nil {
		return "", err
	}
	found, _, err := work.Inspect(ctx, g.Pull.Work, m.Tip, head)
	if err == nil && found.Reason != "" {
		err = &mistake{"the fix must not be pushed: " + found.Detail}
	}
	if err != nil {
		return "", err
	}
	inside, err := checkout.ChangedInSubmodules(ctx, g.Checkout, head)
	if len(inside) > 0 {
		err = &mistake{"the fix changed files inside submodules, which belong to other repositories: " + syntax.Quoted(inside)}
	}
	return head, err
}

// conclude says what it came to that is not merged, and closes what is.
func (g *admission) conclude(ctx context.Context) (*thread.Stop, error) {
	ctx = context.WithoutCancel(ctx)
	if away, err := g.stands(ctx); away != nil || err != nil {
		return away, err
	}
	m, pull, last := g.marker, g.Snap.Pull, g.takeOff
	text, ended := external.FailedText(pull, m), thread.End(model.ResultFailed, "pull request %d: %s", pull.Number, m.Reason)
	switch m.State {
	case model.ExternalRejected:
		text, ended, last = external.RejectedText(pull, m), thread.End(model.ResultDone, "pull request %d is rejected", pull.Number), g.close
	case model.ExternalLanded:
		text, ended, last = external.LandedText(pull, m), thread.End(model.ResultDone, "the commits of pull request %d are already on %s", pull.Number, m.Base), g.close
	case model.ExternalWanting:
		text, ended = external.WantingText(pull, m), thread.End(model.ResultNothing, "the evaluation of pull request %d requests changes", pull.Number)
	}
	if err := g.end(ctx, text); err != nil {
		return nil, err
	}
	return ended, last(ctx)
}

// request asks for the merge of what was approved, once.
func (g *admission) request(ctx context.Context) (*thread.Stop, error) {
	if away, err := g.stands(ctx); away != nil || err != nil {
		return away, err
	}
	m := g.marker
	key, pull := token(g, "merge"), g.Snap.Pull
	r := model.MergeMarker{
		Repo: m.Repo, Number: m.Number, Head: m.Head, Base: m.Base, By: m.By, Command: key, At: m.At, Mirror: m.Mirror, MirrorSHA: m.Tip, Label: m.Label,
	}
	v, err := landing.Ready(ctx, g.Merging, r)
	if err != nil {
		return nil, err
	}
	if !v.Go && !v.Wait {
		g.marker.State, g.marker.Reason = model.ExternalFailed, v.Reason
		return g.conclude(ctx)
	}
	r, text := landing.Opening(g.Merging, r, v)
	token := thread.CommandToken(key)
	body := journal.Body{Text: "Contribution by " + markdown.Plain(pull.Author.Login) + "\n\n" + text, Kind: journal.KindMerge, Marker: r}
	if _, err := g.Thread.Comment(ctx, token, body, nil); err != nil {
		return nil, err
	}
	return nil, g.Read(ctx)
}
