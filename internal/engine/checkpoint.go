package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// lastWords is how long a run that was cancelled may take to bring the work of its agent to safety. The runner gives a
// cancelled step 7.5 seconds from its first signal to its second
// (https://docs.github.com/en/actions/reference/workflow-cancellation-reference).
const lastWords = 6 * time.Second

// keep brings what the agent has done in an attempt without a result to a branch of its own: everything in the checkout,
// as commits on top of the head. It is named after its tip, so that doing it again is the same. What must not be pushed is
// not kept, and why is said; without any work there is nothing to keep.
func (p *pass) keep(ctx context.Context) turn.Kept {
	if p.checkout == nil || p.marker.Phase == model.PhasePlanned {
		return turn.Kept{}
	}
	head := p.gathered(ctx)
	switch {
	case head != "" && (p.issue == nil || p.issue.marker.Flow == model.FlowDesign): // files are no part of a design
		return p.keepAside(ctx, head, p.droppable()...)
	case head != "":
		return p.keepOnBranch(ctx, head)
	case p.issue == nil:
		return turn.Kept{}
	}
	if p.issue.tip != "" { // nothing new, but what earlier attempts did
		return turn.Kept{Branch: p.issue.marker.Branch, SHA: p.issue.tip}
	}
	return turn.Kept{}
}

// setAside brings what is in the checkout to a branch of its own.
func (p *pass) setAside(ctx context.Context) turn.Kept {
	if p.Phase == AgentPhase { // it may not push, and what it hands over is the work itself
		return turn.Kept{}
	}
	head := p.gathered(ctx)
	if head == "" {
		return turn.Kept{}
	}
	return p.keepAside(ctx, head)
}

// gathered is the head that holds all that is in the checkout; "" for nothing new, or nothing that may be kept.
func (p *pass) gathered(ctx context.Context) string {
	head, err := p.gather(ctx)
	if err != nil {
		p.Log.Warn("checkpoint_failed", "number", p.event.Number, "turn_key", p.marker.Key, "error", err)
		p.spare()
		if p.issue != nil {
			p.issue.unkept = err.Error()
			return ""
		}
		p.note("what the agent had done could not be kept: " + err.Error())
		return ""
	}
	if head == p.base() {
		return ""
	}
	return head
}

// checkpointBranch is a branch of its own for work that stopped half-way.
func checkpointBranch(number int, head string) string {
	return fmt.Sprintf("mergexo/checkpoint/%d/%.12s", number, head)
}

// checkpointMessage is the message of a commit that nobody said is ready.
func checkpointMessage(about string) string {
	return fmt.Sprintf("Checkpoint of work on %s\n\nIt stopped half-way: it was not tested, and may hold conflict markers.", about)
}

// push moves a branch, once more where the answer was unclear or did not come.
func (p *pass) push(ctx context.Context, branch, start, head string, drop ...git.Ref) error {
	move := git.Publish{Branch: branch, Start: start, SHA: head, Drop: drop}
	err := p.checkout.Publish(ctx, move)
	unclear, failed := (*git.ErrUnclear)(nil), (*git.Error)(nil)
	if errors.As(err, &unclear) || errors.As(err, &failed) && failed.Failure == git.Unreachable {
		err = p.checkout.Publish(ctx, move)
	}
	if err == nil && len(drop) > 0 {
		p.wip = wip{}
	}
	return err
}

// stale says that a branch is not where it was when a push was prepared.
func stale(err error) bool {
	rejected, rewind := (*git.ErrRejected)(nil), (*git.ErrRewind)(nil)
	return errors.As(err, &rejected) && rejected.Reason == git.Stale || errors.As(err, &rewind)
}

