package flow

import (
	"fmt"
	"path"
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
	// Rescue is the path of a git bundle on the runner with the attempt's branch, if it could not be pushed.
	Rescue string
}

// pause is the text for one reason: a headline, in which %s is the branch, and the remedy, in which it is where the next
// attempt starts.
type pause struct{ headline, help string }

const (
	again = "%s, comment here with what the agent should know, or have an operator comment `/mergexo retry`."
	retry = "%s, have an operator comment `/mergexo retry`."
)

var pauses = map[string]pause{
	model.ReasonAgent:     {"the agent needs a decision", "%s, answer in a comment here."},
	model.ReasonTests:     {"required tests fail", again},
	model.ReasonNoTest:    {"no test comes with the bug fix", "Files that match `[repo] test_file_regex` count as tests. " + again},
	model.ReasonTimeout:   {"the agent did not come to an end in its time", "`[agent] timeout` says how long that is, and `run_timeout` how long the whole run may take. " + again},
	model.ReasonCancelled: {"the workflow run was cancelled", again},
	model.ReasonNoChange:  {"the agent changed nothing", "%s, say in a comment here what is to be changed."},
	model.ReasonOutcome:   {"the agent's answer does not hold", again},
	model.ReasonForbidden: {"the agent changed what it must not", again},
	model.ReasonSecret:    {"the work holds what looks like a secret", "Files in which such things may stand are named in `[feedback] allow_secrets`. " + again},
	model.ReasonRefused:   {"the agent's model refused", "%s, say it in other words in a comment here."},
	model.ReasonSession:   {"the agent's session is not to be had", "%s with a new session, have an operator comment `/mergexo retry`."},
	model.ReasonBudget:    {"the day's budget is spent", "The next day begins at 00:00 UTC. " + retry},
	model.ReasonFlaky:     {"a test that was held to be flaky failed again", retry},
	model.ReasonPush:      {"the server refused the push to `%s`", "Let MergeXO's token create branches `agent/**` and push to them. " + retry},
	model.ReasonAttempts:  {"the agent failed again and again", again},
	model.ReasonClosed:    {"the issue was closed while the agent was at work", "Reopen it first. " + retry},
	model.ReasonNoPull: {"GitHub does not let MergeXO open the pull request", "Switch on *Allow GitHub Actions to create and approve pull requests* under Settings, Actions, General " +
		"(where it cannot be, the organization or enterprise has it off), or use the token of a GitHub App. Then have an operator comment `/mergexo retry`: the pull request is opened without another attempt."},
	model.ReasonMarkerEdited: {"a comment that holds MergeXO's state was edited by somebody else",
		"What it said is neither obeyed nor done again. To go on from what the other comments say, or to begin anew where they say nothing, an operator comments `/mergexo retry`."},
	model.ReasonBranch:   {"every name for the branch is taken", "Delete or rename branches of this issue below `agent/` that are not needed. " + retry},
	model.ReasonRewrite:  {"history was rewritten", "Only an operator can go on here; comments wait until then. Where what is there now is right, or the agent shall try again, an operator comments `/mergexo retry`."},
	model.ReasonNoDesign: {"the merged design is not to be found", "%s, put it back or merge another one, and comment here."},
	model.ReasonConflict: {"commits that were pushed to `%s` meanwhile conflict with the attempt's own", again},
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
	fmt.Fprintf(&b, "**Waiting for a person: %s** (`%s`)%s%s\n", headline(s.Reason, m.Branch), markdown.Code(s.Reason), attempt(m), markdown.Run(m.RunURL))
	if strings.TrimSpace(s.Detail) != "" {
		fmt.Fprintf(&b, "\n%s\n", markdown.Quote(s.Detail))
	}
	b.WriteString("\n" + whereabouts(i, m, s) + "\n")
	if n := notes(s.Notes); n != "" {
		b.WriteString("\n" + strings.TrimRight(n, "\n") + "\n")
	}
	if s.Kept.Branch == "" {
		return b.String() + "\n" + help(m, s)
	}
	if s.Kept.Hidden() {
		return b.String() + fmt.Sprintf("\n- %s\n- To look at it:\n  `%s`", help(m, s), markdown.Unbundle(s.Kept.Branch))
	}
	branch := word(s.Kept.Branch)
	fmt.Fprintf(&b, "\n- %s\n- To look at the branch or add to it:\n  `git fetch origin %s:%s && git switch %s`", help(m, s), branch, branch, branch)
	return b.String()
}

