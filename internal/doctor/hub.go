package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/github/workflow"
)

// token reports what GitHub says about the token. GitHub does not report the rights of a fine-grained or App token: its
// answers show the rights of the person behind it, or none, and only a refusal names what was needed.
// https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api#resource-not-accessible
func token(e *exam) {
	h, f := e.Hub, e.Hub.Facts
	scopes := strings.Join(f.Scopes, ", ")
	switch {
	case h.State == HubNoToken && h.Fix != "":
		e.unchecked("the token: none was given; run `%s` to check the repository on GitHub too", h.Fix)
	case h.State == HubNoToken:
		e.unchecked("the token: none was given; set GITHUB_TOKEN in the env of this step to check the repository on GitHub too")
	case h.State == HubNoName:
		e.unchecked("the token: not checked, %s; set GITHUB_REPOSITORY", h.Why)
	case h.State == HubRefused || h.State == HubHidden:
		e.problem(h.Fix, "the token: %s", h.Why)
	case h.State == HubUnreachable:
		e.unchecked("the token: GitHub did not answer: %s", h.Why)
	case f.PushKnown && !f.Push:
		e.report(e.here(), moreRights, "the token: its owner may not push to %s", e.Repository)
	case !f.ScopesKnown && h.App != nil:
		e.ok("the token: valid, made for the App %s", h.App.Slug)
	case !f.ScopesKnown:
		e.ok("the token: valid%s", strings.TrimSuffix(", "+h.Token, ", "))
		e.unchecked("the token: whether it may write contents, issues and pull requests, and read actions, checks and statuses, was not checked: GitHub shows this only for classic tokens")
	case slices.Contains(f.Scopes, "repo") || !f.Private && slices.Contains(f.Scopes, "public_repo"):
		e.ok("the token: valid, with the scopes %s", scopes)
	case scopes == "":
		e.report(e.here(), moreRights, "the token: it has no scope, and needs repo (public_repo for a public repository)")
	default:
		e.report(e.here(), moreRights, "the token: it has only the scopes %s, and needs repo (public_repo for a public repository)", scopes)
	}
}

const moreRights = "use a token that may write contents, issues and pull requests, and read actions, checks and statuses, as the workflow's may"

// here is the level of what is wrong with the token: a problem in a workflow, and a warning in a terminal, where the token is another.
func (e *exam) here() Level {
	if e.InActions {
		return Problem
	}
	return Warning
}

// checksSeen is about what a merge waits for. A token that can read checks needs no line for it.
func checksSeen(e *exam) {
	if hidden := e.Hub.Facts.ChecksHidden; hidden.Why != "" {
		e.report(e.here(), hidden.Fix, "%s: with this token, a merge never sees its checks", hidden.Why)
	}
}

func repository(e *exam) {
	switch f := e.Hub.Facts; {
	case f.Archived:
		e.problem("unarchive it", "%s is archived: MergeXO can neither push nor comment", e.Repository)
	case f.IssuesOff:
		e.warn("turn on issues in its settings if work should start from them", "%s has issues turned off: MergeXO answers pull requests, but nothing starts from an issue", e.Repository)
	default:
		e.ok("%s: default branch %s", e.Repository, f.DefaultBranch)
	}
}

// defaultBranch compares the checkout with the default branch, which runs read.
func defaultBranch(e *exam) {
	used := map[string]bool{e.Settings.Path: e.Settings.Found}
	for _, u := range e.uses {
		used[u.w.Path] = true
	}
	main, known := e.Hub.Facts.DefaultBranch, false
	for _, f := range append([]workflow.File{e.Settings.File}, e.Workflows...) {
		known = known || f.Main != workflow.MainUnknown
		if lies := map[workflow.Main]string{workflow.MainMissing: "is not on", workflow.MainOther: "differs from"}[f.Main]; lies != "" && used[f.Path] {
			e.warn("commit it and push it to "+main, "%s %s %s, from which runs read it", f.Path, lies, main)
		}
	}
	if known {
		e.otherwise("settings and workflow are those on %s", main)
	}
}

