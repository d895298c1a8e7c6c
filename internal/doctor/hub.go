package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// token reports what GitHub says about the token. GitHub does not report the rights of a fine-grained or App token: its
// answers show the rights of the person behind it, or none, and only a refusal names what was needed.
// https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api#resource-not-accessible
func token(e *exam) []Finding {
	h, f := e.Hub, e.Hub.Facts
	switch h.State {
	case HubNoToken:
		how := "set GITHUB_TOKEN in the env of this step"
		if h.Fix != "" {
			how = "run `" + h.Fix + "`"
		}
		return []Finding{unchecked("the token: none was given; %s to check the repository on GitHub too", how)}
	case HubNoName:
		return []Finding{unchecked("the token: not checked, %s; set GITHUB_REPOSITORY", h.Why)}
	case HubRefused, HubHidden:
		return []Finding{problem(h.Fix, "the token: %s", h.Why)}
	case HubUnreachable:
		return []Finding{unchecked("the token: GitHub did not answer: %s", h.Why)}
	}
	switch {
	case f.PushKnown && !f.Push:
		return []Finding{e.here(moreRights, "the token: its owner may not push to %s", e.Repository)}
	case !f.ScopesKnown && h.App != nil:
		return []Finding{ok("the token: valid, made for the App %s", h.App.Slug)}
	case !f.ScopesKnown:
		return []Finding{ok("the token: valid%s", strings.TrimSuffix(", "+h.Token, ", ")),
			unchecked("the token: whether it may write contents, issues and pull requests, and read actions, checks and statuses, was not checked: GitHub shows this only for classic tokens")}
	case slices.Contains(f.Scopes, "repo") || !f.Private && slices.Contains(f.Scopes, "public_repo"):
		return []Finding{ok("the token: valid, with the scopes %s", strings.Join(f.Scopes, ", "))}
	}
	scopes := "no scope"
	if len(f.Scopes) > 0 {
		scopes = "only the scopes " + strings.Join(f.Scopes, ", ")
	}
	return []Finding{e.here(moreRights, "the token: it has %s, and needs repo (public_repo for a public repository)", scopes)}
}

const moreRights = "use a token that may write contents, issues and pull requests, and read actions, checks and statuses, as the workflow's may"

// here is a problem in a workflow, and a warning in a terminal, where the token is another.
func (e *exam) here(fix, format string, args ...any) Finding {
	f := warn(fix, format, args...)
	if e.InActions {
		f.Level = Problem
	}
	return f
}

// checksSeen is about what a merge waits for. A token that can read checks needs no line for it.
func checksSeen(e *exam) []Finding {
	hidden := e.Hub.Facts.ChecksHidden
	if e.Hub.State != HubRead || hidden.Why == "" {
		return nil
	}
	return []Finding{e.here(hidden.Fix, "%s: with this token, a merge never sees its checks", hidden.Why)}
}

func repository(e *exam) []Finding {
	f := e.Hub.Facts
	switch {
	case e.Hub.State != HubRead:
		return nil // the token's own finding says why
	case f.Archived:
		return []Finding{problem("unarchive it", "%s is archived: MergeXO can neither push nor comment", e.Repository)}
	case f.IssuesOff:
		return []Finding{warn("turn on issues in its settings if work should start from them", "%s has issues turned off: MergeXO answers pull requests, but nothing starts from an issue", e.Repository)}
	}
	return []Finding{ok("%s: default branch %s", e.Repository, f.DefaultBranch)}
}

// defaultBranch compares the checkout with the default branch, which runs read.
func defaultBranch(e *exam) []Finding {
	var out []Finding
	used := map[string]bool{e.Settings.Path: e.Settings.Found}
	for _, u := range e.uses {
		used[u.w.path] = true
	}
	main, known := e.Hub.Facts.DefaultBranch, false
	for _, f := range append([]File{e.Settings.File}, e.Workflows...) {
		known = known || f.Main != MainUnknown
		if lies := map[Main]string{MainMissing: "is not on", MainOther: "differs from"}[f.Main]; lies != "" && used[f.Path] {
			out = append(out, warn("commit it and push it to "+main, "%s %s %s, from which runs read it", f.Path, lies, main))
		}
	}
	if !known {
		return nil
	}
	return orOK(out, "settings and workflow are those on %s", main)
}

