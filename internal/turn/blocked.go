package turn

import (
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// kept tells where a checkpoint is, and what it adds to the head that the work began at.
func kept(p model.Pull, base string, k model.Kept) string {
	switch {
	case k.Bundle != "":
		return markdown.Rescued(k.Bundle)
	case k.Bundled():
		return fmt.Sprintf("The work so far is kept in a bundle on a hidden ref, because no branch may hold it. The next attempt starts without it. To look at it: `%s`", markdown.Unhide(k.Branch, true))
	case k.Hidden():
		return fmt.Sprintf("The work so far is kept on a hidden ref at %s, because the server refused a branch for it. To look at it: `%s`", markdown.Commit(p.URL, k.SHA), markdown.Unhide(k.Branch, false))
	}
	return fmt.Sprintf("The work so far is kept on branch %s at %s ([compare](%s/compare/%s...%s)).",
		markdown.Tree(p.URL, k.Branch, k.SHA), markdown.Commit(p.URL, k.SHA), markdown.Repository(p.URL), base, k.SHA)
}

// BlockText tells why the automation stopped, with both heads, the result of the attempts before, and how a person lets it go
// on.
func BlockText(p model.Pull, m model.BlockMarker, detail string, k model.Kept, tries []model.Try, notes ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n", title(m, p))
	attempts := m.Reason == model.ReasonAttempts && len(tries) > 0 // which tell the detail, and where their work is
	if detail != "" && !attempts {
		fmt.Fprintf(&b, "\n%s\n", markdown.Failure(detail))
	}
	if m.Expected != "" && m.Observed != "" && m.Expected != m.Observed {
		observed := markdown.Commit(p.URL, m.Observed)
		if m.Phase == model.GuardLocal { // it exists nowhere but in the agent's checkout
			observed = "`" + markdown.Short(m.Observed) + "`"
		}
		fmt.Fprintf(&b, "\n| | head |\n| --- | --- |\n| expected (last accepted) | %s |\n| observed | %s |\n", markdown.Commit(p.URL, m.Expected), observed)
	}
	if attempts {
		b.WriteString(strings.TrimPrefix(listed("The attempts", p.URL, tries), "\n") + "\n")
		k, tries = model.Kept{}, nil
	}
	if k != (model.Kept{}) {
		b.WriteString("\n" + kept(p, m.Observed, k) + "\n")
	}
	for _, n := range notes {
		fmt.Fprintf(&b, "\n> %s\n", markdown.Inline(n))
	}
	if text := Earlier(p.URL, tries); text != "" {
		b.WriteString(strings.TrimPrefix(text, "\n") + "\n")
	}
	b.WriteString(onward(p, m))
	return b.String()
}

// title is the first line of a block: an agent's question is no failure, so it stands alone.
func title(m model.BlockMarker, p model.Pull) string {
	if m.Reason == model.ReasonAgent {
		return "The agent has a question"
	}
	return "Blocked: " + headline(m, p)
}

// onward says who or what ends a block, and how.
func onward(p model.Pull, m model.BlockMarker) string {
	if !m.Until.IsZero() {
		return fmt.Sprintf("\nThis block ends automatically at %s; comments are kept until then.\n\nTo continue earlier, ask an operator to comment `/mergexo unblock`, which resets the day's count.", moment(m.Until))
	}
	if m.Reason == model.ReasonAgent {
		return "\nReply here or in a review, and the agent continues. Comments are kept until then.\n\n" +
			"Only replies from people with write access count or, if `[repo] allowed_users` names somebody, only theirs. " +
			"An operator can also comment `/mergexo unblock` to ask the agent again without an answer."
	}
	text := "\nA maintainer has to decide. Comments are kept until then. " +
		"Maintainers are people with maintain or admin access, or those in `[repo] operators` if that is set.\n"
	switch {
	case m.Reason == model.ReasonRewrite && m.Phase != model.GuardLocal:
		return text + fmt.Sprintf("\n- To go back, restore the old head and comment `/mergexo unblock`:\n  `%s`\n- To continue from the current head, comment `/mergexo unblock head_sha=%s`.",
			markdown.Restore(p.HeadRef, m.Observed, m.Expected), m.Observed)
	case model.MarkerSpoilt(m.Reason) && m.Expected == "":
		return text + fmt.Sprintf("\nThe last accepted head is no longer known. To continue from the current head, comment `/mergexo unblock head_sha=%s`.", m.Observed)
	case m.Reason == model.ReasonFlaky:
		return text + "\nTo have the agent look at the failure again, comment `/mergexo unblock`."
	case m.Reason == model.ReasonSession:
		return text + "\nTo start a new agent session, comment `/mergexo unblock`."
	}
	return text + "\nTo continue, comment `/mergexo unblock`."
}

// SettingsText tells that a pull request waits for settings that can be used. problems are those of one file, a line each.
func SettingsText(p model.Pull, file, problems string) string {
	return fmt.Sprintf("**Stopped: the settings are invalid**\n\n%s\n\nFix [`%s`](%s/blob/%s/%s) on branch `%s`, which needs write access there. MergeXO continues with the next comment or scheduled run. "+
		"This notice is not repeated for the same error.", markdown.Quote(problems), markdown.Code(file), markdown.Repository(p.URL), markdown.Path(p.BaseRef), markdown.Path(file), markdown.Code(p.BaseRef))
}

// LackText tells that an agent cannot start, and what a person does about that: with a command, or else as fix says.
func LackText(missing, why, command, fix string) string {
	if command != "" {
		fix = "Run this, and " + fix + ":\n\n    " + command
	}
	return fmt.Sprintf("**Stopped: %s**\n\n%s\n\n%s\n\nNo agent was started, and no attempt counted. MergeXO continues with the next comment or sweep. This notice is not repeated.",
		missing, sentence(why), sentence(fix))
}

// sentence begins with a capital, and ends with a full stop unless it ends with a command.
func sentence(text string) string {
	if !strings.Contains(text, "\n") {
		text += "."
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// IdentityText tells that another account has worked here as MergeXO.
func IdentityText(f model.Foreign, viewer string) string {
	return fmt.Sprintf("**Stopped: MergeXO has worked here with another account**\n\n`%s` [wrote as MergeXO](%s), but the token of this run belongs to `%s`. "+
		"MergeXO does nothing here with this token. `mergexo help ci` tells what to do after a change of the token.", markdown.Code(f.Author.Login), f.URL, markdown.Code(viewer))
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// BlockReason is the same for a terminal: what and why in the first line, with the way on.
func BlockReason(p model.Pull, m model.BlockMarker, detail string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(detail), "\n")
	reason := fmt.Sprintf("pull request %d is blocked (%s): %s", m.Number, m.Reason, strings.ReplaceAll(headline(m, p), "`", ""))
	if first != "" {
		reason += ": " + first
	}
	if m.Reason == model.ReasonRewrite {
		reason += fmt.Sprintf(": expected head %s, observed %s", m.Expected, m.Observed)
	}
	if !m.Until.IsZero() {
		reason += "; the block ends at " + moment(m.Until)
	}
	if m.Reason == model.ReasonAgent {
		reason += "; to continue, answer there, or an operator comments /mergexo unblock"
	} else {
		reason += "; to continue, an operator comments /mergexo unblock"
	}
	if rest != "" {
		reason += "\n" + rest
	}
	return reason
}

// headlines say in a few words why a pull request is blocked. %s is its head branch.
var headlines = map[string]string{
	model.ReasonRewrite:       "the history of `%s` was rewritten",
	model.ReasonMarkerEdited:  "somebody else edited a comment that holds MergeXO's state",
	model.ReasonMarkerDeleted: "somebody deleted a comment of MergeXO's",
	model.ReasonAttempts:      fmt.Sprintf("%d attempts at the same feedback failed", MaxAttempts),
	model.ReasonAgent:         "the agent has a question",
	model.ReasonRefused:       "the agent's model refused",
	model.ReasonSession:       "the agent's session is not available",
	model.ReasonOutcome:       "the agent's answer is invalid; nothing was pushed",
	model.ReasonForbidden:     "the agent made changes that are not allowed; nothing was pushed",
	model.ReasonSecret:        "the agent's commits seem to contain a secret; nothing was pushed",
	model.ReasonTests:         "required tests fail; nothing was pushed to `%s`",
	model.ReasonPush:          "the server refused the push to `%s`",
	model.ReasonConflict:      "newly pushed commits conflict with the agent's",
	model.ReasonBudget:        "today's budget is used up",
	model.ReasonFlaky:         "a test reported as flaky failed again",
}

// inWords is the reason of a marker without its code: "CODE" alone, or before what happened.
func inWords(reason string, p model.Pull) string {
	code, rest, _ := strings.Cut(reason, ": ")
	if _, known := headlines[code]; !known {
		return reason
	}
	words := strings.ReplaceAll(headline(model.BlockMarker{Reason: code}, p), "`", "")
	if rest != "" {
		words += ": " + rest
	}
	return words
}

func headline(m model.BlockMarker, p model.Pull) string {
	if m.Reason == model.ReasonRewrite && m.Phase == model.GuardLocal {
		return "the agent rewrote history in its checkout; nothing was pushed"
	}
	text, known := headlines[m.Reason]
	if !known {
		return m.Reason
	}
	return strings.ReplaceAll(text, "%s", markdown.Code(p.HeadRef))
}
