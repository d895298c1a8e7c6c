package doctor

import "strings"

// The places of the templates where pushes come in.
const (
	beforePulls = "  # These run the file as it is in the pull request."
	skipsBots   = "(github.event.sender.type != 'Bot' || (github.event.comment == null && github.event.review == null))\n"
	theAgent    = "      !cancelled()\n"
	aCommand    = "      || contains(github.event.comment.body || github.event.review.body, '/mergexo'))\n"
	theGroup    = "    && (github.event.pull_request.number ||"
)

// What comes in there. Pushes and deletions by bots are mostly MergeXO's own; the others end with a run of CI, which is an event.
const (
	pushTrigger = "  # What somebody pushes to a branch with a merge train, or does to a branch of the train, continues the train at once. A push\n" +
		"  # runs the file as it is in the pushed commit, and a deletion as it is on the default branch.\n" +
		"  push:\n    branches: [BASES]\n  delete:\n"
	skipsPushes = "      && (github.event.sender.type != 'Bot' || (github.event_name != 'push' && github.event_name != 'delete'))\n" +
		"      && (github.event_name != 'delete' || startsWith(github.event.ref, 'mergexo/train/'))\n"
	notForAgent = "      && github.event_name != 'push' && github.event_name != 'delete'\n"
)

// hearsPushes has a template hear what is pushed to the bases, and to the branches of their merge trains.
func (c Choice) hearsPushes(text string) string {
	if len(c.Bases) == 0 {
		return text
	}
	var names []string
	for _, b := range c.Bases {
		names = append(names, scalar(b))
	}
	text = strings.Replace(text, beforePulls, strings.Replace(pushTrigger, "BASES", strings.Join(append(names, scalar(trainPattern)), ", "), 1)+beforePulls, 1)
	if c.Split { // the first job does it, and nothing follows
		text = strings.Replace(text, theGroup, "    && github.event_name != 'push' && github.event_name != 'delete'\n"+theGroup, 1)
		text = strings.Replace(text, aCommand, "      || github.event_name == 'push' || github.event_name == 'delete'\n"+aCommand, 1)
		text = strings.Replace(text, theAgent, theAgent+notForAgent, 1)
	}
	return strings.Replace(text, "      && "+skipsBots, "      && "+skipsBots+skipsPushes, 1)
}

// notOnPush skips steps for pushes, on which no agent works.
func (c Choice) notOnPush(steps string) string {
	if len(c.Bases) == 0 || c.Split { // whose agent has a job of its own
		return steps
	}
	var out strings.Builder
	for line := range strings.Lines(steps) {
		out.WriteString(line + "        if: github.event_name != 'push' && github.event_name != 'delete'\n")
	}
	return out.String()
}
