package needs

import (
	"cmp"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// PullRow is the row of a pull request on the dashboard. How much waits for an answer is known later.
func PullRow(status model.Status, pull model.Pull, st model.State) model.BoardPull {
	row := model.BoardPull{
		Status: status, Author: pull.Author.Login, Base: pull.BaseRef, Opened: pull.CreatedAt, Updated: pull.UpdatedAt, CI: pull.Rollup, MoreChecks: pull.MoreChecks,
	}
	if e := st.External(); e != nil {
		row.External, row.ExternalURL = &e.Marker, e.URL
	}
	for _, c := range pull.Checks {
		if c.State != model.CheckPassed {
			row.Checks = append(row.Checks, c)
		}
	}
	for i, t := range st.Turns {
		before := dayBefore(st.Turns[:i], t)
		for _, r := range st.Reviews { // which are rows of their own
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
	for _, s := range st.Merges {
		m := s.Marker
		add(model.BoardTurn{Kind: "merge", Phase: string(m.State), From: m.Head, To: m.Landed, Began: s.At, URL: s.URL, RunURL: m.RunURL, Reason: string(m.Reason)}, m.Open(), s.UpdatedAt)
	}
	for _, s := range st.Reviews {
		m, cost := s.Marker, cmp.Or(s.Marker.Own, &model.Spent{}).CostUSD
		add(model.BoardTurn{Kind: "review", Phase: string(m.State), Began: s.At, URL: s.URL, RunURL: m.RunURL, Reason: m.Reason, CostUSD: cost}, m.Open(), s.UpdatedAt)
	}
	return row
}

// dayBefore returns the cost of a turn's day before that turn, as far as earlier turns tell.
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

// IssueRow is the row of an issue on the dashboard. begins is the flow that its labels ask for, if an agent was not at work yet.
func IssueRow(t model.Issue, st model.State, begins model.Flow) model.BoardIssue {
	row := model.BoardIssue{Number: t.Number, Title: t.Title, URL: t.URL, Flow: begins}
	var earlier []model.Posted[model.TurnMarker]
	for _, f := range st.Flows {
		said := model.Posted[model.TurnMarker]{Marker: f.Marker.TurnMarker, At: f.At, UpdatedAt: f.UpdatedAt, URL: f.URL}
		said.Marker.Phase = f.Marker.Status
		one := boardTurn("flow", said, dayBefore(earlier, said))
		earlier, one.To = append(earlier, said), f.Marker.LastCheckpoint
		row.Turns = append(row.Turns, one)
		row.Flow, row.Status, row.Waiting, row.Pull = f.Marker.Flow, f.Marker.Status, f.Marker.Waiting, f.Marker.Pull
	}
	if said := st.Roadmap; said != nil {
		row.Roadmap, row.RoadmapURL = said.Marker.Items, said.URL
	}
	return row
}
