package sandbox

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// Protection restricts a branch: unless it says so, nobody rewrites or deletes it, and nobody gets around what it demands,
// administrators included. https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-protected-branches/about-protected-branches
type Protection struct {
	Push      []string // logins that may push; nil for everybody who may write
	Strict    bool     `json:",omitempty"` // required status checks are strict: the head has to have the base
	Checks    []string // names of required status checks
	Approvals int      `json:",omitempty"` // approving reviews that a merge needs; no commit gets in by a push then
	Linear    bool     `json:",omitempty"` // no merge commits
	Pull      bool     `json:",omitempty"` // changes by pull request only, however many approve it
	Signed    bool     `json:",omitempty"` // no commits without a signature
	Forces    bool     `json:",omitempty"` // force pushes are allowed
	Deletes   bool     `json:",omitempty"` // deletions are allowed
	// Ruleset is the number of the ruleset that this is, whose Bypass are the logins that it lets pass; 0 is for branch
	// protection, which lets nobody pass.
	Ruleset int64    `json:",omitempty"`
	Bypass  []string `json:",omitempty"`
	Name    string   `json:",omitempty"` // of the ruleset; empty: one is made up
	Queue   string   `json:",omitempty"` // how the merge queue merges: MERGE, SQUASH or REBASE; empty: the branch has no queue
}

// classic is the protection of a branch that is no ruleset, or nil.
func (r *Repository) classic(branch string) *Protection {
	if p := r.Protections[branch]; p != nil && p.Ruleset == 0 {
		return p
	}
	return nil
}

// letsPass tells whether a ruleset does not hold for a login.
func (p *Protection) letsPass(login string) bool {
	return slices.ContainsFunc(p.Bypass, func(l string) bool { return strings.EqualFold(l, login) })
}

// mayPush tells whether the protection names a login, or nobody.
func (p *Protection) mayPush(login string) bool {
	return p.Push == nil || slices.ContainsFunc(p.Push, func(l string) bool { return strings.EqualFold(l, login) })
}

// GitHub's words, as pushes and the merge endpoint have them.
const (
	notAuthorized  = "You're not authorized to push to this branch. Visit https://docs.github.com/articles/about-protected-branches/ for more information."
	noMergeCommits = "This branch must not contain merge commits." // https://github.com/runatlantis/atlantis/issues/2047
	noDeletion     = "Cannot delete this branch"
	noForce        = "Cannot force-push to this branch"
	pullOnly       = "Changes must be made through a pull request."
	notSigned      = "Commits must have verified signatures."
	noSignedRebase = "Base branch requires signed commits. Rebase merges cannot be automatically signed by GitHub" // https://github.com/chdsbd/kodiak/pull/275
	mergeUnsigned  = "Commits must have valid signatures."                                                         // https://github.com/chdsbd/kodiak/issues/89
	violations     = "Repository rule violations found"
)

// setProtection protects a branch, the default one unless told; without any rule it lifts the protection.
func setProtection(q *request, r *Repository, in struct {
	Branch string
	Protection
}) (any, error) {
	if in.Branch == "" {
		in.Branch = r.DefaultBranch
	}
	if in.Approvals < 0 {
		return nil, unprocessable("approvals: want a number of reviews")
	}
	if in.Ruleset != 0 && in.Push != nil || in.Ruleset == 0 && len(in.Bypass) > 0 {
		return nil, unprocessable("push is for branch protection, bypass for a ruleset")
	}
	if in.Push == nil && len(in.Checks) == 0 && in.Approvals == 0 && !in.Linear && !in.Pull && !in.Signed && in.Queue == "" {
		delete(r.Protections, in.Branch)
	} else {
		r.Protections[in.Branch] = &in.Protection
	}
	return &reply{status: http.StatusNoContent}, q.s.refs.protectionChanged(r)
}

// protects is GitHub's reason to refuse a ref change to a person, or "". The update hook says the same to git clients.
func (f pushes) protects(r *Repository, c refChange, u *User) string {
	if u.Login == actionsLogin && c.now != "" && c.now != c.old {
		touched, err := f.git.run(r, "log", "--format=", "--name-only", c.now, "--not", "--all", "--", ".github/workflows")
		if path, _, _ := strings.Cut(touched, "\n"); err == nil && path != "" {
			return fmt.Sprintf("refusing to allow a GitHub App to create or update workflow `%s` without `workflows` permission", path)
		}
	}
	p := r.protection(strings.TrimPrefix(c.ref, "refs/heads/"))
	if p == nil || !strings.HasPrefix(c.ref, "refs/heads/") || p.letsPass(u.Login) {
		return ""
	}
	return p.said(f.violation(r, p, c, u))
}

