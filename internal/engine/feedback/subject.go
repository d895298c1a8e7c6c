package feedback

import (
	"context"
	"fmt"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/handoff"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// Closes is the number that commits may close.
func (p *Pull) Closes() int {
	if p.Snap.Pull.CrossRepo {
		return p.Event.Number
	}
	return 0
}

// Keep brings work to a branch of its own.
func (p *Pull) Keep(ctx context.Context, h work.Held) model.Kept {
	if h.Head == "" {
		return model.Kept{}
	}
	return p.KeepApart(ctx, h.Head)
}

// NotKept tells people that what was done is kept nowhere.
func (p *Pull) NotKept(err error) { p.Note("the agent's work could not be kept: " + err.Error()) }

// Body is the comment of a turn, but for its token.
func (p *Pull) Body(text string, m model.TurnMarker) journal.Body {
	m.Reason = thread.Clip(m.Reason)
	return journal.Body{Text: text, Kind: journal.KindTurn, Marker: journal.Packed(m)}
}

// ClaimText, PlannedText and FailedText are what people read of the turn at hand while it is in progress.
func (p *Pull) ClaimText() string { return turn.ClaimText(p.Snap.Pull, p.Feedback, p.Marker) }

func (p *Pull) PlannedText(m model.TurnMarker) string {
	return turn.PlannedText(p.Snap.Pull, p.Feedback, m)
}

func (p *Pull) FailedText(next string) string {
	return turn.FailedText(p.Snap.Pull, p.Feedback, p.Marker, next)
}

// Again says that the next run tries again.
func (p *Pull) Again() string { return turn.Retry(p.Marker) }

// Later says that a later run tries again.
func (p *Pull) Later() string { return turn.Later }

// Stops is the reason to wait for a person after an attempt that failed: none.
func (p *Pull) Stops(*work.Ending) string { return "" }

// Question completes the first request to the agent.
func (p *Pull) Question(_ context.Context, _ string, a turn.Ask) (turn.Ask, error) { return a, nil }

// ReviewBase is the head that the turn began at.
func (p *Pull) ReviewBase(context.Context, string) (string, error) { return p.Base(), nil }

// Resumed says that the agent is given work of earlier attempts.
func (p *Pull) Resumed() bool { return false }

// Tested is the commit that needs no test, where the work sits on base.
func (p *Pull) Tested(base string) string { return base }

// Untested says why tests are missing at the head.
func (p *Pull) Untested(context.Context, string) (string, error) { return "", nil }

// Draft is the pull request that a result is to become: there is one.
func (p *Pull) Draft(context.Context, model.Outcome, string) (*model.PullDraft, error) {
	return nil, nil
}

// Deleted is for a claim that somebody has deleted.
func (p *Pull) Deleted(context.Context) error {
	return thread.End(model.ResultRetry, "somebody deleted this run's claim on %s", p.About())
}

// Flow is the flow that is handed over: feedback has none.
func (p *Pull) Flow() model.Flow { return "" }

// Start is the head that what was handed over is put on.
func (p *Pull) Start() string {
	if p.Earlier != "" {
		return p.Snap.Pull.HeadSHA
	}
	return p.Base()
}

// BeginAt makes the commit that the agent began at the start of the attempt: it is that already.
func (p *Pull) BeginAt(context.Context, string) error { return nil }

// ReceiveCommits looks at the commits that were handed over.
func (p *Pull) ReceiveCommits(context.Context, handoff.Handoff) error { return nil }

// Next is what the agent would do next, for a dry run.
func (p *Pull) Next() string {
	return fmt.Sprintf("a turn over %s on pull request %d would start at %s", markdown.Count(len(p.Feedback), "comment"), p.Event.Number, markdown.Short(p.Base()))
}

// Restore makes the checkout a clean one of the head.
func (p *Pull) Restore(ctx context.Context, head string) error { return p.RestoreHead(ctx, head) }

// Valid holds what was handed over as a result against the rules for it: of answers, what is good is posted.
func (p *Pull) Valid(context.Context, handoff.Handoff) error { return nil }
