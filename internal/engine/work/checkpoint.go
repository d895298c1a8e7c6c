package work

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// LastWords is how long a run that was cancelled may take to bring the work of its agent to safety. The runner gives a
// cancelled step 7.5 seconds from its first signal to its second
// (https://docs.github.com/en/actions/reference/workflow-cancellation-reference).
const LastWords = 5 * time.Second

// Held is work that stopped half-way, as a commit, and where it may go.
type Held struct {
	Head string // "": nothing new
	// aside says that it is no continuation of what it began at, so that it goes to a branch of its own whatever it is for.
	Aside bool
	// hidden says that it holds what no branch may: it goes to a ref that starts no workflow and that nobody checks out by
	// chance.
	Hidden bool
}

// KeepAll brings what the agent has done in an attempt without a result to a branch of its own, or to that of its issue:
// everything in the checkout, as commits on top of the head. A branch of its own is named after its tip, so that doing it
// again is the same. Without any work there is nothing to keep, and secrets are kept nowhere.
func KeepAll(ctx context.Context, w *Work) model.Kept {
	if w.Checkout == nil || w.Marker.Phase == model.PhasePlanned {
		return model.Kept{}
	}
	work := gathered(ctx, w)
	switch {
	case work.Hidden:
		return hide(ctx, w, work.Head)
	case w.Keep != nil:
		return w.Keep(ctx, work)
	case work.Head == "":
		return model.Kept{}
	}
	return KeepApart(ctx, w, work.Head)
}

// KeepApart is KeepAside, but work that no push gets through is left on the runner.
func KeepApart(ctx context.Context, w *Work, head string) model.Kept {
	if k := KeepAside(ctx, w, head); k.Branch != "" {
		return k
	}
	return Strand(ctx, w, head)
}

// Strand writes work that no push gets through to a file, which people can get at while the runner is there, or where the workflow
// uploads it.
func Strand(ctx context.Context, w *Work, head string) model.Kept {
	if !w.Phase.Writes() {
		return model.Kept{}
	}
	file := BundleFile(w, head)
	if err := transport.WriteBundleForPerson(ctx, w.Checkout, file, markdown.Unbundled, Base(w), head); err != nil {
		w.Log.Error("checkpoint_lost", w.NumberKey(), w.Event.Number, "error", err)
		Note(w, "it could not be saved on the runner either: "+err.Error())
		return model.Kept{}
	}
	Note(w, "the work is only on the runner, in the git bundle "+file)
	return model.Kept{SHA: head, Base: Base(w), Bundle: file}
}

// SetAside brings what is in the checkout to a branch of its own, and returns the words behind a note that tell where; "" for nowhere.
func SetAside(ctx context.Context, w *Work) string {
	if !w.Phase.Writes() {
		return ""
	}
	return aside(ctx, w, gathered(ctx, w))
}

// aside brings gathered work to a place of its own, and tells it as SetAside does.
func aside(ctx context.Context, w *Work, h Held) string {
	keep := KeepAside
	if h.Hidden {
		keep = hide
	}
	if h.Head == "" {
		return ""
	}
	if k := keep(ctx, w, h.Head); k.Branch != "" {
		return ", but kept on " + k.Named()
	}
	return ""
}

// hide pushes work to a private ref, as a bundle: commits with workflows in them GitHub takes from no workflow's token, on
// whatever ref.
func hide(ctx context.Context, w *Work, head string) model.Kept {
	k := model.Kept{Branch: fmt.Sprintf("refs/mergexo/kept/%d/%.12s", w.Event.Number, head), SHA: head}
	file := filepath.Join(w.Git.Temp, fmt.Sprintf("mergexo-kept-%d-%.12s.bundle", w.Event.Number, head))
	err := transport.WriteBundleForPerson(ctx, w.Checkout, file, markdown.Unbundled, Base(w), head)
	var content []byte
	if err == nil {
		content, err = os.ReadFile(file)
	}
	if err == nil {
		_, kerr := w.Apply(ctx, effect.Keep(k.Branch, content))
		err = errors.Join(kerr, os.Remove(file))
	}
	if err != nil {
		unkept(w, err)
		return model.Kept{}
	}
	Checkpointed(w, k.Branch, head)
	return k
}

