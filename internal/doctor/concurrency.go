package doctor

import (
	"github.com/mergexo/mergexo/internal/doctor/expression"
)

const fixGroup = "concurrency: {group: \"mergexo-${{ github.event.pull_request.number || github.event.issue.number }}\", cancel-in-progress: false}, below the job"

// concurrent wants one run at a time for each pull request, and none cancelled. It is on the job because a job that its if:
// leaves out still counts where the whole workflow has the limit.
func concurrent(e *exam) []Finding {
	var out []Finding
	for _, u := range e.jobs() {
		c, where := u.j.concurrency, "jobs."+u.j.id+".concurrency"
		if whole := u.w.concurrency; whole != nil {
			out = append(out, warn("move it below the job", "%s: concurrency of the whole workflow counts events that the job's if: leaves out, and drops others for them", u.at(whole.line)))
			if c == nil {
				c, where = whole, "concurrency"
			}
		}
		if c == nil {
			out = append(out, warn("add "+fixGroup, "%s: jobs.%s has no concurrency: runs for one pull request get into each other's way", u.at(u.j.line), u.j.id))
			continue
		}
		out = append(out, u.group(c, u.at(c.line)+": "+where)...)
	}
	if len(e.uses) == 0 {
		return nil
	}
	return orOK(out, "%s: one run at a time for each pull request, and none cancelled", e.files())
}

// group tries the group's name on events of two pull requests.
func (u use) group(c *concurrency, at string) []Finding {
	var out []Finding
	if u.cancels(c) {
		out = append(out, warn("set it to false: the run that comes takes up what the others were for", "%s.cancel-in-progress: a new comment stops the agent in the middle of its work", at))
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
		out = append(out, problem("correct it: GitHub refuses the whole workflow", "%s.group: %s", at, said[1:]))
	case said == other:
		out = append(out, warn("make the number part of it: "+fixGroup, "%s.group is the same for comments on different pull requests: GitHub drops those that wait for one another", at))
	case said != onLine7:
		out = append(out, warn("make it of the number alone: "+fixGroup, "%s.group differs between kinds of comments on one pull request: their runs get into each other's way", at))
	}
	return out
}

// cancels tells whether a new run may end the one before it.
func (u use) cancels(c *concurrency) bool {
	cancel, known, err := expression.Condition(c.cancel, u.context("issue_comment", inConversation(7, person, "User")))
	return c.cancel != "" && err == nil && (cancel || !known)
}

func (u use) context(event string, own expression.Object) expression.Object {
	return contexts(u.w, event, own)
}
