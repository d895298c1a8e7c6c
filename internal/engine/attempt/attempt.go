// Package attempt is one attempt of an agent at what is pending on a pull request or an issue: its claim, the rounds of the agent,
// the record of the result, and its end without one. It may be spread over two processes, one of which has the agent.
package attempt

import (
	"context"

	"github.com/mergexo/mergexo/internal/model"

	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/handoff"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/turn"
)

// Subject is the pull request or the issue that an attempt is for, as far as the two differ.
type Subject interface {
	work.Subject
	Words
	Rules
	Handoff

	// Next says what the agent would do next, for a dry run.
	Next() string
	// Restore makes the checkout a clean one of the head.
	Restore(ctx context.Context, head string) error
	// Block stops the work until a person has looked at it. The error is the Stop that the run ends with.
	Block(ctx context.Context, m model.BlockMarker, detail string) error
	// Cancelled brings the work of a run that was told to stop to safety, and says so. The error is what the run ends with.
	Cancelled(ctx context.Context, cause error) error
	// Stops is the reason to wait for a person after an attempt that failed; "" for none.
	Stops(e *work.Ending) string
	// Deleted is for a claim that somebody has deleted. The error is the Stop that the run ends with.
	Deleted(ctx context.Context) error
}

// Words are what people read of an attempt while it is in progress.
type Words interface {
	// Body is the comment of the attempt, but for its token.
	Body(text string, m model.TurnMarker) journal.Body
	ClaimText() string
	PlannedText(m model.TurnMarker) string
	// FailedText says that there is no result, and what comes next.
	FailedText(next string) string
	// Again and Later say that the next run tries again, after a failure and after a limit.
	Again() string
	Later() string
}

// Rules are what holds for the work of an agent on the subject, beside what holds for all.
type Rules interface {
	// Question completes the first request to the agent.
	Question(ctx context.Context, head string, a turn.Ask) (turn.Ask, error)
	// Accept holds an answer of the agent against the rules, and gives the head that it leads to, with what a push of it would
	// publish; nil for nothing. all is all rounds as one.
	Accept(ctx context.Context, out, all model.Outcome) (head string, listed *history.Published, err error)
	// Valid holds what another process has handed over as a result against the same rules.
	Valid(ctx context.Context, h handoff.Handoff) error
	// Untested says why tests are missing at the head; "" where none are.
	Untested(ctx context.Context, head string) (said string, err error)
	// Tested is the commit that needs no test, where the work sits on base.
	Tested(base string) string
	// Resumed says that the agent is given work of earlier attempts.
	Resumed() bool
	// ReviewBase is the commit that a review compares a result with.
	ReviewBase(ctx context.Context, head string) (string, error)
	// Trail has the last commit of a result say what it is of, and gives the head that it is then.
	Trail(ctx context.Context, head string) (string, error)
	// Draft is the pull request that a result is to become; nil for none.
	Draft(ctx context.Context, out model.Outcome, head string) (*model.PullDraft, error)
}

// Handoff is what differs where the agent's part is another process's.
type Handoff interface {
	// Flow is that of an issue; "" for feedback, whose answers are posted one by one.
	Flow() model.Flow
	// Start is the head that what was handed over is put on.
	Start() string
	// BeginAt makes the commit that the agent began at the start of the attempt.
	BeginAt(ctx context.Context, start string) error
	// ReceiveCommits looks at the commits that were handed over, once they hold.
	ReceiveCommits(ctx context.Context, h handoff.Handoff) error
}

// Attempt is one attempt of an agent at what is pending on a pull request or an issue: from its claim over the agent's rounds to
// the record of the result, or to its end without one.
type Attempt struct {
	*work.Work
	Subject Subject

	Feedback []model.Comment      // that it is about
	Commits  []model.Commit       // of its result
	Left     *model.PlannedReview // what a reviewer of its result has left to say
	Earlier  string               // the head that a handoff began at, where the branch has grown since
	Afresh   bool                 // the work of earlier attempts is none of this one
	TakenUp  string               // the head that such work has led to, before the agent
}
