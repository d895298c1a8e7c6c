package external

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Texts about a fork's pull request. Everything here is Markdown for its comment; the journal neutralises foreign text and
// adds the marker.

// LetInText says that a pull request is admitted, and what follows; evaluates says that a command evaluates it.
func LetInText(p model.Pull, m model.ExternalMarker, evaluates bool) string {
	next := either(evaluates, "A command of this repository evaluates it now, and what it says is told here.", "Nothing evaluates it beside the label: the merge is next.")
	return fmt.Sprintf("**Let in**: %s%s\n\n%s\n\nAll of this is about exactly this commit. What is pushed to the pull request from now on needs the label again.", what(p, m), mirrored(p, m), next)
}

// GoingText reports progress while the admission is open.
func GoingText(p model.Pull, m model.ExternalMarker) string {
	switch m.State {
	case model.ExternalApproved:
		return fmt.Sprintf("**Approved**: %s%s\n\nHow its merge goes is told in a comment of its own; `/mergexo why` lists every condition.", what(p, m), said(m.Reason))
	case model.ExternalFix:
		return fmt.Sprintf("**Being repaired**%s: %s%s%s\n\nCommits of MergeXO go on top of the contributor's, which stay as they are.", count(", round %d", m.Round), what(p, m), mirrored(p, m), said(m.Reason))
	}
	return fmt.Sprintf("**Being evaluated**%s: %s%s", either(m.Round > 0, fmt.Sprintf(" again, after round %d of repairs", m.Round), ""), what(p, m), mirrored(p, m))
}

// VoidText says that the head moved, from where to where; or that the base changed.
func VoidText(p model.Pull, m model.ExternalMarker) string {
	cause := fmt.Sprintf("The head was %s and is %s now, which nobody has let in.", markdown.Commit(p.URL, m.Head), markdown.Commit(p.URL, m.Moved))
	if m.Moved == m.Head {
		cause = fmt.Sprintf("It was let in for `%s`, and the pull request goes to `%s` now.", markdown.Code(m.Base), markdown.Code(p.BaseRef))
	}
	text := "**Void**: " + what(p, m) + "\n\n" + cause + " Nothing that was found out about it counts any more."
	if m.Mirror != "" {
		text += fmt.Sprintf(" Branch %s stays as it is.", branch(p, m.Mirror))
	}
	return text + "\n\n" + relabel(m, "A maintainer who has looked at it as it is now lets it in")
}

// RelabelText asks for the label again: it is unknown which head it was for.
func RelabelText(p model.Pull, m model.ExternalMarker) string {
	cause := fmt.Sprintf("the fork was pushed to at %s", moment(p.ForkPushedAt))
	switch m.Reason {
	case gone:
		cause = "GitHub does not tell any more when the fork was pushed to"
	case changed:
		return fmt.Sprintf("**Not let in yet**: the head is %s. The label `%s` was put on by %s at %s, and the label itself was changed since, so that nobody knows whether it meant this then.\n\n%s",
			markdown.Commit(p.URL, m.Head), markdown.Code(m.Label), m.By, moment(m.At), relabel(m, "A maintainer who has looked at that head lets it in"))
	}
	return fmt.Sprintf("**Not let in yet**: the head is %s, and it may be another one than %s has looked at. The label `%s` was put on at %s, and %s.\n\n%s",
		markdown.Commit(p.URL, m.Head), m.By, markdown.Code(m.Label), moment(m.At), cause, relabel(m, "A maintainer who has looked at that head lets it in"))
}

// OverText says that somebody merged or closed the pull request first.
func OverText(p model.Pull, m model.ExternalMarker) string {
	if p.State == model.PullMerged {
		return fmt.Sprintf("**Nothing more to do**, it was merged meanwhile: %s", what(p, m))
	}
	return fmt.Sprintf("**Nothing more to do**, it was closed meanwhile: %s\n\n%s", what(p, m), relabel(m, "Where it is opened again, a maintainer who has looked at it lets it in"))
}

// RejectedText says why it is rejected.
func RejectedText(p model.Pull, m model.ExternalMarker) string {
	return fmt.Sprintf("**Not taken**: %s\n\nThank you for the effort. These are the reasons:%s\n\nThe pull request is closed with that. Where the reasons do not hold, say so here: a maintainer can open it again, and has it evaluated anew by putting the label `%s` on again.",
		what(p, m), said(m.Reason), markdown.Code(m.Label))
}

