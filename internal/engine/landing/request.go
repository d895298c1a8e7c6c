// Package landing merges pull requests that people ask to merge: alone, as a group, or in a merge train. It also reverts what was
// merged, and merges branches of a checkout without GitHub.
//
// A request to merge goes this way:
//
//	engine.Engine.step               reads the pull request with the command and acts on it
//	engine.desk.decideAbout          decides about the command on the pull request that it is about
//	engine.desk.evaluate             gathers what that depends on
//	landing.Request.Find             decides whether a merge begins
//	landing.Request.Evaluate         reads the facts once
//	merge.Evaluate                   decides; a pure function
//	engine.desk.carryOut             does what the command leads to beside the reply
//	engine.desk.respond              replies, with the marker that is the request
//	landing.Request.Continue         continues the newest request
//	landing.merger.run               runs until the request has landed or something prevents it
//	landing.gather                   collects the pull requests that land together
//	landing.merger.lock              locks the base of each
//	landing.merger.prepare           makes the commits that would land, by the strategy
//	landing.merger.test              tests in a tree of exactly that commit
//	landing.merger.record            records the merge before anything moves
//	landing.moveHead                 moves the head, so that GitHub shows it as merged
//	landing.moveBase                 moves the base, only from the commit that was tested
//	landing.merger.finish            writes the comment
package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/external"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// Find decides about a command that asks for a merge. If the merge may begin, it returns the request that the reply starts. A dry
// run goes as far as it can without changes, and tells what it found.
func (p *Request) Find(ctx context.Context, c command.Case) (*command.Found, error) {
	m := model.MergeMarker{Head: p.Snap.Pull.HeadSHA, Base: p.Snap.Pull.BaseRef, By: c.By, Command: c.Key, At: c.At, Asked: c.Command.Strategy}
	if wish := c.Command.Train; wish != (model.TrainWish{}) {
		m.Train = &wish
	}
	if earlier := p.State.Merge(); earlier != nil && !c.Command.DryRun {
		if text, err := inTheWay(ctx, p, m, *earlier); err != nil || text != "" {
			return &command.Found{Verdict: model.Rejected, Text: text}, err
		}
	}
	v, err := p.Evaluate(ctx, m, c.Command.Head)
	if err != nil {
		return nil, err
	}
	switch {
	case c.Command.DryRun:
		text, err := dryRun(ctx, p, m, v)
		return &command.Found{Verdict: model.Applied, Text: text}, err
	case !v.Go && !v.Wait:
		g := &merger{Request: p, marker: m}
		p.Refused = g.stopped(v.Code, v.Reason)
		return &command.Found{Verdict: model.Rejected, Text: merge.RefuseText(p.Snap.Pull, v)}, nil
	}
	if m.Train != nil && !v.Way.Train {
		return &command.Found{Verdict: model.Rejected, Text: merge.NoTrainText(p.Snap.Pull)}, nil
	}
	p.asked = true
	m, text := Opening(p, m, v)
	return &command.Found{Verdict: model.Applied, Text: text, Marker: &m}, nil
}

// inTheWay says what of an earlier request rules out another one; "": nothing does.
func inTheWay(ctx context.Context, p *Request, m model.MergeMarker, earlier model.Posted[model.MergeMarker]) (string, error) {
	switch k := earlier.Marker; {
	case k.State == model.MergeRunning:
		live, err := thread.MergeAtWork(ctx, p.Thread, earlier)
		if live {
			return fmt.Sprintf("A merge is already [in progress](%s).", earlier.URL), err
		}
		return "", err
	case m.Tries() && !k.Tries() && k.Open() && k.Reason == model.CodeTrain:
		return fmt.Sprintf("The [request to merge](%s) is in the merge train, which tests the same commit. `/mergexo why` shows how it stands.", earlier.URL), nil
	}
	return "", nil
}

