package merge

import (
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

const (
	rerun = "Then run this again."
	later = "Run this again later."
)

// atTerminal are the texts for a terminal, without pull request or comment; other codes have the usual text.
var atTerminal = map[model.MergeCode]end{
	model.CodeConflict:      {"", settleHere},
	model.CodeSquash:        {"", settleHere},
	model.CodeTests:         {"", "Mend what fails, on the branch or, where that is not to blame, on `%s`. " + rerun},
	testsUnstarted:          {"", "In `.github/mergexo.toml` on `%s`, mend `[merge] tests`: a command that is in the repository, with the right to be executed, or on this machine. " + rerun},
	model.CodeSetup:         {"", "In `.github/mergexo.toml` on `%s`, write what makes a fresh tree ready into `[merge] setup`, or `setup = \"none\"` where nothing has to. " + rerun},
	model.CodeNoTests:       {"", "In `.github/mergexo.toml` on `%s`, write the command into `[merge] tests`, or `tests = \"none\"` to merge without. " + rerun},
	model.CodeProtected:     {"the origin refuses pushes to `%s`", "Let somebody run this who may push to `%s`, or merge in a way that the origin allows."},
	model.CodeUnrelated:     {"", "Put its commits onto a branch that begins at `%s`. " + rerun},
	model.CodeEmpty:         {"", "What the branch changes does not show on `%s` any more. Commit what is missing. " + rerun},
	emptyProven:             {"", "There is nothing left to merge."},
	model.CodeRewound:       {"", "Put the branch's own commits onto `%s` as it is now. " + rerun},
	model.CodeDiff:          {"what would land is not what the branch changes", "Put the branch onto `%s` and look at what it changes. " + rerun},
	model.CodeForbidden:     {"that may not be done", "See what it says there. " + rerun},
	model.CodeTooMany:       {"", "Use `--strategy squash`, or `--strategy no-ff`, which leaves the commits as they are."},
	model.CodeRoadmap:       {"", "Fix the lines that are named above on the branch. " + rerun},
	model.CodeSettings:      {"", "Fix `.github/mergexo.toml` on the branch: once it were on `%s`, MergeXO would stop there. " + rerun},
	model.CodeBaseMissing:   {"", "Name one that is there with `--base`."},
	model.CodeBranchMissing: {"there is no such branch to merge", "Name one that is there with `--branch`, without `origin/` before it. A branch of the checkout has to be pushed first, or merged with `--local`."},
	model.CodeFrontmatter:   {"", "Mend the file. " + rerun},
	model.CodeBaseMoved:     {"", later},
	model.CodeRejected:      {"", later},
	model.CodeLock:          {"", later},
	model.CodeLockBroken:    {"", "Look at it, and delete it with the command below: no merge into `%s` begins while it is there. " + rerun},
	model.CodeHeadMoved:     {"the branch has moved meanwhile", "Look at what is new there. " + rerun},
	model.CodeDirtyBase:     {"", "Commit them or put them aside. " + rerun},
}

const settleHere = "Put the branch onto `%s` or merge `%s` into it, and settle the conflicts there. " + rerun

// LocalText is FailText for branches without a pull request.
func LocalText(p model.Pull, m model.MergeMarker, f Failure) string {
	return failed(p, m, f, terminalEnd(m, f))
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
	text := fmt.Sprintf("**It could not be merged: %s** (`%s`)\n\nIt is about %s.%s", e.headline, f.Code, what(p, m), detail(f.Detail))
	if f.Conflicts != nil {
		text += "\n\n" + ConflictText(p, *f.Conflicts)
	}
	if e.next != "" {
		text += "\n\n" + e.next
	}
	return text + "\n\n" + dryRun
}

// terminalEnd is the text of a failure at a terminal.
func terminalEnd(m model.MergeMarker, f Failure) end {
	e := f.end(m)
	fill := func(s string) string { return strings.ReplaceAll(s, "%s", markdown.Code(m.Base)) }
	if own, known := atTerminal[f.kind(m)]; known {
		if e.next = fill(own.next); own.headline != "" {
			e.headline = fill(own.headline)
		}
	}
	return e
}
