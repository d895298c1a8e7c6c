package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// findMerge judges a command that asks for a merge, and makes the request of it. A dry run goes as far as it can without
// changing anything, and tells what it found.
func (p *pass) findMerge(ctx context.Context, c command.Case) (*command.Found, error) {
	m := model.MergeMarker{Head: p.snap.Pull.HeadSHA, Base: p.snap.Pull.BaseRef, By: c.By, Command: c.Key, At: c.At, Asked: c.Command.Strategy}
	if earlier := p.state.Merge(); earlier != nil && earlier.Marker.State == model.MergeRunning && !c.Command.DryRun {
		if live, err := p.liveMerge(ctx, *earlier); err != nil || live {
			return &command.Found{Verdict: model.Rejected, Text: fmt.Sprintf("A merge is under way already, see [there](%s).", earlier.URL)}, err
		}
	}
	v, err := p.judgeMerge(ctx, m, c.Command.Head)
	if err != nil {
		return nil, err
	}
	switch {
	case c.Command.DryRun:
		text, err := p.foretellMerge(ctx, m, v)
		return &command.Found{Verdict: model.Applied, Text: text}, err
	case !v.Go && !v.Wait:
		g := &merger{pass: p, marker: m}
		p.refused = g.stopped(v.Code, v.Reason)
		return &command.Found{Verdict: model.Rejected, Text: merge.RefuseText(p.snap.Pull, v)}, nil
	}
	m.Strategy = v.Way.Strategy
	if v.Wait || p.Phase == AgentPhase {
		m.State, m.Reason, m.Detail = model.MergeWaiting, v.Code, clip(v.Reason)
		return &command.Found{Verdict: model.Applied, Text: merge.WaitText(p.snap.Pull, m, v), Marker: &m}, nil
	}
	m.State = model.MergeRunning
	p.signMerge(&m)
	return &command.Found{Verdict: model.Applied, Text: merge.RunningText(p.snap.Pull, m, p.settings.Merge.Attempts), Marker: &m}, nil
}

// signMerge claims a request for this process, as another attempt on the head and the base as they are now.
func (p *pass) signMerge(m *model.MergeMarker) {
	m.BaseSHA = p.mergeFacts.BaseSHA
	m.Attempt = merge.Attempts(p.state, m.Head, m.BaseSHA) + 1
	m.Run, m.RunAttempt, m.RunURL, m.Claim = p.Run.ID, p.Run.Attempt, p.Run.URL, p.Random()
	m.Expires = p.mergeExpiry()
	p.memory.mergeClaim = m.Claim
}

// mergeExpiry is until when a merge may take from now: the tests of every member, as often as they may have to be run.
func (p *pass) mergeExpiry() time.Time {
	s := p.settings.Merge
	limit := time.Duration(s.Attempts)*s.TestTimeout + s.LockTimeout + claimMargin
	return p.serverNow().Add(limit).UTC().Truncate(time.Second)
}

// judgeMerge says what becomes of a request. What GitHub tells is asked once a pass; git is asked only where an approval of
// an older head may still hold.
func (p *pass) judgeMerge(ctx context.Context, m model.MergeMarker, sha string) (merge.Verdict, error) {
	if err := p.readMergeFacts(ctx); err != nil {
		return merge.Verdict{}, err
	}
	c := merge.Case{Snapshot: p.snap, State: p.state, Facts: *p.mergeFacts, Policy: p.mergePolicy(), Request: m, SHA: sha, Begun: m.Claim != "" && m.Claim == p.memory.mergeClaim}
	for _, t := range turn.Open(p.state) {
		live, err := p.live(ctx, t)
		if err != nil {
			return merge.Verdict{}, err
		}
		if live {
			c.Busy = &t
			break
		}
	}
	if stale := merge.Stale(c); len(stale) > 0 {
		var err error
		if c.Unchanged, err = p.unchanged(ctx, stale); err != nil {
			return merge.Verdict{}, err
		}
	}
	v := merge.Judge(c)
	if v.Wait && v.Code == model.CodeConflict { // nothing else is missing: building it shows people where
		v.Go, v.Wait = true, false
	}
	return v, nil
}

func (p *pass) readMergeFacts(ctx context.Context) error {
	if p.mergeFacts != nil {
		return nil
	}
	branch := p.snap.Pull.HeadRef
	if p.snap.Pull.CrossRepo {
		branch = ""
	}
	facts, err := p.GitHub.MergeFacts(ctx, p.event.Repo, p.event.Number, branch)
	if err == nil {
		p.mergeFacts = &facts
	}
	return err
}

// mergePolicy is what the settings say about merging.
func (p *pass) mergePolicy() merge.Policy { return policyOfMerge(p.settings) }

func policyOfMerge(s config.Settings) merge.Policy {
	policy := merge.Policy{
		Strategy: s.Merge.Strategy, Approvals: s.Merge.Approvals, RequiredChecks: s.Merge.RequiredChecks, Attempts: s.Merge.Attempts,
		Freeze: s.Labels.Freeze, Ignore: s.Labels.Ignore,
	}
	for _, r := range s.Merge.Rules {
		policy.Rules = append(policy.Rules, merge.Rule(r))
	}
	return policy
}

