package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/treepath"
	"github.com/mergexo/mergexo/internal/turn"
)

// dialogue is what passes between the agent and us in one attempt of a turn.
type dialogue struct {
	*Attempt
	agent            agent.Agent
	ask              turn.Ask
	kind             string            // of request, but for repairs
	all              model.Outcome     // of all rounds so far, as one
	fixes, gitRounds int               // rounds for failing tests, and for git operations
	slow             bool              // the tests took too long in a round before
	conflicts        []string          // paths that a merge of ours left with markers
	reached          string            // the head of the last round
	merging          string            // the head that the merge began at
	tips             map[string]string // of the branches of the server that were fetched
	slipped          bool              // the agent was asked once more because of a slip
	inside           bool              // the agent was told that what it did is inside submodules
	reviews          int               // rounds for what a reviewer found
	reviewed         string            // the head that it has looked at last
	commits          []model.Commit    // of a pull request up to the head, as they were listed last
	found            []model.Finding   // that it has sent back
}

// agentRounds asks the agent, again with the results of git operations that it asked for, and again while its work does
// not hold, all bounded. It gives all answers as one, and the head that they lead to.
func agentRounds(ctx context.Context, p *Attempt) (product, error) {
	d := dialogue{Attempt: p}
	var err error
	if d.agent, err = newAgent(ctx, p); err != nil {
		return product{}, err
	}
	if d.ask, err = question(ctx, p, work.Base(p.Work)); err != nil {
		return product{}, err
	}
	d.kind = d.ask.Kind
	for {
		out, err := d.askAgent(ctx)
		if err != nil {
			return product{out: d.all}, err
		}
		head, again, err := d.evaluate(ctx, tidied(&d, out))
		if err != nil {
			return product{out: d.all, head: head}, err
		}
		if !again {
			return product{out: sift(p, d.all, head), head: head, commits: d.commits}, nil
		}
	}
}

// askAgent asks the agent once. Where its session is not to be had, it begins a new one from what GitHub holds, or stops,
// as the settings say.
func (d *dialogue) askAgent(ctx context.Context) (model.Outcome, error) {
	d.Log.Info("agent_started", d.NumberKey(), d.Event.Number, "turn_key", d.Marker.Key, "kind", d.ask.Kind, "repairs", d.fixes, "errands", d.gitRounds)
	saved := work.Save(ctx, d.Work)
	shown := d.Working.Show("running the agent " + d.Settings.Agent.Adapter)
	out, err := d.agent.Run(ctx, d.Checkout.Dir(), turn.Request(d.Snap, d.ask))
	shown()
	saved()
	if err == nil {
		charge(d.Attempt, out.Usage.CostUSD)
		return out, nil
	}
	var failed *agent.Error
	if !errors.As(err, &failed) {
		return out, &work.Ending{Cause: err, Waits: agent.Starved(err)}
	}
	if alive := work.Outlived(ctx, d.Work, err); alive != nil {
		return out, alive
	}
	charge(d.Attempt, failed.Usage.CostUSD)
	switch {
	case failed.Kind == agent.NoSession && d.ask.Session == "":
	case failed.Kind == agent.NoSession && d.Settings.Feedback.OnMissingSession == "block":
		return out, work.Blocked(d.Work, model.ReasonSession, err.Error())
	case failed.Kind == agent.NoSession:
		d.Log.Warn("session_lost", d.NumberKey(), d.Event.Number, "turn_key", d.Marker.Key, "error", err)
		return newSession(ctx, d)
	case thread.Passes(err):
		return out, &work.Ending{Cause: err, Waits: true}
	case failed.Kind == agent.Refused:
		return out, work.Blocked(d.Work, model.ReasonRefused, err.Error())
	}
	return out, work.Failing(err)
}

// newSession begins another session in place of one that is lost. It knows nothing but what GitHub holds.
func newSession(ctx context.Context, d *dialogue) (model.Outcome, error) {
	d.ask.Session, d.ask.Fresh = "", true
	if d.Snap.IsPull() {
		var err error
		if d.ask.Diff, err = d.GitHub.Pulls.Diff(ctx, d.Event.Repo, d.Event.Number); err != nil {
			d.Log.Warn("diff_unknown", d.NumberKey(), d.Event.Number, "error", err) // the agent has the checkout
		}
	}
	work.Note(d.Work, "the agent's earlier session was not on this runner; it started a new one from what GitHub holds")
	return d.askAgent(ctx)
}

