package turn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// maxTries is how many earlier attempts a marker records.
const maxTries = 10

// Past are the failed attempts whose claims another one replaces, the newest last. A claim with recorded work has not
// failed: its replacement continues it.
func Past(known []model.Try, replaced []model.Posted[model.TurnMarker]) []model.Try {
	var all []model.Try
	add := func(t model.Try) {
		if !slices.ContainsFunc(all, func(o model.Try) bool { return o.RunURL == t.RunURL && o.Attempt == t.Attempt }) {
			all = append(all, t)
		}
	}
	for _, c := range replaced {
		for _, t := range c.Marker.Tries {
			add(t)
		}
	}
	for _, t := range known {
		add(t)
	}
	for _, c := range replaced {
		if c.Marker.Phase == model.PhaseStarted || c.Marker.Phase == model.PhaseFailed {
			add(c.Marker.Try())
		}
	}
	return all[max(0, len(all)-maxTries):]
}

// Earlier lists earlier attempts: the cause, the run and the branch of each. "" for none. url is that of the pull request
// or issue.
func Earlier(url string, tries []model.Try) string { return listed("Earlier attempts", url, tries) }

func listed(title, url string, tries []model.Try) string {
	if len(tries) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n\n%s:\n", title)
	for len(tries) > 0 {
		n, what := 1, outcome(url, tries[0])
		for n < len(tries) && outcome(url, tries[n]) == what && (tries[n].Attempt < 1) == (tries[0].Attempt < 1) {
			n++
		}
		b.WriteString("\n- " + numbered(tries[:n]) + ": " + what)
		tries = tries[n:]
	}
	return b.String()
}

// numbered names attempts with the same result, and links their runs.
func numbered(same []model.Try) string {
	first, last := same[0].Attempt, same[len(same)-1].Attempt
	name := fmt.Sprintf("Attempt %d", first)
	switch {
	case first < 1 && len(same) == 1:
		name = "An attempt that did not count"
	case first < 1:
		name = fmt.Sprintf("%d attempts that did not count", len(same))
	case last > first:
		name = fmt.Sprintf("Attempts %d to %d", first, last)
	}
	var runs []string
	for _, t := range same {
		if t.RunURL != "" {
			runs = append(runs, fmt.Sprintf("[run](%s)", t.RunURL))
		}
	}
	if runs != nil {
		name += " (" + strings.Join(runs, ", ") + ")"
	}
	return name
}

// outcome says in a line how an attempt ended.
func outcome(url string, t model.Try) (what string) {
	switch {
	case t.Reason == "":
		what = "its run ended without a result; see the run's log"
	case strings.HasPrefix(t.Reason, "agent: "):
		what = strings.TrimSuffix(markdown.Failure(strings.Join(strings.Fields(t.Reason), " ")), ".")
	default:
		what = markdown.Inline(t.Reason)
	}
	k := t.Kept
	switch {
	case k.Bundle != "":
		what += fmt.Sprintf("; its work is only on the runner, in the git bundle %s: `%s`", markdown.Inline(k.Bundle), markdown.Rescue(k.Bundle))
	case k.Hidden():
		what += fmt.Sprintf("; its work is kept on a hidden ref: `%s`", markdown.Unhide(k.Branch, k.Bundled()))
	case k.Branch != "":
		what += fmt.Sprintf("; its work is on branch %s at %s", markdown.Tree(url, k.Branch, k.SHA), markdown.Commit(url, k.SHA))
	case k.SHA != "":
		what += fmt.Sprintf("; its work is also in %s", markdown.Commit(url, k.SHA))
	}
	return what
}

// WorthTelling are the attempts that a receipt tells of: those that left work, or said why they ended.
func WorthTelling(tries []model.Try) []model.Try {
	return slices.DeleteFunc(slices.Clone(tries), func(t model.Try) bool { return t.Reason == "" && !t.Kept.Left() })
}
