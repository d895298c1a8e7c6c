package engine

import (
	"context"
	"fmt"
	"strconv"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/external"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// dueClosed finds what is due on a pull request that is not open any more: the end of what was begun before.
func (p *pass) dueClosed() glance {
	g := p.glance()
	if m := p.State.Merge(); m != nil && m.Marker.Open() && m.Marker.Leader == "" {
		g.due(model.DueMerge, m.At)
	}
	if p.OwesAnswers() || len(p.overtakenTurns()) > 0 {
		g.due(model.DueTurn, g.since)
	}
	if p.State.Conflicts != nil {
		g.due(model.DueSurplus, g.since)
	}
	if p.overtakenGuest() || external.Stray(p.externalFacts(p.host)) {
		g.due(model.DueExternal, g.since)
	}
	return g
}

// overtakenGuest says that what a label had let in was merged or closed by other hands.
func (p *pass) overtakenGuest() bool {
	e, m := p.State.External(), p.State.Merge()
	if e == nil || !e.Marker.Open() {
		return false
	}
	return m == nil || !m.Marker.Open() && (m.Marker.State != model.MergeDone || m.Marker.Mirror == "")
}

// overtakenTurns are the turns that have not come to their end before their pull request was merged. One that was only closed
// may be opened again, and then they go on.
func (p *pass) overtakenTurns() []model.Posted[model.TurnMarker] {
	if p.Snap.Pull.State != model.PullMerged || p.OwesAnswers() {
		return nil
	}
	return turn.Open(p.State)
}

// wrapUp ends what was begun on a pull request that somebody has merged or closed meanwhile, when a sweep comes by.
func (p *pass) wrapUp(ctx context.Context) error {
	if p.Event.Name != "schedule" || !p.Snap.IsPull || p.Snap.Pull.State == model.PullOpen || p.Phase == thread.AgentPhase {
		return nil
	}
	if c := p.State.Conflicts; c != nil {
		if err := p.Remove(ctx, c.CommentID, journal.Token("conflicts", strconv.Itoa(p.Event.Number))); err != nil {
			return err
		}
	}
	for _, t := range p.overtakenTurns() {
		live, err := p.Live(ctx, t)
		if err != nil || live {
			return err
		}
		if err := p.overtake(ctx, t); err != nil {
			return err
		}
	}
	return p.farewell(ctx)
}

// overtake says that a turn comes to nothing, and where its commits are: the ref of those that are recorded stays.
func (p *pass) overtake(ctx context.Context, t model.Posted[model.TurnMarker]) error {
	next := "The pull request was merged before this came to its end."
	if t.Marker.Phase == model.PhasePlanned && t.Marker.Planned != turn.Base(t.Marker) {
		next = fmt.Sprintf("The pull request was merged before this was published. Its commits are kept: `git fetch origin %s`.", stagedAt(p.Event.Number, t.Marker))
	}
	p.ClaimID, p.Marker = t.CommentID, t.Marker
	p.feedback, _ = turn.Find(p.Snap, t.Marker.Events)
	p.Marker.Phase, p.Marker.Outbox, p.Marker.Expires, p.Marker.Reason = model.PhaseFailed, nil, p.Expiry(), "the pull request was merged meanwhile"
	err := p.edit(ctx, p.failedText(next))
	p.ClaimID, p.Marker, p.feedback = 0, model.TurnMarker{}, nil
	return err
}

// farewell ends a letting in whose pull request is over by other hands, and takes off what a run left that died.
func (p *pass) farewell(ctx context.Context) error {
	said := p.State.External()
	if said == nil {
		return nil
	}
	g := &guest{pass: p, comment: said.CommentID, marker: said.Marker}
	if p.overtakenGuest() {
		g.marker.State, g.marker.Claim = model.ExternalVoid, ""
		g.marker.Reason = "closed meanwhile"
		if p.Snap.Pull.State == model.PullMerged {
			g.marker.Reason = "merged meanwhile"
		}
		if err := g.put(ctx, external.OverText(p.Snap.Pull, g.marker)); err != nil {
			return err
		}
		g.dropMirror(ctx)
	}
	if external.Stray(p.externalFacts(p.host)) {
		g.dropMirror(ctx)
		return g.takeOff(ctx)
	}
	return nil
}
