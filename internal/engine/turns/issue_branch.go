package turns

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/flow"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// maxNames is how many names of branches are tried that somebody else has taken.
const maxNames = 20

// choose finds a name for a fresh branch that nobody has, before anything is claimed: from the claim on, whatever stands
// under that name is ours.
func choose(ctx context.Context, p *Issue) error {
	for nth := 1; nth <= maxNames; nth++ {
		if p.Issue.Branch = flow.Branch(p.Issue.Flow, p.Event.Number, p.Snap.Issue().Title, nth); slices.Contains(p.refused, p.Issue.Branch) {
			continue
		}
		if err := readBranch(ctx, p, p.Issue.Branch); err != nil || !isTaken(p) {
			return err
		}
		if p.Snap.Branch.SHA != "" {
			work.Note(p.Work, fmt.Sprintf("branch %s already existed and was left alone", p.Issue.Branch))
		}
		if i := slices.IndexFunc(p.Snap.Branch.Pulls, func(r model.PullRef) bool { return thread.Opened(p.Thread, r) && r.State == model.PullOpen }); i >= 0 {
			return thread.End(model.ResultNothing, "pull request %d from branch %s is open, but its receipt on issue %d is gone; close it to start again",
				p.Snap.Branch.Pulls[i].Number, p.Issue.Branch, p.Event.Number)
		}
	}
	last := p.Issue.Branch
	p.Issue.Branch = ""
	return wait(ctx, p, model.ReasonBranch, fmt.Sprintf("%d names were tried, the last one was %s", maxNames, last))
}

// place looks how the branch stands that the claim names.
func place(ctx context.Context, p *Issue) error {
	if p.fresh && isTaken(p) {
		return Withdraw(ctx, p.Attempt, model.ResultRetry, "somebody else created branch %s at the same moment", p.Issue.Branch)
	}
	last := p.Issue.Tip
	if p.Tip = p.Snap.Branch.SHA; p.Tip != "" {
		if err := guardCheckpoint(ctx, p, last); err != nil {
			return err
		}
		p.Marker.Start, p.Issue.Tip = p.Tip, p.Tip
	}
	return nil
}

// earlierWork is the checkpoint of earlier attempts: where it is kept, or, where its branch no longer has it, what is
// lost and what stands there instead.
func earlierWork(ctx context.Context, p *Issue) (k model.Kept, lost, now string) {
	last := p.Issue.Tip
	e := Earlier(p.Attempt).Kept
	if e.Bundle != "" {
		return e, "", ""
	}
	if e.Left() && e.Branch != p.Issue.Branch && p.Open(ctx) == nil {
		if e.SHA = work.At(ctx, p.Work, e.Ref()); e.SHA != "" {
			return e, "", ""
		}
	}
	if last == "" {
		return k, "", ""
	}
	k = model.Kept{Branch: p.Issue.Branch, SHA: last}
	if p.Snap.Branch == nil || p.Snap.Branch.Name != k.Branch {
		if err := readBranch(ctx, p, k.Branch); err != nil || p.Snap.Branch == nil {
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
func guardCheckpoint(ctx context.Context, p *Issue, last string) error {
	if last == "" || last == p.Tip {
		return nil
	}
	relation, err := p.Relation(ctx, last, p.Tip)
	if err != nil {
		return err
	}
	if lineage.Decide(relation) != lineage.Block {
		return nil
	}
	if p.retried {
		work.Note(p.Work, fmt.Sprintf("branch %s was rewritten after the checkpoint at %s; an operator let the work continue from %s", p.Issue.Branch, markdown.Short(last), markdown.Short(p.Tip)))
		return nil
	}
	// What was said is taken up by the attempt that an operator asks for.
	p.Marker.Events, p.Marker.Since, p.Marker.Seen = nil, p.State.Settled.At, p.State.Settled.ID
	return wait(ctx, p, model.ReasonRewrite, fmt.Sprintf("branch %s moved from %s to %s, which does not descend from it", p.Issue.Branch, last, p.Tip))
}

// isTaken says that a name is somebody else's: there is such a branch, or there was a pull request from one.
func isTaken(p *Issue) bool { return p.Snap.Branch.SHA != "" || len(p.Snap.Branch.Pulls) > 0 }

// readBranch reads the issue again, together with what there is under the name of a branch.
func readBranch(ctx context.Context, p *Issue, name string) error {
	p.Branch = name
	return p.Read(ctx)
}
