package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkpoint"
	"github.com/mergexo/mergexo/internal/git/commits"
	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// lastWords is how long a run that was cancelled may take to bring the work of its agent to safety. The runner gives a
// cancelled step 7.5 seconds from its first signal to its second
// (https://docs.github.com/en/actions/reference/workflow-cancellation-reference).
const lastWords = 5 * time.Second

// held is work that stopped half-way, as a commit, and where it may go.
type held struct {
	head string // "": nothing new
	// aside says that it is no continuation of what it began at, so that it goes to a branch of its own whatever it is for.
	aside bool
	// hidden says that it holds what no branch may: it goes to a ref that starts no workflow and that nobody checks out by
	// chance.
	hidden bool
}

// keep brings what the agent has done in an attempt without a result to a branch of its own, or to that of its issue:
// everything in the checkout, as commits on top of the head. A branch of its own is named after its tip, so that doing it
// again is the same. Without any work there is nothing to keep, and secrets are kept nowhere.
func (p *pass) keep(ctx context.Context) model.Kept {
	if p.Checkout == nil || p.Marker.Phase == model.PhasePlanned {
		return model.Kept{}
	}
	work := p.gathered(ctx)
	design := p.issue != nil && p.issue.marker.Flow == model.FlowDesign // files are no part of one
	switch {
	case work.hidden:
		return p.hide(ctx, work.head)
	case work.head != "" && (p.issue == nil || design || work.aside):
		k := p.keepAside(ctx, work.head, p.droppable()...)
		if k.Branch == "" && p.Phase != thread.AgentPhase {
			p.leaveOnRunner(ctx, work.head)
		}
		return k
	case work.head != "":
		return p.keepOnBranch(ctx, work.head)
	case p.issue != nil && p.issue.tip != "": // nothing new, but what earlier attempts did
		return model.Kept{Branch: p.issue.marker.Branch, SHA: p.issue.tip}
	}
	return model.Kept{}
}

// setAside brings what is in the checkout to a branch of its own.
func (p *pass) setAside(ctx context.Context) model.Kept {
	if p.Phase == thread.AgentPhase { // it may not push, and what it hands over is the work itself
		return model.Kept{}
	}
	work := p.gathered(ctx)
	switch {
	case work.head == "":
		return model.Kept{}
	case work.hidden:
		return p.hide(ctx, work.head)
	}
	return p.keepAside(ctx, work.head)
}

// hide pushes work to a hidden ref, as a bundle: commits with workflows in them GitHub takes from no workflow's token, on
// whatever ref.
func (p *pass) hide(ctx context.Context, head string) model.Kept {
	k := model.Kept{Branch: fmt.Sprintf("refs/mergexo/kept/%d/%.12s", p.Event.Number, head), SHA: head}
	file := filepath.Join(p.Git.Temp, fmt.Sprintf("mergexo-kept-%d-%.12s.bundle", p.Event.Number, head))
	err := transport.WriteBundleForPerson(ctx, p.Checkout, file, markdown.Unbundled, p.base(), head)
	var content []byte
	if err == nil {
		content, err = os.ReadFile(file)
	}
	if err == nil {
		_, kerr := p.Apply(ctx, effect.Keep{PrivateRef: transport.PrivateRef{Ref: k.Branch, Content: content}})
		err = errors.Join(kerr, os.Remove(file))
	}
	if err != nil {
		p.unkept(err)
		return model.Kept{}
	}
	p.checkpointed(k.Branch, head)
	return k
}

// gathered is all that is in the checkout; nothing where it cannot be kept, which is said.
func (p *pass) gathered(ctx context.Context) held {
	work, err := p.gather(ctx)
	if err != nil {
		p.unkept(err)
		return held{}
	}
	return work
}

// unkept says that what was done is kept nowhere.
func (p *pass) unkept(err error) {
	p.Log.Warn("checkpoint_failed", p.NumberKey(), p.Event.Number, "turn_key", p.Marker.Key, "error", err)
	p.spare()
	if p.issue != nil {
		p.issue.unkept = err.Error()
		return
	}
	p.note("what the agent had done could not be kept: " + err.Error())
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
	move := effect.Push{Update: transport.Update{Branch: branch, Start: start, SHA: head, Drop: drop}}
	_, err := p.Apply(ctx, move)
	if unanswered(err) {
		_, err = p.Apply(ctx, move)
	}
	if err == nil && len(drop) > 0 {
		p.wip = wip{}
	}
	return err
}

// checkpointed tells that work which stopped half-way is on a branch or a private ref.
func (p *pass) checkpointed(where, head string) {
	p.Applied("checkpoint", where, journal.Token("checkpoint", p.Marker.Key, head), effect.Applied)
}

// stale says that a branch is not where it was when a push was prepared.
func stale(err error) bool {
	rejected, rewind := (*git.ErrRejected)(nil), (*git.ErrRewind)(nil)
	return errors.As(err, &rejected) && rejected.Reason == git.Stale || errors.As(err, &rewind)
}

// keepAside pushes work to a branch of its own, and deletes in the same push what is then kept twice.
func (p *pass) keepAside(ctx context.Context, head string, drop ...git.Ref) model.Kept {
	k := model.Kept{Branch: checkpointBranch(p.Event.Number, head), SHA: head}
	err := p.push(ctx, k.Branch, "", head, drop...)
	if stale(err) {
		err = nil // it is there: the name says which commit it is
	}
	if err != nil {
		p.Log.Warn("checkpoint_failed", p.NumberKey(), p.Event.Number, "turn_key", p.Marker.Key, "error", err)
		p.note("what the agent had done could not be pushed to a checkpoint: " + err.Error())
		p.spare()
		return model.Kept{}
	}
	p.checkpointed(k.Branch, head)
	return k
}

