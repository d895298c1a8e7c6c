package journal

import (
	"slices"

	"github.com/mergexo/mergexo/internal/model"
)

// merge takes one state of a request to merge. The end of one that people have to hear of is said in a comment of its own,
// which takes the place of the earlier one: a later request stays the newest.
func (f *fold) merge(cm model.Comment, m *model.MergeMarker) {
	st := &f.st
	said := *place(*m, cm)
	at := slices.IndexFunc(st.Merges, func(earlier model.Said[model.MergeMarker]) bool {
		return m.Command != "" && earlier.Marker.Command == m.Command
	})
	if at < 0 {
		st.Merges = append(st.Merges, said)
		return
	}
	st.Surplus = append(st.Surplus, st.Merges[at].CommentID)
	st.Merges[at] = said
}
