package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/handoff"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// batchOf is what an attempt takes up of what waits on its issue: what an agent has worked on already, as long as all of it
// still waits. What came later is for a later attempt.
func batchOf(p *Issue) (now, later []model.Comment) {
	r := p.Memory.Received
	if !Offered(p.Attempt) || r.Err != nil || r.Flow == "" || r.Number != p.Event.Number {
		return turn.Batch(p.queue, p.Policy)
	}
	for _, c := range p.queue {
		if slices.Contains(r.Events, c.Key(p.Event.Number)) {
			now = append(now, c)
		} else {
			later = append(later, c)
		}
	}
	if len(now) != len(r.Events) {
		return turn.Batch(p.queue, p.Policy)
	}
	return now, later
}

// expected is what an attempt can be made with: what an agent did on the branch as it is, or on an earlier state of it.
func expected(ctx context.Context, p *Issue) (handoff.Expected, error) {
	r := p.Memory.Received
	want := handoff.Expected{Flow: p.Issue.Flow, Start: p.Snap.DefaultSHA, Pending: turn.Keys(p.Event.Number, p.queue), TurnKey: p.Marker.Key}
	if !p.fresh {
		if err := readBranch(ctx, p, p.Issue.Branch); err != nil {
			return want, err
		}
		want.Start = cmp.Or(p.Snap.Branch.SHA, want.Start)
	}
	if r.Number == p.Event.Number && r.Ended != handoff.Nothing {
		relation, err := p.Relation(ctx, r.Start, want.Start)
		if err != nil {
			return want, err
		}
		if lineage.Decide(relation) == lineage.Pass { // it has grown since
			want.Start = r.Start
		}
	}
	return want, nil
}

// BeginAt checks out the commit at which the agent began: an earlier state of the base branch, or of the branch that keeps the
// work so far.
func (p *Issue) BeginAt(ctx context.Context, start string) error {
	name, tip := p.Issue.Branch, p.Tip
	if tip == "" {
		name, tip = p.Issue.Base, history.FetchedBase(p.Checkout)
	}
	relation, err := thread.RelationIn(ctx, p.Checkout, start, tip)
	if err != nil {
		return err
	}
	if lineage.Decide(relation) != lineage.Pass {
		return Withdraw(ctx, p.Attempt, model.ResultRetry, "the agent started at %s, which branch %s no longer has; the agent phase of the next event starts again", markdown.Short(start), name)
	}
	p.Marker.Start = start // what was pushed there since is for the landing to meet
	return nil
}

// Valid checks what was handed over against the rules of the issue's flow.
func (p *Issue) Valid(ctx context.Context, h handoff.Handoff) error {
	// As in Accept: what an earlier attempt left is ready once somebody says so.
	ready := p.Tip != "" && strings.TrimSpace(h.Outcome.PRTitle+h.Outcome.PRSummary) != ""
	var wrong *flow.Invalid
	if err := flow.Validate(p.Issue.Flow, h.Outcome, h.Commits() || ready); errors.As(err, &wrong) {
		return work.Blocked(p.Work, wrong.Reason, wrong.Error())
	}
	switch p.Issue.Flow {
	case model.FlowDesign, model.FlowRoadmap:
		wrong, err := undesigned(ctx, p, h)
		if err == nil && wrong != "" {
			err = work.Blocked(p.Work, model.ReasonOutcome, "the agent's job handed over something other than a "+strings.ReplaceAll(string(p.Issue.Flow), "_", " ")+": "+wrong)
		}
		return err
	case model.FlowImplementation: // where the agent found it
		if _, err := designDocument(ctx, p, h.Base()); err != nil {
			return err
		}
	}
	said, err := p.Untested(ctx, h.Head)
	if err == nil && said != "" {
		err = work.Blocked(p.Work, model.ReasonNoTest, said)
	}
	return err
}

