package merge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/golden"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

func asked() model.MergeMarker {
	return model.MergeMarker{
		Repo: "octo/widgets", Number: 7, Command: "k", By: "olga", State: model.MergeRunning, Strategy: "rebase", Head: b, Base: "main", BaseSHA: a,
		Lease: model.Lease{RunURL: "https://github.com/octo/widgets/actions/runs/9"},
	}
}

func with(change func(*model.MergeMarker)) model.MergeMarker {
	m := asked()
	change(&m)
	return m
}

var (
	moved   = []model.Moved{{Commit: model.Commit{SHA: c, Subject: "Greet `all` @everyone"}, Was: a}, {Commit: model.Commit{SHA: d, Subject: "Say | goodbye"}, Was: d}}
	clashes = merge.Conflicts{
		Commit: model.Commit{SHA: b, Subject: "Greet @everyone"},
		Files: []merge.Conflict{
			{Path: "greet.txt", Kind: "content", Hunks: "<<<<<<< main\nhello\n=======\n```\nhi\n</details>\n>>>>>>> agent/greet\n"},
			{Path: "logo|`x`_<b>.png", Kind: "binary"},
		},
		More: 3,
		Culprits: []merge.Culprit{
			{Commit: model.Commit{SHA: d, Subject: "Say hello", Author: "carol"}, Pull: 5}, {Commit: model.Commit{SHA: e, Subject: "Tidy"}},
		},
	}
	passed = merge.TestRun{Argv: []string{"go", "test", "./..."}, Why: "detected from go.mod", Seconds: 12}
	broken = merge.TestRun{Argv: []string{"make", "test"}, Exit: 2, Seconds: 3, Tail: "--- FAIL: TestGreet\n````\nmake: *** [test] Error 2\n"}
)

func verdict(change func(*merge.Case)) merge.Verdict {
	cs := ready()
	change(&cs)
	return merge.Evaluate(cs)
}

// member is a pull request of another repository that lands with pull.
func member() model.Pull {
	return model.Pull{Number: 3, URL: "https://github.com/octo/client/pull/3", BaseRef: "trunk", HeadRef: "agent/greet", HeadSHA: c}
}

// pair are both, with what of them has landed.
func pair(own, others string) []model.MergeMember {
	return []model.MergeMember{{Repo: "octo/widgets", Number: 7, Landed: own}, {Repo: "octo/client", Number: 3, Landed: others}}
}

// two are the things that the second waiting request lacks.
func two(cs *merge.Case) {
	cs.Facts.Reviews[0].SHA, cs.Facts.Reviews[0].Login = c, "b_o*b`@x<"
	cs.Snapshot.Pull.Draft = true
	cs.Facts.Checks[0].State = model.CheckFailed
}

// prepared are tests that pass after a setup with this exit code.
func prepared(exit int) merge.TestRun {
	run := passed
	run.Setup = []merge.TestRun{{Argv: []string{"npm", "ci"}, Why: "detected from package-lock.json", Exit: exit, Tail: "npm error E404", Seconds: 4}, {Argv: []string{"bundle", "install"}, Why: "detected from Gemfile.lock"}}
	return run
}

// inCheckout are tests in the workflow's checkout, with this exit code, that changed files.
func inCheckout(exit int, changed ...string) merge.TestRun {
	run := passed
	run.InCheckout, run.Changed, run.Exit = true, changed, exit
	return run
}

// failing are tests that fail after a setup that did.
var failing = func() merge.TestRun {
	run := prepared(1)
	run.Exit, run.Tail = 1, "jest: not found"
	return run
}()

// fork is a pull request of somebody else's repository.
func fork() model.Pull {
	p := pull()
	p.CrossRepo, p.Author = true, model.Actor{Login: "mallory"}
	return p
}

// movedTo is the pull request with another head.
func movedTo(p model.Pull, head string) model.Pull {
	p.HeadSHA = head
	return p
}