// gathered is all that is in the checkout; nothing where it cannot be kept, which is said.
func gathered(ctx context.Context, w *Work) Held {
	work, err := Gather(ctx, w)
	if err != nil {
		unkept(w, err)
		return Held{}
	}
	return work
}

// unkept says that what was done is kept nowhere.
func unkept(w *Work, err error) {
	w.Log.Warn("checkpoint_failed", w.NumberKey(), w.Event.Number, "turn_key", w.Marker.Key, "error", err)
	Spare(w)
	if w.Issue != nil {
		w.Unkept = err.Error()
		return
	}
	Note(w, "the agent's work could not be kept: "+err.Error())
}

// CheckpointBranch is a branch of its own for work that stopped half-way.
func CheckpointBranch(number int, head string) string {
	return fmt.Sprintf("mergexo/checkpoint/%d/%.12s", number, head)
}

// CheckpointMessage is the message of a commit that nobody said is ready.
func CheckpointMessage(about string) string {
	return fmt.Sprintf("Checkpoint of work on %s\n\nThe work is unfinished: it was not tested, and may hold conflict markers.", about)
}

// Push moves a branch, once more where the answer was unclear or did not come.
func Push(ctx context.Context, w *Work, branch, start, head string, drop ...git.Ref) error {
	move := effect.Push(effect.Move{Update: transport.Update{Branch: branch, Start: start, SHA: head, Drop: drop}})
	_, err := w.Apply(ctx, move)
	if Unanswered(err) {
		_, err = w.Apply(ctx, move)
	}
	if err == nil && len(drop) > 0 {
		Saved(w)
	}
	return err
}

// Checkpointed tells that work which stopped half-way is on a branch or a private ref.
func Checkpointed(w *Work, where, head string) {
	thread.Applied(w.Thread, "checkpoint", where, journal.Token("checkpoint", w.Marker.Key, head), effect.Applied)
}

// Displaced reports whether a push failed only because of the branch: it is not where it was, or there can be none of its name.
func Displaced(err error) bool {
	rejected, rewind := (*git.ErrRejected)(nil), (*git.ErrRewind)(nil)
	return errors.As(err, &rejected) && (rejected.Reason == git.Stale || rejected.Reason == git.Name) || errors.As(err, &rewind)
}

// Arrived reports whether a ref is at the commit of a push that ended so. If the answer does not say it, the server is asked.
func Arrived(ctx context.Context, w *Work, err error, ref, sha string) bool {
	unclear, failed := (*git.ErrUnclear)(nil), (*git.Error)(nil)
	if err == nil || !errors.As(err, &unclear) && errors.As(err, &failed) && failed.Failure == git.Unreachable {
		return err == nil
	}
	return At(ctx, w, ref) == sha
}

// At is the commit that the server has at a ref; "" for none, and where the server could not be asked.
func At(ctx context.Context, w *Work, ref string) string {
	refs, err := history.RemoteRefs(ctx, w.Checkout, ref)
	if err != nil {
		w.Log.Warn("ref_not_read", w.NumberKey(), w.Event.Number, "ref", ref, "error", err)
	}
	return refs[ref]
}