// said is a reason in the words of the API, which puts a line above those of a ruleset; "" stays as it is.
func (p *Protection) said(why string) string {
	if why == "" || p.Ruleset == 0 {
		return why
	}
	return violations + "\n\n" + why
}

// violation is what of a protection a ref change does not keep.
func (f pushes) violation(r *Repository, p *Protection, c refChange, u *User) string {
	switch {
	case c.now == "" && p.Deletes:
		return ""
	case c.now == "":
		return noDeletion
	case !p.mayPush(u.Login):
		return notAuthorized
	case c.old != "" && !p.Forces && !f.git.isAncestor(r, c.old, c.now):
		return noForce
	}
	why := f.demands(r, p, c.now)
	if p.Linear && f.bringsMerges(r, c) {
		why = append(why, noMergeCommits)
	}
	if p.Signed && !f.signed(r, c.old, c.now) {
		why = append(why, notSigned)
	}
	return strings.Join(why, " ")
}

// signed tells whether all commits that a branch did not have are signed. GitHub verifies the signatures, too; here one that is
// there is taken for a good one.
func (f pushes) signed(r *Repository, old, now string) bool {
	args := []string{"log", "--no-decorate", "--format=raw", now}
	if old != "" {
		args = append(args, "^"+old)
	}
	out, err := f.git.run(r, args...)
	begun := func(word string) int { return strings.Count("\n"+out, "\n"+word+" ") }
	return err == nil && begun("commit") == begun("gpgsig")
}

// bringsMerges tells whether there are merge commits among those that a change brings to its branch.
func (f pushes) bringsMerges(r *Repository, c refChange) bool {
	args := []string{"rev-list", "--merges", "--max-count=1", c.now}
	if c.old != "" {
		args = append(args, "^"+c.old)
	}
	out, err := f.git.run(r, args...)
	return err != nil || out != ""
}

// demands are the sentences that keep a commit from being pushed, each but the last one's reason. Their order, and that
// they share a line: https://github.com/gautamkrishnar/keepalive-workflow/issues/12. GitHub also takes a commit that merges a
// pull request whose checks have passed; here each commit needs its own.
// https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/troubleshooting-required-status-checks
func (f pushes) demands(r *Repository, p *Protection, sha string) []string {
	var why []string
	switch {
	case p.Queue != "":
		why = append(why, queueOnly+".")
	case p.Pull || p.Ruleset != 0 && p.Approvals > 0:
		why = append(why, pullOnly)
	case p.Approvals > 0:
		why = append(why, approvalsMissing(p.Approvals))
	}
	if text := r.checksMissing(p, sha); text != "" {
		why = append(why, text)
	}
	return why
}

func approvalsMissing(n int) string {
	if n == 1 {
		return "At least 1 approving review is required by reviewers with write access."
	}
	return fmt.Sprintf("At least %d approving reviews are required by reviewers with write access.", n)
}

// checksMissing says which required checks a commit has not passed, or "".
// https://github.com/kubeflow/pipelines/issues/4384 has the words for several that were never given.
func (r *Repository) checksMissing(p *Protection, sha string) string {
	var words []string
	name := ""
	for _, n := range p.Checks {
		if word := r.checkWord(n, sha); word != "" {
			words, name = append(words, word), n
		}
	}
	switch {
	case len(words) == 0:
		return ""
	case len(words) == 1:
		return fmt.Sprintf("Required status check %q is %s.", name, words[0])
	case !slices.ContainsFunc(words, func(w string) bool { return w != "expected" }):
		return fmt.Sprintf("%d of %d required status checks are expected.", len(words), len(p.Checks))
	}
	return fmt.Sprintf("%d of %d required status checks have not succeeded.", len(words), len(p.Checks))
}

