package flow

import (
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Stop is why an attempt waits for a person, and where its work is.
type Stop struct {
	Reason string // one of model's
	Detail string // details in others' words
	Kept   model.Kept
	Empty  string // a sentence that says why nothing is kept; "": there was nothing to keep
	Notes  []string
	// Lost is the newest checkpoint if its branch lost it, and Now the branch's current head; "": the branch was deleted.
	Lost, Now string
}

// pause is the text for one reason: a headline, in which %s is the branch, and the remedy, in which it is where the next
// attempt starts.
type pause struct{ headline, help string }

const (
	again = "%s, comment here with what the agent should know, or ask an operator to comment `/mergexo retry`."
	retry = "%s, ask an operator to comment `/mergexo retry`."
)

var pauses = map[string]pause{
	model.ReasonAgent:     {"the agent has a question", "Reply here and the agent continues."},
	model.ReasonTests:     {"required tests fail", again},
	model.ReasonNoTest:    {"the bug fix has no test", "Files that match `[repo] test_file_regex` count as tests. " + again},
	model.ReasonTimeout:   {"the agent timed out", "Set a longer limit with `[agent] timeout`, or `run_timeout` for the whole run. " + again},
	model.ReasonCancelled: {"the workflow run was cancelled", again},
	model.ReasonNoChange:  {"the agent changed nothing", "%s, say in a comment here what to change."},
	model.ReasonOutcome:   {"the agent's answer is invalid", again},
	model.ReasonForbidden: {"the agent made changes that are not allowed", again},
	model.ReasonSecret:    {"the work seems to contain a secret", "If it is not a secret, add the file to `[feedback] allow_secrets`. " + again},
	model.ReasonRefused:   {"the agent's model refused", "%s, rephrase the task in a comment here."},
	model.ReasonSession:   {"the agent's session is not available", "%s with a new session, ask an operator to comment `/mergexo retry`."},
	model.ReasonBudget:    {"today's budget is used up", "It continues automatically after 00:00 UTC, with the next event or scheduled run. %s at once, ask an operator to comment `/mergexo retry`."},
	model.ReasonFlaky:     {"a test reported as flaky failed again", retry},
	model.ReasonPush:      {"the server refused the push to `%s`", "Allow MergeXO's token to create and push branches `agent/**`. " + retry},
	model.ReasonAttempts:  {"every attempt of the agent failed", again},
	model.ReasonClosed:    {"the issue was closed while the agent was working", "Reopen it first. " + retry},
	model.ReasonNoPull: {"GitHub does not let MergeXO open the pull request", "Turn on *Allow GitHub Actions to create and approve pull requests* under Settings, Actions, General, or use the token of a GitHub App. " +
		"If the setting is locked, the organization or enterprise has turned it off. Then ask an operator to comment `/mergexo retry`: the pull request is opened without another attempt."},
	model.ReasonMarkerEdited: {"somebody else edited a comment that holds MergeXO's state",
		"MergeXO ignores the edited comment. To continue from the other comments, ask an operator to comment `/mergexo retry`."},
	model.ReasonMarkerDeleted: {"somebody deleted a comment of MergeXO's",
		"To continue from the other comments, ask an operator to comment `/mergexo retry`."},
	model.ReasonBranch:   {"no branch can be created for the pull request", "Delete or rename the branches that are in the way. " + retry},
	model.ReasonRewrite:  {"history was rewritten", "Comments wait until an operator decides. To accept the branch as it is, and to let the agent try again, ask an operator to comment `/mergexo retry`."},
	model.ReasonNoDesign: {"the merged design document was not found", "%s, restore it or merge another one, and comment here."},
	model.ReasonConflict: {"newly pushed commits on `%s` conflict with the agent's", again},
}

func headline(reason, branch string) string {
	p, known := pauses[reason]
	if !known {
		return reason
	}
	return strings.ReplaceAll(p.headline, "%s", markdown.Code(branch))
}

// StopText says why an attempt waits for a person, where its work is, and how to continue.
func StopText(i model.Issue, m model.IssueMarker, s Stop) string {
	var b strings.Builder
	title := "Waiting for a person: " + headline(s.Reason, m.Branch)
	switch s.Reason {
	case model.ReasonAgent: // a question is no failure
		title = "The agent has a question"
	case model.ReasonBudget:
		title = "Waiting for the next day: " + headline(s.Reason, m.Branch)
	}
	fmt.Fprintf(&b, "**%s** (`%s`)%s%s\n", title, markdown.Code(s.Reason), attempt(m), markdown.Run(m.RunURL))
	if strings.TrimSpace(s.Detail) != "" {
		fmt.Fprintf(&b, "\n%s\n", markdown.Failure(s.Detail))
	}
	b.WriteString("\n" + whereabouts(i, m, s) + "\n")
	if n := notes(s.Notes); n != "" {
		b.WriteString("\n" + strings.TrimRight(n, "\n") + "\n")
	}
	if s.Kept.Branch == "" {
		return b.String() + "\n" + help(m, s)
	}
	if s.Kept.Hidden() {
		return b.String() + fmt.Sprintf("\n- %s\n- To look at it:\n  `%s`", help(m, s), markdown.Unhide(s.Kept.Branch, s.Kept.Bundled()))
	}
	branch := markdown.Word(s.Kept.Branch)
	fmt.Fprintf(&b, "\n- %s\n- To look at the branch or add to it:\n  `git fetch origin %s:%s && git switch %s`", help(m, s), branch, branch, branch)
	return b.String()
}

// whereabouts says where the work is.
func whereabouts(i model.Issue, m model.IssueMarker, s Stop) string {
	var parts []string
	if s.Kept.Left() {
		parts = append(parts, kept(i, m.Base, s.Kept))
	}
	if s.Lost != "" {
		parts = append(parts, lost(i, m.Branch, s))
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, "\n\n")
	case s.Empty != "":
		return s.Empty
	}
	return "The agent had not changed anything."
}

