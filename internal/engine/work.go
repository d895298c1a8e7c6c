package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// maxLandings bounds how often a turn is brought onto a head that somebody moved meanwhile.
const maxLandings = 3

// finish brings a claimed turn to its receipt, from wherever it stands.
func (p *pass) finish(ctx context.Context) error {
	for range maxLandings {
		if p.marker.Phase == model.PhaseStarted {
			if err := p.work(ctx); err != nil {
				return err
			}
		}
		landed, err := p.land(ctx)
		if err != nil {
			return err
		}
		if landed {
			return p.answer(ctx)
		}
	}
	if p.snap.Pull.HeadSHA == p.base() {
		return stop(model.ResultRetry, "the push to %s did not get through; its work is recorded and the next run publishes it", p.snap.Pull.HeadRef)
	}
	return p.block(ctx, model.BlockMarker{Reason: model.ReasonConflict, Expected: p.base(), Observed: p.snap.Pull.HeadSHA}, "")
}

// base is the head that the turn's commits sit on.
func (p *pass) base() string { return turn.Base(p.marker) }

// work runs the agent in a clean checkout of the head, holds what it did against the rules, and records it: commits on
// the stage, answers in the claim. From then on no agent is needed for this turn.
func (p *pass) work(ctx context.Context) error {
	if err := p.open(ctx); err != nil {
		return err
	}
	pull := p.snap.Pull
	if err := p.checkout.Restore(ctx, pull.HeadRef, pull.BaseRef, p.base()); err != nil {
		var moved *git.ErrHeadMoved
		if errors.As(err, &moved) {
			return p.withdraw(ctx, model.ResultRetry, "%s", err)
		}
		if gone := (*git.ErrNoRef)(nil); errors.As(err, &gone) {
			return p.withdraw(ctx, model.ResultRetry, "%s; the head branch was deleted while it was being claimed", err)
		}
		return err
	}
	began := p.Now()
	out, head, err := p.agentRounds(ctx)
	if broken := (*git.Error)(nil); errors.As(err, &broken) && broken.Failure == "" { // the agent left a checkout that git cannot work with
		return p.failed(ctx, err)
	}
	if err != nil {
		return err
	}
	// Finished work is kept even when the run was cancelled while it was being finished.
	ctx = context.WithoutCancel(ctx)
	if p.commits, err = p.list(ctx, p.base(), head); err != nil {
		return err
	}
	p.marker.Planned = head
	p.marker.CostUSD += out.Usage.CostUSD
	if out.Session != "" {
		p.marker.Session = out.Session
	}
	seconds := int(p.Now().Sub(began).Round(time.Second).Seconds())
	return p.record(ctx, turn.Outbox(out, p.feedback, seconds, p.commits, p.notes))
}

// record stages the planned head and then says so in the claim. The order is the promise: the work is on GitHub before
// anything else is said or done.
func (p *pass) record(ctx context.Context, o model.Outbox) error {
	p.marker.Phase, p.marker.Outbox = model.PhasePlanned, &o
	text := turn.PlannedText(p.snap.Pull, p.feedback, p.marker)
	if _, err := p.encodeTurn(text); err != nil { // better known before the push than after it
		return p.block(ctx, model.BlockMarker{Reason: model.ReasonOutcome, Observed: p.base()}, "the answers are too long to be recorded: "+err.Error())
	}
	if p.marker.Planned != p.base() {
		ref := stageRef(p.event.Number, p.marker.Key)
		err := p.checkout.Stage(ctx, ref, p.marker.Planned)
		if unclear := (*git.ErrUnclear)(nil); errors.As(err, &unclear) { // the ref is ours alone: once more does no harm
			err = p.checkout.Stage(ctx, ref, p.marker.Planned)
		}
		if err != nil {
			return err
		}
		p.applied("stage", ref, journal.Token("stage", p.marker.Key), "applied")
	}
	return p.edit(ctx, text)
}

