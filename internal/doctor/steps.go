package doctor

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// tokenTime is how long a run may take with an App's token, which holds for one hour from the step that makes it:
// https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
const tokenTime = 55 * time.Minute

// timeout compares the job's limit with those of the agent and of the merge tests. GitHub's own limit is 360 minutes.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idtimeout-minutes
func timeout(e *exam) []Finding {
	var out []Finding
	for _, u := range e.jobs() {
		t := u.j.timeout
		at := place(u.w.path, max(t.line, u.j.line))
		minutes, err := strconv.ParseFloat(t.value, 64)
		span := time.Duration(minutes * float64(time.Minute))
		switch {
		case t.value == "":
			out = append(out, warn("add timeout-minutes: 90 below the job", "%s: jobs.%s has no timeout-minutes: a run that hangs takes six hours", at, u.j.id))
		case err != nil:
			out = append(out, unchecked("%s: jobs.%s.timeout-minutes is %s, which is known only at run time", at, u.j.id, quote(t.value)))
		case u.phase != applyPhase && u.phase != planPhase && e.readable() && e.Settings.Timeout > 0 && span <= e.Settings.Timeout:
			out = append(out, warn("give the job more time than the agent, for tests and pushes", "%s: jobs.%s.timeout-minutes is %s, and agent.timeout in %s is %g minutes: the run ends before the agent does",
				at, u.j.id, t.value, e.Settings.Path, e.Settings.Timeout.Minutes()))
		case u.phase != applyPhase && u.phase != planPhase && e.readable() && e.Settings.RunTime > 0 && span <= e.Settings.RunTime:
			out = append(out, warn("give the job some minutes more than agent.run_timeout, or lower agent.run_timeout", "%s: jobs.%s.timeout-minutes is %s, and agent.run_timeout in %s is %g minutes: the job ends before the run can save its work",
				at, u.j.id, t.value, e.Settings.Path, e.Settings.RunTime.Minutes()))
		case u.phase != agentPhase && u.phase != planPhase && e.readable() && e.Settings.TestTime > 0 && span <= e.Settings.TestTime:
			out = append(out, warn("give the job more time than the tests before a merge", "%s: jobs.%s.timeout-minutes is %s, and merge.test_timeout in %s is %g minutes: the run ends before the tests do",
				at, u.j.id, t.value, e.Settings.Path, e.Settings.TestTime.Minutes()))
		case u.appToken() && e.readable() && e.Settings.RunTime > tokenTime:
			out = append(out, warn("pass app-id and private-key instead of the token, so that MergeXO renews it, or lower agent.run_timeout to 55m", "%s: jobs.%s uses an App's token, which expires after one hour, but agent.run_timeout in %s is %g minutes: the token may expire before the run saves its work",
				at, u.j.id, e.Settings.Path, e.Settings.RunTime.Minutes()))
		default:
			out = append(out, ok("%s: jobs.%s.timeout-minutes is %s", at, u.j.id, t.value))
		}
	}
	return out
}

var (
	fullSHA = regexp.MustCompile(`^[0-9a-f]{40}$`)
	digest  = regexp.MustCompile(`@sha256:[0-9a-f]{64}$`)
	release = regexp.MustCompile(`^v\d`)
)

// pins checks the actions that share a job with the token: a tag or a branch can be moved.
// https://docs.github.com/en/actions/reference/security/secure-use#using-third-party-actions
func pins(e *exam) []Finding {
	var out []Finding
	for _, u := range e.jobs() {
		for _, s := range u.j.steps {
			uses := s.uses.value
			name, ref, _ := strings.Cut(uses, "@")
			switch {
			case uses == "", strings.HasPrefix(uses, "./"), fullSHA.MatchString(ref), digest.MatchString(uses):
			case isAction(uses) && release.MatchString(ref):
			case isAction(uses):
				out = append(out, warn("use a release: "+name+"@v1, or a full commit SHA", "%s: %s can change with every push to it", u.at(s.uses.line), quote(uses)))
			default:
				out = append(out, warn("pin it to a full commit SHA, with the version in a comment", "%s: %s can be moved to other code, which would run in the agent's job with its token", u.at(s.uses.line), quote(uses)))
			}
		}
	}
	if len(e.uses) == 0 {
		return nil
	}
	return orOK(out, "%s: the other actions are pinned", e.files())
}

// checkout checks how the job gets the repository.
func checkout(e *exam) []Finding {
	var out []Finding
	for _, u := range e.jobs() {
		if u.phase == planPhase { // it reads no file
			continue
		}
		var found *step
		for _, s := range u.j.steps {
			if strings.HasPrefix(strings.ToLower(s.uses.value), "actions/checkout@") && s.with["repository"] == "" && s.with["path"] == "" {
				found = s
			}
			if s == u.s {
				break
			}
		}
		if found == nil && e.Settings.TestsInCheckout && u.phase != agentPhase {
			out = append(out, problem("add actions/checkout before it, and after that what your tests need, or set tests_in = \"fresh\"",
				`%s: no checkout of the repository before the action, and merge.tests_in is "checkout": no merge can be tested`, u.at(u.s.line)))
			continue
		}
		if found == nil {
			out = append(out, warn("add actions/checkout before it, with fetch-depth: 0 and persist-credentials: false", "%s: no checkout of the repository before the action: it makes its own clone, without what your steps install there", u.at(u.s.line)))
			continue
		}
		at := u.at(found.line) + ": actions/checkout"
		if found.with["sparse-checkout"] != "" && e.Settings.TestsInCheckout && u.phase != agentPhase {
			out = append(out, problem("remove sparse-checkout below with:, or set tests_in = \"fresh\"", `%s leaves out files, and merge.tests_in is "checkout": no merge can be tested`, at))
		}
		if strings.ToLower(found.with["persist-credentials"]) != "false" {
			out = append(out, warn("set persist-credentials: false below with:", "%s leaves the token in the checkout for every later step", at))
		}
		if found.with["fetch-depth"] != "0" {
			out = append(out, warn("set fetch-depth: 0 below with:", "%s fetches no history, so each run fetches what is missing", at))
		}
	}
	if len(e.uses) == 0 {
		return nil
	}
	return orOK(out, "%s: the checkout has its history and no token", e.files())
}
