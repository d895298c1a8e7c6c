// Package turns has an agent answer reviewers and CI on a pull request, and take an issue from its label to a pull request. Each
// attempt has a claim, rounds of the agent, a record of the result, and an end.
//
// An agent's outcome goes this way:
//
//	turns.Perform                    runs the agent, or receives the result from the agent's own job
//	turns.agentRounds                runs the agent, round after round
//	turns.dialogue.askAgent          runs it once
//	turns.dialogue.evaluate          checks its answer against the rules
//	turns.Pull.Accept                applies a pull request's rules; an issue has others
//	work.GuardLocal                  checks that no history was rewritten
//	work.OwnHere                     makes us the author of the commits
//	work.Inspect                     checks forbidden paths, secrets and sizes
//	turns.dialogue.runGitOps         runs the git operations that it asked for
//	work.Settle                      resets the checkout to what is committed
//	turns.dialogue.tested            accepts the result once the tests pass
//	work.RequiredTests               runs the tests; if they fail, the agent gets another round
//	turns.plan                       makes the record of what is to be published
//	turns.Record                     stores the commits (the stage), then the answers in the claim
package turns

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Subject has the steps in which a pull request and an issue differ. Their other differences are data. What they share is in
// Attempt.
type Subject interface {
	// Accept holds an answer of the agent against the rules, and gives the head that it leads to, with what a push of it would
	// publish; nil for nothing. all is all rounds as one.
	Accept(ctx context.Context, out, all model.Outcome) (head string, listed *history.Published, err error)
	// Block stops the work until a person has looked at it. The error is the Stop that the run ends with.
	Block(ctx context.Context, m model.BlockMarker, detail string) error
	// Cancelled brings the work of a run that was told to stop to safety, and says so. The error is what the run ends with.
	Cancelled(ctx context.Context, cause error) error

	// Look reads what may have changed while the agent was at work, and gives the head of the branch. The error ends a run whose work has
	// no place any more.
	Look(ctx context.Context) (head string, err error)
	// Rewritten is for commits whose base the branch has lost.
	Rewritten(ctx context.Context, head string) error
	// Unfit is for commits that take the agent or a person to fit on a head.
	Unfit(ctx context.Context, head string) error
	// Refused is for a push that the server did not take.
	Refused(ctx context.Context, why *git.ErrRejected) error
	// Stuck ends a run whose commits did not land in so many looks.
	Stuck(ctx context.Context) error
	// Answer says on GitHub what the attempt has led to. again: there is more to do before.
	Answer(ctx context.Context, last bool) (again bool, err error)
}

// Words holds the texts about an attempt in progress, and its marker.
type Words struct {
	Kind   string // of the marker
	Marker func(m model.TurnMarker) any
	// Claim, Planned and Failed say that the agent is at work, that there is a result, and that there is none, and what comes next.
	Claim   func() string
	Planned func(m model.TurnMarker) string
	Failed  func(next string) string
	// Again and Later say that the next run tries again, after a failure and after a limit.
	Again func(m model.TurnMarker) string
	Later string
}

// Attempt is one attempt of an agent at the pending work of a pull request or an issue. It goes from the claim over the agent's
// rounds to the record of the result, or to an end without one.
type Attempt struct {
	*work.Work
	Subject Subject
	Flow    *Issue // has the steps that only an issue has; nil on a pull request
	Words   Words

	Feedback []model.Comment      // that it is about
	Commits  []model.Commit       // of its result
	Left     *model.PlannedReview // what a reviewer of its result has left to say
	Earlier  string               // the head that a handoff began at, where the branch has grown since
	Afresh   bool                 // the work of earlier attempts is none of this one
	TakenUp  string               // the head that such work has led to, before the agent
	Tip      string               // of an issue's branch, as far as we know; "" for nothing
}

// kind is the flow of an issue; "" for feedback, whose answers are posted one by one.
func kind(p *Attempt) model.Flow {
	if p.Issue == nil {
		return ""
	}
	return p.Issue.Flow
}

// next says what the agent would do next, for a dry run.
func next(p *Attempt) string {
	if p.Issue != nil {
		return fmt.Sprintf("%s for issue %d would begin at %s", p.Issue.Flow, p.Event.Number, markdown.Short(p.Marker.Start))
	}
	return fmt.Sprintf("a turn over %s on pull request %d would start at %s", markdown.Count(len(p.Feedback), "comment"), p.Event.Number, markdown.Short(work.Base(p.Work)))
}

// testBase is the commit that needs no test, where the work sits on base: what earlier attempts left on an issue's branch may not have passed.
func testBase(p *Attempt, base string) string {
	if p.Issue != nil {
		return history.FetchedBase(p.Checkout)
	}
	return base
}

// reviewBase is the commit that a review compares a result with: all of an issue's branch becomes the pull request.
func reviewBase(ctx context.Context, p *Attempt, head string) (string, error) {
	if p.Issue != nil {
		return history.ForkPoint(ctx, p.Checkout, history.FetchedBase(p.Checkout), head)
	}
	return work.Base(p.Work), nil
}

// commit commits what is in the checkout on top of its head. Conflicts that the agent left end the attempt.
func commit(ctx context.Context, p *Attempt, head, message string) (string, error) {
	made, _, err := checkout.Commit(ctx, p.Checkout, head, message)
	if unmerged := (*git.ErrUnmerged)(nil); errors.As(err, &unmerged) {
		err = work.Failing(err)
	}
	return made, err
}

// ownAndInspect makes the agent's commits up to head ours and holds them against the rules for all that is pushed. It returns their new
// head, with what a push of it would publish. A *work.Ending is of commits that must not be pushed.
func ownAndInspect(ctx context.Context, p *Attempt, head string) (string, *history.Published, error) {
	head, err := work.OwnHere(ctx, p.Work, work.Base(p.Work), head)
	if err != nil {
		return "", nil, err
	}
	found, listed, err := work.Inspect(ctx, p.Work, work.Base(p.Work), head)
	if err == nil && found.Reason != "" {
		err = work.Blocked(p.Work, found.Reason, found.Detail)
	}
	return head, listed, err
}
