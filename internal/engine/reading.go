package engine

import (
	"cmp"
	"context"
	"maps"
	"time"

	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/leak"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// begin reads where the pull request stands, and takes away what two runs said in the same moment.
func (p *pass) begin(ctx context.Context) error {
	if err := p.read(ctx); err != nil {
		return err
	}
	if err := p.configure(); err != nil {
		return p.tellSettings(ctx, err)
	}
	if err := p.checkIdentity(ctx); err != nil {
		return err
	}
	if p.DryRun || p.Phase == AgentPhase {
		return nil
	}
	return p.tidy(ctx)
}

// read takes a fresh snapshot and folds its state.
func (p *pass) read(ctx context.Context) error {
	q := github.Query{Repo: p.event.Repo, Number: p.event.Number, Node: p.event.CommentNode, Branch: p.branch}
	if !p.event.Author.Bot {
		q.Author = p.event.Author.Login
	}
	if p.event.Name == "issues" && !p.event.Sender.Bot { // who put the label on
		q.Sender = p.event.Sender.Login
	}
	known, since := p.memory.comments, p.memory.readAt
	q.Settled = func(s model.Snapshot, read []model.Comment) (model.Mark, bool) {
		switch {
		case !since.IsZero(): // only what is newer than the last reading of this run is news
			return model.Mark{At: since, ID: turn.Newest(known)}, true
		case s.Thread != nil:
			return p.settledIssue(s, read)
		}
		return p.Codec.Settled(read, p.scope())
	}
	snap, err := p.GitHub.Snapshot(ctx, q)
	if err != nil {
		return err
	}
	p.snap, p.readAt = recall(snap, known, p.memory.floor), p.Now()
	p.recallFailures()
	p.memory.comments, p.memory.readAt, p.memory.floor = p.snap.Comments, snap.ReadAt, p.snap.Floor
	maps.Copy(p.rights, snap.Permissions)
	p.report.HeadSHA, p.report.IsIssue = snap.Pull.HeadSHA, !snap.IsPull
	if !p.snap.IsPull {
		p.snap.Pull = p.prospect()
	} else if p.snap.Pull.Issue == nil {
		p.snap.Pull.Issue = p.memory.source
	}
	p.fold()
	return p.checkIdentity(ctx)
}

// settledIssue is how far back the conversation of an issue has to be read. Our markers are no older than the label that set
// the agent to work; before the first of them, or without any such label, the newest page says enough.
func (p *pass) settledIssue(s model.Snapshot, read []model.Comment) (model.Mark, bool) {
	if st := p.Codec.Fold(read, p.scope()); len(st.Flows) > 0 && !st.Settled.At.IsZero() {
		return st.Settled, true
	}
	labels := config.Defaults().Labels
	if settings, err := config.Parse(s.Settings, ""); err == nil {
		labels = settings.Labels
	}
	since, known := flow.Since(*s.Thread, labelsOf(labels))
	switch {
	case !known:
		return model.Mark{}, false
	case since.IsZero():
		return model.Mark{At: s.ReadAt}, true
	}
	return model.Mark{At: since}, true
}

// readSource reads the issue that the pull request is for where GitHub does not know of it: a design closes none.
func (p *pass) readSource(ctx context.Context) error {
	number := flow.DesignOf(p.snap.Pull.HeadRef)
	if t := p.state.Tracked; t != nil && t.Marker.Issue != 0 {
		number = t.Marker.Issue
	}
	if p.snap.Pull.Issue != nil || number == 0 || p.snap.Pull.CrossRepo {
		return nil
	}
	snap, err := p.GitHub.Snapshot(ctx, github.Query{Repo: p.event.Repo, Number: number, Settled: func(s model.Snapshot, _ []model.Comment) (model.Mark, bool) {
		return model.Mark{At: s.ReadAt}, true
	}})
	if k := github.KindOf(err); k == github.NotFound || k == github.Gone {
		return nil
	}
	if err != nil {
		return err
	}
	p.memory.source, p.snap.Pull.Issue = snap.Thread, snap.Thread
	return nil
}

// prospect is the pull request that an issue is on its way to.
func (p *pass) prospect() model.Pull {
	t := p.snap.Thread
	pull := model.Pull{Number: t.Number, Title: t.Title, URL: t.URL, State: model.PullOpen, BaseRef: p.snap.DefaultBranch, BaseSHA: p.snap.DefaultSHA, Issue: t}
	if t.Closed {
		pull.State = model.PullClosed
	}
	if p.issue != nil {
		pull.HeadRef, pull.HeadSHA = p.issue.marker.Branch, p.marker.Start
	}
	return pull
}

// memory is what a run remembers from one reading of a pull request to the next.
type memory struct {
	comments []model.Comment
	readAt   time.Time // of the newest reading, on GitHub's clock
	floor    time.Time
	rights   map[string]model.Permission // by lower-case login
	// relations of two heads, by both together: what GitHub has answered once is so for good.
	relations map[string]model.Relation
	// temp is the directory of this run that its agents get; empty: none has been needed yet.
	temp    string
	scanner *leak.Scanner // nil until it is needed
	// failures are the failed workflow runs on a head, as they were found once.
	failures []model.Comment
	failedOn string
	runs     []model.CIRun // on that head, whatever became of them
	// pushes are those to the head branch, as GitHub tells who made them, where that was asked.
	pushes      []model.Push
	pushesAsked bool
	// source is the issue that a design's pull request is for, once it was read: nothing on GitHub links the two.
	source *model.Issue
	// received is what an agent's phase handed over; used says that a turn was made of it.
	received *received
	used     bool
}

// recall completes a reading that stopped at the one before with what that one read below it: had any of it been edited
// since, it would stand above.
func recall(snap model.Snapshot, known []model.Comment, floor time.Time) model.Snapshot {
	if snap.CommentsComplete || len(known) == 0 {
		return snap
	}
	type id struct {
		kind model.Kind
		id   int64
	}
	read := map[id]bool{}
	for _, c := range snap.Comments {
		read[id{c.Kind, c.ID}] = true
	}
	for _, c := range known {
		below := !c.UpdatedAt.After(snap.Floor)
		if c.Kind != model.KindIssue {
			below = cmp.Or(c.ReviewID, c.ID) < snap.ReviewFloor
		}
		if below && !read[id{c.Kind, c.ID}] {
			snap.Comments = append(snap.Comments, c)
		}
	}
	snap.Floor = floor
	return snap
}

func (p *pass) fold() {
	p.snap.Comments = journal.Attribute(p.snap.Comments, p.scope())
	p.state, p.lost = p.Codec.Fold(p.snap.Comments, p.scope()), nil
	p.state.Lift(p.lifted)
	if p.snap.IsPull {
		p.findLost()
	}
	p.snap.Comments = turn.AsSent(p.snap, p.state, p.event, command.Is)
	if p.reported == nil {
		p.reported = map[int64]bool{}
	}
	for _, d := range p.state.Distrusted {
		if !p.reported[d.CommentID] {
			p.reported[d.CommentID] = true
			p.Log.Warn("marker_ignored", p.numberKey(), p.event.Number, "comment", d.URL, "reason", d.Reason)
		}
	}
}

func (p *pass) scope() journal.Scope {
	return journal.Scope{Repo: p.event.Repo, Number: p.event.Number, Viewer: p.snap.Viewer.Login, Bots: p.trusted(), Now: p.snap.ReadAt}
}