// Opening returns the marker of a new request after its evaluation, and the text of its comment.
func Opening(p *Request, m model.MergeMarker, v merge.Verdict) (model.MergeMarker, string) {
	m.Strategy = v.Way.Strategy
	if said := p.State.Merge(); v.Way.Train && said != nil && said.Marker.Open() && said.Marker.Head == m.Head && said.Marker.Base == m.Base {
		m.Title = said.Marker.Title // by which the train knows the head, whose car may be under test
	}
	switch {
	case v.Wait:
		m.State, m.Reason, m.Detail, m.Looked = model.MergeWaiting, v.Code, thread.Clip(v.Reason), looked(p.Thread, v.Code)
		return m, merge.WaitText(p.Snap.Pull, m, v)
	case v.Way.Strategy == model.StrategyQueue:
		return queueing(p, m)
	case v.Way.Train:
		m.Approved, m.Title = v.Approved, cmp.Or(m.Title, p.Snap.Pull.Title)
		m.State, m.Reason, m.Detail, m.Looked = model.MergeWaiting, model.CodeTrain, "it joins the merge train of "+m.Base, looked(p.Thread, model.CodeTrain)
		return m, merge.TrainText(p.Snap.Pull, m, merge.Place{Try: v.Try})
	}
	m.State = model.MergeRunning
	sign(p, &m)
	return m, merge.RunningText(p.Snap.Pull, m, p.Settings.Merge.Attempts)
}

// sign claims a request for this process, as another attempt on the head and the base as they are now.
func sign(p *Request, m *model.MergeMarker) {
	m.BaseSHA, m.Car = p.MergeFacts.BaseSHA, false
	m.Attempt = merge.Attempts(p.State, m.Head, m.BaseSHA) + 1
	thread.Record{Thread: p.Thread, Marker: m, Term: term(p)}.Sign()
}

// expiry is until when a merge may take from now.
func expiry(p *Request) time.Time { return p.ServerNow().Add(term(p)).UTC().Truncate(time.Second) }

// term is how long a merge may take: the tests of every member, as often as they may have to be run.
func term(p *Request) time.Duration {
	s := p.Settings.Merge
	members := 1
	for _, group := range s.Groups {
		if model.Named(group.Repositories, p.Event.Repo.String()) {
			members = max(members, len(group.Repositories))
		}
	}
	return time.Duration(members*s.Attempts)*s.TestTimeout + s.LockTimeout + thread.ClaimMargin
}

// Evaluate decides about a request. It asks GitHub once. It asks who pushed only if that decides, and git only if an approval of
// an older head may still count.
func (p *Request) Evaluate(ctx context.Context, m model.MergeMarker, sha string) (merge.Verdict, error) {
	if err := thread.ReadMergeFacts(ctx, p.Thread); err != nil {
		return merge.Verdict{}, err
	}
	if err := thread.ReadSource(ctx, p.Thread); err != nil { // where a person may have taken over
		return merge.Verdict{}, err
	}
	if err := readDepends(ctx, p, m); err != nil {
		return merge.Verdict{}, err
	}
	c := merge.Case{Snapshot: p.Snap, State: p.State, Facts: *p.MergeFacts, Policy: policy(p), Request: m, SHA: sha, Begun: p.Claims[m.Claim], LetIn: letIn(p, m), Own: own(p), Starters: starters(p)}
	var err error
	if c.Busy, err = thread.LiveTurn(ctx, p.Thread); err != nil {
		return merge.Verdict{}, err
	}
	for _, t := range turn.Open(p.State) { // what a run has planned that died is published by the next one before anything else
		if c.Busy == nil && t.Marker.Phase == model.PhasePlanned && !thread.Answered(p.Thread, t.Marker) {
			c.Busy = &t
		}
	}
	if err := readApprovals(ctx, p, &c); err != nil {
		return merge.Verdict{}, err
	}
	v, err := decide(ctx, p, c)
	if err != nil {
		return merge.Verdict{}, err
	}
	if m.Mirror != "" && c.LetIn == "" {
		why := "it is no longer accepted: the label was removed, or the pull request has changed"
		return merge.Verdict{Code: model.CodeStale, Reason: why, Way: v.Way, Gates: append(v.Gates, model.Gate{Name: external.GateLabel, Evidence: why})}, nil
	}
	if v.Wait && v.Code == model.CodeConflict { // nothing else is missing: building it shows people where
		v.Go, v.Wait = true, false
	}
	if !v.Go {
		return v, nil
	}
	why, err := untrusted(ctx, p)
	if why != "" {
		v.Go, v.Wait, v.Code, v.Reason = false, true, model.CodeBlocked, why
		v.Gates = append(v.Gates, model.Gate{Name: turn.GateLineage, Evidence: why})
	}
	return v, err
}