// KeepAside pushes work to a branch of its own. What is then kept twice stays until a comment names the branch. Where the server takes no such
// branch, a hidden ref gets the work: as it is, or in a bundle if it changes workflows. What the server refuses for reasons that it
// does not name, such as a secret, is to be on no ref at all. The zero value is for nowhere.
func KeepAside(ctx context.Context, w *Work, head string) model.Kept {
	k := model.Kept{Branch: CheckpointBranch(w.Event.Number, head), SHA: head, Base: Base(w)}
	err := Push(ctx, w, k.Branch, "", head)
	there := Arrived(ctx, w, err, k.Ref(), head)
	rejected := (*git.ErrRejected)(nil)
	switch errors.As(err, &rejected); {
	case there:
	case rejected != nil && rejected.Reason == git.Workflow:
		return hide(ctx, w, head)
	case rejected != nil && rejected.Reason != git.Other:
		k.Branch = "refs/" + k.Branch
		_, herr := w.Apply(ctx, effect.Stage(k.Branch, head))
		there = herr == nil
	}
	if !there {
		w.Log.Warn("checkpoint_failed", w.NumberKey(), w.Event.Number, "turn_key", w.Marker.Key, "error", err)
		Note(w, "the agent's work could not be pushed to a checkpoint: "+err.Error())
		Spare(w)
		return model.Kept{}
	}
	Checkpointed(w, k.Branch, head)
	return k
}

// BundleFile is the file for work that cannot be pushed. The workflow knows it by this name.
func BundleFile(w *Work, head string) string {
	return filepath.Join(w.Git.Temp, fmt.Sprintf("mergexo-checkpoint-%d-%.12s.bundle", w.Event.Number, head))
}

// Gather commits what is in the checkout and finds where it may go. The agent's job hands over the commits of one branch, on top of the
// head that the agent started from; beside that job there are only those.
func Gather(ctx context.Context, w *Work) (Held, error) {
	switch {
	case w.Phase.RunsAgent():
		work, err := gather(ctx, w)
		if err == nil && work.Aside && !w.Phase.Writes() {
			return Held{}, errors.New("it does not descend from the head that it started from")
		}
		return work, err
	case w.Admitted == "":
		return Held{}, nil
	}
	return fit(ctx, w, Held{Head: w.Admitted}, nil)
}

func gather(ctx context.Context, w *Work) (Held, error) {
	head, err := w.Checkout.Head(ctx)
	if err != nil && !git.Exhausts(err) {
		if err = checkout.Recover(ctx, w.Checkout); err == nil {
			head, err = w.Checkout.Head(ctx)
		}
		Note(w, "the agent left a checkout without a commit; its files are kept as changes to the commit that it started from")
	}
	if err != nil {
		return Held{}, err
	}
	if tip, err := further(ctx, w, head); err != nil || tip != "" {
		if err == nil {
			Note(w, "anything in the checkout other than the commits of its branch was left out")
		}
		return fit(ctx, w, Held{Head: tip}, err)
	}
	relation, err := thread.RelationIn(ctx, w.Checkout, Base(w), head)
	if err != nil {
		return Held{}, err
	}
	work := Held{Head: head, Aside: lineage.Decide(relation) != lineage.Pass}
	dirty, err := checkout.Dirty(ctx, w.Checkout, head)
	if err != nil {
		return Held{}, err
	}
	if dirty {
		made, _, err := checkout.Commit(ctx, w.Checkout, head, CheckpointMessage(w.About()))
		TellLeftOut(w)
		switch {
		case err == nil:
			work.Head = made
		case head == Base(w):
			return Held{}, err
		default: // its commits are kept anyway
			Note(w, "the agent's uncommitted changes could not be kept: "+err.Error())
		}
	}
	if work.Head == Base(w) || relation == model.Behind && !dirty {
		return Held{}, nil
	}
	return fit(ctx, w, work, nil)
}

// fit finds where work may be pushed.
func fit(ctx context.Context, w *Work, work Held, err error) (Held, error) {
	if err == nil {
		work.Head, err = checkout.OnStart(ctx, w.Checkout, work.Head, CheckpointMessage(w.About()))
	}
	if err != nil {
		return Held{}, err
	}
	done, err := Own(ctx, w, Base(w), work.Head)
	if err != nil {
		return Held{}, err
	}
	work.Head = done.Head
	found, _, err := Inspect(ctx, w, Base(w), work.Head)
	if err == nil && found.Reason == model.ReasonForbidden && !found.nowhere {
		work.Hidden = true
		if len(found.pointers) > 0 {
			work.Head = withContents(ctx, w, work.Head, found.pointers)
		}
		return work, nil
	}
	if err == nil && found.Reason != "" {
		err = errors.New(found.Detail)
	}
	if err != nil {
		return Held{}, err
	}
	return work, nil
}

