package merge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Failure is why a merge failed.
type Failure struct {
	Code      model.MergeCode
	Detail    string // may quote others
	Conflicts *Conflicts
	Tests     *TestRun
	Checks    []model.Check // of the commit that would land, which failed
	Landed    string        // a commit that landed all the same; "": nothing did
	Notes     []string
	// Pull is the group member that prevents the merge, with its Repo as owner/name; nil if it is the request's own pull
	// request.
	Pull *model.Pull
	Repo string
	// Proof is why there is nothing to merge: sentences with full SHAs. None if unproven.
	Proof []string
	// Ref is the ref that prevents the merge, for CodeLockBroken.
	Ref string

	own end // overrides the code's text
}

// end is the text for a code: a headline and what a person can do; %s in both is the base branch.
type end struct{ headline, next string }

const (
	anew   = "Then give the command again."
	bySelf = "The next event here or the sweep tries again, and so does giving the command again."
	byOwn  = "Given again, the command leaves them out with `strategy=rebase`, `squash` or `cherry-pick`, which take the branch's own commits only. "
	settle = "Put the branch onto `%s` or merge `%s` into it, settle the conflicts there and push; where an agent follows the pull request, a comment that asks for it is enough. " + anew
)

// Variants of codes with another remedy. They exist only in the tables.
const (
	testsUnstarted model.MergeCode = model.CodeTests + ", not started"
	protectedAPI   model.MergeCode = model.CodeProtected + ", by GitHub itself"
	emptyProven    model.MergeCode = model.CodeEmpty + ", proven"
)

// kind is the key of a failure in the tables.
func (f Failure) kind(m model.MergeMarker) model.MergeCode {
	switch {
	case f.Code == model.CodeTests && f.Tests != nil && f.Tests.unstarted() != "":
		return testsUnstarted
	case f.Code == model.CodeProtected && model.ByGitHub(m.Strategy):
		return protectedAPI
	case f.Code == model.CodeEmpty && len(f.Proof) > 0:
		return emptyProven
	}
	return f.Code
}