// decide asks what the base demands of a push, and what keeps the head from being moved, only of what would be pushed now, and of a new request, so that it is refused
// before anybody waits for anything: one that has to wait is not asked about in each sweep.
func decide(ctx context.Context, p *Request, c merge.Case) (merge.Verdict, error) {
	v := merge.Evaluate(c)
	begins := c.Request.Command != "" && c.Request.State == ""
	if v.Way.Strategy == model.StrategyQueue && (v.Go || begins || v.Code == model.CodeConflict) {
		if err := readQueue(ctx, p); err != nil {
			return merge.Verdict{}, err
		}
		c.Queue = p.queue
		return merge.Evaluate(c), nil
	}
	if v.Way.Strategy != "" && !model.ByGitHub(v.Way.Strategy) && (v.Go || v.Wait && begins) {
		if err := thread.ReadDemands(ctx, p.Thread); err != nil {
			return merge.Verdict{}, err
		}
		if merge.NeedsRules(v.Way, c.Snapshot.Pull, c.Facts) {
			if err := thread.ReadHeadDemands(ctx, p.Thread); err != nil {
				return merge.Verdict{}, err
			}
		}
		c.Facts = *p.MergeFacts
		v = merge.Evaluate(c)
	}
	if v.Wait && v.Code == model.CodeChecks && v.Way.Train {
		var err error
		if p.MergeFacts.Unproduced, err = unproduced(ctx, p, c); err != nil {
			return merge.Verdict{}, err
		}
		c.Facts.Unproduced = p.MergeFacts.Unproduced
		v = merge.Evaluate(c)
	}
	return v, nil
}

// Ready calls Evaluate, and makes the request wait if a branch cannot be read.
func Ready(ctx context.Context, p *Request, m model.MergeMarker) (merge.Verdict, error) {
	v, err := p.Evaluate(ctx, m, "")
	if s := (*Failure)(nil); errors.As(err, &s) {
		return merge.Verdict{Wait: true, Code: s.Code, Reason: s.Detail}, nil
	}
	return v, err
}

// untrusted says why nobody can be sure of what was approved here: a comment of ours was edited or deleted, or the history rewritten.
// "" is for neither.
func untrusted(ctx context.Context, p *Request) (string, error) {
	if d := p.State.Spoilt(); d != nil {
		return d.Evidence(), nil
	}
	accepted, head := p.State.Accepted, p.Snap.Pull.HeadSHA
	if accepted == "" || accepted == head || slices.Contains(p.State.MergeTips, head) {
		return "", nil
	}
	relation, err := thread.SinceAccepted(ctx, p.Thread)
	if err != nil || lineage.Decide(relation) == lineage.Pass {
		return "", err
	}
	return fmt.Sprintf("the head %s does not descend from the last accepted one, %s", markdown.Short(head), markdown.Short(accepted)), nil
}

// letIn is what stands for the approvals of the settings, where the request is of a fork's pull request that was let in, and
// of what then was found good; "" where it is not.
func letIn(p *Request, m model.MergeMarker) string {
	e := p.State.External()
	if m.Mirror == "" || e == nil || e.Marker.State != model.ExternalApproved || e.Marker.Head != m.Head || e.Marker.Tip != m.MirrorSHA || e.Marker.Mirror != m.Mirror {
		return ""
	}
	if _, on := p.Snap.Pull.LabelledBy(e.Marker.Label); !on { // who took it off has changed their mind
		return ""
	}
	return external.Evidence(e.Marker)
}