// LandedText says which commits of the base have the same changes.
func LandedText(p model.Pull, m model.ExternalMarker) string {
	const most = 30
	var b strings.Builder
	fmt.Fprintf(&b, "**It is on `%s` already**, under other ids, so that GitHub cannot show this pull request as merged:\n", markdown.Code(m.Base))
	for i, c := range m.Landed {
		if i == most {
			fmt.Fprintf(&b, "\n- and %d more", len(m.Landed)-most)
			break
		}
		fmt.Fprintf(&b, "\n- %s %s", markdown.Commit(p.URL, c.SHA), markdown.Inline(c.Subject))
	}
	b.WriteString("\n\nThank you for the contribution. Nothing of it is missing, so the pull request is closed.")
	return b.String()
}

// WantingText says what the contributor has to change.
func WantingText(p model.Pull, m model.ExternalMarker) string {
	done := ""
	if m.Round > 0 {
		done = fmt.Sprintf("\n\n%s did not settle it; what was tried is on branch %s.", markdown.Count(m.Round, "round")+" of repairs", branch(p, m.Mirror))
	}
	return fmt.Sprintf("**Changes are wanted**: %s%s%s\n\nPlease push them to this pull request. %s", what(p, m), said(m.Reason), done, relabel(m, "A maintainer who has looked at that lets it in again"))
}

// FailedText says that the evaluation or the fix had no result, or that an approved head cannot be merged. That need not be
// the contributor's fault.
func FailedText(p model.Pull, m model.ExternalMarker) string {
	headline, where := "The evaluation came to no result", ", in the commands of `[external]` in `.github/mergexo.toml` or elsewhere"
	switch m.Verdict {
	case model.VerdictFix:
		headline = "The repair came to no result"
	case model.VerdictApprove:
		headline, where = "Approved, and not to be merged as things are", ""
	}
	return fmt.Sprintf("**%s**%s: %s\n\n%s\n\nNothing was merged and nothing is closed. Once that is mended%s, a maintainer begins anew by putting the label `%s` on again.",
		headline, either(m.Attempt > 1, fmt.Sprintf(", in %d attempts", m.Attempt), ""), what(p, m), either(m.Reason == "", "Nobody knows why.", markdown.Quote(m.Reason)),
		where, markdown.Code(m.Label))
}

// LinkedText says that the pull request has a mirror made by somebody else.
func LinkedText(p model.Pull, m model.ExternalMarker) string {
	return fmt.Sprintf("Mirrored on branch %s at %s. Nothing more happens until somebody who may merge puts the label `%s` on.",
		branch(p, m.Mirror), markdown.Commit(p.URL, m.Tip), markdown.Code(m.Label))
}

// FixedNote is a note in the merge's comment: our commits on top of the contributor's.
func FixedNote(commits []model.Commit) string {
	var list []string
	for _, c := range commits {
		list = append(list, c.SHA)
	}
	return fmt.Sprintf("On top of the contributor's commits %s made here, as the evaluation wanted: %s.", either(len(list) == 1, "is 1 that was", fmt.Sprintf("are %d that were", len(list))), strings.Join(list, ", "))
}

// what describes an admission: its head, who admitted it, and its base.
func what(p model.Pull, m model.ExternalMarker) string {
	text := markdown.Commit(p.URL, m.Head)
	if m.Tip != "" && m.Tip != m.Head {
		text += fmt.Sprintf(", with repairs on top up to %s,", markdown.Commit(p.URL, m.Tip))
	}
	text += fmt.Sprintf(" for `%s`, accepted by %s with label `%s`", markdown.Code(m.Base), m.By, markdown.Code(m.Label))
	if m.RunURL != "" {
		text += fmt.Sprintf(" · [run](%s)", m.RunURL)
	}
	return text
}

func mirrored(p model.Pull, m model.ExternalMarker) string {
	if m.Mirror == "" {
		return ""
	}
	return fmt.Sprintf("\n\nIt is on branch %s.", branch(p, m.Mirror))
}

// branch links the tree of a branch of this repository.
func branch(p model.Pull, name string) string {
	return fmt.Sprintf("[`%s`](%s/tree/%s)", markdown.Code(name), markdown.Repository(p.URL), strings.ReplaceAll(url.PathEscape(name), "%2F", "/"))
}

// relabel is the sentence that asks for the label.
func relabel(m model.ExternalMarker, what string) string {
	return fmt.Sprintf("%s by putting the label `%s` on again.", what, markdown.Code(m.Label))
}

func count(format string, n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(format, n)
}

// said quotes an evaluation line by line, without markup, mentions or disguised links.
func said(reason string) string {
	const most = 50
	plain := strings.NewReplacer(`\`, `\\`, "&", "&amp;", "[", `\[`, "~", `\~`)
	var lines []string
	for line := range strings.Lines(reason) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, "> "+either(line[0] == '#', `\`, "")+markdown.Plain(plain.Replace(line)))
		}
	}
	if len(lines) > most {
		lines = append(lines[:most], "> [...]")
	}
	if len(lines) == 0 {
		return ""
	}
	return "\n\n" + strings.Join(lines, "\n>\n")
}