// TellLeftOut tells people which files are in no commit since git does not take them.
func TellLeftOut(w *Work) {
	if len(w.Checkout.LeftOut) > 0 {
		Note(w, "these paths cannot be committed, so they are neither pushed nor kept: "+strings.Join(w.Checkout.LeftOut, ", "))
	}
	w.Checkout.LeftOut = nil
}

// KeepOtherBranches keeps what the agent has committed on other branches than the one that it was given.
func KeepOtherBranches(ctx context.Context, w *Work) {
	TellLeftOut(w)
	if ctx.Err() != nil { // there is only time for what the agent was given
		return
	}
	refs, err := checkout.LeftBranches(ctx, w.Checkout, Base(w))
	if err != nil { // what is wrong with the checkout is said elsewhere
		w.Log.Warn("branches_not_looked_at", w.NumberKey(), w.Event.Number, "turn_key", w.Marker.Key, "error", err)
		return
	}
	for _, ref := range refs {
		left := fmt.Sprintf("the agent left commits on branch %q, which was not its branch; they were not pushed", ref.Name)
		if ref.Name == checkout.Stash {
			left = "the agent left changes in git stash; they were not pushed"
		}
		Note(w, left+keepBranch(ctx, w, ref))
	}
}

// keepBranch keeps what the agent has committed on another branch than its own, and says where.
func keepBranch(ctx context.Context, w *Work, ref git.Ref) string {
	if !w.Phase.IsWhole() {
		return ""
	}
	work, err := fit(ctx, w, Held{Head: ref.SHA}, nil)
	if err != nil {
		return ", and could not be kept: " + err.Error()
	}
	return aside(ctx, w, work)
}

// further is the tip of the branch that the agent was given, where it has work that HEAD has not: a rebase that stopped
// half-way leaves it there. "" when HEAD has it all.
func further(ctx context.Context, w *Work, head string) (string, error) {
	tip, err := checkout.BranchTip(ctx, w.Checkout, head)
	if err != nil || tip == "" || tip == head || tip == Base(w) {
		return "", err
	}
	grown, err := thread.RelationIn(ctx, w.Checkout, Base(w), tip)
	if err != nil || lineage.Decide(grown) != lineage.Pass {
		return "", err
	}
	held, err := history.Relation(ctx, w.Checkout, tip, head)
	if err != nil || lineage.Decide(held) == lineage.Pass {
		return "", err
	}
	return tip, nil
}

// Note says something about the agent's work that people should know.
func Note(w *Work, text string) { w.Notes = append(w.Notes, text) }

// Outlived says that something of an agent outlives it, with what was done so far left on the runner, as a bundle; nil where
// nothing does.
func Outlived(ctx context.Context, w *Work, err error) error {
	if !thread.IsAlive(err) {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	work, gerr := Gather(ctx, w)
	switch {
	case gerr == nil && work.Head == "":
		return thread.StillAlive(err, "")
	case gerr == nil:
		file := filepath.Join(w.Git.Temp, fmt.Sprintf("mergexo-kept-%d-%.12s.bundle", w.Event.Number, work.Head))
		if gerr = transport.WriteBundleForPerson(ctx, w.Checkout, file, markdown.Unbundled, Base(w), work.Head); gerr == nil {
			return thread.StillAlive(err, fmt.Sprintf("; its work is on this runner, in %s: git fetch %s %s gets it", file, file, markdown.Unbundled))
		}
	}
	return thread.StillAlive(err, "; its work could not be kept: "+gerr.Error())
}