func TestWhatPeopleReadOfARequest(t *testing.T) {
	t.Parallel()
	p := pull()
	for name, got := range map[string]string{
		"wait": merge.WaitText(p, asked(), verdict(func(c *merge.Case) { c.Facts.Reviews = nil })),
		"wait_for_much": merge.WaitText(p, with(func(m *model.MergeMarker) {
			m.Members = []model.MergeMember{{Repo: "octo/widgets", Number: 7}, {Repo: "octo/client", Number: 4}}
		}), verdict(two)),
		"refuse_sha":      merge.RefuseText(p, verdict(func(c *merge.Case) { c.SHA = "ccccccc" })),
		"refuse_strategy": merge.RefuseText(p, verdict(func(c *merge.Case) { c.Request.Asked = "yolo" })),
		"refuse_closed":   merge.RefuseText(p, verdict(func(c *merge.Case) { c.Snapshot.Pull.State = model.PullClosed })),
		"refuse_pushes":   merge.RefuseText(p, verdict(func(c *merge.Case) { c.Facts.PushRefused, c.Snapshot.Pull.Draft = true, true })),
		"running":         merge.RunningText(p, asked(), 3),
		"running_tip":     merge.RunningText(p, with(func(m *model.MergeMarker) { m.Tip, m.Attempt = d, 2 }), 3),
		"halted": merge.HaltedText(p, with(func(m *model.MergeMarker) {
			m.Attempt, m.Cause = 2, "read octo/widgets#7: GitHub answered 500 <b>@everyone"
		}), 3),
		"running_led": merge.RunningText(p, with(func(m *model.MergeMarker) { m.Leader = "octo/api#3" }), 3),
		"done": merge.DoneText(p, with(func(m *model.MergeMarker) { m.Landed = d }), merge.Landing{Commits: moved, Tests: passed, Seconds: 31,
			Notes: []string{"1 commit was signed, and its signature is lost.", "`x` @everyone\n# <b>"}}),
		"done_closed": merge.DoneText(p, with(func(m *model.MergeMarker) { m.Landed, m.Strategy = d, "cherry-pick" }), merge.Landing{Closed: true, Tests: merge.TestRun{Why: "GitHub itself made the commit"}}),
		"done_waits":  merge.DoneText(p, with(func(m *model.MergeMarker) { m.Landed = d }), merge.Landing{Waits: true, Tests: passed}),
		"done_picked": merge.DoneText(fork(), with(func(m *model.MergeMarker) { m.Landed, m.Strategy = d, "cherry-pick" }), merge.Landing{Closed: true, Commits: moved[:1], Tests: passed}),
		"done_group": merge.DoneText(p, with(func(m *model.MergeMarker) {
			m.Landed, m.Members = d, []model.MergeMember{{Repo: "octo/client", Number: 4, Landed: e}, {Repo: "octo/widgets", Number: 7, Landed: d}}
		}), merge.Landing{Commits: moved[:1], Tests: passed}),
		"done_member":    merge.DoneText(member(), with(func(m *model.MergeMarker) { m.Landed, m.Members = e, pair(d, e) }), merge.Landing{Tests: passed}),
		"running_member": merge.RunningText(member(), with(func(m *model.MergeMarker) { m.Members = pair("", "") }), 3),
		"done_union": merge.DoneText(p, with(func(m *model.MergeMarker) { m.Landed, m.Strategy = d, "frontmatter-union" }), merge.Landing{
			Tests: merge.TestRun{}, Fields: []string{"tags", "a`b"}, Unanswered: 1}),
		"done_note": merge.DoneText(p, with(func(m *model.MergeMarker) { m.Landed = d }), merge.Landing{Tests: passed, Commits: moved[:1], Unanswered: 2,
			Notes: []string{"The merge commit " + c + " had changes of its own, which landed too"}}),
		"cancel":        merge.CancelText(p, asked(), "oskar"),
		"cancel_group":  merge.CancelText(p, with(func(m *model.MergeMarker) { m.Members = pair("", e) }), "oskar"),
		"cancel_member": merge.CancelText(member(), with(func(m *model.MergeMarker) { m.Members = pair(d, "") }), "oskar"),
		"cancel_moved":  merge.CancelText(movedTo(p, d), with(func(m *model.MergeMarker) { m.Tip, m.Members = d, pair("", "") }), "oskar"),
		"cancel_waits": merge.CancelWaitsText(p, with(func(m *model.MergeMarker) { m.Detail, m.Members = "oskar", pair(d, "") }), pair("", "")[1],
			"octo/client#4: .github/mergexo.toml:1: <b> is no key"),
		"cancel_waits_first":    merge.CancelWaitsText(p, with(func(m *model.MergeMarker) { m.Detail, m.Members = "oskar", pair("", "") }), pair("", "")[1], "it is gone"),
		"superseded":            merge.SupersededText(p, asked(), page+"#issuecomment-60"),
		"dry_run":               merge.DryRunText(p, asked(), verdict(func(*merge.Case) {}), &merge.Plan{Commits: moved, BaseSHA: a, Tip: d, Tests: passed, Notes: []string{"The base has moved since the branch began."}}),
		"dry_run_no_tests":      merge.DryRunText(p, asked(), verdict(func(*merge.Case) {}), &merge.Plan{Commits: moved[:1], BaseSHA: a, Tip: d}),
		"dry_run_train":         merge.DryRunText(p, asked(), verdict(func(*merge.Case) {}), &merge.Plan{Commits: moved[:1], BaseSHA: a, Tip: d, Train: true, Checks: []string{"ci", "lint`x"}}),
		"dry_run_train_both":    merge.DryRunText(p, asked(), verdict(func(*merge.Case) {}), &merge.Plan{Commits: moved[:1], BaseSHA: a, Tip: d, Train: true, Checks: []string{"ci"}, Tests: passed}),
		"dry_run_wait":          merge.DryRunText(p, asked(), verdict(two), &merge.Plan{Commits: moved[:1], BaseSHA: a, Tip: d, Tests: passed}),
		"dry_run_refused":       merge.DryRunText(p, with(func(m *model.MergeMarker) { m.Strategy = "" }), verdict(func(c *merge.Case) { c.Request.Asked = "yolo" }), nil),
		"dry_run_conflict":      merge.DryRunText(p, asked(), verdict(func(*merge.Case) {}), &merge.Plan{BaseSHA: a, Conflicts: &clashes}),
		"dry_run_proof":         merge.DryRunText(p, asked(), verdict(func(*merge.Case) {}), &merge.Plan{BaseSHA: a, Code: model.CodeEmpty, Proof: []string{c + " is already on the base as " + d}}),
		"dry_run_empty":         merge.DryRunText(p, asked(), verdict(func(*merge.Case) {}), &merge.Plan{BaseSHA: a, Code: model.CodeEmpty, Detail: "commit ccc has it already"}),
		"tests_passed":          merge.TestsText(passed),
		"tests_in_checkout":     merge.TestsText(inCheckout(0, "b.txt", "docs/*x*.md")),
		"tests_fail_there":      merge.TestsText(inCheckout(1)),
		"tests_after_setup":     merge.TestsText(prepared(0)),
		"tests_without_setup":   merge.TestsText(prepared(1)),
		"tests_of_no_setup":     merge.TestsText(failing),
		"dry_run_setup":         merge.DryRunText(p, asked(), verdict(func(*merge.Case) {}), &merge.Plan{Commits: moved[:1], BaseSHA: a, Tip: d, Tests: prepared(0)}),
		"tests_failed":          merge.TestsText(broken),
		"tests_endless":         merge.TestsText(merge.TestRun{Argv: []string{"make", "test"}, Timeout: "30m", Tail: "still here"}),
		"tests_no_command":      merge.TestsText(merge.TestRun{Argv: []string{"sh", "-c", "it's `here` $X", ""}, Exit: 127, Tail: "sh: 1: nope: not found"}),
		"tests_not_executable":  merge.TestsText(merge.TestRun{Argv: []string{"scripts/my test"}, Exit: 126}),
		"tests_not_there":       merge.TestsText(merge.TestRun{Argv: []string{"scripts/test"}, Problem: "scripts/test: permission denied"}),
		"conflict":              merge.ConflictText(p, clashes),
		"revert_body":           merge.RevertBody(p, merge.Undo{By: "olga", Landed: d, Base: "main", Commits: []model.Commit{{SHA: d, Subject: "Say goodbye", Author: "alice"}, {SHA: c, Subject: "Greet @all"}}, More: 1, Tests: passed}),
		"revert_body_why":       merge.RevertBody(p, merge.Undo{By: "olga", URL: page + "#issuecomment-70", Reason: "it breaks <b> @everyone's\n`login`", Landed: d, Base: "main", Tests: passed, Notes: []string{"It landed as " + d + "."}}),
		"revert":                merge.RevertText(merge.Undo{Base: "main", Pull: model.PullRef{Number: 9, URL: "https://github.com/octo/widgets/pull/9"}, Tests: passed, Notes: []string{"Its checks have not run."}}),
		"revert_earlier":        merge.RevertText(merge.Undo{Base: "main", Pull: model.PullRef{Number: 9, URL: "https://github.com/octo/widgets/pull/9"}, Earlier: true}),
		"revert_fail_conflict":  merge.RevertFailText(p, merge.Undo{Base: "main"}, merge.Failure{Code: model.CodeConflict, Conflicts: &merge.Conflicts{Files: clashes.Files[:1]}}),
		"revert_fail_tests":     merge.RevertFailText(p, merge.Undo{Base: "main"}, merge.Failure{Code: model.CodeTests, Tests: &broken}),
		"revert_fail_forbidden": merge.RevertFailText(p, merge.Undo{Base: "main"}, merge.Failure{Code: model.CodeForbidden, Detail: "the token may not open pull requests"}),
	} {
		golden.Text(t, name+".md", got)
	}
	assert.Equal(t, "Revert #7: Greet `everyone`", merge.RevertTitle(p))
	p.Title = strings.Repeat("x\n", 300)
	assert.Len(t, []rune(merge.RevertTitle(p)), len("Revert #7: ")+201)
}