// policy is policyOf, but that a group has no train, and that pushes with the workflow's own token start no CI, which one would
// wait for.
func policy(p *Request) merge.Policy {
	policy := policyOf(p.Settings)
	if p.grouped || policy.Verify == "" && p.Snap.Viewer.Login == thread.ActionsBot {
		policy.Verify = config.VerifyLocal
	}
	return policy
}

// policyOf is what the settings say about merging.
func policyOf(s config.Settings) merge.Policy {
	policy := merge.Policy{
		Strategy: s.Merge.Strategy, Approvals: s.Merge.Approvals, RequiredChecks: s.Merge.RequiredChecks, Attempts: s.Merge.Attempts, DeleteBranch: s.Merge.DeleteBranch, Verify: s.Merge.Verify,
		Ignore: s.Labels.Ignore, Freeze: append([]string{s.Labels.Freeze}, s.Merge.HoldLabels...), NeedLabels: s.Merge.NeedLabels, WaitForReviewers: s.Merge.WaitForReviewers,
		Strict: s.Merge.FourEyes == config.EyesStrict,
	}
	for _, r := range s.Merge.Rules {
		policy.Rules = append(policy.Rules, merge.Rule(r))
	}
	return policy
}

// Gates returns the conditions under which the pull request would be merged now, or nil if it cannot be.
func (p *Request) Gates(ctx context.Context) ([]model.Gate, error) {
	if p.Snap.Pull.State != model.PullOpen {
		return nil, nil
	}
	if said := merge.Badge(p.State); said != nil {
		return []model.Gate{merge.BadgeGate(*said)}, nil
	}
	m := model.MergeMarker{Head: p.Snap.Pull.HeadSHA, Base: p.Snap.Pull.BaseRef}
	if open := p.State.Merge(); open != nil && open.Marker.Open() {
		m = open.Marker
	}
	v, err := p.Evaluate(ctx, m, "")
	if s := (*Failure)(nil); errors.As(err, &s) { // the branches do not tell; the gates above do
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return append(v.Gates, merge.LastGate(p.State, p.Snap.Pull.HeadSHA)...), nil
}

// GatesInTrain returns the Gates, and the place of the request in the merge train, which is nil if it is in none.
func GatesInTrain(ctx context.Context, p *Request) ([]model.Gate, *model.TrainStanding, error) {
	gates, err := p.Gates(ctx)
	open := p.State.Requests()
	if err != nil || len(open) == 0 {
		return gates, nil, err
	}
	newest := open[len(open)-1].Marker
	joins := newest.Reason == model.CodeTrain
	if !joins && newest.Train == nil {
		return gates, nil, nil
	}
	standing, err := trainStanding(ctx, p.World, p.Event.Repo, p.Snap.Pull, joins)
	return gates, standing, err
}

// Continue takes the newest request to merge as far as it goes. If it is not merged, the Stop tells why. The run may still do
// other work. If it finds none, it ends with this Stop.
func (p *Request) Continue(ctx context.Context) (*thread.Stop, error) {
	p.Due(model.DueMerge, time.Time{})
	if !p.Phase.Writes() { // no merge needs an agent
		return nil, YieldToOther(ctx, p.Thread)
	}
	if err := endOthers(ctx, p); err != nil {
		return nil, err
	}
	if err := settleBadges(ctx, p); err != nil {
		return nil, err
	}
	if err := askByItself(ctx, p); err != nil {
		return nil, err
	}
	said := p.State.Merge()
	if said == nil {
		return nil, nil
	}
	stop, err := proceed(ctx, p, *said)
	if err != nil || p.State.Try() == nil {
		return stop, err
	}
	if err := p.Read(ctx); err != nil { // the request may be in the train now, which ends the try
		return nil, err
	}
	if err := endOthers(ctx, p); err != nil {
		return nil, err
	}
	if try := p.State.Try(); try != nil && p.Snap.Pull.State == model.PullOpen {
		return proceed(ctx, p, *try)
	}
	return stop, nil
}

// proceed takes one request as far as it goes.
func proceed(ctx context.Context, p *Request, said model.Posted[model.MergeMarker]) (*thread.Stop, error) {
	m := said.Marker
	if m.Reason == model.CodeTrain || m.Train != nil || m.Reason == model.CodeCancelled {
		p.Train = m.Base
	}
	if !m.Open() {
		return nil, nil
	}
	if m.Reason == model.CodeCancelled && (m.State == model.MergeWaiting || len(m.Members) > 0 || m.Leader == "") {
		return cancel(ctx, newMerger(p, said))
	}
	if err := YieldToOther(ctx, p.Thread); err != nil {
		return nil, err
	}
	if m.Leader != "" { // it is merged from there
		return nil, nil
	}
	if p.Snap.Pull.State == model.PullOpen && p.State.Block == nil { // else what waits says so
		if err := thread.GuardMarkers(ctx, p.Thread); err != nil {
			return nil, err
		}
		if err := thread.GuardHistory(ctx, p.Thread, turn.Open(p.State)); err != nil {
			return nil, err
		}
	}
	p.Due(model.DueMerge, said.At)
	if waits, err := waitsStill(p, m); waits || err != nil {
		return thread.End(model.ResultNothing, "%s", merge.ShortLine(p.Event.Number, m.Reason, m.Detail)), err
	}
	return newMerger(p, said).advance(ctx)
}

// endOthers ends the requests that a newer one took the place of, which would else say forever that they wait.
func endOthers(ctx context.Context, p *Request) error {
	over := p.State.Replaced()
	if try := p.State.Try(); try != nil && p.Snap.Pull.State != model.PullOpen {
		over = append(over, *try)
	}
	for _, said := range over {
		if err := Supersede(ctx, p, said, p.State.Merge().URL); err != nil {
			return err
		}
	}
	return nil
}

// Supersede ends a request that another one replaced. by links the other one.
func Supersede(ctx context.Context, p *Request, said model.Posted[model.MergeMarker], by string) error {
	g := newMerger(p, said)
	g.marker.State, g.marker.Reason = model.MergeFailed, model.CodeReplaced
	return g.edit(ctx, merge.SupersededText(p.Snap.Pull, g.marker, by))
}

// dryRun goes as far as a merge can without changing anything, and tells what it found.
func dryRun(ctx context.Context, p *Request, m model.MergeMarker, v merge.Verdict) (string, error) {
	if v.Way.Strategy == "" || v.Way.Strategy == model.StrategyQueue { // what lands GitHub makes
		return merge.DryRunText(p.Snap.Pull, m, v, nil), nil
	}
	g := &merger{Request: p, marker: m}
	one := self(g, v.Way)
	err := g.prepare(ctx, one)
	plan := plan(one)
	if err == nil && v.Way.Train {
		plan.Train, err = inNoGroup(ctx, g)
		plan.Checks = merge.CarNames(policy(p), *p.MergeFacts)
	}
	if err == nil && (!plan.Train || policy(p).Verify == config.VerifyBoth) {
		plan.Tests, err = testsOf(ctx, p.World, one.Checkout, one.Settings, one.is.Base, one.is.BaseSHA, one.made.Tip)
	}
	s := (*Failure)(nil)
	switch {
	case errors.As(err, &s) && s.conflict != nil:
		plan.Conflicts = one.conflicts(ctx, s.conflict)
	case errors.As(err, &s):
		plan.Code, plan.Detail, plan.Proof = s.Code, s.Detail, s.Proof
	case err != nil:
		return "", err
	}
	return merge.DryRunText(p.Snap.Pull, m, v, &plan), nil
}
