package journal

import (
	"slices"
	"time"

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
	if !st.Merges[at].Marker.Open() { // answered by another run, which has come to its end
		st.Surplus = append(st.Surplus, cm.ID)
		return
	}
	st.Surplus = append(st.Surplus, st.Merges[at].CommentID)
	st.Merges[at] = said
}

// cancel takes back the newest request, also one that a run has claimed that had not heard of it: that run looks again
// before it does anything.
func (f *fold) cancel(m *model.CommandMarker) {
	if w := f.st.Merge(); w != nil && w.Marker.Open() {
		w.Marker.Reason, w.Marker.Detail = model.CodeCancelled, m.By
	}
}

// tips are the commits to which requests may have moved the head since it was accepted last.
func (f *fold) tips(accepted time.Time) {
	for _, m := range f.st.Merges {
		if !m.UpdatedAt.Before(accepted) {
			f.st.MergeTips = append(f.st.MergeTips, m.Marker.Tips()...)
		}
	}
}
