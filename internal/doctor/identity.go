package doctor

import (
	"slices"
	"strings"
)

// identity checks that everything MergeXO posts in this repository comes from accounts that trust each other: it posts
// nothing on a number on which another account has worked.
func identity(e *exam) {
	var own, given *use
	for i := range e.uses {
		if u := &e.uses[i]; u.ownToken() {
			given = u
		} else {
			own = u
		}
	}
	bots := e.Settings.Bots
	named := slices.ContainsFunc(bots, func(l string) bool { return strings.EqualFold(l, workflowBot) })
	const fix = `list both accounts in [repo] bots of the settings, such as bots = ["` + workflowBot + `", "my-app[bot]"]`
	switch {
	case own != nil && given != nil && (!named || len(bots) < 2):
		e.problem(fix, "%s: jobs.%s reads with the workflow's own token, but jobs.%s works with another one (%s): it stops at comments of the other account",
			own.at(own.s.Line), own.j.ID, given.j.ID, given.at(given.s.Line))
	case given != nil && !named:
		e.compared("MergeXO posts as one account; if the workflow's own token did before, " + fix)
	case len(bots) > 0:
		e.compared("comments of MergeXO by " + list(bots) + " count, besides those of the workflow's token")
	default:
		e.compared("MergeXO posts as one account, " + workflowBot)
	}
}
