package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// maxNames is how many names of branches are tried that somebody else has taken.
const maxNames = 20

// choose finds a name for a fresh branch that nobody has, before anything is claimed: from the claim on, whatever stands
// under that name is ours.
func (p *pass) choose(ctx context.Context) error {
	w := p.issue
	for nth := 1; nth <= maxNames; nth++ {
		w.marker.Branch = flow.Branch(w.marker.Flow, p.Event.Number, p.Snap.Thread.Title, nth)
		if err := p.readBranch(ctx, w.marker.Branch); err != nil || !p.taken() {
			return err
		}
		if p.Snap.Branch.SHA != "" {
			p.note(fmt.Sprintf("branch %s was there already and was left alone", w.marker.Branch))
		}
		if i := slices.IndexFunc(p.Snap.Branch.Pulls, func(r model.PullRef) bool { return p.Opened(r) && r.State == model.PullOpen }); i >= 0 {
			return thread.End(model.ResultNothing, "pull request %d from branch %s is open, though its receipt on issue %d is gone; close it to begin anew",
				p.Snap.Branch.Pulls[i].Number, w.marker.Branch, p.Event.Number)
		}
	}
	last := w.marker.Branch
	w.marker.Branch = ""
	return p.wait(ctx, model.ReasonBranch, fmt.Sprintf("%d names were tried, the last one was %s", maxNames, last))
}

// place looks how the branch stands that the claim names.
func (p *pass) place(ctx context.Context, dead []model.Posted[model.TurnMarker]) error {
	w := p.issue
	if w.fresh && p.taken() {
		return p.withdraw(ctx, model.ResultRetry, "branch %s was made by somebody else in the same moment", w.marker.Branch)
	}
	last := w.marker.LastCheckpoint
	if w.tip = p.Snap.Branch.SHA; w.tip != "" {
		if err := p.guardCheckpoint(ctx, last); err != nil {
			return err
		}
		p.Marker.Start, w.marker.LastCheckpoint = w.tip, w.tip
	}
	return p.takeOver(ctx, dead)
}

// earlierWork is the checkpoint of earlier attempts: where it is kept, or, where its branch does not have it any more, what is
// lost and what stands there instead.
func (p *pass) earlierWork(ctx context.Context) (k model.Kept, lost, now string) {
	w := p.issue
	last := w.marker.LastCheckpoint
	if last == "" {
		return k, "", ""
	}
	k = model.Kept{Branch: w.marker.Branch, SHA: last}
	if p.Snap.Branch == nil || p.Snap.Branch.Name != k.Branch {
		if err := p.readBranch(ctx, k.Branch); err != nil || p.Snap.Branch == nil {
			p.Log.Warn("branch_not_read", "issue_number", p.Event.Number, "branch", k.Branch, "error", err)
			return k, "", ""
		}
	}
	now = p.Snap.Branch.SHA
	if now == "" {
		return model.Kept{}, last, ""
	}
	if relation, err := p.Relation(ctx, last, now); err != nil || lineage.Decide(relation) != lineage.Block {
		return k, "", ""
	}
	return model.Kept{}, last, now
}

// guardCheckpoint compares the last checkpoint with what the branch holds now. Where somebody has rewritten it, an operator
// says that what is there now is right.
func (p *pass) guardCheckpoint(ctx context.Context, last string) error {
	w := p.issue
	if last == "" || last == w.tip {
		return nil
	}
	relation, err := p.Relation(ctx, last, w.tip)
	if err != nil {
		return err
	}
	if lineage.Decide(relation) != lineage.Block {
		return nil
	}
	if w.retried {
		p.note(fmt.Sprintf("branch %s was rewritten since the checkpoint at %s; an operator had the work go on from %s", w.marker.Branch, markdown.Short(last), markdown.Short(w.tip)))
		return nil
	}
	// What was said is taken up by the attempt that an operator asks for.
	p.Marker.Events, p.Marker.Since, p.Marker.Seen = nil, p.State.Settled.At, p.State.Settled.ID
	return p.wait(ctx, model.ReasonRewrite, fmt.Sprintf("branch %s was at %s and is at %s now, which does not descend from it", w.marker.Branch, last, w.tip))
}

// taken says that a name is somebody else's: there is such a branch, or there was a pull request from one.
func (p *pass) taken() bool { return p.Snap.Branch.SHA != "" || len(p.Snap.Branch.Pulls) > 0 }

// readBranch reads the issue again, together with what there is under the name of a branch.
func (p *pass) readBranch(ctx context.Context, name string) error {
	p.Branch = name
	return p.Read(ctx)
}