// keepAside pushes work to a branch of its own, and deletes in the same push what is then kept twice.
func (p *pass) keepAside(ctx context.Context, head string, drop ...git.Ref) turn.Kept {
	k := turn.Kept{Branch: checkpointBranch(p.event.Number, head), SHA: head}
	err := p.push(ctx, k.Branch, "", head, drop...)
	if stale(err) {
		err = nil // it is there: the name says which commit it is
	}
	if err != nil {
		p.Log.Warn("checkpoint_failed", "pr_number", p.event.Number, "turn_key", p.marker.Key, "error", err)
		p.note("what the agent had done could not be pushed to a checkpoint: " + err.Error())
		p.spare()
		return turn.Kept{}
	}
	p.applied("checkpoint", k.Branch, journal.Token("checkpoint", p.marker.Key, head), "applied")
	return k
}

// gather commits what is in the checkout and gives the head that may be pushed; "" for none.
func (p *pass) gather(ctx context.Context) (string, error) {
	if p.Phase == ApplyPhase {
		return p.admitted, nil
	}
	head, err := p.checkout.Head(ctx)
	if err != nil {
		return "", err
	}
	if tip, err := p.further(ctx, head); err != nil || tip != "" {
		return p.fit(ctx, tip, err)
	}
	relation, err := p.localRelation(ctx, p.base(), head)
	if err != nil || lineage.Decide(relation) != lineage.Pass {
		return "", errors.Join(err, errors.New("it does not descend from the head that it began at"))
	}
	dirty, err := p.checkout.Dirty(ctx)
	if err != nil {
		return "", err
	}
	if dirty {
		made, _, err := p.checkout.Commit(ctx, checkpointMessage(p.subject()))
		switch {
		case err == nil:
			head = made
		case head == p.base():
			return "", err
		default: // its commits are kept all the same
			p.note("what the agent had not committed could not be kept: " + err.Error())
		}
	}
	if head == p.base() {
		return "", nil
	}
	return p.fit(ctx, head, nil)
}

// fit gives a head that may be pushed.
func (p *pass) fit(ctx context.Context, head string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	found, err := p.inspect(ctx, p.base(), head)
	if err == nil && found.reason != "" {
		err = errors.New(found.detail)
	}
	return head, err
}

// findAstray keeps what the agent has committed on other branches than the one that it was given.
func (p *pass) findAstray(ctx context.Context) {
	if ctx.Err() != nil { // there is only time for what the agent was given
		return
	}
	refs, err := p.checkout.Astray(ctx, p.base())
	if err != nil { // what is wrong with the checkout is said elsewhere
		p.Log.Warn("branches_not_looked_at", "number", p.event.Number, "turn_key", p.marker.Key, "error", err)
		return
	}
	for _, ref := range refs {
		left := fmt.Sprintf("the agent left commits on branch %q that it was not given; they were not pushed", ref.Name)
		if p.Phase != WholeRun {
			p.note(left)
			continue
		}
		head, err := p.fit(ctx, ref.SHA, nil)
		switch {
		case err != nil:
			left += ", and could not be kept: " + err.Error()
		default:
			if k := p.keepAside(ctx, head); k.Branch != "" {
				left += ", but kept on branch " + k.Branch
			}
		}
		p.note(left)
	}
}

// further is the tip of the branch that the agent was given, where it has work that HEAD has not: a rebase that stopped
// half-way leaves it there. "" when HEAD has it all.
func (p *pass) further(ctx context.Context, head string) (string, error) {
	tip, err := p.checkout.Tip(ctx)
	if err != nil || tip == "" || tip == head || tip == p.base() {
		return "", err
	}
	grown, err := p.localRelation(ctx, p.base(), tip)
	if err != nil || lineage.Decide(grown) != lineage.Pass {
		return "", err
	}
	held, err := p.checkout.Relation(ctx, tip, head)
	if err != nil || lineage.Decide(held) == lineage.Pass {
		return "", err
	}
	return tip, nil
}

// note says something about the agent's work that people should know.
func (p *pass) note(text string) { p.notes = append(p.notes, text) }
