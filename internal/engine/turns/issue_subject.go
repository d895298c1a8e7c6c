package turns

import (
	"cmp"
	"context"
	"slices"

	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// words are what people read of an attempt on an issue.
func words(p *Issue) Words {
	earlier := func() string { return turn.Earlier(p.Snap.Issue().URL, p.Marker.Tries) }
	return Words{
		Kind: journal.KindIssue, Marker: func(m model.TurnMarker) any { return packed(markerOf(p, m)) },
		Claim: func() string {
			return flow.ClaimText(*p.Snap.Issue(), markerOf(p, p.Marker), p.Feedback, work.Saves(p.Work)) + earlier()
		},
		Planned: func(m model.TurnMarker) string { return flow.PlannedText(*p.Snap.Issue(), markerOf(p, m)) },
		Failed: func(next string) string {
			return flow.FailedText(*p.Snap.Issue(), markerOf(p, p.Marker), next, p.Kept) + earlier()
		},
		Again: func(m model.TurnMarker) string { return flow.Again(m.Attempt, turn.MaxAttempts) }, Later: flow.Later,
	}
}

// markerOf is the marker of an attempt on an issue, as that of its turn stands.
func markerOf(p *Issue, m model.TurnMarker) model.IssueMarker {
	whole := *p.Issue
	whole.TurnMarker, whole.Status = m, m.Phase
	whole.LastCheckpoint = cmp.Or(m.Kept.SHA, whole.Tip)
	return whole
}

// packed is journal.Packed for an issue's marker.
func packed(m model.IssueMarker) model.IssueMarker {
	m.TurnMarker = journal.Packed(m.TurnMarker)
	return m
}

// keep brings work to the branch of its flow, or to one of its own: files are no part of a design.
func (p *Issue) keep(ctx context.Context, h work.Held) model.Kept {
	switch {
	case h.Head != "" && (p.Issue.Flow.Document() || h.Aside):
		return work.KeepApart(ctx, p.Work, h.Head)
	case h.Head != "":
		return keepOnBranch(ctx, p, h.Head)
	case p.Tip != "": // nothing new, but what earlier attempts did
		return model.Kept{Branch: p.Issue.Branch, SHA: p.Tip, Base: work.Base(p.Work)}
	}
	return model.Kept{}
}

// Block makes the attempt wait for a person.
func (p *Issue) Block(ctx context.Context, m model.BlockMarker, detail string) error {
	return wait(ctx, p, m.Reason, detail)
}

// Question completes the first request to the agent.
func (p *Issue) Question(ctx context.Context, head string, a turn.Ask) (turn.Ask, error) {
	a.Kind, a.Flow, a.Resumed = string(p.Issue.Flow), p.Issue.Flow, a.Resumed || p.Tip != ""
	a.Earlier = slices.DeleteFunc(slices.Clone(p.Snap.Comments), func(c model.Comment) bool { // the words of people that were taken up before
		return c.Ours || c.Author.Bot || !p.State.Answered[c.Key(p.Event.Number)]
	})
	switch p.Issue.Flow {
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
