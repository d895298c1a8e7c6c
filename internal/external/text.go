package external

import (
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Texts about a fork's pull request. Everything here is Markdown for its comment; the journal neutralizes foreign text and
// adds the marker.

// LetInText says that a pull request is admitted, and what follows; evaluates says that a command evaluates it.
func LetInText(p model.Pull, m model.ExternalMarker, evaluates bool) string {
	next := either(evaluates, "A command of this repository evaluates it now. The result is posted here.", "The label is enough: MergeXO merges it next.")
	return fmt.Sprintf("**Accepted** by %s with label `%s`: %s%s%s\n\n%s\n\nThis covers only this commit. After a new push, add the label again.", m.By, markdown.Code(m.Label), change(p, m), markdown.Run(m.RunURL), mirrored(p, m), next)
}

// GoingText reports progress while the admission is open.
func GoingText(p model.Pull, m model.ExternalMarker) string {
	switch m.State {
	case model.ExternalApproved:
		return fmt.Sprintf("**Approved**: %s%s\n\nA separate comment reports the merge; `/mergexo why` lists every condition.", what(p, m), said(m.Reason))
	case model.ExternalFix:
		return fmt.Sprintf("**Fixing**%s: %s%s%s\n\nMergeXO adds commits on top of the contributor's, which stay unchanged.", count(", round %d", m.Round), what(p, m), mirrored(p, m), said(m.Reason))
	}
	return fmt.Sprintf("**Evaluating**%s: %s%s", either(m.Round > 0, fmt.Sprintf(" again, after round %d of fixes", m.Round), ""), what(p, m), mirrored(p, m))
}

// VoidText says that the head moved, from where to where; or that the base changed.
func VoidText(p model.Pull, m model.ExternalMarker) string {
	cause := fmt.Sprintf("New commits were pushed after %s accepted %s; the head is now %s.", m.By, markdown.Commit(p.URL, m.Head), markdown.Commit(p.URL, m.Moved))
	if m.Moved == m.Head {
		cause = fmt.Sprintf("%s accepted %s for `%s`, but the base is now `%s`.", m.By, markdown.Commit(p.URL, m.Head), markdown.Code(m.Base), markdown.Code(p.BaseRef))
	}
	text := "**This needs a new review.** " + cause + " Earlier results no longer count."
	if m.Mirror != "" {
		text += fmt.Sprintf(" Branch %s stays unchanged.", markdown.Branch(p.URL, m.Mirror))
	}
	return text + "\n\n" + relabel(m, "A maintainer who has reviewed it can")
}

// RelabelText asks for the label again: it is unknown which head or which base it was for.
func RelabelText(p model.Pull, m model.ExternalMarker) string {
	cause := fmt.Sprintf("the fork was pushed to at %s", moment(p.ForkPushedAt))
	switch m.Reason {
	case gone:
		cause = "GitHub no longer shows when the fork was pushed to"
	case moved:
		return fmt.Sprintf("**Not accepted yet**: the base is `%s`, and %s may have accepted this for another branch. The label `%s` was added at %s, and the base was changed at %s.\n\n%s",
			markdown.Code(p.BaseRef), m.By, markdown.Code(m.Label), moment(m.At), moment(p.BaseChangedAt), relabel(m, "A maintainer who has reviewed it for that branch can"))
	case changed:
		return fmt.Sprintf("**Not accepted yet**: the head is %s. %s added the label `%s` at %s. Somebody has changed the label itself since, so it may have meant something else then.\n\n%s",
			markdown.Commit(p.URL, m.Head), m.By, markdown.Code(m.Label), moment(m.At), relabel(m, "A maintainer who has reviewed that head can"))
	}
	return fmt.Sprintf("**Not accepted yet**: the head is %s, and %s may have reviewed another one. The label `%s` was added at %s, and %s.\n\n%s",
		markdown.Commit(p.URL, m.Head), m.By, markdown.Code(m.Label), moment(m.At), cause, relabel(m, "A maintainer who has reviewed that head can"))
}

// OverText says that somebody merged or closed the pull request first.
func OverText(p model.Pull, m model.ExternalMarker) string {
	if p.State == model.PullMerged {
		return fmt.Sprintf("**Nothing more to do: it was merged in the meantime.** %s", what(p, m))
	}
	return fmt.Sprintf("**Nothing more to do: it was closed in the meantime.** %s\n\n%s", what(p, m), relabel(m, "If it is reopened, a maintainer who has reviewed it can"))
}

// UnlabelledText says that somebody removed the label while a command was at work.
func UnlabelledText(p model.Pull, m model.ExternalMarker) string {
	return fmt.Sprintf("**The result does not count: the label `%s` was removed in the meantime.** %s\n\n%s", markdown.Code(m.Label), what(p, m), relabel(m, "A maintainer who has reviewed it can"))
}

// RejectedText says why it is rejected.
func RejectedText(p model.Pull, m model.ExternalMarker) string {
	return fmt.Sprintf("**Rejected**: %s\n\nThank you for the effort. These are the reasons:%s\n\nThe pull request is closed. If you disagree, comment here: a maintainer can reopen it and add the label `%s` to have it evaluated again.",
		what(p, m), said(m.Reason), markdown.Code(m.Label))
}

// LandedText says which commits of the base have the same changes.
func LandedText(p model.Pull, m model.ExternalMarker) string {
	const most = 30
	var b strings.Builder
	fmt.Fprintf(&b, "**Already on `%s`** under other commit ids, so GitHub cannot show this pull request as merged:\n", markdown.Code(m.Base))
	for i, c := range m.Landed {
		if i == most {
			fmt.Fprintf(&b, "\n- and %d more", len(m.Landed)-most)
			break
		}
		b.WriteString(markdown.Listed(p.URL, c.SHA, c.Subject, ""))
	}
	b.WriteString("\n\nThank you for the contribution. Nothing is missing, so the pull request is closed.")
	return b.String()
}

// WantingText says what the contributor has to change.
func WantingText(p model.Pull, m model.ExternalMarker) string {
	done := ""
	if m.Round > 0 {
		done = fmt.Sprintf("\n\n%s did not resolve it; they are on branch %s.", markdown.Count(m.Round, "round")+" of fixes", markdown.Branch(p.URL, m.Mirror))
	}
	return fmt.Sprintf("**Changes requested**: %s%s%s\n\nPlease push the requested changes to this pull request. %s", what(p, m), said(m.Reason), done, relabel(m, "A maintainer who has reviewed that can then"))
}

// FailedText says that the evaluation or the fix had no result, or that an approved head cannot be merged. That need not be
// the contributor's fault.
func FailedText(p model.Pull, m model.ExternalMarker) string {
	headline, where := "The evaluation produced no result", " (check the commands of `[external]` in `.github/mergexo.toml`)"
	switch m.Verdict {
	case model.VerdictFix:
		headline = "The fix produced no result"
	case model.VerdictApprove:
		headline, where = "Approved, but it cannot be merged", ""
	}
	return fmt.Sprintf("**%s**%s: %s\n\n%s\n\nNothing was merged or closed. Once the cause is fixed%s, a maintainer can add the label `%s` to start again.",
		headline, either(m.Attempt > 1, fmt.Sprintf(", in %d attempts", m.Attempt), ""), what(p, m), either(m.Reason == "", "The reason is unknown.", markdown.Quote(m.Reason)),
		where, markdown.Code(m.Label))
}

// LinkedText says that the pull request has a mirror made by somebody else.
func LinkedText(p model.Pull, m model.ExternalMarker) string {
	return fmt.Sprintf("Mirrored on branch %s at %s. Nothing more happens until somebody who may merge adds the label `%s`.",
		markdown.Branch(p.URL, m.Mirror), markdown.Commit(p.URL, m.Tip), markdown.Code(m.Label))
}

// what describes an admission: its head, who admitted it, and its base.
func what(p model.Pull, m model.ExternalMarker) string {
	return change(p, m) + fmt.Sprintf(", accepted by %s with label `%s`", m.By, markdown.Code(m.Label)) + markdown.Run(m.RunURL)
}

// change is what was admitted, and its base.
func change(p model.Pull, m model.ExternalMarker) string {
	text := markdown.Commit(p.URL, m.Head)
	if m.Tip != "" && m.Tip != m.Head {
		text += fmt.Sprintf(", with fixes on top up to %s,", markdown.Commit(p.URL, m.Tip))
	}
	return text + fmt.Sprintf(" for `%s`", markdown.Code(m.Base))
}

func mirrored(p model.Pull, m model.ExternalMarker) string {
	if m.Mirror == "" {
		return ""
	}
	return fmt.Sprintf("\n\nIt is on branch %s.", markdown.Branch(p.URL, m.Mirror))
}

// relabel is the sentence that asks for the label.
func relabel(m model.ExternalMarker, what string) string {
	return fmt.Sprintf("%s add the label `%s` again.", what, markdown.Code(m.Label))
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
	plain := strings.NewReplacer(`\`, `\\`, "~", `\~`)
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
