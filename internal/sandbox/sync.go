package sandbox

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// refChange is one ref that moved; a SHA is empty where the ref was or is not there.
type refChange struct{ ref, old, now string }

// sync compares the refs with what they were and does what GitHub does after a push: payloads, heads of pull requests,
// merges and closings.
func (f pushes) sync(r *Repository, actor *User) error {
	now, err := f.git.readRefs(r)
	if err != nil {
		return err
	}
	var changes []refChange
	for ref, sha := range now {
		if r.Refs[ref] != sha {
			changes = append(changes, refChange{ref, r.Refs[ref], sha})
		}
	}
	for ref, sha := range r.Refs {
		if now[ref] == "" {
			changes = append(changes, refChange{ref, sha, ""})
		}
	}
	if len(changes) == 0 {
		return nil
	}
	sort.Slice(changes, func(i, j int) bool { return changes[i].ref < changes[j].ref })
	was := r.Refs
	r.Refs, r.PushedAt = now, f.world.now()
	f.world.changed()
	if err := f.firstBranch(r, was, changes); err != nil {
		return err
	}
	for _, c := range changes {
		if err := f.hooks.push(r, c, actor); err != nil {
			return err
		}
	}
	// Heads before bases: when both moved in one push, GitHub may see "nothing to merge" and close what was merged.
	if err := f.headsMoved(r, changes, actor); err != nil {
		return err
	}
	if err := f.basesMoved(r, changes, actor); err != nil {
		return err
	}
	return f.queues.advanceAll(r)
}

// firstBranch makes the first branch that an empty repository gets its default branch, unless the configured one came
// along. "The branch that is first pushed being the default on github has been the case for as long as I can remember":
// https://github.com/datalad/datalad/issues/4997
func (f pushes) firstBranch(r *Repository, was map[string]string, changes []refChange) error {
	if f.git.branchSHA(r, r.DefaultBranch) != "" {
		return nil
	}
	for ref := range was {
		if strings.HasPrefix(ref, "refs/heads/") {
			return nil
		}
	}
	for _, c := range changes {
		branch, ok := strings.CutPrefix(c.ref, "refs/heads/")
		if !ok {
			continue
		}
		if _, err := f.git.run(r, "symbolic-ref", "HEAD", c.ref); err != nil {
			return fmt.Errorf("set default branch: %w", err)
		}
		r.DefaultBranch = branch
		return nil
	}
	return nil
}

// openPulls are the open pull requests of r, in order.
func (r *Repository) openPulls() []*Issue {
	var open []*Issue
	for _, i := range r.inOrder() {
		if i.Pull != nil && i.State == "open" {
			open = append(open, i)
		}
	}
	return open
}

func changeOfBranch(changes []refChange, branch string) (refChange, bool) {
	at := slices.IndexFunc(changes, func(c refChange) bool { return c.ref == "refs/heads/"+branch })
	if at < 0 {
		return refChange{}, false
	}
	return changes[at], true
}

