package journal

import (
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// merge folds in one state of a merge request. An end that people have to be notified of is a new comment, which replaces the
// earlier one in its place, so that a later request stays the newest.
func (f *fold) merge(cm model.Comment, m *model.MergeMarker) {
	st := &f.st
	said := *place(*m, cm)
	at := slices.IndexFunc(st.Merges, func(earlier model.Posted[model.MergeMarker]) bool {
		return m.Command != "" && earlier.Marker.Command == m.Command
	})
	if at < 0 {
		st.Merges = append(st.Merges, said)
		return
	}
	if !st.Merges[at].Marker.Open() { // another run answered it and ended
		f.surplus(cm.ID)
		return
	}
	f.surplus(st.Merges[at].CommentID)
	st.Merges[at] = said
}

// cancel cancels the newest request, even a claimed one: its run checks again before it acts.
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
