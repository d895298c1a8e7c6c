package journal

import (
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

var conflictMarkers = markers[model.ConflictMarker]{
	kind:   KindConflicts,
	place:  func(m *model.ConflictMarker) (*string, *int) { return &m.Repo, &m.Number },
	check:  checkConflicts,
	sticky: true,
	take:   (*fold).conflicts,
	recall: whole[model.ConflictMarker],
	describe: func(e *model.LogEntry, m model.ConflictMarker) {
		e.State, e.SHA, e.What = "conflicts", m.Head, "reported "+conflictsOf(m)
	},
}

func checkConflicts(m *model.ConflictMarker) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("mergexo-conflicts marker: "+format, args...)
	}
	for _, sha := range []string{m.Head, m.BaseSHA} {
		if !isSHA(sha) {
			return wrong("%q is no commit's id", sha)
		}
	}
	if m.Base == "" {
		return wrong("it names no base")
	}
	for _, w := range m.With {
		if w.Number < 1 || !isSHA(w.Head) {
			return wrong("pull request %d with head %q cannot be", w.Number, w.Head)
		}
	}
	return nil
}

// conflicts takes the sticky comment on conflicts: the first one, so that two racing runs agree.
func (f *fold) conflicts(cm model.Comment, m *model.ConflictMarker) {
	if !first(&f.st.Conflicts, *m, cm) {
		f.surplus(cm.ID)
	}
}

// conflictsOf says what a comment reported: the base and the pull requests that conflict, or that none is left.
func conflictsOf(m model.ConflictMarker) string {
	var all []string
	if len(m.Paths) > 0 {
		all = append(all, m.Base)
	}
	for _, w := range m.With {
		all = append(all, fmt.Sprintf("#%d", w.Number))
	}
	if len(all) == 0 {
		return "that no conflicts are left"
	}
	return "conflicts with " + strings.Join(all, ", ")
}