func TestWhatPeopleReadOfAForksPullRequest(t *testing.T) {
	t.Parallel()
	in := func(change func(*model.MergeMarker)) model.MergeMarker {
		m := with(change)
		m.By, m.Label, m.Mirror, m.Strategy = "octo", "external:accept", "gh-pr-7/fix", "no-ff"
		if m.MirrorSHA == "" {
			m.MirrorSHA = m.Head
		}
		return m
	}
	p := pull()
	golden.Text(t, "done_let_in.md", merge.DoneText(p, in(func(m *model.MergeMarker) { m.Landed = d }), merge.Landing{Commits: moved[1:], Tests: passed}))
	golden.Text(t, "wait_let_in.md", merge.WaitText(p, in(func(m *model.MergeMarker) { m.Label = "" }), verdict(two)))
	repaired := in(func(m *model.MergeMarker) { m.Landed, m.MirrorSHA = d, e })
	for _, author := range []model.Actor{{Login: "app[bot]", Bot: true}, {Login: "x](y) @all"}, {}} {
		p.Author = author
		golden.Text(t, "done_let_in_repaired.md", merge.DoneText(p, repaired, merge.Landing{Tests: passed, Closed: true}))
	}
	repaired.Label = "" // by a command
	assert.Contains(t, merge.DoneText(p, repaired, merge.Landing{}), "with a merge commit, requested by octo")

	var all strings.Builder
	for _, code := range []model.MergeCode{model.CodeTests, model.CodeRewound, model.CodeBaseMoved, model.CodeConflict, "NEW"} {
		fmt.Fprintf(&all, "%s\n\n---\n\n", merge.FailText(pull(), in(func(*model.MergeMarker) {}), merge.Failure{Code: code}))
	}
	golden.Text(t, "failures_let_in.md", all.String())
	assert.NotContains(t, strings.ToLower(all.String()), "command")
}

