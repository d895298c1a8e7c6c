package turn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Limits for earlier attempts in a marker.
const (
	maxTries = 10
	maxCause = 300 // characters
)

// TryOf records a failed attempt from its claim.
func TryOf(m model.TurnMarker) model.Try {
	cause := []rune(strings.Join(strings.Fields(m.Reason), " "))
	if len(cause) > maxCause {
		cause = append(cause[:maxCause], '…')
	}
	return model.Try{Attempt: m.Attempt, Reason: string(cause), RunURL: m.RunURL, Handoff: m.Handoff, Checkpoint: m.Checkpoint, CheckpointSHA: m.CheckpointSHA}
}

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
			add(TryOf(c.Marker))
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
	for _, t := range tries {
		b.WriteString("\n- " + told(url, t))
	}
	return b.String()
}

// told is one attempt in a line.
func told(url string, t model.Try) string {
	what := "Attempt " + fmt.Sprint(t.Attempt)
	if t.Attempt < 1 {
		what = "An attempt that did not count"
	}
	if t.RunURL != "" {
		what += fmt.Sprintf(" ([run](%s))", t.RunURL)
	}
	if what += ": "; t.Reason != "" {
		what += markdown.Inline(t.Reason)
	} else {
		what += "its run ended without a result; see the run's log"
	}
	k := model.Kept{Branch: t.Checkpoint, SHA: t.CheckpointSHA}
	switch {
	case k.Hidden():
		what += fmt.Sprintf("; its work is kept in a bundle on a hidden ref: `%s`", markdown.Unbundle(k.Branch))
	case k.Branch != "":
		what += fmt.Sprintf("; its work is on branch %s at %s", markdown.Branch(url, k.Branch), markdown.Commit(url, k.SHA))
	case k.SHA != "":
		what += fmt.Sprintf("; its work is also in %s", markdown.Commit(url, k.SHA))
	}
	return what
}

// WorthTelling are the attempts that a receipt tells of: those that left work, or said why they ended.
func WorthTelling(tries []model.Try) []model.Try {
	return slices.DeleteFunc(slices.Clone(tries), func(t model.Try) bool { return t.Reason == "" && t.Checkpoint == "" })
}
