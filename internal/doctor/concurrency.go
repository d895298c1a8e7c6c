package doctor

import (
	"slices"

	"github.com/mergexo/mergexo/internal/doctor/expression"
)

const fixGroup = "concurrency: {group: \"mergexo-${{ github.event.pull_request.number || github.event.issue.number }}\", cancel-in-progress: false}, below the job"

const (
	fixWhole = "concurrency: {group: ..., cancel-in-progress: false} at the top, as in the workflow that mergexo init --split writes"
	fixOwn   = "end the group with `|| github.run_id` for what the jobs' if: skips, as in the workflow that mergexo init --split writes"
)

// concurrent requires one run at a time per pull request, and no cancelling. A workflow with a single job limits that job,
// since a limit on the whole workflow also counts runs that the job's if: skips. Where the agent has its own job, the limit
// must be on the whole workflow; otherwise the next run's agent could start before this run's work is applied.
func concurrent(e *exam) []Finding {
	var out []Finding
	seen := map[*workflow]bool{}
	for _, u := range e.jobs() {
		if u.sweeps() {
			out = append(out, e.ofSweep(u)...)
			continue
		}
		if e.split(u.w) {
			out = append(out, u.splitConcurrency(!seen[u.w])...)
			seen[u.w] = true
			continue
		}
		c, where := u.j.concurrency, "jobs."+u.j.id+".concurrency"
		if whole := u.w.concurrency; whole != nil {
			if c != nil || !u.sortsOut(whole) {
				out = append(out, warn("move it below the job", "%s: concurrency of the whole workflow includes events that the job's if: skips, and drops others for them", u.at(whole.line)))
			}
			if c == nil {
				c, where = whole, "concurrency"
			}
		}
		if c == nil {
			out = append(out, warn("add "+fixGroup, "%s: jobs.%s has no concurrency: runs for one pull request interfere with each other", u.at(u.j.line), u.j.id))
			continue
		}
		out = append(out, u.group(c, u.at(c.line)+": "+where)...)
	}
	if len(e.uses) == 0 {
		return nil
	}
	return orOK(out, "%s: one run at a time for each pull request, and none cancelled", e.files())
}

// splitConcurrency checks one job of a split workflow, and with the first job the workflow itself.
func (u use) splitConcurrency(first bool) []Finding {
	var out []Finding
	if c := u.j.concurrency; c != nil {
		out = append(out, warn("remove it: the workflow's own is enough", "%s: jobs.%s.concurrency delays or drops part of a run", u.at(c.line), u.j.id))
	}
	whole := u.w.concurrency
	switch {
	case !first:
	case whole == nil:
		out = append(out, warn("set "+fixWhole, "%s: the workflow has no concurrency: the next run's agent starts before this run's work is applied", u.w.path))
	default:
		out = append(out, u.group(whole, u.at(whole.line)+": concurrency")...)
		if !u.sortsOut(whole) {
			out = append(out, warn(fixOwn, "%s: concurrency.group is the same for events that the jobs skip: they replace a waiting run", u.at(whole.line)))
		}
	}
	return out
}

// sortsOut reports whether skipped events get a different group than a person's comment.
func (u use) sortsOut(c *concurrency) bool {
	name := func(o sampleEvent) (string, error) { return expression.Text(c.group, u.context(o.event, o.make())) }
	heard, err := expression.Text(c.group, u.context("issue_comment", inConversation(7, person, "User")))
	for _, o := range sampleEvents {
		if o.runs || err != nil || !slices.ContainsFunc(u.w.triggers, func(t trigger) bool { return t.event == o.event }) {
			continue
		}
		var left string
		if left, err = name(o); left == heard {
			return false
		}
	}
	return true // another finding reports text that cannot be parsed
}

// group evaluates the group's name for events of two pull requests.
func (u use) group(c *concurrency, at string) []Finding {
	var out []Finding
	fix := fixGroup
	if c == u.w.concurrency {
		fix = fixWhole
	}
	if u.cancels(c) {
		out = append(out, warn("set it to false: the next run handles what the others were for", "%s.cancel-in-progress: a new event stops a running agent", at))
	}
	name := func(event string, own expression.Object) string {
		s, err := expression.Text(c.group, u.context(event, own))
		if err != nil {
			return "?" + err.Error()
		}
		return s
	}
	said, onLine7 := name("issue_comment", inConversation(7, person, "User")), name("pull_request_review_comment", onLine(7, here, person, "User"))
	other := name("issue_comment", inConversation(8, person, "User"))
	switch {
	case said[:min(1, len(said))] == "?":
		out = append(out, problem("fix it: GitHub rejects the whole workflow", "%s.group: %s", at, said[1:]))
	case said == other:
		out = append(out, warn("include the number: "+fix, "%s.group is the same for comments on different pull requests: GitHub drops waiting ones", at))
	case said != onLine7:
		out = append(out, warn("use only the number: "+fix, "%s.group differs between kinds of comments on one pull request: their runs interfere with each other", at))
	}
	return out
}

// cancels reports whether a new run may cancel the one before it, whatever event of its workflow starts it.
func (u use) cancels(c *concurrency) bool {
	if c.cancel == "" {
		return false
	}
	does := func(event string, own expression.Object) bool {
		cancel, known, err := expression.Condition(c.cancel, u.context(event, own))
		return err == nil && (cancel || !known)
	}
	return slices.ContainsFunc(u.w.triggers, func(t trigger) bool {
		of := slices.DeleteFunc(slices.Clone(sampleEvents), func(o sampleEvent) bool { return o.event != t.event })
		if len(of) == 0 { // all that is known of it is its name
			return does(t.event, expression.Object{"event": expression.Unknown{}})
		}
		return slices.ContainsFunc(of, func(o sampleEvent) bool { return does(o.event, o.make()) })
	})
}

func (u use) context(event string, own expression.Object) expression.Object {
	return contexts(u.w, event, own)
}