func TestWhatPeopleReadOfAFailure(t *testing.T) {
	t.Parallel()
	details := map[model.MergeCode]string{
		model.CodeEmpty: "commit " + c + " of the base has the same change", model.CodeProtected: "protected branch hook declined: \"main\" needs 2 reviews",
		model.CodeSettings: ".github/mergexo.toml:2: agent.adaptor: unknown key; did you mean agent.adapter?",
		model.CodeRejected: "remote: line one\nremote: ```\nremote: line three", model.CodeHeadMoved: "it was bbbbbbbbbb and is cccccccccc now",
	}
	var all strings.Builder
	for _, code := range []model.MergeCode{
		model.CodeApproval, model.CodeStale, model.CodeChanges, model.CodeChecks, model.CodeChecksFailed, model.CodeDraft, model.CodeFrozen, model.CodeReviewers, model.CodeNeeds, model.CodeDepends, model.CodeClosed,
		model.CodeBlocked, model.CodeBusy, model.CodeStrategy, model.CodeCancelled, model.CodeReplaced, model.CodeConflict, model.CodeSquash, model.CodeTests,
		model.CodeNoTests, model.CodeSetup, model.CodeNoCheckout, model.CodeProtected, model.CodeUnrelated, model.CodeEmpty, model.CodeRewound, model.CodeDiff, model.CodeForbidden, model.CodeAttempts,
		model.CodeTooMany, model.CodeBaseMissing, model.CodeBaseMerged, model.CodeBranchMissing, model.CodeFrontmatter, model.CodeRetargeted, model.CodeMember, model.CodeBaseMoved, model.CodeRejected,
		model.CodeLock, model.CodeHeadMoved, model.CodeDirtyBase, model.CodeWrongHead, model.CodeLockBroken, model.CodeSettings, "NEW",
	} {
		fmt.Fprintf(&all, "%s\n\n---\n\n", merge.FailText(pull(), asked(), merge.Failure{Code: code, Detail: details[code]}))
		fmt.Fprintf(&all, "    %s\n\n---\n\n", merge.ShortLine(7, code, details[code]))
	}
	golden.Text(t, "failures.md", all.String())
	golden.Text(t, "failure_conflict.md", merge.FailText(pull(), asked(), merge.Failure{Code: model.CodeConflict, Conflicts: &clashes}))
	var told strings.Builder
	for _, f := range []merge.Failure{
		{Code: model.CodeTests, Tests: &merge.TestRun{Argv: []string{"scripts/test"}, Problem: "scripts/test: permission denied"}},
		{Code: model.CodeTests, Tests: &merge.TestRun{Argv: []string{"make", "test"}, Exit: 127}},
		{Code: model.CodeEmpty, Proof: []string{b + " is already on the base as " + d, c + " is an ancestor of " + d}},
		{Code: model.CodeLockBroken, Ref: "refs/mergexo/lock/it's", Detail: "it holds a file"},
		merge.Untestable("main"), merge.Unreadable("octo/client#999"), merge.MayNotCommand("octo/client#3", "olga"),
	} {
		fmt.Fprintf(&told, "%s\n\n---\n\n", merge.FailText(pull(), asked(), f))
		fmt.Fprintf(&told, "%s\n\n---\n\n", merge.LocalText(model.Pull{BaseRef: "main", HeadRef: "x"}, asked(), f))
	}
	api := with(func(m *model.MergeMarker) { m.Strategy = model.StrategyAPI })
	for _, f := range []merge.Failure{
		{Code: model.CodeProtected, Branch: "agent/greet", Detail: "Cannot force-push to this branch"},
		{Code: model.CodeConflict, Notes: []string{merge.Way{Strategy: "no-ff", Fixed: "pull request 9 uses it too"}.Note("%s")}},
	} {
		fmt.Fprintf(&told, "%s\n\n---\n\n", merge.FailText(pull(), asked(), f))
	}
	fmt.Fprintf(&told, "%s\n\n---\n\n", merge.RetargetedText(pull(), "main"))
	told.WriteString(merge.FailText(pull(), api, merge.Failure{Code: model.CodeProtected, Detail: "At least 1 approving review is required by reviewers with write access."}))
	told.WriteString("\n\n---\n\n" + merge.FailText(pull(), api, merge.Failure{Code: model.CodeRejected, Detail: "merge octo/widgets#7: GitHub answered 503 Service Unavailable"}))
	told.WriteString("\n\n---\n\n" + merge.FailText(pull(), asked(), merge.Failure{Code: model.CodeProtected, Detail: "You're not authorized to push to this branch."}))
	golden.Text(t, "failures_told.md", told.String())
	other := member()
	var group strings.Builder
	for _, f := range []merge.Failure{
		{Code: model.CodeConflict, Conflicts: &clashes}, {Code: model.CodeSquash, Conflicts: &merge.Conflicts{Files: clashes.Files[1:]}}, {Code: model.CodeTests, Tests: &broken},
		{Code: model.CodeBaseMoved}, {Code: model.CodeMember, Landed: d, Detail: "octo/client#3: it is a draft"},
	} {
		f.Pull, f.Repo = &other, "octo/client"
		k := with(func(m *model.MergeMarker) { m.Members = pair(f.Landed, "") })
		fmt.Fprintf(&group, "%s\n\n---\n\n", merge.FailText(pull(), k, f))
	}
	golden.Text(t, "failures_group.md", group.String())
	at := pull()
	at.HeadSHA = d
	again := with(func(m *model.MergeMarker) { m.Was, m.Tip, m.Attempt = []string{d}, e, 3 })
	golden.Text(t, "failure_tests.md", merge.FailText(at, again, merge.Failure{Code: model.CodeTests, Tests: &broken, Notes: []string{"Nothing else was tried."}}))
	at.HeadSHA, again.Tip = b, b
	assert.Contains(t, merge.FailText(at, again, merge.Failure{Code: model.CodeBaseMoved}), "Neither `main` nor the branch was changed.", "a tip that is the head itself moved nothing")
	golden.Text(t, "failure_landed.md", merge.FailText(pull(), asked(), merge.Failure{Code: model.CodeMember, Landed: e, Detail: "octo/client#4 was pushed to"}))
	assert.Equal(t, "pull request 7 is not merged (PUSH_REJECTED): a  b", merge.ShortLine(7, model.CodeRejected, "a\x1b b\nc"))
}