// mergeGates are the conditions under which the pull request would be merged now; nil where that is out of the question.
func (p *pass) mergeGates(ctx context.Context) ([]model.Gate, error) {
	if p.snap.Pull.State != model.PullOpen {
		return nil, nil
	}
	m := model.MergeMarker{Head: p.snap.Pull.HeadSHA, Base: p.snap.Pull.BaseRef}
	if open := p.state.Merge(); open != nil && open.Marker.Open() {
		m = open.Marker
	}
	v, err := p.judgeMerge(ctx, m, "")
	if s := (*setback)(nil); errors.As(err, &s) { // the branches do not tell; the gates above do
		return nil, nil
	}
	return v.Gates, err
}

// unchanged tells of older heads whether they were approved for the same change as that of the head now.
func (p *pass) unchanged(ctx context.Context, heads []string) (map[string]bool, error) {
	if err := p.open(ctx); err != nil {
		return nil, err
	}
	met, err := p.checkout.Meet(ctx, p.snap.Pull.BaseRef, p.headRef())
	if err != nil {
		return nil, setbackOf(err, "")
	}
	same := map[string]bool{}
	for _, sha := range heads {
		if err := p.checkout.Have(ctx, sha); err != nil {
			if isNoRef(err) { // nobody can say any more what was approved
				continue
			}
			return nil, err
		}
		if same[sha], err = p.checkout.SameChange(ctx, met.BaseSHA, sha, met.BaseSHA, met.HeadSHA); err != nil {
			return nil, err
		}
	}
	return same, nil
}

// headRef is where the server has the head of the pull request.
func (p *pass) headRef() string {
	if p.snap.Pull.CrossRepo {
		return fmt.Sprintf("refs/pull/%d/head", p.event.Number)
	}
	return "refs/heads/" + p.snap.Pull.HeadRef
}

// liveMerge says that the process behind a merge is at work.
func (p *pass) liveMerge(ctx context.Context, m model.Said[model.MergeMarker]) (bool, error) {
	if m.Marker.Claim != "" && m.Marker.Claim == p.memory.mergeClaim {
		return false, nil // it is this one
	}
	return p.live(ctx, model.Said[model.TurnMarker]{CommentID: m.CommentID, Marker: model.TurnMarker{
		Run: m.Marker.Run, RunAttempt: m.Marker.RunAttempt, Expires: m.Marker.Expires, Claim: m.Marker.Claim,
	}})
}

// mergeOn takes the newest request to merge as far as it goes. The Stop says how that ended where it is not merged: other
// things may still be done in this run, and else it is how the run ends.
func (p *pass) mergeOn(ctx context.Context) (*Stop, error) {
	if err := p.endOthers(ctx); err != nil {
		return nil, err
	}
	said := p.state.Merge()
	if said == nil || !said.Marker.Open() {
		return nil, nil
	}
	m := said.Marker
	if m.State == model.MergeWaiting && m.Reason == model.CodeCancelled && !p.DryRun && p.Phase != AgentPhase {
		g := newMerger(p, *said)
		g.marker.State = model.MergeFailed
		return nil, g.edit(ctx, merge.CancelText(p.snap.Pull, g.marker, m.Detail))
	}
	switch {
	case m.State == model.MergeRunning:
		if live, err := p.liveMerge(ctx, *said); err != nil || live {
			return nil, errors.Join(err, stop(model.ResultRetry, "another run is merging pull request %d, see %s", p.event.Number, said.URL))
		}
	case m.Leader != "": // it is merged from there
		return nil, nil
	}
	if p.Phase == AgentPhase { // the tests of a merge run where the merge does
		return nil, nil
	}
	if p.DryRun {
		p.planned("merge", fmt.Sprint(p.event.Number), mergeToken(m))
		return nil, nil
	}
	return newMerger(p, *said).advance(ctx)
}

// mergeToken names the end of a request to merge.
func mergeToken(m model.MergeMarker) string { return journal.Token("merge", m.Command) }

// endOthers ends the requests that a newer one took the place of, which would else say for ever that they wait.
func (p *pass) endOthers(ctx context.Context) error {
	newest := p.state.Merge()
	for _, said := range p.state.Merges {
		if newest == nil || said.CommentID == newest.CommentID || !said.Marker.Open() || p.DryRun || p.Phase == AgentPhase {
			continue
		}
		g := newMerger(p, said)
		g.marker.State, g.marker.Reason = model.MergeFailed, model.CodeReplaced
		if err := g.edit(ctx, merge.SupersededText(p.snap.Pull, g.marker, newest.URL)); err != nil {
			return err
		}
	}
	return nil
}

// foretellMerge goes as far as a merge can without changing anything, and tells what it found.
func (p *pass) foretellMerge(ctx context.Context, m model.MergeMarker, v merge.Verdict) (string, error) {
	if v.Way.Strategy == "" {
		return merge.DryRunText(p.snap.Pull, m, v, nil), nil
	}
	g := &merger{pass: p, marker: m}
	one := g.self(v.Way)
	err := g.prepare(ctx, one)
	plan := merge.Plan{Commits: one.made.Commits, More: one.made.Count - len(one.made.Commits), BaseSHA: one.is.BaseSHA, Tip: one.made.Tip, Notes: one.told()}
	if err == nil {
		plan.Tests, err = testsOf(ctx, one.checkout, one.settings.Merge.Tests, one.is.BaseSHA)
	}
	s := (*setback)(nil)
	switch {
	case errors.As(err, &s) && s.conflict != nil:
		plan.Conflicts = one.conflicts(ctx, s.conflict)
	case errors.As(err, &s):
		plan.Code, plan.Detail = s.Code, s.Detail
	case err != nil:
		return "", err
	}
	return merge.DryRunText(p.snap.Pull, m, v, &plan), nil
}