// evaluate holds one answer against the rules, does what it asks for and has it tested. again says that the agent has to be
// asked once more.
func (d *dialogue) evaluate(ctx context.Context, out model.Outcome) (head string, again bool, err error) {
	d.all = turn.Join(d.all, out)
	d.ask.Session, d.ask.Kind, d.ask.CI, d.ask.GitResults = cmp.Or(d.all.Session, d.ask.Session), d.kind, nil, nil
	kept := context.WithoutCancel(ctx) // what an agent has finished is kept even when the run was cancelled since
	if again, err := d.unresolved(kept, out); err != nil || again {
		return "", again, err
	}
	if out.DeadEnd && out.BlockedReason == "" {
		return work.Base(d.Work), false, checkout.Reset(kept, d.Checkout, work.Base(d.Work))
	}
	if out.BlockedReason != "" {
		reason := map[bool]string{true: model.ReasonTests, false: model.ReasonAgent}[out.DeadEnd]
		return "", false, work.Blocked(d.Work, reason, out.BlockedReason)
	}
	if onlyInside(kept, d) {
		return "", true, nil
	}
	head, listed, err := d.Subject.Accept(kept, out, d.all)
	if err != nil {
		if wrong := (*work.Repair)(nil); errors.As(err, &wrong) {
			return "", true, d.repair(model.CIFailure{Name: wrong.Name, Log: wrong.Log}, wrong.Reason, wrong.Log)
		}
		return "", false, err
	}
	if err := d.grown(kept, head); err != nil {
		return "", false, err
	}
	if again, err := d.committedMarkers(kept, head, listed); err != nil || again {
		return "", again, err
	}
	if len(out.GitOps) > 0 {
		return "", true, d.runGitOps(ctx, out.GitOps)
	}
	if err := work.Settle(kept, d.Work, head); err != nil {
		return "", false, err
	}
	d.conflicts = nil
	if again, err := unusable(d, head); err != nil || again {
		return "", again, err
	}
	if again, err := d.regression(kept, head); err != nil || again {
		return "", again, err
	}
	return d.tested(ctx, head)
}

// tested runs the tests at the head, and then everything else that accepts it: if they fail, the agent gets another round.
func (d *dialogue) tested(ctx context.Context, head string) (_ string, again bool, err error) {
	output, slow, err := work.RequiredTests(ctx, d.Work, testBase(d.Attempt, work.Base(d.Work)), head)
	if err != nil && ctx.Err() != nil { // the work is whole, only not tested
		err = work.Failing(err)
	}
	if err == nil && output == "" {
		again, err = d.tooLong(context.WithoutCancel(ctx), head)
	}
	if err == nil && output == "" && !again {
		again, err = d.review(ctx, head)
	}
	if err != nil || output == "" {
		return head, again, err
	}
	name := strings.Join(d.Settings.RequiredTests(), " ")
	if slow && d.slow { // another round would take as long again
		return "", false, work.Blocked(d.Work, model.ReasonTests, fmt.Sprintf("%s timed out again after a repair round; the end of its output:\n%s", name, output))
	}
	d.slow = d.slow || slow
	return "", true, d.repair(model.CIFailure{Name: name, Log: output}, model.ReasonTests,
		fmt.Sprintf("%s still fails after %d repair rounds; the end of its output:\n%s", name, d.fixes, output))
}

// onlyInside asks once more where the agent has changed nothing but what is inside submodules: it is to say so.
func onlyInside(ctx context.Context, d *dialogue) (again bool) {
	inside, err := checkout.ChangedInSubmodules(ctx, d.Checkout, work.Base(d.Work))
	if d.inside || err != nil || len(inside) == 0 {
		return false
	}
	head, err := d.Checkout.Head(ctx)
	more := err != nil || head != work.Base(d.Work)
	if !more {
		more, err = checkout.Dirty(ctx, d.Checkout, head)
	}
	if more || err != nil { // which the look at the answer tells
		return false
	}
	d.inside = true
	d.ask.Kind, d.ask.CI = model.AskRepair, []model.CIFailure{{Name: "submodules", Log: fmt.Sprintf(turn.Inside, syntax.Quoted(inside))}}
	return true
}