// agentRounds asks the agent, and again while required tests fail, at most repair_rounds times.
func (p *pass) agentRounds(ctx context.Context) (model.Outcome, string, error) {
	ask := turn.Ask{
		Kind: "feedback", Key: p.marker.Key, Feedback: p.feedback, State: p.state, Guidelines: p.settings.Repo.CodingGuidelines,
		Tests: p.settings.Repo.RequiredTests, Session: p.marker.Session, Boundary: p.Random(),
	}
	a, err := p.agentFor(p.settings, p.checkout.AgentEnv())
	if err != nil {
		return model.Outcome{}, "", err
	}
	var all model.Outcome
	for round := 0; ; round++ {
		p.Log.Info("agent_started", "pr_number", p.event.Number, "turn_key", p.marker.Key, "kind", ask.Kind, "round", round)
		out, err := a.Run(ctx, p.checkout.Dir(), turn.Request(p.snap, ask))
		if err != nil {
			return all, "", p.failed(ctx, err)
		}
		head, err := p.accept(context.WithoutCancel(ctx), out)
		if err != nil {
			return all, "", err
		}
		if err := p.settle(context.WithoutCancel(ctx), head); err != nil {
			return all, "", err
		}
		all = turn.Join(all, out)
		ask.Session = all.Session
		output, err := p.requiredTests(ctx, head)
		if err != nil || output == "" {
			return all, head, err
		}
		if round >= p.settings.Feedback.RepairRounds {
			return all, "", p.block(ctx, model.BlockMarker{Reason: model.ReasonTests, Observed: p.base()},
				fmt.Sprintf("%s fails after %d repair rounds; the end of its output:\n%s", strings.Join(p.settings.Repo.RequiredTests, " "), round, output))
		}
		ask.Kind, ask.CI = "repair", []model.CIFailure{{Name: strings.Join(p.settings.Repo.RequiredTests, " "), Log: output}}
	}
}

// accept holds one answer of the agent against the rules and gives the head that it leads to.
func (p *pass) accept(ctx context.Context, out model.Outcome) (string, error) {
	if out.BlockedReason != "" {
		return "", p.block(ctx, model.BlockMarker{Reason: model.ReasonAgent, Observed: p.base()}, out.BlockedReason)
	}
	head, err := p.guardLocal(ctx)
	if err != nil {
		return "", err
	}
	dirty, err := p.checkout.Dirty(ctx)
	if err != nil {
		return "", err
	}
	if err := turn.Validate(out, p.feedback, dirty || head != p.base()); err != nil {
		return "", p.block(ctx, model.BlockMarker{Reason: model.ReasonOutcome, Observed: p.base()}, err.Error())
	}
	if dirty && out.CommitMessage != "" {
		head, _, err = p.checkout.Commit(ctx, out.CommitMessage)
		if unmerged := (*git.ErrUnmerged)(nil); errors.As(err, &unmerged) {
			return "", p.failed(ctx, err)
		}
		if err != nil {
			return "", err
		}
	}
	changed, err := p.checkout.Changes(ctx, p.base(), head)
	if err != nil {
		return "", err
	}
	changes := make([]model.Change, len(changed))
	for i, c := range changed {
		changes[i] = model.Change{Path: c.Path, Status: c.Status, OldMode: c.OldMode, Mode: c.NewMode, Size: c.Size, Target: c.Target}
	}
	if file, rule := turn.Forbidden(changes, p.settings.Feedback.ForbidPaths); file != "" {
		return "", p.block(ctx, model.BlockMarker{Reason: model.ReasonForbidden, Observed: p.base()}, file+": "+rule)
	}
	return head, nil
}

// settle leaves in the checkout what is committed and nothing else, so that what is tested is what is pushed.
func (p *pass) settle(ctx context.Context, head string) error {
	dirty, err := p.checkout.Dirty(ctx)
	if err != nil || !dirty {
		return err
	}
	p.notes = []string{"the agent left changes in its checkout without a commit message; they were not pushed"}
	return p.checkout.Reset(ctx, head)
}

