package doctor

import (
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/doctor/expression"
)

// unsure says why a run on the train's branches might do more than test, or get in the way of other runs; "": nothing shows that.
func (w *workflow) unsure(text string) string {
	switch {
	case strings.Contains(text, "event_name"):
		return "it looks at github.event_name, and might take a push to the train for one that it publishes"
	case slices.ContainsFunc(w.jobs, func(j *job) bool { return j.environment }):
		return "it has a job with an environment, which might deploy from the train"
	case slices.ContainsFunc(w.triggers, func(t trigger) bool { return t.event == "push" && t.ignored != nil }):
		return "its on.push has branches-ignore"
	case w.onlyPushes() && (w.mayWrite() || strings.Contains(strings.ReplaceAll(text, "secrets.GITHUB_TOKEN", ""), "secrets.")):
		return "it runs on no pull request, and has a secret or may write, so it might publish from the train"
	case !w.onlyPushes() && w.doesMoreOnPushes():
		return "it has an if: that holds on the train and not on a pull request, and might publish from the train"
	case w.sharesGroup():
		return "its concurrency.group does not tell branches apart, so runs for the train and for others would replace each other: add github.ref to it"
	}
	return ""
}

// onlyPushes says that nothing of the workflow runs for a pull request.
func (w *workflow) onlyPushes() bool {
	return !slices.ContainsFunc(w.triggers, func(t trigger) bool { return t.event == "pull_request" })
}

// mayWrite says that a job has the permission to change something that people get: commits, packages, sites, or what trusts its name.
func (w *workflow) mayWrite() bool {
	writes := func(p *permissions) bool {
		return p != nil && (p.all == "write-all" || slices.ContainsFunc([]string{"contents", "packages", "pages", "deployments", "id-token"}, func(of string) bool { return p.each[of] == "write" }))
	}
	return writes(w.permissions) || slices.ContainsFunc(w.jobs, func(j *job) bool { return writes(j.permissions) })
}

// doesMoreOnPushes says that a job or a step might run for a push to the train and does not for a pull request.
func (w *workflow) doesMoreOnPushes() bool {
	more := func(condition text) bool {
		met, known, err := expression.Condition(condition.value, contexts(w, "pull_request", proposed()))
		if err != nil || !known || met {
			return false
		}
		met, known, err = expression.Condition(condition.value, contexts(w, "push", pushed(trainBranch, 1)))
		return err != nil || !known || met
	}
	return slices.ContainsFunc(w.jobs, func(j *job) bool {
		return more(j.condition) || slices.ContainsFunc(j.steps, func(s *step) bool { return more(s.condition) })
	})
}

// sharesGroup says that pushes to two branches, one of which is the train's, are in one group of runs.
func (w *workflow) sharesGroup() bool {
	shared := func(c *concurrency) bool {
		if c == nil {
			return false
		}
		seen := map[string]bool{}
		for i, branch := range []string{"main", trainBranch, strings.TrimSuffix(trainBranch, "1") + "2"} {
			group, err := expression.Text(c.group, contexts(w, "push", pushed(branch, float64(i))))
			if err != nil || seen[group] {
				return true
			}
			seen[group] = true
		}
		return false
	}
	return shared(w.concurrency) || slices.ContainsFunc(w.jobs, func(j *job) bool { return shared(j.concurrency) })
}

// pushed is the github context of the nth push, to a branch.
func pushed(branch string, nth float64) expression.Object {
	sha := strings.Repeat(string('a'+rune(nth)), 40)
	return expression.Object{
		"ref": "refs/heads/" + branch, "ref_name": branch, "ref_type": "branch", "sha": sha, "run_id": nth, "run_number": nth,
		"event": expression.Object{"ref": "refs/heads/" + branch, "after": sha, "head_commit": expression.Object{"id": sha, "message": expression.Unknown{}}},
	}
}

// proposed is the github context of a pull request of the repository's own.
func proposed() expression.Object {
	return expression.Object{
		"ref": "refs/pull/7/merge", "ref_name": "7/merge", "ref_type": "branch", "head_ref": "topic", "base_ref": "main",
		"event": expression.Object{"action": "opened", "number": 7.0, "pull_request": expression.Object{
			"number": 7.0, "draft": false, "merged": false, "state": "open", "user": expression.Unknown{}, "labels": expression.Unknown{}, "title": expression.Unknown{}, "body": expression.Unknown{},
			"head": expression.Object{"ref": "topic", "sha": expression.Unknown{}, "repo": expression.Object{"full_name": here, "fork": false}},
			"base": expression.Object{"ref": "main", "sha": expression.Unknown{}, "repo": expression.Object{"full_name": here}},
		}},
	}
}