// grown holds a round against the one before: its commits are not to be taken back either.
func (d *dialogue) grown(ctx context.Context, head string) error {
	before := cmp.Or(d.reached, head)
	if d.reached = head; before == head {
		return nil
	}
	relation, err := history.Relation(ctx, d.Checkout, before, head)
	if err == nil && lineage.Decide(relation) == lineage.Block {
		err = &work.Ending{Block: thread.Rewritten(before, head, model.GuardLocal)}
	}
	return err
}

// repair asks for another round about something that is wrong, as often as the settings allow; a wrong answer gets one anyway.
func (d *dialogue) repair(what model.CIFailure, reason, otherwise string) error {
	most := d.Settings.Feedback.RepairRounds
	if reason == model.ReasonOutcome {
		most = max(most, 1)
	}
	if d.fixes >= most {
		return work.Blocked(d.Work, reason, otherwise)
	}
	d.fixes++
	d.ask.Kind, d.ask.CI = model.AskRepair, []model.CIFailure{what}
	return nil
}

// unresolved looks for conflict markers that a merge of ours left and the agent wants to have committed.
func (d *dialogue) unresolved(ctx context.Context, out model.Outcome) (again bool, err error) {
	if len(d.conflicts) == 0 || out.CommitMessage == "" || out.BlockedReason != "" {
		return false, nil
	}
	marked, err := checkout.MarkedPaths(ctx, d.Checkout, d.conflicts)
	if err != nil || len(marked) == 0 {
		return false, err
	}
	said := "conflict markers remain in " + strings.Join(marked, ", ")
	return true, d.repair(model.CIFailure{Name: "merge", Log: said}, model.ReasonTests, said)
}

// committedMarkers looks for them in what the agent has committed itself, wherever it has moved the files. listed is what a push
// of the head would publish, where that is known.
func (d *dialogue) committedMarkers(ctx context.Context, head string, listed *history.Published) (again bool, err error) {
	from, known := cmp.Or(d.merging, work.Base(d.Work)), history.FetchedTips(d.Checkout)
	if d.Issue != nil && d.Tip != "" && d.merging == "" { // a checkpoint may hold some
		if from, err = history.ForkPoint(ctx, d.Checkout, history.FetchedBase(d.Checkout), head); err != nil {
			return false, err
		}
		known = []string{history.FetchedBase(d.Checkout)}
	} else if d.TakenUp != "" && d.merging == "" {
		known = []string{work.Base(d.Work), cmp.Or(history.FetchedBase(d.Checkout), work.Base(d.Work))}
	}
	if head == from {
		return false, nil
	}
	if !listed.Is(from, head, known) {
		if listed, err = history.Publishes(ctx, d.Checkout, from, head, known); err != nil {
			return false, err
		}
		if _, err = listed.Patches(ctx, d.Checkout, history.Scope{}, func(history.Addition) error { return nil }); err != nil {
			return false, err
		}
	}
	marked := slices.DeleteFunc(slices.Clone(listed.Marked), func(path string) bool { // a later commit may have put it right
		now, err := history.Blob(ctx, d.Checkout, head, path)
		return err != nil || !syntax.HasMarkers(now)
	})
	if len(marked) == 0 {
		return false, nil
	}
	said := "conflict markers are committed in " + strings.Join(marked, ", ")
	return true, d.repair(model.CIFailure{Name: "merge", Log: said}, model.ReasonTests, said)
}

// runGitOps carries out git operations that the agent asked for, since it has no credential of its own.
func (d *dialogue) runGitOps(ctx context.Context, ops []model.GitOp) error {
	if d.gitRounds == thread.MaxGitRounds {
		return work.Failing(fmt.Errorf("the agent asked for git operations in more than %d rounds", thread.MaxGitRounds))
	}
	d.gitRounds++
	for i, op := range ops[:min(len(ops), turn.MaxGitOps+1)] {
		r := model.GitResult{Op: thread.Clip(op.Op), Result: model.GitFailed}
		switch {
		case i == turn.MaxGitOps:
			r.Detail = fmt.Sprintf("not carried out, like all after it: at most %d operations per round", turn.MaxGitOps)
		case op.Op != model.OpFetch && op.Op != model.OpMergeDefault:
			r.Detail = fmt.Sprintf("unknown operation; known are %s and %s", model.OpFetch, model.OpMergeDefault)
		default:
			if err := d.gitOp(ctx, &r); err != nil {
				return err
			}
			d.Log.Info("git_operation", d.NumberKey(), d.Event.Number, "turn_key", d.Marker.Key, "operation", r.Op, "result", r.Result)
		}
		d.ask.GitResults = append(d.ask.GitResults, r)
	}
	return nil
}