// headsMoved acts on pull requests whose head branch, here or in a fork, was pushed or deleted.
func (f pushes) headsMoved(r *Repository, changes []refChange, actor *User) error {
	for _, base := range f.st.Repositories {
		for _, i := range base.openPulls() {
			c, moved := changeOfBranch(changes, i.Pull.HeadRef)
			if i.Pull.HeadRepo != r.ID || !moved {
				continue
			}
			i.Pull.NewHead = nil
			switch {
			case i.Pull.HeadSHA == c.now:
			case c.now == "":
				f.pulls.close(i, actor)
			case f.pulls.lag(base).Heads > 0 && f.pulls.lag(base).delays(actor):
				i.Pull.NewHead = &lateHead{SHA: c.now, Actor: actor.Login, Reads: f.pulls.lag(base).Heads}
				f.pulls.falls(i)
			default:
				if err := f.headMoved(i, c.now, actor); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// headMoved shows a new head in a pull request, and closes it when nothing is left in it to merge: also when the
// base got this very head while GitHub still showed the old one. Who fast-forwards a base to a head that they pushed a moment
// before has to wait in between, "otherwise the PR is marked as closed instead of Merged":
// https://github.com/Mergifyio/mergify/pull/4718
func (f pushes) headMoved(i *Issue, head string, actor *User) error {
	before := i.Pull.HeadSHA
	f.queues.leave(i, actor, "")
	if err := f.pulls.showHead(i, head); err != nil {
		return err
	}
	i.Pull.HeadSHA, i.UpdatedAt, i.Pull.NewMerge = head, f.world.now(), nil
	f.pulls.recordBase(i)
	f.hooks.pull(i, "synchronize", actor, obj{"before": before, "after": head})
	if f.git.isAncestor(i.repo, head, f.pulls.baseSHA(i)) {
		f.pulls.close(i, actor)
	}
	return nil
}

// showHead brings the head's commits into the base repository and points refs/pull/N/head at them.
func (pr pulls) showHead(i *Issue, head string) error {
	if err := pr.git.bring(i.repo, pr.world.repositoryByID(i.Pull.HeadRepo), head); err != nil {
		return err
	}
	ref := fmt.Sprintf("refs/pull/%d/head", i.Number)
	if err := pr.git.setRef(i.repo, refChange{ref, i.repo.Refs[ref], head}); err != nil {
		return fmt.Errorf("show head of pull request %d: %w", i.Number, err)
	}
	i.repo.Refs[ref] = head
	return nil
}

// bring copies a commit and its history from one repository into another.
func (g gitStore) bring(to, from *Repository, sha string) error {
	if from == nil || from.ID == to.ID {
		return nil
	}
	if _, err := g.run(to, "fetch", "-q", "--no-tags", "--no-write-fetch-head", g.path(from), sha); err != nil {
		return fmt.Errorf("copy %s from %s to %s: %w", sha, from.FullName(), to.FullName(), err)
	}
	return nil
}

// basesMoved marks pull requests as merged whose head, as far as GitHub has seen it, the base now contains. One whose base
// branch is deleted by a push or the API closes; GitHub gives it another base only where the branch is deleted with the
// button of a merged pull request or by itself: https://github.com/microsoft/vscode-pull-request-github/issues/6799,
// https://github.com/ryanhiebert/probot-chain/pull/19
func (f pushes) basesMoved(r *Repository, changes []refChange, actor *User) error {
	landed := map[string]map[string]bool{} // by branch: one question to git, however many pull requests are open
	for _, i := range r.openPulls() {
		c, moved := changeOfBranch(changes, i.Pull.BaseRef)
		if !moved {
			continue
		}
		if c.now == "" {
			f.pulls.close(i, actor)
			continue
		}
		if landed[c.ref] == nil {
			set, err := f.arrived(r, c)
			if err != nil {
				return err
			}
			landed[c.ref] = set
		}
		if !landed[c.ref][f.pulls.headSHA(i)] {
			continue
		}
		commit, err := f.landing(r, f.pulls.headSHA(i), c.now)
		if err != nil {
			return err
		}
		if f.pulls.lag(r).Merges > 0 && f.pulls.lag(r).delays(actor) {
			i.Pull.NewMerge = &lateMerge{Commit: commit, Actor: actor.Login, Reads: f.pulls.lag(r).Merges}
			f.pulls.falls(i)
			continue
		}
		f.pulls.markMerged(i, actor, commit)
	}
	return nil
}

// arrived are the commits that a branch has and did not have before.
func (f pushes) arrived(r *Repository, c refChange) (map[string]bool, error) {
	args := []string{"rev-list", c.now}
	if c.old != "" {
		args = append(args, "^"+c.old)
	}
	out, err := f.git.run(r, args...)
	if err != nil {
		return nil, fmt.Errorf("list new commits of %s: %w", c.ref, err)
	}
	set := map[string]bool{}
	for sha := range strings.FieldsSeq(out) {
		set[sha] = true
	}
	return set, nil
}

// landing is the first commit on the base's own line that contains head.
func (f pushes) landing(r *Repository, head, base string) (string, error) {
	out, err := f.git.run(r, "rev-list", "--first-parent", "--ancestry-path", base, "^"+head)
	if err != nil {
		return "", fmt.Errorf("find merge commit: %w", err)
	}
	line := strings.Fields(out)
	if len(line) == 0 {
		return head, nil
	}
	parents, err := f.git.run(r, "rev-parse", line[len(line)-1]+"^@")
	if err != nil {
		return "", fmt.Errorf("find merge commit: %w", err)
	}
	if p := strings.Fields(parents); len(p) > 0 && p[0] == head { // a fast-forward went through head itself
		return head, nil
	}
	return line[len(line)-1], nil
}

// close closes without a merge; the heads stay what they were last.
func (pr pulls) close(i *Issue, actor *User) {
	i.Pull.HeadSHA = pr.headSHA(i)
	i.Pull.NewHead, i.Pull.NewMerge = nil, nil
	pr.queues.leave(i, actor, "")
	pr.dropMerge(i)
	pr.world.closeIssue(i, actor, "")
	pr.hooks.pull(i, "closed", actor, nil)
}

// markMerged closes with a merge. Pull.BaseSHA is still a base before it.
func (pr pulls) markMerged(i *Issue, actor *User, commit string) {
	i.Pull.HeadSHA = pr.headSHA(i)
	i.Pull.NewHead, i.Pull.NewMerge = nil, nil
	now := pr.world.now()
	i.Pull.MergedAt, i.Pull.MergedBy, i.Pull.MergeCommitSHA = &now, actor.Login, commit
	i.repo.noteContributor(i.Author)
	pr.dropMerge(i)
	closes := pr.closingIssues(i)
	pr.world.closeIssue(i, actor, "")
	pr.hooks.pull(i, "closed", actor, nil)
	for _, other := range closes {
		if other.State == "open" {
			pr.world.closeIssue(other, actor, "completed")
			pr.hooks.issue(other, "closed", actor, nil)
		}
	}
}

func (w world) closeIssue(i *Issue, actor *User, reason string) {
	now := w.now()
	i.State, i.StateReason, i.ClosedAt, i.ClosedBy, i.UpdatedAt = "closed", reason, &now, actor.Login, now
	w.changed()
}