// pullRequests checks flows that start from an issue: they end in a pull request opened with the workflow's token. Without labels that
// start runs, nothing does.
// https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/enabling-features-for-your-repository/managing-github-actions-settings-for-a-repository#preventing-github-actions-from-creating-or-approving-pull-requests
func pullRequests(e *exam) []Finding {
	a := e.Hub.Facts.Actions
	switch {
	case e.ownToken():
		return []Finding{ok("opening pull requests: allowed by the action's own token")}
	case e.Hub.State != HubRead:
		return nil // the token's own finding says why
	case !a.Known:
		return []Finding{unchecked("opening pull requests by workflows: not checked: %s", a.Why)}
	case a.PullRequests:
		return []Finding{ok("opening pull requests: allowed")}
	}
	f := problem("in the repository: Settings, Actions, General, \"Allow GitHub Actions to create and approve pull requests\"; or: gh api -X PUT repos/"+e.repo()+"/actions/permissions/workflow -F can_approve_pull_request_reviews=true",
		"opening pull requests: workflows are not allowed to, so work on an issue stays on its branch")
	if _, heard := e.all("issues"); len(heard) == 0 && len(e.uses) > 0 {
		f.Level = Warning
	}
	return []Finding{f}
}

// useApp is the fix for what the workflow's own token cannot do.
const useApp = "run mergexo init --github --app: the pushes and merges of a GitHub App start workflows, and it may change them"

// startsCI checks that the agent's commits and what lands start other workflows, and may change them.
// https://docs.github.com/en/actions/concepts/security/github_token#when-github_token-triggers-workflow-runs
// What people see since 2026-06-11: https://github.com/orgs/community/discussions/199292
func startsCI(e *exam) []Finding {
	if len(e.uses) == 0 {
		return nil
	}
	main := cmp.Or(e.Hub.Facts.DefaultBranch, "main")
	ci := e.others((*workflow).onCommits)
	landed := e.others(func(w *workflow) bool { return w.hearsPush(main) })
	if e.ownToken() {
		return []Finding{ok("CI: another token than the workflow's pushes and merges, which starts other workflows")}
	}
	var cannot []string
	level := Warning
	if e.hasTrain() {
		level, cannot = Problem, append(cannot, "no CI runs on the merge train, as verify asks")
	}
	if e.queues() {
		level, cannot = Problem, append(cannot, "no CI runs in the merge queue")
	}
	if len(ci) > 0 {
		cannot = append(cannot, fmt.Sprintf("after every push of the agent to a pull request, somebody with write access has to click \"Approve workflows to run\" for %s", list(ci)))
	}
	if len(landed) > 0 {
		cannot = append(cannot, fmt.Sprintf("a merge into %s does not start %s", main, list(landed)))
	}
	if len(others(e.Workflows)) > 0 {
		cannot = append(cannot, "changes of .github/workflows cannot be pushed or merged")
	}
	if len(cannot) == 0 {
		return []Finding{ok("CI: no other workflow waits for the agent's commits")}
	}
	return []Finding{{Level: level, Text: "CI: with the workflow's own token, " + strings.Join(cannot, "; "), Fix: useApp}}
}

// others are the paths of the workflows of a kind that do not use the action.
func (e *exam) others(of func(*workflow) bool) (paths []string) {
	for _, w := range others(e.Workflows) {
		if of(w) {
			paths = append(paths, w.path)
		}
	}
	return paths
}

func gitVersion(e *exam) []Finding {
	const fix = "install git 2.38 or later" // which has merge-tree --write-tree
	var major, minor int
	_, err := fmt.Sscanf(e.Git, "%d.%d", &major, &minor)
	switch {
	case e.Git == "":
		return []Finding{problem(fix, "git: not on PATH")}
	case err != nil:
		return []Finding{unchecked("git: its version %s was not understood; 2.38 or later is needed", quote(e.Git))}
	case major < 2 || major == 2 && minor < 38:
		return []Finding{problem(fix, "git: version %s is too old", e.Git)}
	}
	return []Finding{ok("git: version %s", e.Git)}
}
