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
func timeout(e *exam) []Finding {
	var out []Finding
	for _, u := range e.jobs() {
		t := u.j.timeout
		at := fmt.Sprintf("%s: jobs.%s", u.at(max(t.line, u.j.line)), u.j.id)
		minutes, err := strconv.ParseFloat(t.value, 64)
		switch {
		case t.value == "":
			out = append(out, warn("add timeout-minutes: 90 below the job", "%s has no timeout-minutes: a run that hangs takes six hours", at))
			continue
		case err != nil:
			out = append(out, unchecked("%s.timeout-minutes is %s, which is known only at run time", at, quote(t.value)))
			continue
		}
		for _, limit := range []struct {
			key     string
			value   time.Duration
			counts  bool
			follows string
		}{
			{"agent.run_timeout", e.Settings.RunTime, u.phase != applyPhase && e.Settings.Adapter != "", "the job ends before the run can save its work"},
			{"merge.test_timeout", e.Settings.TestTime, u.phase != agentPhase, "the run ends before the tests do"},
		} {
			if limit.counts && u.phase != planPhase && time.Duration(minutes*float64(time.Minute)) <= limit.value {
				out = append(out, warn("give the job some minutes more, or lower "+limit.key, "%s.timeout-minutes is %s, and %s in %s is %g minutes: %s",
					at, t.value, limit.key, e.Settings.Path, limit.value.Minutes(), limit.follows))
				break
			}
		}
		if u.appToken() && e.readable() && e.Settings.RunTime > tokenTime {
			out = append(out, warn("pass app-id and private-key instead of the token, so that MergeXO renews it, or lower agent.run_timeout to 55m", "%s uses an App's token, which expires after one hour, but agent.run_timeout in %s is %g minutes: the token may expire before the run saves its work",
				at, e.Settings.Path, e.Settings.RunTime.Minutes()))
		}
	}
	return e.compared(out, "each job has more time than what it runs")
}