// undesigned says what keeps the commits of a design from being one: its document, as the outcome says it, and nothing else.
func undesigned(ctx context.Context, p *Issue, h handoff.Handoff) (wrong string, err error) {
	changes, err := history.Changes(ctx, p.Checkout, h.Base(), h.Head)
	if err != nil {
		return "", err
	}
	commits, err := history.List(ctx, p.Checkout, h.Base(), h.Head)
	if err != nil {
		return "", err
	}
	doc := p.Issue.Doc
	stray := slices.IndexFunc(changes, func(c history.Change) bool { return c.Path != doc })
	switch {
	case stray >= 0:
		return changes[stray].Path + " was changed, and is not its document", nil
	case len(commits) > 1: // what one adds and the next removes is part of the history too
		return fmt.Sprintf("%d commits instead of one", len(commits)), nil
	case len(changes) > 0 && changes[0].NewMode != "100644":
		return fmt.Sprintf("%s is not a regular file (mode %s)", doc, changes[0].NewMode), nil
	}
	want, err := document(p, h.Outcome)
	if err != nil {
		return err.Error(), nil
	}
	text, err := history.Blob(ctx, p.Checkout, h.Head, doc)
	switch {
	case doc == "" || errors.Is(err, fs.ErrNotExist):
		return "there is no document", nil
	case err == nil && string(text) != string(want):
		return doc + " differs from the document in the outcome", nil
	}
	return "", err
}

// ReceiveCommits finds the document of a design among the files that were handed over. It has to be a new file with one of this
// issue's names, whatever the title was when the name was chosen.
func (p *Issue) ReceiveCommits(ctx context.Context, h handoff.Handoff) error {
	if !p.Issue.Flow.Document() || p.Issue.Doc != "" {
		return nil
	}
	changes, err := history.Changes(ctx, p.Checkout, h.Base(), h.Head)
	if err != nil {
		return err
	}
	dir := path.Dir(flow.DocPath(docDir(p), p.Event.Number, p.Snap.Issue().Title, 1))
	begins := fmt.Sprintf("%d-", p.Event.Number)
	for _, c := range changes {
		if c.Status == "A" && path.Dir(c.Path) == dir && path.Ext(c.Path) == ".md" && strings.HasPrefix(path.Base(c.Path), begins) {
			p.Issue.Doc = c.Path
			return nil
		}
	}
	return nil
}

// leaveToAgent puts an attempt whose commits are on their branch back to its agent, which has a job of its own: what people
// said meanwhile is taken up there, before the pull request is opened.
func leaveToAgent(ctx context.Context, p *Issue, more []model.Comment) error {
	beginAgain(p, p.Tip)
	p.Kept = model.Kept{Branch: p.Issue.Branch, SHA: p.Tip}
	if err := GiveUpClaim(ctx, p.Attempt, "The new comments come first, then the pull request is opened. The next event continues from here."); err != nil {
		return err
	}
	return thread.EndWithoutAgent(p.World, "%s on %s wait", markdown.Count(len(more), "comment"), p.About())
}

// beginAgain makes an attempt that is planned one that begins at the tip of its branch.
func beginAgain(p *Issue, tip string) {
	m := &p.Marker
	m.Phase, m.Start, m.Onto, m.Planned, m.Outbox = model.PhaseStarted, tip, "", "", nil
	p.Issue.Tip = tip
}

// untried keeps commits aside whose tests would have to run again on what somebody pushed to their branch: they run where the
// agent does, and nowhere else.
func untried(ctx context.Context, p *Issue, head string) error {
	p.Kept = work.KeepAside(ctx, p.Work, p.Marker.Planned)
	beginAgain(p, head)
	if err := GiveUpClaim(ctx, p.Attempt, "Somebody pushed to its branch in the meantime; the next event continues from there."); err != nil {
		return err
	}
	return thread.EndWithoutAgent(p.World, "branch %s moved to %s in the meantime; %s waits", p.Issue.Branch, markdown.Short(head), p.About())
}