// whereabouts says where the work is.
func whereabouts(i model.Issue, m model.IssueMarker, s Stop) string {
	var parts []string
	if s.Kept.Branch != "" {
		parts = append(parts, kept(i, m.Base, s.Kept))
	}
	if s.Rescue != "" {
		what := "The work"
		if s.Kept.Branch != "" {
			what = "What was done since"
		}
		parts = append(parts, fmt.Sprintf("**%s could not be pushed.** It is on the runner, in the git bundle %s; where the workflow uploads that, it is among the run's artifacts. "+
			"With the file at hand:\n\n    git fetch %s %s:mergexo-rescue && git switch mergexo-rescue", what, markdown.Inline(s.Rescue), word(path.Base(s.Rescue)), word(m.Branch)))
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
	return "There was nothing to keep."
}

// lost says that a branch no longer has a checkpoint, and how to recover it while the server still has it.
func lost(i model.Issue, branch string, s Stop) string {
	where := "that branch was deleted since"
	if s.Now != "" {
		where = fmt.Sprintf("%s is at %s now, without it", branchLink(i, branch), markdown.Commit(i.URL, s.Now))
	}
	return fmt.Sprintf("What was done was kept on branch `%s` at %s; %s. To put it back, as long as it is to be had:\n\n    git fetch origin %s && %s",
		markdown.Code(branch), markdown.Commit(i.URL, s.Lost), where, s.Lost, markdown.Restore(branch, s.Now, s.Lost))
}

// kept says where a checkpoint is, and what it adds to the base branch.
func kept(i model.Issue, base string, k model.Kept) string {
	if k.Hidden() {
		return fmt.Sprintf("What was done is kept in a bundle on the hidden ref `%s`, since no branch may hold it.", markdown.Code(k.Branch))
	}
	return fmt.Sprintf("What was done is kept on %s at %s ([compare with `%s`](%s/compare/%s...%s)).",
		branchLink(i, k.Branch), markdown.Commit(i.URL, k.SHA), markdown.Code(base), markdown.Repository(i.URL), escaped(base), k.SHA)
}

// help says what a person can do, and where the next attempt then starts.
func help(m model.IssueMarker, s Stop) string {
	p, known := pauses[s.Reason]
	if !known {
		p.help = again
	}
	switch {
	case s.Kept.Branch != "" && s.Kept.Branch == m.Branch:
		return strings.ReplaceAll(p.help, "%s", "To go on from that branch")
	case m.LastCheckpoint != "" && (s.Lost == "" || s.Now != ""):
		return strings.ReplaceAll(p.help, "%s", fmt.Sprintf("To go on from branch `%s`", markdown.Code(m.Branch)))
	}
	return strings.ReplaceAll(p.help, "%s", "To begin anew")
}

// word makes a name safe to paste into a shell, within a code span.
func word(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=+@") == "" {
		return s
	}
	if strings.ContainsAny(s, "`'\n") {
		return "NAME"
	}
	return "'" + s + "'"
}

// ForOperators says that an attempt that waits for this reason goes on only when an operator says so.
func ForOperators(reason string) bool {
	return reason == model.ReasonMarkerEdited || reason == model.ReasonRewrite
}

// goesOn tells a terminal who can go on.
func goesOn(reason string) string {
	if ForOperators(reason) {
		return "an operator goes on with /mergexo retry"
	}
	return "a comment on the issue goes on, or /mergexo retry"
}

// Reason is the same for a terminal: what and why in the first line, with the way on.
func Reason(number int, m model.IssueMarker, s Stop) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(s.Detail), "\n")
	reason := fmt.Sprintf("issue %d waits for a person (%s): %s", number, s.Reason, strings.ReplaceAll(headline(s.Reason, m.Branch), "`", ""))
	if first != "" {
		reason += ": " + first
	}
	switch {
	case s.Rescue != "":
		reason += "; the work is in the git bundle " + s.Rescue
	case s.Kept.Branch != "":
		reason += fmt.Sprintf("; the work is kept on branch %s at %s", s.Kept.Branch, s.Kept.SHA)
	}
	reason += "; " + goesOn(s.Reason)
	if rest != "" {
		reason += "\n" + rest
	}
	return reason
}
