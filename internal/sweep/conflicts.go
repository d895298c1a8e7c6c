package sweep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Act says what to do with the sticky comment on conflicts.
type Act int

// The acts.
const (
	None Act = iota
	Post
	Edit
	Delete
)

// Sticky decides what to do with the comment on conflicts; old is nil if there is none. A head that moved is no reason to edit
// the comment.
func Sticky(old *model.Posted[model.ConflictMarker], now model.ConflictMarker) Act {
	conflicts := len(now.Paths)+len(now.With) > 0
	switch {
	case old == nil && conflicts:
		return Post
	case old != nil && !conflicts:
		return Delete
	case old != nil && said(old.Marker) != said(now):
		return Edit
	}
	return None
}

// Kept adds to now the conflicts that were reported before, for a run that could not check every pair: a conflict that was not
// checked stays as long as the other pull request is open. A pair that was checked counts as it was found.
func Kept(old *model.Posted[model.ConflictMarker], now model.ConflictMarker, open func(number int) bool) model.ConflictMarker {
	if old == nil || old.Marker.Base != now.Base {
		return now
	}
	now.With = slices.Clone(now.With)
	for _, w := range old.Marker.With {
		if open(w.Number) && !slices.ContainsFunc(now.With, func(is model.ConflictWith) bool { return is.Number == w.Number }) {
			now.With = append(now.With, w)
		}
	}
	slices.SortFunc(now.With, func(a, b model.ConflictWith) int { return a.Number - b.Number })
	return now
}

// said is the part of a conflict that a comment shows.
func said(m model.ConflictMarker) string {
	with := make([]string, len(m.With))
	for i, w := range m.With {
		with[i] = fmt.Sprintf("%d%q", w.Number, slices.Sorted(slices.Values(w.Paths)))
	}
	slices.Sort(with)
	return fmt.Sprintf("%q%q%q", m.Base, slices.Sorted(slices.Values(m.Paths)), with)
}

// Culprit is the commit on the base that conflicts in a path.
type Culprit struct {
	Path   string
	Commit model.Commit
	Pull   int // that it came with; 0 where that is not known
}

// How much a comment on conflicts lists.
const (
	maxPaths     = 30
	maxPeers     = 20
	maxPeerPaths = 5
)

// ConflictText tells what conflicts, with what, and what to do. page is the URL of the pull request.
func ConflictText(page string, m model.ConflictMarker, culprits []Culprit) string {
	var b strings.Builder
	base := "`" + markdown.Code(m.Base) + "`"
	switch {
	case len(m.Paths) == 0:
		b.WriteString("**This pull request conflicts with other open ones.**\n")
	default:
		fmt.Fprintf(&b, "**This pull request conflicts with %s.**\n\nIn %s:\n", base, markdown.Count(len(m.Paths), "file"))
		for _, p := range m.Paths[:min(len(m.Paths), maxPaths)] {
			fmt.Fprintf(&b, "\n- %s%s", file(p), inTheWay(page, p, culprits))
		}
		b.WriteString(further(len(m.Paths), maxPaths) + "\n")
	}
	for i, w := range m.With[:min(len(m.With), maxPeers)] {
		if i == 0 {
			b.WriteString("\nIt changes the same lines as other open pull requests: whichever is merged second will conflict.\n")
		}
		fmt.Fprintf(&b, "\n- #%d: %s", w.Number, files(w.Paths, maxPeerPaths))
	}
	if len(m.With) > 0 {
		b.WriteString(further(len(m.With), maxPeers) + "\n")
	}
	if len(m.Paths) > 0 {
		fmt.Fprintf(&b, "\nTo resolve it, merge %s into this branch, or ask the agent to do so in a comment.", base)
	} else {
		fmt.Fprintf(&b, "\nYou need not do anything yet. Once one of them is merged, merge %s into this branch, or ask the agent to do so in a comment.", base)
	}
	b.WriteString(" MergeXO keeps this comment up to date, and deletes it once all conflicts are gone.")
	return b.String()
}

func inTheWay(page, path string, culprits []Culprit) string {
	i := slices.IndexFunc(culprits, func(c Culprit) bool { return c.Path == path })
	if i < 0 {
		return ""
	}
	c := culprits[i]
	text := fmt.Sprintf(", changed by %s", markdown.Commit(page, c.Commit.SHA))
	if s := markdown.Inline(markdown.Cut(c.Commit.Subject, 120)); s != "" {
		text += " " + s
	}
	if c.Pull != 0 {
		text += fmt.Sprintf(" (#%d)", c.Pull)
	}
	return text
}

// file is a path as a comment shows it.
func file(path string) string { return markdown.Inline(markdown.Cut(path, 200)) }

// files are some paths in one line.
func files(paths []string, most int) string {
	list := make([]string, 0, most)
	for _, p := range paths[:min(len(paths), most)] {
		list = append(list, file(p))
	}
	text := strings.Join(list, ", ")
	if n := len(paths) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// further says how many of a list were left out.
func further(all, most int) string {
	if all <= most {
		return ""
	}
	return fmt.Sprintf("\n- and %d more", all-most)
}
