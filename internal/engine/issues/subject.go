package issues

import (
	"cmp"
	"context"
	"fmt"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// Closes is the number that commits may close: what they are for, unless they only design what is to be done.
func (p *Issue) Closes() int {
	if p.progress.marker.Flow.Document() {
		return 0
	}
	return p.Event.Number
}

// Keep brings work to the branch of its flow, or to one of its own: files are no part of a design.
func (p *Issue) Keep(ctx context.Context, h work.Held) model.Kept {
	switch {
	case h.Head != "" && (p.progress.marker.Flow.Document() || h.Aside):
		return p.KeepApart(ctx, h.Head)
	case h.Head != "":
		return keepOnBranch(ctx, p, h.Head)
	case p.progress.tip != "": // nothing new, but what earlier attempts did
		return model.Kept{Branch: p.progress.marker.Branch, SHA: p.progress.tip, Base: p.Base()}
	}
	return model.Kept{}
}

// NotKept notes why what was done is kept nowhere.
func (p *Issue) NotKept(err error) { p.progress.unkept = err.Error() }

// Tested is the commit that needs no test: what earlier attempts left on the branch may not have passed.
func (p *Issue) Tested(string) string { return history.FetchedBase(p.Checkout) }

// Body is the comment of an attempt, but for its token.
func (p *Issue) Body(text string, m model.TurnMarker) journal.Body {
	m.Reason = thread.Clip(m.Reason)
	return journal.Body{Text: text, Kind: journal.KindIssue, Marker: packed(p.markerOf(m))}
}

// markerOf is the marker of an attempt on an issue, as that of its turn stands.
func (p *Issue) markerOf(m model.TurnMarker) model.IssueMarker {
	whole := p.progress.marker
	whole.TurnMarker, whole.Status = m, m.Phase
	whole.LastCheckpoint = cmp.Or(m.Kept.SHA, whole.Tip)
	return whole
}

// packed is journal.Packed for an issue's marker.
func packed(m model.IssueMarker) model.IssueMarker {
	m.TurnMarker = journal.Packed(m.TurnMarker)
	return m
}

// ClaimText, PlannedText and FailedText are what people read of the attempt at hand while it is in progress.
func (p *Issue) ClaimText() string {
	return flow.ClaimText(*p.Snap.Issue(), p.markerOf(p.Marker), p.Feedback, p.Saves()) + turn.Earlier(p.Snap.Issue().URL, p.Marker.Tries)
}

func (p *Issue) PlannedText(m model.TurnMarker) string {
	return flow.PlannedText(*p.Snap.Issue(), p.markerOf(m))
}

func (p *Issue) FailedText(next string) string {
	return flow.FailedText(*p.Snap.Issue(), p.markerOf(p.Marker), next, p.Kept) + turn.Earlier(p.Snap.Issue().URL, p.Marker.Tries)
}

// Again says that the next run tries again.
func (p *Issue) Again() string { return flow.Again(p.Marker.Attempt, turn.MaxAttempts) }

// Later says that a later run tries again.
func (p *Issue) Later() string { return flow.Later }

// Block has the attempt wait for a person.
func (p *Issue) Block(ctx context.Context, m model.BlockMarker, detail string) error {
	return wait(ctx, p, m.Reason, detail)
}

// Question completes the first request to the agent.
func (p *Issue) Question(ctx context.Context, head string, a turn.Ask) (turn.Ask, error) {
	w := p.progress.marker
	a.Kind, a.Flow, a.Resumed = string(w.Flow), w.Flow, a.Resumed || p.progress.tip != ""
	a.Earlier = saidBefore(p)
	switch w.Flow {
	case model.FlowDesign, model.FlowRoadmap:
		a.DocDir = docDir(p)
	case model.FlowBugfix:
		a.TestFiles = p.Settings.Repo.TestFileRegex
	case model.FlowImplementation:
		doc, err := designDocument(ctx, p, head)
		if err != nil {
			return a, err
		}
		a.Doc = doc
	}
	return a, nil
}

// ReviewBase is where the work began on the base branch: all of it becomes the pull request.
func (p *Issue) ReviewBase(ctx context.Context, head string) (string, error) {
	return history.ForkPoint(ctx, p.Checkout, history.FetchedBase(p.Checkout), head)
}

// Resumed says that the agent is given work of earlier attempts.
func (p *Issue) Resumed() bool { return p.progress.tip != "" }

// Trail has the last commit of a result say what it is of: the pull request tells.
func (p *Issue) Trail(_ context.Context, head string) (string, error) { return head, nil }

// Flow is the flow that is handed over.
func (p *Issue) Flow() model.Flow { return p.progress.marker.Flow }

// Start is the head that what was handed over is put on.
func (p *Issue) Start() string { return p.progress.tip }

// Next is what the agent would do next, for a dry run.
func (p *Issue) Next() string {
	return fmt.Sprintf("%s for issue %d would begin at %s", p.progress.marker.Flow, p.Event.Number, markdown.Short(p.Marker.Start))
}

// Restore makes the checkout a clean one of the head.
func (p *Issue) Restore(ctx context.Context, head string) error {
	if p.progress.tip == "" {
		return branchOff(ctx, p)
	}
	return p.RestoreHead(ctx, head)
}