// Whatever there is much of, a comment has room for it.
func TestTextsAreBounded(t *testing.T) {
	t.Parallel()
	many := merge.Conflicts{}
	for i := range 500 {
		many.Files = append(many.Files, merge.Conflict{Path: fmt.Sprintf("%d.txt", i), Kind: "content", Hunks: strings.Repeat("`", i) + strings.Repeat("ä long line\n", 5000)})
		many.Culprits = append(many.Culprits, merge.Culprit{Commit: model.Commit{SHA: d, Subject: strings.Repeat("x", 72)}, Pull: i})
	}
	got := merge.ConflictText(pull(), many)
	assert.Less(t, len(got), 50_000)
	assert.Contains(t, got, "Conflicts in 500 files")
	assert.Contains(t, got, "- and 480 more files")
	assert.Contains(t, got, "- and 480 more")
	assert.Equal(t, strings.Count(got, "<details>"), strings.Count(got, "</details>"))

	long := broken
	long.Tail = strings.Repeat("ü noise\n", 10_000) + "the end"
	assert.Less(t, len(merge.TestsText(long)), 9_000)
	assert.Contains(t, merge.TestsText(long), "the end\n```")

	var list []model.Moved
	for range 1000 {
		list = append(list, moved...)
	}
	done := merge.DoneText(pull(), with(func(m *model.MergeMarker) { m.Landed = d }), merge.Landing{Commits: list, Tests: passed})
	assert.Less(t, len(done), 10_000)
	assert.Contains(t, done, "- 1970 older commits")

	var undone []model.Commit
	for range 1000 {
		undone = append(undone, model.Commit{SHA: d, Subject: strings.Repeat("x", 72)})
	}
	body := merge.RevertBody(pull(), merge.Undo{Base: "main", Landed: d, Commits: undone, More: 5})
	assert.Less(t, len(body), 10_000)
	assert.Contains(t, body, "- 975 older commits")
}