var ends = map[model.MergeCode]end{
	model.CodeApproval:      {"an approval is missing", "Once people who may write have approved the head, give the command again."},
	model.CodeStale:         {"the approval is of an earlier head", "What was pushed since has to be approved. " + anew},
	model.CodeChanges:       {"changes are requested", "Whoever requests them approves, or somebody dismisses that review. " + anew},
	model.CodeChecks:        {"a check has not passed yet", bySelf},
	model.CodeChecksFailed:  {"a check failed", "Push what mends it, or run the check again. " + anew},
	model.CodeDraft:         {"the pull request is a draft", "Mark it as ready for review. " + anew},
	model.CodeFrozen:        {"the pull request is frozen by a label", "Take the label off. " + anew},
	model.CodeClosed:        {"the pull request is not open", ""},
	model.CodeBlocked:       {"the automation is stopped here", "`/mergexo why` tells by what. Once it goes on, give the command again."},
	model.CodeTrain:         {"it is in the merge train", bySelf},
	model.CodeQueue:         {"it is in GitHub's merge queue", bySelf},
	model.CodeDequeued:      {"it was taken out of the merge queue", "Give the command again to put it back."},
	model.CodeBusy:          {"other work is under way here", bySelf},
	model.CodeStrategy:      {"that strategy cannot be used", "Give the command with another `strategy=`, or without one for what the settings say."},
	model.CodeCancelled:     {"the request was taken back", ""},
	model.CodeReplaced:      {"a later request has replaced this one", ""},
	model.CodeConflict:      {"the branch conflicts with `%s`", settle},
	model.CodeSquash:        {"the branch conflicts with `%s`, also as one change", settle},
	model.CodeTests:         {"the tests before the merge fail", "Push what mends them, and give the command again. Where the branch is not to blame, give the command again once the tests are mended."},
	testsUnstarted:          {"the tests before the merge could not be started", "In `.github/mergexo.toml` on `%s`, mend `[merge] tests`: a command that is in the repository, with the right to be executed, or on the runner. " + anew},
	model.CodeSetup:         {"what comes before the tests fails", "In `.github/mergexo.toml` on `%s`, write what makes a fresh tree ready into `[merge] setup`, or `setup = \"none\"` where nothing has to. " + anew},
	model.CodeNoCheckout:    {"the workflow has no checkout to test in", "Have the workflow check the repository out before MergeXO (`actions/checkout`), or in `.github/mergexo.toml` on `%s`, set `[merge] tests_in = \"fresh\"`. " + anew},
	model.CodeNoTests:       {"nobody knows how to test it", "In `.github/mergexo.toml` on `%s`, write the command into `[merge] tests`, or `tests = \"none\"` to merge without. " + anew},
	model.CodeProtected:     {"the rules of `%s` refuse the push", "Either let MergeXO's token push to `%s`, or have GitHub merge: `/mergexo merge strategy=api`."},
	protectedAPI:            {"GitHub refuses the merge into `%s`", "What GitHub says is missing has to come first. " + anew + " Where `%s` has a merge queue, `/mergexo merge strategy=github-queue` goes through it. Somebody whom the rules of `%s` let pass can merge it on its page, and who administers the repository can change the rules."},
	model.CodeUnrelated:     {"the branch has no history in common with `%s`", "Put its commits onto a branch that begins at `%s`."},
	model.CodeEmpty:         {"there is nothing to merge", "Where all of it is on `%s` already, close the pull request; else push what is missing. " + anew},
	emptyProven:             {"`%s` has all of it already", "Close the pull request: there is nothing left to merge."},
	model.CodeRewound:       {"commits that `%s` gave up would come back", byOwn + "To have them gone from the branch as well, put its own commits onto `%s` as it is now and push first."},
	model.CodeDiff:          {"what would land is not what was reviewed", "Put the branch onto `%s` and push, so that the change can be reviewed as it lands. " + anew},
	model.CodeForbidden:     {"MergeXO's token may not do that", "Give the token the right that is missing. A workflow's own token can never push changes of workflow files: those need the token of a GitHub App. " + anew},
	model.CodeLockBroken:    {"the lock of `%s` holds something that MergeXO did not write", "Look at it, and delete it with the command below: no merge into `%s` begins while it is there. " + anew},
	model.CodeAttempts:      {"it was tried as often as it may be", "Once the head or `%s` has moved, give the command again; `[merge] attempts` says how often."},
	model.CodeTooMany:       {"the branch has too many commits to be put over one by one", "Give the command with `strategy=squash`, or with `strategy=no-ff`, which leaves them as they are."},
	model.CodeRoadmap:       {"the roadmap that would land does not hold", "Fix the lines that are named above in the pull request and push. " + anew},
	model.CodeSettings:      {"the settings that would land are not valid", "Fix `.github/mergexo.toml` in the pull request and push: once it were on `%s`, MergeXO would stop there. " + anew},
	model.CodeBaseMissing:   {"there is no branch `%s`", "Let the pull request go to a branch that exists. " + anew},
	model.CodeBranchMissing: {"the head branch is gone", "Restore the branch. " + anew},
	model.CodeFrontmatter:   {"the front matter of a file cannot be read", "Mend the file and push. " + anew},
	model.CodeRetargeted:    {"the pull request goes to another branch now", "What was asked for, approved and tested was for the other one. To have it merged where it goes now, give the command again."},
	model.CodeMember:        {"another pull request of the group is not ready", "They land together or not at all. Once that one is ready, give the command again."},
	model.CodeBaseMoved:     {"`%s` kept moving", bySelf},
	model.CodeRejected:      {"the server did not take the push", bySelf},
	model.CodeLock:          {"another merge into `%s` is under way", bySelf},
	model.CodeHeadMoved:     {"the head is not the one that was asked for", "A request and an approval are for one head. Look at what was pushed, and give the command again."},
	model.CodeWrongHead:     {"the head is not the one that `sha=` names", "Look at the head, and name it with `sha=`, or leave that out for the head as it is."},
	model.CodeDirtyBase:     {"`%s` is checked out with changes", "Commit them or put them aside. " + anew},
}

// endOf is the text for a code and this base branch.
func endOf(code model.MergeCode, base string) end {
	e, known := ends[code]
	if !known {
		return end{"it did not come about", "Give the command again."}
	}
	fill := func(s string) string { return strings.ReplaceAll(s, "%s", markdown.Code(base)) }
	return end{fill(e.headline), fill(e.next)}
}

// FailText says why a merge failed, what that means, and what a person can do.
func FailText(p model.Pull, m model.MergeMarker, f Failure) string {
	e := f.end(m)
	if m.Label != "" { // no command asked for it
		label := "the label `" + markdown.Code(m.Label) + "` on again"
		e.next = strings.NewReplacer(byOwn, "", "give the command again", "put "+label, "Give the command again", "Put "+label, "giving the command again", "putting "+label).Replace(e.next)
	}
	return failed(p, m, f, e)
}

