package sweeping

import (
	"cmp"
	"time"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/needs"
	"github.com/mergexo/mergexo/internal/turn"
)

// boardPull is the row of a pull request on the dashboard. How much waits for an answer is known later.
func (p *reading) boardPull() model.BoardPull {
	pull := p.Snap.Pull
	row := model.BoardPull{
		Status: p.PullStatus(nil), Author: pull.Author.Login, Base: pull.BaseRef, Opened: pull.CreatedAt, Updated: pull.UpdatedAt, CI: pull.Rollup, MoreChecks: pull.MoreChecks,
	}
	if e := p.State.External(); e != nil {
		row.External, row.ExternalURL = &e.Marker, e.URL
	}
	for _, c := range pull.Checks {
		if c.State != model.CheckPassed {
			row.Checks = append(row.Checks, c)
		}
	}
	for i, t := range p.State.Turns {
		before := dayBefore(p.State.Turns[:i], t)
		for _, r := range p.State.Reviews { // which are rows of their own
			if a, b := r.Marker.Spent, t.Marker.Spent; r.At.Before(t.At) && a != nil && b != nil && a.Day == b.Day {
				before = max(before, a.CostUSD)
			}
		}
		row.Turns = append(row.Turns, boardTurn("turn", t, before))
	}
	add := func(one model.BoardTurn, open bool, updated time.Time) {
		if !open {
			one.Ended = updated
		}
		row.Turns = append(row.Turns, one)
	}
	for _, s := range p.State.Merges {
		m := s.Marker
		add(model.BoardTurn{Kind: "merge", Phase: string(m.State), From: m.Head, To: m.Landed, Began: s.At, URL: s.URL, RunURL: m.RunURL, Reason: string(m.Reason)}, m.Open(), s.UpdatedAt)
	}
	for _, s := range p.State.Reviews {
		m, cost := s.Marker, cmp.Or(s.Marker.Own, &model.Spent{}).CostUSD
		add(model.BoardTurn{Kind: "review", Phase: string(m.State), Began: s.At, URL: s.URL, RunURL: m.RunURL, Reason: m.Reason, CostUSD: cost}, m.Open(), s.UpdatedAt)
	}
	return row
}

// dayBefore is what the day of a turn had cost before it, as far as earlier ones tell.
func dayBefore(earlier []model.Posted[model.TurnMarker], t model.Posted[model.TurnMarker]) float64 {
	cost := 0.0
	for _, e := range earlier {
		if a, b := e.Marker.Spent, t.Marker.Spent; a != nil && b != nil && a.Day == b.Day {
			cost = a.CostUSD
		}
	}
	return cost
}

// boardTurn is one attempt of an agent on the dashboard.
func boardTurn(kind string, t model.Posted[model.TurnMarker], before float64) model.BoardTurn {
	m := t.Marker
	out := model.BoardTurn{Kind: kind, Phase: string(m.Phase), From: m.Start, To: m.Head, Began: t.At, CostUSD: m.CostUSD, URL: t.URL, RunURL: m.RunURL, Reason: m.Reason}
	if out.CostUSD == 0 && m.Spent != nil {
		out.CostUSD = max(0, m.Spent.CostUSD-before)
	}
	if !m.Open() {
		out.Ended = t.UpdatedAt
	}
	return out
}

// boardIssue is the row of an issue on the dashboard; false where it is none of ours.
func boardIssue(p *thread.Thread, step flow.Step) (model.BoardIssue, bool) {
	t := p.Snap.Issue()
	row := model.BoardIssue{Number: t.Number, Title: t.Title, URL: t.URL}
	var labelled bool
	row.Flow, _, labelled = flow.Of(t.Labels, thread.LabelsOf(p.Settings.Labels))
	var earlier []model.Posted[model.TurnMarker]
	for _, f := range p.State.Flows {
		said := model.Posted[model.TurnMarker]{Marker: f.Marker.TurnMarker, At: f.At, UpdatedAt: f.UpdatedAt, URL: f.URL}
		said.Marker.Phase = f.Marker.Status
		one := boardTurn("flow", said, dayBefore(earlier, said))
		earlier, one.To = append(earlier, said), f.Marker.LastCheckpoint
		row.Turns = append(row.Turns, one)
		row.Flow, row.Status, row.Waiting, row.Pull = f.Marker.Flow, f.Marker.Status, f.Marker.Waiting, f.Marker.Pull
	}
	if step.Act == flow.Wait {
		row.Need = needs.OfIssue(t.Title, *step.From)
	}
	if said := p.State.Roadmap; said != nil {
		row.Roadmap, row.RoadmapURL = said.Marker.Items, said.URL
		if step.Act == flow.Run {
			row.Need = needs.OfRoadmap(t.Title, *said)
		}
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
