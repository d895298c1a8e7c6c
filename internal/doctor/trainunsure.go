package doctor

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/github/workflow"
)

// unsure says why a run on the train's branches might do more than test, or get in the way of other runs; "": nothing shows that.
func unsure(w *workflow.Workflow) string {
	switch {
	case strings.Contains(w.Text, "event_name"):
		return "it looks at github.event_name, and might take a push to the train for one that it publishes"
	case slices.ContainsFunc(w.Jobs, func(j *workflow.Job) bool { return j.Environment }):
		return "it has a job with an environment, which might deploy from the train"
	case slices.ContainsFunc(w.Triggers, func(t workflow.Trigger) bool { return t.Event == "push" && t.Ignored != nil }):
		return "its on.push has branches-ignore"
	case onlyPushes(w) && (mayWrite(w) || strings.Contains(strings.ReplaceAll(w.Text, "secrets.GITHUB_TOKEN", ""), "secrets.")):
		return "it runs on no pull request, and has a secret or may write, so it might publish from the train"
	case !onlyPushes(w) && doesMoreOnPushes(w):
		return "it has an if: that holds on the train and not on a pull request, and might publish from the train"
	case sharesGroup(w):
		return "its concurrency.group does not tell branches apart, so runs for the train and for others would replace each other: add github.ref to it"
	}
	return ""
}

// onlyPushes says that nothing of the workflow runs for a pull request.
func onlyPushes(w *workflow.Workflow) bool {
	return !slices.ContainsFunc(w.Triggers, func(t workflow.Trigger) bool { return t.Event == "pull_request" })
}

// mayWrite says that a job has the permission to change something that people get: commits, packages, sites, or what trusts its name.
func mayWrite(w *workflow.Workflow) bool {
	writes := func(p map[string]string) bool {
		return p[""] == "write-all" || slices.ContainsFunc([]string{"contents", "packages", "pages", "deployments", "id-token"}, func(of string) bool { return p[of] == "write" })
	}
	return writes(w.Permissions) || slices.ContainsFunc(w.Jobs, func(j *workflow.Job) bool { return writes(j.Permissions) })
}

// doesMoreOnPushes says that a job or a step might run for a push to the train and does not for a pull request: its if: asks for
// something of the event, and not for the default branch or a draft.
func doesMoreOnPushes(w *workflow.Workflow) bool {
	more := func(condition workflow.Text) bool {
		all, err := clauses(condition.Value)
		return err != nil || slices.ContainsFunc(all, func(c tree) bool {
			return (strings.Contains(c.key, "github.") || strings.Contains(c.key, "steps.") || strings.Contains(c.key, "needs.")) && !harmless.MatchString(c.key)
		})
	}
	return slices.ContainsFunc(w.Jobs, func(j *workflow.Job) bool {
		return more(j.Condition) || slices.ContainsFunc(j.Steps, func(s *workflow.Step) bool { return more(s.Condition) })
	})
}

// harmless are conditions that hold for no push to the train, or for it as for a pull request.
var harmless = regexp.MustCompile(`^(!github\.event\.pull_request\.draft|('refs/heads/[\w.-]+' == github\.ref|github\.ref == 'refs/heads/[\w.-]+')|'[\w.-]+' == github\.ref_name|github\.ref_name == '[\w.-]+'|.*github\.(repository|repository_owner|actor) [!=]= '[^']*')$`)

// tellsApart matches what each branch, commit or run has of its own. head_ref is empty for a push.
var tellsApart = regexp.MustCompile(`(?i)github\.(ref|ref_name|sha|run_id|run_number|event\.after)\b`)

// sharesGroup says that pushes to two branches, one of which is the train's, may be in one group of runs.
func sharesGroup(w *workflow.Workflow) bool {
	shared := func(c map[string]string) bool {
		group := c["group"] + c[""]
		return c != nil && (!tellsApart.MatchString(group) || strings.ContainsAny(group, "=<>&!("))
	}
	return shared(w.Concurrency) || slices.ContainsFunc(w.Jobs, func(j *workflow.Job) bool { return shared(j.Concurrency) })
}