func failed(p model.Pull, m model.MergeMarker, f Failure, e end) string {
	var b strings.Builder
	at := p // what prevents the merge
	if f.Pull != nil {
		at = *f.Pull
	}
	fmt.Fprintf(&b, "**Not merged: %s** (`%s`)%s\n\nIt was about %s%s.%s", e.headline, f.Code, runLink(m), what(p, m), tries(m), either(len(f.Proof) > 0, proof(at, f.Proof), detail(f.Detail)))
	if f.Conflicts != nil {
		b.WriteString("\n\n" + ConflictText(at, *f.Conflicts))
	}
	if f.Tests != nil {
		b.WriteString("\n\n" + TestsText(*f.Tests))
	}
	if len(f.Checks) > 0 {
		b.WriteString("\n\n" + checkList(f.Checks))
	}
	b.WriteString("\n\n" + untouched(p, m, f) + either(len(landed(p, m)) > 0, "", together(p, m)) + notes(p, f.Notes))
	if movedOnly(p, m, f) {
		back := fmt.Sprintf("git push %s origin %s", quote("--force-with-lease="+p.HeadRef+":"+p.HeadSHA), quote(m.Head+":refs/heads/"+p.HeadRef))
		b.WriteString("\n\nTo have the branch back as it was, run this where its commits are:\n\n" + fenced(back, maxDetail, false))
	}
	if e.next != "" {
		b.WriteString("\n\n" + e.next)
	}
	if f.Ref != "" {
		b.WriteString("\n\n" + fenced("git push origin "+quote(":"+f.Ref), maxDetail, false))
	}
	return b.String()
}

func tries(m model.MergeMarker) string {
	if m.Attempt > 1 {
		return fmt.Sprintf(", in %d attempts", m.Attempt)
	}
	return ""
}

// untouched says what the failure left unchanged.
func untouched(p model.Pull, m model.MergeMarker, f Failure) string {
	if list := landed(p, m); len(list) > 0 {
		return fmt.Sprintf("Part of it has landed all the same, and stays: %s.", strings.Join(list, ", "))
	}
	if f.Landed != "" {
		return fmt.Sprintf("Part of it is on `%s` all the same: %s.", markdown.Code(m.Base), markdown.Commit(p.URL, f.Landed))
	}
	if f.Pull != nil {
		return "Nothing has landed, here or there."
	}
	if movedOnly(p, m, f) {
		return fmt.Sprintf("`%s` was not changed. The head branch is at %s, which was made from %s to be tested.", markdown.Code(m.Base), markdown.Commit(p.URL, p.HeadSHA), markdown.Commit(p.URL, m.Head))
	}
	return fmt.Sprintf("Neither `%s` nor the branch was changed.", markdown.Code(m.Base))
}

// movedOnly reports whether nothing landed, but the pull request's branch is at what would have.
func movedOnly(p model.Pull, m model.MergeMarker, f Failure) bool {
	return len(landed(p, m)) == 0 && f.Landed == "" && f.Pull == nil && p.HeadSHA != m.Head && slices.Contains(m.Tips(), p.HeadSHA)
}

// maxDetail limits a detail, in bytes.
const maxDetail = 4_000

// detail quotes a failure's detail: as a sentence, or as a block.
func detail(s string) string {
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return ""
	case len(s) <= 300 && !strings.Contains(s, "\n"):
		return " In detail: " + strings.TrimSuffix(markdown.Plain(oneLine(s)), ".") + "."
	}
	return "\n\n" + fenced(s, maxDetail, true)
}

// ShortLine says in one line why a pull request is not merged, for logs and terminals.
func ShortLine(number int, code model.MergeCode, detail string) string {
	line := fmt.Sprintf("pull request %d is not merged (%s)", number, code)
	if first, _, _ := strings.Cut(strings.TrimSpace(detail), "\n"); first != "" {
		const most = 500
		first = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f {
				return ' '
			}
			return r
		}, first)
		if r := []rune(first); len(r) > most {
			first = string(r[:most]) + "…"
		}
		return line + ": " + first
	}
	return line + ": " + strings.ReplaceAll(endOf(code, "the base branch").headline, "`", "")
}