// lost says that a branch no longer has a checkpoint, and how to recover it while the server still has it.
func lost(i model.Issue, branch string, s Stop) string {
	where := "that branch was deleted"
	if s.Now != "" {
		where = fmt.Sprintf("%s is now at %s, without it", branchLink(i, branch, s.Now), markdown.Commit(i.URL, s.Now))
	}
	return fmt.Sprintf("The work was kept on branch `%s` at %s; %s. To restore it, while GitHub still has it:\n\n    git fetch origin %s && %s",
		markdown.Code(branch), markdown.Commit(i.URL, s.Lost), where, s.Lost, markdown.Restore(branch, s.Now, s.Lost))
}

// kept says where a checkpoint is, and what it adds to the base branch.
func kept(i model.Issue, base string, k model.Kept) string {
	switch {
	case k.Bundle != "":
		return markdown.Rescued(k.Bundle)
	case k.Bundled():
		return fmt.Sprintf("The work so far is kept in a bundle on the hidden ref `%s`, because no branch may hold it. The next attempt starts without it.", markdown.Code(k.Branch))
	case k.Hidden():
		return fmt.Sprintf("The work so far is kept on the hidden ref `%s` at %s, because the server refused a branch for it.", markdown.Code(k.Branch), markdown.Commit(i.URL, k.SHA))
	}
	return fmt.Sprintf("The work so far is kept on %s at %s ([compare with `%s`](%s/compare/%s...%s)).",
		branchLink(i, k.Branch, k.SHA), markdown.Commit(i.URL, k.SHA), markdown.Code(base), markdown.Repository(i.URL), markdown.Path(base), k.SHA)
}

// help says what a person can do, and where the next attempt then starts.
func help(m model.IssueMarker, s Stop) string {
	p, known := pauses[s.Reason]
	if !known {
		p.help = again
	}
	switch {
	case s.Kept.Branch != "" && !s.Kept.Hidden():
		return strings.ReplaceAll(p.help, "%s", "To continue from that branch")
	case s.Kept.Hidden() && !s.Kept.Bundled():
		return strings.ReplaceAll(p.help, "%s", "To continue from that ref")
	case m.Tip != "" && (s.Lost == "" || s.Now != ""):
		return strings.ReplaceAll(p.help, "%s", fmt.Sprintf("To continue from branch `%s`", markdown.Code(m.Branch)))
	}
	return strings.ReplaceAll(p.help, "%s", "To start again")
}

// ForOperators says that an attempt that waits for this reason goes on only when an operator says so.
func ForOperators(reason string) bool {
	return model.MarkerSpoilt(reason) || reason == model.ReasonRewrite
}

// goesOn tells a terminal who can go on.
func goesOn(reason string) string {
	switch {
	case ForOperators(reason):
		return "to continue, an operator comments /mergexo retry"
	case reason == model.ReasonBudget:
		return "it then continues automatically; /mergexo retry continues at once"
	}
	return "to continue, comment on the issue, or /mergexo retry"
}

// Reason is the same for a terminal: what and why in the first line, with the way on.
func Reason(number int, m model.IssueMarker, s Stop) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(s.Detail), "\n")
	whom := "a person"
	if s.Reason == model.ReasonBudget {
		whom = "the next day"
	}
	reason := fmt.Sprintf("issue %d waits for %s (%s): %s", number, whom, s.Reason, strings.ReplaceAll(headline(s.Reason, m.Branch), "`", ""))
	if first != "" {
		reason += ": " + first
	}
	switch {
	case s.Kept.Bundle != "":
		reason += "; the work is in the git bundle " + s.Kept.Bundle
	case s.Kept.Branch != "":
		reason += fmt.Sprintf("; the work is kept on %s at %s", s.Kept.Named(), s.Kept.SHA)
	}
	reason += "; " + goesOn(s.Reason)
	if rest != "" {
		reason += "\n" + rest
	}
	return reason
}