// list gives the commits between two heads as plain values.
func (p *pass) list(ctx context.Context, from, to string) ([]model.Commit, error) {
	commits, err := p.checkout.Commits(ctx, from, to)
	if err != nil {
		return nil, err
	}
	list := make([]model.Commit, len(commits))
	for i, c := range commits {
		list[i] = model.Commit{SHA: c.SHA, Subject: c.Subject, Author: c.Author.Name}
	}
	return list, nil
}

// guardLocal holds the history in the checkout against the head that the agent was given.
func (p *pass) guardLocal(ctx context.Context) (string, error) {
	head, err := p.checkout.Head(ctx)
	if err != nil {
		return "", p.failed(ctx, err)
	}
	relation, err := p.localRelation(ctx, p.base(), head)
	if err != nil {
		return "", err
	}
	switch lineage.Decide(relation) {
	case lineage.Block:
		return "", p.block(ctx, rewrite(p.base(), head, model.GuardLocal), "")
	case lineage.Resolve:
		return "", p.failed(ctx, fmt.Errorf("the history between %s and %s could not be read", markdown.Short(p.base()), markdown.Short(head)))
	}
	return head, p.nothingLeftBehind(ctx, head)
}

// nothingLeftBehind refuses a checkout whose HEAD lacks commits that the agent made on the branch it was given.
func (p *pass) nothingLeftBehind(ctx context.Context, head string) error {
	tip, err := p.checkout.Tip(ctx)
	if err != nil || tip == "" || tip == head {
		return err
	}
	relation, err := p.checkout.Relation(ctx, tip, head)
	if err != nil || lineage.Decide(relation) == lineage.Pass {
		return err
	}
	return p.failed(ctx, fmt.Errorf("the agent left HEAD at %s, without its own commits up to %s on the branch", markdown.Short(head), markdown.Short(tip)))
}

// requiredTests gives the end of the output of tests that fail, or "".
func (p *pass) requiredTests(ctx context.Context, head string) (string, error) {
	if len(p.settings.Repo.RequiredTests) == 0 || head == p.base() {
		return "", nil
	}
	err := agent.RunTests(ctx, p.checkout.Dir(), p.settings.Repo.RequiredTests, agent.Options{
		Env: agent.Environment(p.Lookup, nil, p.checkout.AgentEnv()), Timeout: p.settings.Agent.Timeout, Log: p.Foreign,
	})
	if err := p.checkout.Reset(context.WithoutCancel(ctx), head); err != nil { // what tests leave is nobody's work
		return "", err
	}
	var failed *agent.Error
	switch {
	case err == nil:
		return "", nil
	case ctx.Err() != nil:
		return "", errors.Join(context.Canceled, err)
	case !errors.As(err, &failed):
		return "", err
	}
	return strings.TrimSpace(failed.Stderr + "\n" + failed.Detail), nil
}

// failed ends this attempt of the turn. A cancelled run leaves its claim, by which the next run recovers.
func (p *pass) failed(ctx context.Context, cause error) error {
	if ctx.Err() != nil {
		return errors.Join(context.Canceled, cause)
	}
	p.marker.Phase, p.marker.Reason = model.PhaseFailed, cause.Error()
	p.marker.Outbox = nil
	next := turn.Retry(p.marker)
	last := p.marker.Attempt >= turn.MaxAttempts
	if last {
		next = "Nothing was pushed and the feedback stays pending."
	}
	if err := p.edit(ctx, turn.FailedText(p.snap.Pull, p.feedback, p.marker, next)); err != nil {
		return err
	}
	if last {
		return p.block(ctx, model.BlockMarker{Reason: model.ReasonAttempts, Observed: p.base()}, cause.Error())
	}
	return stop(model.ResultFailed, "turn on pull request %d, attempt %d of %d: %s", p.event.Number, p.marker.Attempt, turn.MaxAttempts, cause)
}