// gitOp carries out one operation. What goes wrong with the repository is the agent's to know; what goes wrong with the
// run ends it.
func (d *dialogue) gitOp(ctx context.Context, r *model.GitResult) error {
	branches := slices.Compact(slices.Sorted(slices.Values([]string{d.Snap.DefaultBranch, d.Snap.Pull.BaseRef, d.Snap.Pull.HeadRef})))
	if r.Op == model.OpFetch || d.tips == nil {
		tips, err := checkout.FetchOrigin(ctx, d.Checkout, branches...)
		if none := (*git.ErrNoRef)(nil); errors.As(err, &none) {
			r.Result, r.Detail = model.GitFailed, err.Error()
			return nil
		}
		if err != nil {
			return err
		}
		d.tips = tips
	}
	if r.Op == model.OpFetch {
		r.Result = model.GitDone
		for _, b := range branches {
			r.Detail += fmt.Sprintf("origin/%s is at %s\n", b, d.tips[b])
		}
		return nil
	}
	return d.mergeDefault(ctx, r)
}

func (d *dialogue) mergeDefault(ctx context.Context, r *model.GitResult) error {
	before, err := d.Checkout.Head(ctx)
	if err != nil {
		return err
	}
	dirty, err := checkout.Dirty(ctx, d.Checkout, before)
	if err != nil {
		return err
	}
	if dirty {
		r.Result, r.Detail = model.GitFailed, "the checkout has uncommitted changes: give a commit_message with the operation, or undo them"
		return nil
	}
	branch := d.Snap.DefaultBranch
	head, err := checkout.MergeOrigin(ctx, d.Checkout, d.tips[branch], fmt.Sprintf("Merge branch '%s' into %s", branch, d.Snap.Pull.HeadRef))
	var conflict *merging.ErrConflict
	switch {
	case errors.As(err, &conflict):
		d.conflicts, d.merging = conflict.Paths, before
		r.Result, r.Paths = model.GitConflict, conflict.Paths
		r.Detail = "the merge is in progress: resolve the conflict markers in these files and give a commit_message, which makes the merge commit; without one the merge is aborted"
	case err != nil:
		return err
	case head == before:
		r.Result, r.Detail = model.GitNothing, "it is already part of the head"
	default:
		r.Result, r.Detail = model.GitDone, "the head is now "+markdown.Short(head)
	}
	return nil
}

// regression asks for another round where tests are missing.
func (d *dialogue) regression(ctx context.Context, head string) (again bool, err error) {
	if d.Issue == nil {
		return false, nil
	}
	said, err := d.Flow.Untested(ctx, head)
	if err != nil || said == "" {
		return false, err
	}
	return true, d.repair(model.CIFailure{Name: "regression test", Log: said}, model.ReasonNoTest, said)
}

// question is what the agent is asked first.
func question(ctx context.Context, p *Attempt, head string) (turn.Ask, error) {
	a := turn.Ask{
		Kind: model.AskFeedback, Key: p.Marker.Key, Feedback: p.Feedback, State: p.State, Guidelines: guidelines(p),
		Tests: p.Settings.RequiredTests(), Session: p.Marker.Session, Boundary: p.Random(), Resumed: p.TakenUp != "", Forbidden: forbidden(p),
	}
	if p.Issue == nil {
		return a, nil
	}
	return p.Flow.Question(ctx, head, a)
}

// forbidden lists the globs of forbid_paths, and workflows where the token cannot push them.
func forbidden(p *Attempt) []string {
	globs := p.Settings.Feedback.ForbidPaths
	if every := treepath.Workflows + "/**"; thread.NoWorkflows(p.Thread) && !slices.Contains(globs, every) {
		globs = append(slices.Clone(globs), every)
	}
	return globs
}

// guidelines is the path of the coding guidelines where the checkout has them: a file that is not there is no rule.
func guidelines(p *Attempt) string {
	file := path.Clean(p.Settings.Repo.CodingGuidelines)
	if _, err := os.Lstat(filepath.Join(p.Checkout.Dir(), filepath.FromSlash(file))); err == nil {
		return p.Settings.Repo.CodingGuidelines
	}
	p.Log.Info("guidelines_missing", p.NumberKey(), p.Event.Number, "turn_key", p.Marker.Key, "path", file, "head", work.Base(p.Work))
	return ""
}
