package merge

import (
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Undo is a revert of what a pull request landed.
type Undo struct {
	By      string
	URL     string         // of the comment that asked for it; "" for none
	Reason  string         // why, in words of others; "" where none was given
	Landed  string         // the last commit that it put on the base
	Base    string         // branch
	Commits []model.Commit // that are taken back, newest first
	More    int            // older ones that are not among them
	Pull    model.PullRef  // that does it
	Earlier bool           // a run before this one has opened it, and its description tells of the tests
	Tests   TestRun
	// Asks says that its merge is requested as well, since the repository's checks, or GitHub's merge queue, test it then.
	Asks  bool
	Notes []string
}

// TestedLater is why a revert was not tested before it was opened.
const TestedLater = "the repository's checks test it before it lands"

// RevertTitle is the title of the pull request, and the subject of its commit. The title of the other one is in it as it is:
// what GitHub would act on is made inert by whoever posts it, as in any draft of a pull request.
func RevertTitle(p model.Pull) string {
	const most = 200
	title := markdown.OneLine(p.Title)
	if r := []rune(title); len(r) > most {
		title = string(r[:most]) + "…"
	}
	return fmt.Sprintf("Revert #%d: %s", p.Number, title)
}

// RevertBody is the description of the pull request.
func RevertBody(p model.Pull, u Undo) string {
	var b strings.Builder
	fmt.Fprintf(&b, "This reverts what #%d put on `%s` with %s. Requested by %s%s",
		p.Number, markdown.Code(u.Base), markdown.Commit(p.URL, u.Landed), u.By, either(u.URL == "", "", fmt.Sprintf(" in [this comment](%s)", u.URL)))
	if u.Reason != "" {
		fmt.Fprintf(&b, ":\n\n> %s\n\n%s", markdown.Plain(markdown.OneLine(u.Reason)), TestsText(u.Tests))
	} else {
		fmt.Fprintf(&b, ". No reason was given.\n\n%s", TestsText(u.Tests))
	}
	for i, c := range u.Commits {
		if i == 0 {
			b.WriteString("\n\nReverted:\n")
		}
		if i == maxCommits {
			u.More += len(u.Commits) - i
			break
		}
		b.WriteString(markdown.Listed(p.URL, c.SHA, c.Subject, c.Author))
	}
	if u.More > 0 {
		fmt.Fprintf(&b, "\n- %s", markdown.Count(u.More, "older commit"))
	}
	return b.String() + notes(p, u.Notes)
}

// RevertText answers the command on the pull request that is taken back.
func RevertText(u Undo) string {
	return fmt.Sprintf("**Opened a revert:** [#%d](%s) reverts what this pull request put on `%s`. %s%sNothing changes until it is merged.%s",
		u.Pull.Number, u.Pull.URL, markdown.Code(u.Base), either(u.Earlier, "", TestsText(u.Tests)+" "), either(u.Asks, "Its merge is requested, too. ", ""), notes(model.Pull{URL: u.Pull.URL}, u.Notes))
}

// RevertFailText answers a revert that could not be made.
func RevertFailText(p model.Pull, u Undo, f Failure) string {
	e := f.end(model.MergeMarker{Base: u.Base})
	headline := map[model.MergeCode]string{
		model.CodeConflict: "later changes on `%s` conflict with the revert",
		model.CodeEmpty:    "it is already reverted on `%s`",
		model.CodeTests:    "the tests fail without it",
	}[f.Code]
	if headline == "" || f.kind(model.MergeMarker{}) == testsUnstarted {
		headline = e.headline
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**Not reverted: %s** (`%s`). Nothing was changed.%s", strings.ReplaceAll(headline, "%s", markdown.Code(u.Base)), f.Code, detail(f.Detail))
	if f.Conflicts != nil {
		b.WriteString("\n\n" + ConflictText(p, *f.Conflicts))
	}
	if f.Tests != nil {
		b.WriteString("\n\n" + TestsText(*f.Tests))
	}
	return b.String() + notes(p, f.Notes)
}
