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
	How       string        // how that commit was tested and found, in sentences
	Job       *model.CIJob  // one of those that failed, with the end of its log; nil: none is known
	Landed    string        // a commit that landed anyway; "": nothing did
	Notes     []string
	// Pull is the group member that prevents the merge, with its Repo as owner/name; nil if it is the request's own pull
	// request.
	Pull *model.Pull
	Repo string
	// Proof is why there is nothing to merge: sentences with full SHAs. None if unproven.
	Proof []string
	// Branch is the head branch whose rules refuse the push, for CodeProtected; "": those of the base do.
	Branch string
	// Ref is the ref that prevents the merge, for CodeLockBroken.
	Ref string

	own end // overrides the code's text
}

// end is the text for a code: a headline and what a person can do; %s in all of them is the base branch.
type end struct {
	headline string
	todo     string // whole sentences
	then     then
	to       string // begins the sentence that asks for the request again; "" for the usual beginning
	options  string // sentences about another command, only if a command asked for the merge
	in       string // a link to the pull request that all of this is about, if it is another one
}

// then is how a request that failed is made again.
type then int

const (
	thenNothing then = iota
	thenAgain        // by the person
	thenRetry        // by MergeXO
)

// asker is where a request comes from, and so how it is made again.
type asker struct {
	label    string // "": a command or an approval
	approval bool
	terminal bool // a run without GitHub
	here     bool // the failure is about another pull request than the one with the request
}

// approveAgain is how whoever cannot give commands makes a request again.
const approveAgain = "have it approved again"

// again tells a person how to make the request again.
func (a asker) again() string {
	switch {
	case a.terminal:
		return "run this again"
	case a.label != "":
		return "add the label `" + markdown.Code(a.label) + "` again"
	case a.approval:
		return approveAgain
	case a.here:
		return "repeat the command here"
	}
	return "repeat the command"
}

// next tells what a person can do about a failure.
func (e end) next(a asker) string {
	var parts []string
	if e.in != "" && e.then != thenRetry && (e.todo != "" || e.then == thenAgain) {
		parts = append(parts, "In "+e.in+":")
	}
	if e.options != "" && a.label == "" {
		parts = append(parts, e.options)
	}
	if e.todo != "" {
		parts = append(parts, e.todo)
	}
	switch {
	case e.then == thenRetry && a.terminal:
		parts = append(parts, "Run this again later.")
	case e.then == thenRetry:
		parts = append(parts, retries+" You can also "+a.again()+".")
	case e.then == thenAgain && e.to != "":
		parts = append(parts, e.to+", "+a.again()+".")
	case e.then == thenAgain && e.todo != "":
		parts = append(parts, "Then "+a.again()+".")
	case e.then == thenAgain:
		parts = append(parts, strings.ToUpper(a.again()[:1])+a.again()[1:]+".")
	}
	return strings.Join(parts, " ")
}

const (
	retries   = "MergeXO tries again with the next event or scheduled run."
	allOrNone = "A group lands together or not at all."
	resolve   = "Rebase the branch onto `%s` or merge `%s` into it, resolve the conflicts and push. If an agent follows the pull request, you can ask it to do that in a comment."
)

// Variants of codes with another remedy. They exist only in the tables.
const (
	testsUnstarted model.MergeCode = model.CodeTests + ", not started"
	protectedHead  model.MergeCode = model.CodeProtected + ", of the head"
	protectedPush  model.MergeCode = model.CodeProtected + ", at the push"
	unansweredAPI  model.MergeCode = model.CodeRejected + ", by GitHub itself"
	protectedAPI   model.MergeCode = model.CodeProtected + ", by GitHub itself"
	emptyProven    model.MergeCode = model.CodeEmpty + ", proven"
)

// kind is the key of a failure in the tables.
func (f Failure) kind(m model.MergeMarker) model.MergeCode {
	switch {
	case f.Code == model.CodeTests && f.Tests != nil && f.Tests.Unstarted() != "":
		return testsUnstarted
	case f.Code == model.CodeProtected && f.Branch != "":
		return protectedHead
	case f.Code == model.CodeProtected && model.ByGitHub(m.Strategy):
		return protectedAPI
	case f.Code == model.CodeProtected && !strings.Contains(f.Detail, "not authorized to push"): // which GitHub's own merge needs, too
		return protectedPush
	case f.Code == model.CodeRejected && model.ByGitHub(m.Strategy):
		return unansweredAPI
	case f.Code == model.CodeEmpty && len(f.Proof) > 0:
		return emptyProven
	}
	return f.Code
}