// checkWord is "" for a check that a commit has passed, else GitHub's word for how it stands. Where a check and a status have
// the name, both must pass. Each run of a workflow has to pass by itself: only a re-run counts in the place of what it runs again. Of
// what an App began in one second the worst counts.
func (r *Repository) checkWord(name, sha string) string {
	word := "expected"
	newest := map[int64]*CheckRun{} // by check suite
	for _, c := range r.checks(sha) {
		if c.Name != name {
			continue
		}
		if was := newest[c.suite()]; was == nil || c.began().After(was.began()) || c.began().Equal(was.began()) && was.passed() {
			newest[c.suite()] = c
		}
	}
	for _, st := range r.newestStatuses(sha) {
		switch {
		case st.Context != name:
		case st.State == "pending":
			return "pending"
		case st.State != "success":
			return "failing"
		default:
			word = ""
		}
	}
	for _, c := range newest {
		switch {
		case c.Status != "completed":
			return strings.ReplaceAll(c.Status, "_", " ")
		case !c.passed():
			return "failing"
		}
		word = ""
	}
	return word
}

// began is when a check run did. One that is queued does so after all that have.
func (c *CheckRun) began() time.Time {
	if c.StartedAt == nil || c.Status == "queued" {
		return time.Unix(1<<40, 0)
	}
	return c.StartedAt.Truncate(time.Second)
}

// mergeRefusal is why the merge endpoint refuses the request's pull request, or "".
func mergeRefusal(q *request, base, head, method string) string {
	p := q.repo.protection(q.issue.Pull.BaseRef)
	if q.repo.NoMethods[method] {
		return map[string]string{
			"merge": "Merge commits are", "squash": "Squash merges are", "rebase": "Rebase merges are",
		}[method] + " not allowed on this repository." // https://github.com/Mergifyio/mergify/issues/48
	}
	if p == nil || p.letsPass(q.user.Login) {
		return ""
	}
	return p.said(mergeViolation(q, p, base, head, method))
}

// mergeViolation is what of a protection a merge by the endpoint would not keep.
func mergeViolation(q *request, p *Protection, base, head, method string) string {
	i := q.issue
	var why []string
	if p.Approvals > q.s.pulls.approvals(i) {
		why = append(why, approvalsMissing(p.Approvals))
	}
	if text := q.repo.checksMissing(p, head); text != "" {
		why = append(why, text)
	}
	switch {
	case p.Queue != "": // https://github.com/cncf/prow-github-actions/pull/166
		return queueOnly + "."
	case !p.mayPush(q.user.Login):
		return notAuthorized
	case len(why) > 0:
		return strings.Join(why, " ")
	case p.Linear && method == "merge":
		return noMergeCommits
	case p.Signed && method == "rebase":
		return noSignedRebase
	case p.Signed && method == "merge" && !q.s.refs.signed(q.repo, base, head): // GitHub signs the merge commit, and a squashed one
		return mergeUnsigned
	case p.Strict && len(p.Checks) > 0 && !q.s.git.isAncestor(q.repo, base, head):
		return "The head branch is not up to date with the base branch." // that it refuses is documented, its words are not
	}
	return ""
}

// approvals counts the people whose last opinion is an approval; none while somebody wants changes.
func (pr pulls) approvals(i *Issue) int {
	n := 0
	for _, v := range pr.opinions(i, true) {
		switch v.State {
		case "APPROVED":
			n++
		case "CHANGES_REQUESTED":
			return 0
		}
	}
	return n
}

// opinions are the last reviews of each person that have an opinion, the oldest first. A comment takes no opinion back; one
// that was dismissed is no longer an opinion and brings no earlier one to life: https://github.com/sonichi/sutando/pull/3774
func (pr pulls) opinions(i *Issue, writersOnly bool) []*Review {
	last := map[string]*Review{}
	for _, v := range i.Pull.Reviews {
		opinionated := v.State == "APPROVED" || v.State == "CHANGES_REQUESTED" || v.State == "DISMISSED"
		if !opinionated || v.SubmittedAt == nil || writersOnly && pr.world.permission(i.repo, v.Author) < model.PermissionWrite {
			continue
		}
		author := strings.ToLower(v.Author)
		if was := last[author]; was == nil || !v.SubmittedAt.Before(*was.SubmittedAt) {
			last[author] = v
		}
	}
	var found []*Review
	for _, v := range i.Pull.Reviews {
		if last[strings.ToLower(v.Author)] == v {
			found = append(found, v)
		}
	}
	slices.SortStableFunc(found, func(a, b *Review) int { return a.SubmittedAt.Compare(*b.SubmittedAt) })
	return found
}