// pullRequests checks flows that start from an issue: they end in a pull request opened with the workflow's token. Without labels that
// start runs, nothing does.
// https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/enabling-features-for-your-repository/managing-github-actions-settings-for-a-repository#preventing-github-actions-from-creating-or-approving-pull-requests
func pullRequests(e *exam) {
	_, heard := e.all("issues")
	switch a := e.Hub.Facts.Actions; {
	case e.ownToken():
		e.ok("opening pull requests: allowed by the action's own token")
	case !e.asked():
	case !a.Known:
		e.unchecked("opening pull requests by workflows: not checked: %s", a.Why)
	case a.PullRequests:
		e.ok("opening pull requests: allowed")
	default:
		level := Problem
		if len(heard) == 0 && e.used() {
			level = Warning
		}
		e.report(level, "in the repository: Settings, Actions, General, \"Allow GitHub Actions to create and approve pull requests\"; or: gh api -X PUT repos/"+e.repo()+"/actions/permissions/workflow -F can_approve_pull_request_reviews=true",
			"opening pull requests: workflows are not allowed to, so work on an issue stays on its branch")
	}
}

// useApp is the fix for what the workflow's own token cannot do.
const useApp = "run mergexo init --github --app: the pushes and merges of a GitHub App start workflows, and it may change them"

// startsCI checks that the agent's commits and what lands start other workflows, and may change them.
// https://docs.github.com/en/actions/concepts/security/github_token#when-github_token-triggers-workflow-runs
// What people see since 2026-06-11: https://github.com/orgs/community/discussions/199292
func startsCI(e *exam) {
	if e.ownToken() {
		e.ok("CI: another token than the workflow's pushes and merges, which starts other workflows")
		return
	}
	main, level := cmp.Or(e.Hub.Facts.DefaultBranch, "main"), Warning
	var cannot []string
	if e.hasTrain() {
		level, cannot = Problem, append(cannot, "no CI runs on the merge train, as verify asks")
	}
	if queues(e) {
		level, cannot = Problem, append(cannot, "no CI runs in the merge queue")
	}
	if ci := e.others((*workflow.Workflow).OnCommits); len(ci) > 0 {
		cannot = append(cannot, fmt.Sprintf("after every push of the agent to a pull request, somebody with write access has to click \"Approve workflows to run\" for %s", list(ci)))
	}
	if landed := e.others(func(w *workflow.Workflow) bool { return w.HearsPush(main) }); len(landed) > 0 {
		cannot = append(cannot, fmt.Sprintf("a merge into %s does not start %s", main, list(landed)))
	}
	if len(Own(e.Workflows)) > 0 {
		cannot = append(cannot, "changes of .github/workflows cannot be pushed or merged")
	}
	if len(cannot) > 0 {
		e.report(level, useApp, "CI: with the workflow's own token, %s", strings.Join(cannot, "; "))
	}
	e.otherwise("CI: no other workflow waits for the agent's commits")
}

// others are the paths of the workflows of a kind that do not use the action.
func (e *exam) others(of func(*workflow.Workflow) bool) (paths []string) {
	for _, w := range Own(e.Workflows) {
		if of(w) {
			paths = append(paths, w.Path)
		}
	}
	return paths
}

func gitVersion(e *exam) {
	const fix = "install git 2.38 or later" // which has merge-tree --write-tree
	var major, minor int
	_, err := fmt.Sscanf(e.Git, "%d.%d", &major, &minor)
	switch {
	case e.Git == "":
		e.problem(fix, "git: not on PATH")
	case err != nil:
		e.unchecked("git: its version %s was not understood; 2.38 or later is needed", quote(e.Git))
	case major < 2 || major == 2 && minor < 38:
		e.problem(fix, "git: version %s is too old", e.Git)
	default:
		e.ok("git: version %s", e.Git)
	}
}