// leaveOnRunner writes work that no push got through to a file, which people can get at while the runner is there, or where
// the workflow uploads it.
func (p *pass) leaveOnRunner(ctx context.Context, head string) {
	file := p.bundle(head)
	if err := transport.WriteBundleForPerson(ctx, p.Checkout, file, markdown.Unbundled, p.base(), head); err != nil {
		p.Log.Error("checkpoint_lost", p.NumberKey(), p.Event.Number, "error", err)
		p.note("it could not be left on the runner either: " + err.Error())
		return
	}
	p.note(fmt.Sprintf("it is on the runner, in the git bundle %s, and among the run's artifacts where the workflow uploads that; with the file at hand, git fetch %s %s gets it",
		file, filepath.Base(file), markdown.Unbundled))
}

// bundle is the file for work that cannot be pushed. The workflow knows it by this name.
func (p *pass) bundle(head string) string {
	return filepath.Join(p.Git.Temp, fmt.Sprintf("mergexo-checkpoint-%d-%.12s.bundle", p.Event.Number, head))
}

// gather commits what is in the checkout and finds where it may go.
func (p *pass) gather(ctx context.Context) (held, error) {
	if p.Phase == thread.ApplyPhase {
		return held{head: p.admitted}, nil
	}
	head, err := p.Checkout.Head(ctx)
	if err != nil {
		return held{}, err
	}
	if tip, err := p.further(ctx, head); err != nil || tip != "" {
		if err == nil {
			p.note("what was going on in the checkout beside the commits of its branch was left out")
		}
		return p.fit(ctx, held{head: tip}, err)
	}
	relation, err := p.LocalRelation(ctx, p.base(), head)
	if err != nil {
		return held{}, err
	}
	work := held{head: head, aside: lineage.Decide(relation) != lineage.Pass}
	if work.aside && p.Phase != thread.WholeRun {
		return held{}, errors.New("it does not descend from the head that it began at")
	}
	dirty, err := commits.Dirty(ctx, p.Checkout)
	if err != nil {
		return held{}, err
	}
	if dirty {
		made, _, err := commits.Commit(ctx, p.Checkout, checkpointMessage(p.About()))
		switch {
		case err == nil:
			work.head = made
		case head == p.base():
			return held{}, err
		default: // its commits are kept all the same
			p.note("what the agent had not committed could not be kept: " + err.Error())
		}
	}
	if work.head == p.base() || relation == model.Behind && !dirty {
		return held{}, nil
	}
	return p.fit(ctx, work, nil)
}

// fit finds where work may be pushed.
func (p *pass) fit(ctx context.Context, work held, err error) (held, error) {
	if err != nil {
		return held{}, err
	}
	done, err := p.own(ctx, p.base(), work.head)
	if err != nil {
		return held{}, err
	}
	work.head = done.Head
	found, err := p.inspect(ctx, p.base(), work.head)
	if err == nil && found.reason == model.ReasonForbidden && !found.nowhere {
		var secret finding
		if secret, err = p.secrets(ctx, p.base(), work.head, fetch.Tips(p.Checkout)); err == nil && secret.reason == "" {
			work.hidden = true
			return work, nil
		}
	}
	if err == nil && found.reason != "" {
		err = errors.New(found.detail)
	}
	if err != nil {
		return held{}, err
	}
	return work, nil
}

// findAstray keeps what the agent has committed on other branches than the one that it was given.
func (p *pass) findAstray(ctx context.Context) {
	if ctx.Err() != nil { // there is only time for what the agent was given
		return
	}
	refs, err := checkpoint.LeftBranches(ctx, p.Checkout, p.base())
	if err != nil { // what is wrong with the checkout is said elsewhere
		p.Log.Warn("branches_not_looked_at", p.NumberKey(), p.Event.Number, "turn_key", p.Marker.Key, "error", err)
		return
	}
	for _, ref := range refs {
		left := fmt.Sprintf("the agent left commits on branch %q that it was not given; they were not pushed", ref.Name)
		if p.Phase != thread.WholeRun {
			p.note(left)
			continue
		}
		work, err := p.fit(ctx, held{head: ref.SHA}, nil)
		k := model.Kept{}
		switch {
		case err != nil:
			left += ", and could not be kept: " + err.Error()
		case work.hidden:
			k = p.hide(ctx, work.head)
		default:
			k = p.keepAside(ctx, work.head)
		}
		if k.Branch != "" {
			left += ", but kept on " + k.Named()
		}
		p.note(left)
	}
}

// further is the tip of the branch that the agent was given, where it has work that HEAD has not: a rebase that stopped
// half-way leaves it there. "" when HEAD has it all.
func (p *pass) further(ctx context.Context, head string) (string, error) {
	tip, err := checkpoint.Tip(ctx, p.Checkout)
	if err != nil || tip == "" || tip == head || tip == p.base() {
		return "", err
	}
	grown, err := p.LocalRelation(ctx, p.base(), tip)
	if err != nil || lineage.Decide(grown) != lineage.Pass {
		return "", err
	}
	held, err := history.Relation(ctx, p.Checkout, tip, head)
	if err != nil || lineage.Decide(held) == lineage.Pass {
		return "", err
	}
	return tip, nil
}

// note says something about the agent's work that people should know.
func (p *pass) note(text string) { p.notes = append(p.notes, text) }