var ends = map[model.MergeCode]end{
	model.CodeApproval:      {headline: "an approval is missing", todo: "Have somebody with write access approve the head.", then: thenAgain},
	model.CodeStale:         {headline: "the approval is for an earlier head or base", todo: "Have it approved as it is now.", then: thenAgain},
	model.CodeChanges:       {headline: "changes are requested", todo: "The reviewer has to approve, or somebody has to dismiss that review.", then: thenAgain},
	model.CodeChecks:        {headline: "a check has not passed yet", then: thenRetry},
	model.CodeChecksFailed:  {headline: "a check failed", todo: "Push a fix, or rerun the check.", then: thenAgain},
	model.CodeDraft:         {headline: "the pull request is a draft", todo: "Mark it as ready for review, or change its title.", then: thenAgain},
	model.CodeFrozen:        {headline: "the labels of the pull request hold it", todo: "Remove the label that does, or add the missing one.", then: thenAgain},
	model.CodeReviewers:     {headline: "a requested review is missing", todo: "Have it given, or remove the request for it.", then: thenAgain},
	model.CodeClosed:        {headline: "the pull request is not open"},
	model.CodeBlocked:       {headline: "MergeXO has stopped here", todo: "Resolve what `/mergexo why` shows.", then: thenAgain},
	model.CodeTrain:         {headline: "it is in the merge train", then: thenRetry},
	model.CodeQueue:         {headline: "it is in GitHub's merge queue", then: thenRetry},
	model.CodeDequeued:      {headline: "it was taken out of the merge queue", then: thenAgain, to: "To put it back"},
	model.CodeBusy:          {headline: "other work is in progress here", then: thenRetry},
	model.CodeStrategy:      {headline: "this strategy cannot be used", todo: "Comment `/mergexo merge` with another `strategy=`, or without one to use the settings' strategy."},
	model.CodeCancelled:     {headline: "the request was cancelled"},
	model.CodeReplaced:      {headline: "a later request replaced this one"},
	model.CodeConflict:      {headline: "the branch conflicts with `%s`", todo: resolve, then: thenAgain},
	model.CodeSquash:        {headline: "the branch conflicts with `%s`, even as one commit", todo: resolve, then: thenAgain},
	model.CodeTests:         {headline: "the tests failed on the merged result", todo: "Push a fix. If the branch is not to blame, fix the tests on `%s`.", then: thenAgain},
	testsUnstarted:          {headline: "the tests could not be started", todo: "Fix `[merge] tests` in `.github/mergexo.toml` on `%s`: name an executable file of the repository, or a command of the runner.", then: thenAgain},
	model.CodeSetup:         {headline: "the setup for the tests failed", todo: "In `.github/mergexo.toml` on `%s`, set `[merge] setup` to the command that prepares a fresh tree, or to `\"none\"`.", then: thenAgain},
	model.CodeNoCheckout:    {headline: "the workflow has no checkout to test in", todo: "Add `actions/checkout` before MergeXO in the workflow, without `sparse-checkout`, or set `[merge] tests_in = \"fresh\"` in `.github/mergexo.toml` on `%s`.", then: thenAgain},
	model.CodeNoTests:       {headline: "no test command is configured", todo: "In `.github/mergexo.toml` on `%s`, set `[merge] tests` to the command, or to `\"none\"` to merge without tests.", then: thenAgain},
	model.CodeProtected:     {headline: "the rules of `%s` refuse the push", todo: "Allow MergeXO's token to push to `%s`."},
	protectedPush:           {headline: "the rules of `%s` refuse the push", todo: "Allow MergeXO's token to push to `%s`, or let GitHub merge: `/mergexo merge strategy=api`."},
	protectedHead:           {headline: "the rules of `%s` refuse the push", todo: "Allow MergeXO's token to force-push to `%s`, or leave that branch as it is: `/mergexo merge strategy=no-ff`."},
	protectedAPI:            {headline: "GitHub refuses the merge into `%s`", options: "If `%s` has a merge queue, use `/mergexo merge strategy=github-queue`.", todo: "Resolve what GitHub reports, or have somebody who may bypass the rules of `%s` merge it on GitHub.", then: thenAgain, to: "To try again"},
	model.CodeUnrelated:     {headline: "the branch has no common history with `%s`", todo: "Move its commits to a branch that starts at `%s`."},
	model.CodeEmpty:         {headline: "there is nothing to merge", todo: "If `%s` has all of the changes, close the pull request. Otherwise push what is missing.", then: thenAgain},
	emptyProven:             {headline: "`%s` already has all of the changes", todo: "Close the pull request: nothing is left to merge."},
	model.CodeRewound:       {headline: "commits that `%s` dropped would come back", options: "To merge without them, repeat the command with `strategy=rebase`, `squash` or `cherry-pick`.", todo: "To remove them from the branch too, rebase its own commits onto the current `%s` and push."},
	model.CodeDiff:          {headline: "what would land differs from what was reviewed", todo: "Rebase the branch onto `%s` and push, so that the change can be reviewed as it will land.", then: thenAgain},
	model.CodeForbidden:     {headline: "MergeXO's token lacks a permission", todo: "Add the missing permission to the token. A workflow's own token can never push changes to workflow files: those need the token of a GitHub App.", then: thenAgain},
	model.CodeLockBroken:    {headline: "the lock of `%s` holds something that MergeXO did not write", todo: "Look at it, and delete it with the command below. While it exists, nothing is merged into `%s`.", then: thenAgain},
	model.CodeAttempts:      {headline: "the attempt limit was reached", todo: "The limit is `[merge] attempts`. Wait for a new commit on the branch or on `%s`.", then: thenAgain},
	model.CodeTooMany:       {headline: "too many commits to rebase", todo: "Use `/mergexo merge strategy=squash`, or `strategy=no-ff`, which keeps them unchanged."},
	model.CodeRoadmap:       {headline: "the roadmap in this change is invalid", todo: "Fix the lines named above in the pull request and push.", then: thenAgain},
	model.CodeSettings:      {headline: "the settings in this change are invalid", todo: "Fix `.github/mergexo.toml` in the pull request and push. On `%s`, these settings would stop MergeXO.", then: thenAgain},
	model.CodeBaseMissing:   {headline: "branch `%s` does not exist", todo: "Change the base to a branch that exists.", then: thenAgain},
	model.CodeBaseMerged:    {headline: "`%s` was merged already", todo: "Change the base of the pull request.", then: thenAgain},
	model.CodeBranchMissing: {headline: "the head branch was deleted", todo: "Restore the branch.", then: thenAgain},
	model.CodeFrontmatter:   {headline: "the front matter of a file cannot be read", todo: "Fix the file and push.", then: thenAgain},
	model.CodeRetargeted:    {headline: "the base of the pull request has changed", todo: "The request, approval and tests were for the old base.", then: thenAgain, to: "To merge into the new one"},
	model.CodeNeeds:         {headline: "a pull request that it depends on was closed", todo: "Reopen that pull request, or change the `Depends-on:` line.", then: thenAgain},
	model.CodeDepends:       {headline: "what it depends on cannot land first", todo: "Fix the `Depends-on:` line.", then: thenAgain},
	model.CodeMember:        {headline: "another pull request of the group is not ready", todo: allOrNone, then: thenAgain, to: "Once that one is ready"},
	model.CodeBaseMoved:     {headline: "`%s` kept moving", then: thenRetry},
	model.CodeRejected:      {headline: "the server rejected the push", then: thenRetry},
	unansweredAPI:           {headline: "GitHub did not merge it into `%s`", then: thenRetry},
	model.CodeLock:          {headline: "another merge into `%s` is in progress", then: thenRetry},
	model.CodeHeadMoved:     {headline: "the head has changed since the request", todo: "A request and an approval cover one head. Review the new commits.", then: thenAgain},
	model.CodeWrongHead:     {headline: "the head is not the one that `sha=` names", todo: "Look at the head. Name it with `sha=`, or leave `sha=` out to merge the current head."},
	model.CodeDirtyBase:     {headline: "`%s` is checked out with changes", todo: "Commit or stash them.", then: thenAgain},
}

