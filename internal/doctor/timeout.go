package doctor

import (
	"fmt"
	"strconv"
	"time"
)

// tokenTime is how long a run may take with an App's token, which holds for one hour from the step that makes it:
// https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
const tokenTime = 55 * time.Minute

// timeout compares each job's limit with those of the settings. GitHub's own limit is 360 minutes.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idtimeout-minutes
func timeout(e *exam) {
	s := e.Settings
	for _, u := range e.jobs() {
		t := u.j.Timeout
		at := fmt.Sprintf("%s: jobs.%s", u.at(max(t.Line, u.j.Line)), u.j.ID)
		minutes, err := strconv.ParseFloat(t.Value, 64)
		most := time.Duration(minutes * float64(time.Minute))
		shorter := func(key string, than time.Duration, follows string) {
			e.warn("give the job some minutes more, or lower "+key, "%s.timeout-minutes is %s, and %s in %s is %g minutes: %s", at, t.Value, key, s.Path, than.Minutes(), follows)
		}
		switch {
		case t.Value == "":
			e.warn("add timeout-minutes: 90 below the job", "%s has no timeout-minutes: a run that hangs takes six hours", at)
			continue
		case err != nil:
			e.unchecked("%s.timeout-minutes is %s, which is known only at run time", at, quote(t.Value))
			continue
		case u.phase == planPhase:
		case u.phase != applyPhase && s.Adapter != "" && most <= s.RunTime:
			shorter("agent.run_timeout", s.RunTime, "the job ends before the run can save its work")
		case u.phase != agentPhase && most <= s.TestTime:
			shorter("merge.test_timeout", s.TestTime, "the run ends before the tests do")
		}
		if u.appToken() && e.readable() && s.RunTime > tokenTime {
			e.warn("pass app-id and private-key instead of the token, so that MergeXO renews it, or lower agent.run_timeout to 55m",
				"%s uses an App's token, which expires after one hour, but agent.run_timeout in %s is %g minutes: the token may expire before the run saves its work", at, s.Path, s.RunTime.Minutes())
		}
	}
	e.compared("each job has more time than what it runs")
}
