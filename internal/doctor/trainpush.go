package doctor

import "strings"

// The places of the templates where more events come in.
const (
	beforePulls = "  # These run the file as it is in the pull request."
	skipsBots   = "(github.event.sender.type != 'Bot' || (github.event.comment == null && github.event.review == null))\n"
	theAgent    = "      !cancelled()\n"
	aCommand    = "      || contains(github.event.comment.body || github.event.review.body, '/mergexo'))\n"
	theGroup    = "    && (github.event.pull_request.number ||"
)

// What pushes bring in there. Pushes and deletions by bots are mostly MergeXO's own; the others end with a run of CI, which is an event.
const (
	pushTrigger = "  # What somebody pushes to a branch with a merge train, or does to a branch of the train, continues the train at once. A push\n" +
		"  # runs the file as it is in the pushed commit, and a deletion as it is on the default branch.\n" +
		"  push:\n    branches: [BASES]\n  delete:\n"
	skipsPushes = "      && (github.event.sender.type != 'Bot' || (github.event_name != 'push' && github.event_name != 'delete'))\n" +
		"      && (github.event_name != 'delete' || startsWith(github.event.ref, 'mergexo/train/'))\n"
)

// What other services than GitHub Actions report comes in there. They say so at each step, and most of them for every push.
const (
	beforeDispatch  = "  workflow_dispatch:\n"
	serviceTriggers = "  # What other services than GitHub Actions report, from which required checks come.\n  status:\n  check_run:\n    types: [completed]\n"
	skipsPending    = "      && (github.event_name != 'status' || github.event.state != 'pending' || contains(join(github.event.branches.*.name), 'mergexo/train/'))\n"
)

// hearsMore has a template hear what is pushed to the bases and to the branches of their merge trains, and what other services report.
// It continues merges, and no agent works on it.
func (c Choice) hearsMore(text string) string {
	var events []string
	conditions := ""
	if len(c.Bases) > 0 {
		var names []string
		for _, b := range c.Bases {
			names = append(names, scalar(b))
		}
		text = strings.Replace(text, beforePulls, strings.Replace(pushTrigger, "BASES", strings.Join(append(names, scalar(trainPattern)), ", "), 1)+beforePulls, 1)
		events, conditions = append(events, "push", "delete"), skipsPushes
	}
	if c.Services {
		text = strings.Replace(text, beforeDispatch, serviceTriggers+beforeDispatch, 1)
		events, conditions = append(events, "status", "check_run"), conditions+skipsPending
	}
	if c.Split && events != nil { // the first job does it, and nothing follows
		some := "github.event_name == '" + strings.Join(events, "' || github.event_name == '") + "'\n"
		none := "    && github.event_name != '" + strings.Join(events, "' && github.event_name != '") + "'\n"
		text = strings.Replace(text, theGroup, none+theGroup, 1)
		text = strings.Replace(text, aCommand, "      || "+some+aCommand, 1)
		text = strings.Replace(text, theAgent, theAgent+"  "+none, 1)
	}
	return strings.Replace(text, "      && "+skipsBots, "      && "+skipsBots+conditions, 1)
}