// endOf is the text for a code and this base branch.
func endOf(code model.MergeCode, base string) end {
	e, known := ends[code]
	if !known {
		return end{headline: "the merge failed", then: thenAgain}
	}
	return e.on(base)
}

// on fills in the base branch.
func (e end) on(base string) end {
	for _, text := range []*string{&e.headline, &e.todo, &e.to, &e.options} {
		*text = strings.ReplaceAll(*text, "%s", markdown.Code(base))
	}
	return e
}

// FailText says why a merge failed, what that means, and what a person can do.
func FailText(p model.Pull, m model.MergeMarker, f Failure) string {
	return failed(p, m, f, f.end(m), asker{label: m.Label, approval: m.ByApproval, here: f.Pull != nil})
}

func failed(p model.Pull, m model.MergeMarker, f Failure, e end, a asker) string {
	var b strings.Builder
	at := p // what prevents the merge
	if f.Pull != nil {
		at = *f.Pull
	}
	why, told := fmt.Sprintf("%s** (`%s`)", e.headline, f.Code), either(len(f.Proof) > 0, proof(at, f.Proof), detail(f.Detail))
	if f.ran() { // the output follows
		why, told = fmt.Sprintf("%s failed** on the merged result%s%s", said(f.Tests.Argv), either(e.in != "", " of "+e.in, ""), f.Tests.how()), f.Tests.changes()
	}
	fmt.Fprintf(&b, "**Not merged: %s%s\n\n%s%s.%s", why, markdown.Run(m.RunURL), requested(p, m), tries(m), told)
	if f.Conflicts != nil {
		b.WriteString("\n\n" + ConflictText(at, *f.Conflicts))
	}
	switch {
	case f.ran():
		b.WriteString(strings.TrimRight("\n\n"+f.Tests.prepared()+strings.TrimSpace(f.Tests.output()), "\n"))
	case f.Tests != nil:
		b.WriteString("\n\n" + TestsText(*f.Tests))
	}
	if len(f.Checks) > 0 {
		b.WriteString("\n\n" + checkList(f.Checks))
	}
	if f.How != "" {
		b.WriteString("\n\n" + linked(at, f.How))
	}
	if f.Job != nil && f.Job.Log != "" {
		fmt.Fprintf(&b, "\n\nThe end of the log of `%s`:\n\n%s", markdown.Code(f.Job.Name), fenced(f.Job.Log, maxDetail, true))
	}
	b.WriteString("\n\n" + untouched(p, m, f) + either(len(landed(p, m)) > 0, "", together(p, m)) + notes(p, f.Notes))
	if movedOnly(p, m, f) {
		back := fmt.Sprintf("git push %s origin %s", markdown.Quoted("--force-with-lease="+p.HeadRef+":"+p.HeadSHA), markdown.Quoted(m.Head+":refs/heads/"+p.HeadRef))
		b.WriteString("\n\nTo restore the branch, run this in a clone that has its commits:\n\n" + fenced(back, maxDetail, false))
	}
	if next := e.next(a); next != "" {
		b.WriteString("\n\n" + next)
	}
	if len(landed(p, m)) > 0 {
		b.WriteString("\n\nThis request stays open for the heads that were approved. To merge a new head, cancel it first: `/mergexo merge cancel`.")
	}
	if f.Ref != "" {
		b.WriteString("\n\n" + fenced("git push origin "+markdown.Quoted(":"+f.Ref), maxDetail, false))
	}
	return b.String()
}

