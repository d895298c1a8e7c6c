package sweeping

import (
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/needs"
	"github.com/mergexo/mergexo/internal/turn"
)

// boardIssue is the row of an issue on the dashboard; false where it is none of ours.
func boardIssue(p *thread.Thread, step flow.Step) (model.BoardIssue, bool) {
	t := p.Snap.Issue()
	begins, _, labelled := flow.Of(t.Labels, thread.LabelsOf(p.Settings.Labels))
	row := needs.IssueRow(*t, p.State, begins)
	switch said := p.State.Roadmap; {
	case step.Act == flow.Wait:
		row.Need = needs.OfIssue(t.Title, *step.From)
	case step.Act == flow.Run && said != nil:
		row.Need = needs.OfRoadmap(t.Title, *said)
	}
	return row, labelled || len(p.State.Flows) > 0
}

// OfIssue is the row of an issue on the dashboard, and what is done about the issue next.
func OfIssue(t *thread.Thread) (row model.BoardIssue, next string) {
	step := nextAtIssue(t)
	row, _ = boardIssue(t, step)
	return row, step.Why
}

// nextAtIssue is the next step at an issue, if everybody who spoke there may.
func nextAtIssue(t *thread.Thread) flow.Step {
	candidates := turn.MaySteer(turn.Candidates(t.Snap, t.State, t.Policy), t.Memory.Rights, t.Policy)
	return flow.Next(thread.IssueFacts(t, nil, candidates, thread.Everybody))
}

// tellPending puts on the dashboard how much waits for an answer.
func (f *scan) tellPending(number, pending int) {
	for i := range f.board.Pulls {
		row := &f.board.Pulls[i]
		if row.Number != number || pending == 0 {
			continue
		}
		row.Pending = pending
		if row.State == model.StatusIdle || row.State == model.StatusQueued {
			row.State = model.StatusPending
		}
	}
}
