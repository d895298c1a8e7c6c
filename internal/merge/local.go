package merge

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// atTerminal are the texts for a terminal, without pull request or comment; other codes have the usual text.
var atTerminal = map[model.MergeCode]end{
	model.CodeConflict:      {todo: resolveHere, then: thenAgain},
	model.CodeSquash:        {todo: resolveHere, then: thenAgain},
	model.CodeTests:         {todo: "Fix the branch. If it is not to blame, fix the tests on `%s`.", then: thenAgain},
	testsUnstarted:          {todo: "Fix `[merge] tests` in `.github/mergexo.toml` on `%s`: name an executable file of the repository, or a command of this machine.", then: thenAgain},
	model.CodeProtected:     refusedHere,
	protectedPush:           refusedHere,
	protectedHead:           {headline: "the origin refuses pushes to `%s`", todo: "Have somebody who may force-push to `%s` run this, or leave that branch as it is with `--strategy no-ff`."},
	model.CodeUnrelated:     {todo: "Move its commits to a branch that starts at `%s`.", then: thenAgain},
	model.CodeEmpty:         {todo: "The branch's changes do not change `%s`. Commit what is missing.", then: thenAgain},
	emptyProven:             {todo: "Nothing is left to merge."},
	model.CodeRewound:       {todo: "Rebase the branch's own commits onto the current `%s`.", then: thenAgain},
	model.CodeDiff:          {headline: "what would land differs from what the branch changes", todo: "Rebase the branch onto `%s` and check its changes.", then: thenAgain},
	model.CodeForbidden:     {headline: "a permission is missing", todo: "See the details.", then: thenAgain},
	model.CodeTooMany:       {todo: "Use `--strategy squash`, or `--strategy no-ff`, which keeps the commits unchanged."},
	model.CodeRoadmap:       {todo: "Fix the lines named above on the branch.", then: thenAgain},
	model.CodeSettings:      {todo: "Fix `.github/mergexo.toml` on the branch. On `%s`, these settings would stop MergeXO.", then: thenAgain},
	model.CodeBaseMissing:   {todo: "Name an existing branch with `--base`.", then: thenAgain},
	model.CodeBranchMissing: {headline: "there is no such branch to merge", todo: "Name an existing branch with `--branch`, without `origin/` before it. Push a branch of the checkout first, or merge it with `--local`.", then: thenAgain},
	model.CodeFrontmatter:   {todo: "Fix the file.", then: thenAgain},
	model.CodeHeadMoved:     {headline: "the branch has moved in the meantime", todo: "Review the new commits.", then: thenAgain},
}

var refusedHere = end{headline: "the origin refuses pushes to `%s`", todo: "Have somebody who may push to `%s` run this, or merge in a way that the origin allows."}

const resolveHere = "Rebase the branch onto `%s` or merge `%s` into it, and resolve the conflicts."

// LocalText is FailText for branches without a pull request.
func LocalText(p model.Pull, m model.MergeMarker, f Failure) string {
	return failed(p, m, f, terminalEnd(m, f), asker{terminal: true})
}

// EmptyLine says in one line why there is nothing to merge: the branch has no net change, or the base has its changes
// already, with proof if there is any.
func EmptyLine(branch, base string, cancelled bool, proof []string) string {
	switch {
	case cancelled:
		return fmt.Sprintf("%s has no net change, so there is nothing to merge into %s", branch, base)
	case len(proof) == 0:
		return fmt.Sprintf("merging %s would change no file of %s", branch, base)
	}
	return fmt.Sprintf("what %s changes is part of %s already: %s", branch, base, strings.Join(proof, "; "))
}

// LocalDryRunText says what a dry run found to prevent such a merge.
func LocalDryRunText(p model.Pull, m model.MergeMarker, f Failure) string {
	e := terminalEnd(m, f)
	text := fmt.Sprintf("**It could not be merged: %s** (`%s`)\n\n%s.%s", e.headline, f.Code, requested(p, m), detail(f.Detail))
	if f.Conflicts != nil {
		text += "\n\n" + ConflictText(p, *f.Conflicts)
	}
	if next := e.next(asker{terminal: true}); next != "" {
		text += "\n\n" + next
	}
	return text + "\n\n" + dryRun
}

// terminalEnd is the text of a failure at a terminal.
func terminalEnd(m model.MergeMarker, f Failure) end {
	e := f.end(m)
	if own, known := atTerminal[f.kind(m)]; known {
		own = own.on(m.Base)
		own.headline = cmp.Or(own.headline, e.headline)
		return own
	}
	return e
}
