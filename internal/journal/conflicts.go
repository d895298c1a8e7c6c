package journal

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

var conflictMarkers = markers[model.ConflictMarker]{
	kind:   KindConflicts,
	place:  func(m *model.ConflictMarker) (*string, *int) { return &m.Repo, &m.Number },
	check:  checkConflicts,
	sticky: true,
	take:   firstOnly(func(st *model.State) **model.Posted[model.ConflictMarker] { return &st.Conflicts }),
	recall: whole[model.ConflictMarker],
	describe: func(e *model.LogEntry, m model.ConflictMarker) {
		e.State, e.SHA, e.What = "conflicts", m.Head, "reported "+conflictsOf(m)
	},
}

func checkConflicts(m *model.ConflictMarker) error {
	for _, sha := range []string{m.Head, m.BaseSHA} {
		if !isSHA(sha) {
			return fmt.Errorf("%q is no commit's id", sha)
		}
	}
	if m.Base == "" {
		return errors.New("it names no base")
	}
	for _, w := range m.With {
		if w.Number < 1 || !isSHA(w.Head) {
			return fmt.Errorf("pull request %d with head %q cannot be", w.Number, w.Head)
		}
	}
	return nil
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
