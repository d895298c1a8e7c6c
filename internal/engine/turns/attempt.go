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
	// Accept checks an answer of the agent against the rules. It returns the head that results, and what a push of it would publish,
	// or nil for nothing. all combines the answers of all rounds.
	Accept(ctx context.Context, out, all model.Outcome) (head string, listed *history.Published, err error)
	// Block stops the work until a person looks at it. It returns the Stop that ends the run.
	Block(ctx context.Context, m model.BlockMarker, detail string) error
	// Cancelled saves the work of a cancelled run, and says where it is. It returns the error that ends the run.
	Cancelled(ctx context.Context, cause error) error

	// Look reads what may have changed while the agent worked, and returns the head of the branch. The error ends the run if its work
	// has lost its place.
	Look(ctx context.Context) (head string, err error)
	// Rewritten handles commits whose base is no longer on the branch.
	Rewritten(ctx context.Context, head string) error
	// Unfit handles commits that only the agent or a person can fit onto head.
	Unfit(ctx context.Context, head string) error
	// Refused handles a push that the server refused.
	Refused(ctx context.Context, why *git.ErrRejected) error
	// Stuck ends a run whose commits did not land after all looks at the branch.
	Stuck(ctx context.Context) error
	// Answer posts the result of the attempt on GitHub. again reports that something has to be done first.
	Answer(ctx context.Context, last bool) (again bool, err error)
}

// Words holds the texts about an attempt in progress, and its marker.
type Words struct {
	Kind   string // of the marker
	Marker func(m model.TurnMarker) any
	// Claim says that the agent is working, Planned that there is a result, and Failed that there is none, and what comes next.
	Claim   func() string
	Planned func(m model.TurnMarker) string
	Failed  func(next string) string
	// Again and Later say that the next run tries again: Again after a failure, Later after a limit.
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

	Feedback []model.Comment      // the comments to answer
	Commits  []model.Commit       // the commits of the result
	Left     *model.PlannedReview // findings of the reviewer that are still to be posted
	Earlier  string               // the head at which a handoff began, if the branch has grown since
	Afresh   bool                 // the attempt does not continue earlier work
	TakenUp  string               // the head with the earlier work that it continues, before the agent starts
	Tip      string               // the last known tip of an issue's branch; "" if there is none
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
