package doctor

import (
	"regexp"
	"slices"
)

// jobsThere compares which jobs there are, and how they follow from each other.
func jobsThere(e *exam) []Finding {
	var out []Finding
	does := func(u use) string { return "jobs." + u.j.id + " (`" + u.command() + "`)" }
	switch missing, others := each(e.missing, does), each(e.foreign, does); {
	case others != nil && (e.runs(wholeRun) || e.runs(agentPhase) && e.runs(applyPhase)):
		out = append(out, warn("run mergexo init, which replaces it", "%s: another form than mergexo init writes today, so that these jobs were not compared: %s", e.files(), list(others)))
	case missing != nil:
		out = append(out, problem(asInit, "%s: no job does what these jobs of mergexo init do: %s", e.files(), list(missing)))
	}
	if found := e.differences("jobs", "the jobs are those of mergexo init"); out == nil || found[0].Level != OK {
		out = append(out, found...)
	}
	return out
}

func conditions(e *exam) []Finding {
	return e.differences("condition", "each if: asks what that of mergexo init asks")
}

func steps(e *exam) []Finding {
	return e.differences("steps", "the steps are those of mergexo init")
}

func concurrent(e *exam) []Finding {
	return e.differences("concurrency", "one run at a time for each pull request, and none cancelled")
}

func permitted(e *exam) []Finding {
	return e.differences("permissions", "each job has the permissions that it needs, and no others")
}

// each is what there is to say of each one.
func each[T, U any](all []T, say func(T) U) (out []U) {
	for _, one := range all {
		out = append(out, say(one))
	}
	return out
}

// clauses are what has to hold for a job to run: its own conditions with those of its steps and of jobs that it waits for and that run
// no MergeXO, and those of other jobs before it. A job is skipped when one that it needs was skipped, unless its if: asks how that
// ended: https://docs.github.com/en/actions/reference/workflows-and-actions/expressions#status-check-functions
func (u use) clauses() (own, before []clause, err error) {
	jobs := []*job{u.j}
	for i := 0; i < len(jobs); i++ {
		asksStatus := false
		conditions := append(u.w.conditions(jobs[i]), jobs[i].condition)
		for _, t := range conditions {
			some, err := clauses(t.value)
			if err != nil {
				return nil, nil, err
			}
			ofStatus := func(c clause) bool { return statusCheck.MatchString(c.key) }
			if asksStatus = asksStatus || slices.ContainsFunc(some, ofStatus); i > 0 && len(conditions) > 1 {
				before = append(before, slices.DeleteFunc(some, ofStatus)...)
			} else {
				own = append(own, some...)
			}
		}
		for _, other := range u.w.jobs {
			if !asksStatus && slices.Contains(jobs[i].needs, other.id) && !slices.Contains(jobs, other) {
				jobs = append(jobs, other)
			}
		}
	}
	return own, before, nil
}

var statusCheck = regexp.MustCompile(`\b(always|cancelled|failure)\(`)

// conditions are those of the steps of a job that run MergeXO.
func (w *workflow) conditions(j *job) (all []text) {
	for _, u := range usesOf(w) {
		if u.j == j {
			all = append(all, u.s.condition)
		}
	}
	return all
}
