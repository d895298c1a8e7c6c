package journal

import (
	"slices"

	"github.com/mergexo/mergexo/internal/model"
)

// merge takes one state of a request to merge. The end of one that people have to hear of is said in a comment of its own,
// which takes the place of the earlier one.
func (f *fold) merge(cm model.Comment, m *model.MergeMarker) {
	st := &f.st
	st.Merges = slices.DeleteFunc(st.Merges, func(earlier model.Said[model.MergeMarker]) bool {
		same := m.Command != "" && earlier.Marker.Command == m.Command
		if same {
			st.Surplus = append(st.Surplus, earlier.CommentID)
		}
		return same
	})
	st.Merges = append(st.Merges, *place(*m, cm))
}