// ran says that the tests failed by themselves, so that their command and output tell all.
func (f Failure) ran() bool {
	return f.Code == model.CodeTests && f.Tests != nil && f.Tests.Argv != nil && f.Tests.Unstarted() == ""
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
		return fmt.Sprintf("Some commits were already merged and stay: %s.", strings.Join(list, ", "))
	}
	if f.Landed != "" {
		return fmt.Sprintf("Some commits are already on `%s` and stay: %s.", markdown.Code(m.Base), markdown.Commit(p.URL, f.Landed))
	}
	if f.Pull != nil {
		return "No pull request of the group was merged."
	}
	if movedOnly(p, m, f) {
		return fmt.Sprintf("`%s` was not changed. The head branch is at %s, which was built from %s for the tests.", markdown.Code(m.Base), markdown.Commit(p.URL, p.HeadSHA), markdown.Commit(p.URL, m.Head))
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
		text := " Details: " + strings.TrimSuffix(markdown.Plain(markdown.OneLine(s)), ".")
		return text + either(strings.HasSuffix(text, "?"), "", ".")
	}
	return "\n\n" + fenced(s, maxDetail, true)
}

// ShortLine says in one line why a pull request is not merged, for logs and terminals.
func ShortLine(number int, code model.MergeCode, detail string) string {
	return shortLine("merged", number, code, detail)
}

// RevertLine says in one line why a pull request is not reverted.
func RevertLine(number int, code model.MergeCode, detail string) string {
	return shortLine("reverted", number, code, detail)
}

func shortLine(done string, number int, code model.MergeCode, detail string) string {
	line := fmt.Sprintf("pull request %d is not %s (%s)", number, done, code)
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
	return line + ": " + nameless.Replace(endOf(code, "the base branch").headline)
}

// nameless makes a headline plain text in which no name stands for the base branch.
var nameless = strings.NewReplacer("branch `the base branch`", "the base branch", "`", "")
