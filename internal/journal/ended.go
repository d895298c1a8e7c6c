package journal

import (
	"slices"

	"github.com/mergexo/mergexo/internal/model"
)

// ended notes a comment that is out of date.
func (f *fold) ended(comment int64, why model.End, by string) {
	f.st.Ended = append(f.st.Ended, model.Ended{CommentID: comment, Why: why, By: by})
}

// lift ends the block, if there is one.
func (f *fold) lift(why model.End, by string) {
	if f.st.Block != nil {
		f.ended(f.st.Block.CommentID, why, by)
	}
	f.st.Block = nil
}

// supersede notes that a block replaces the comments of failed attempts at a turn, also of one whose run died before it could say so. A
// planned turn goes on once the block is lifted, so its comment stays.
func (f *fold) supersede(key string) {
	for _, t := range f.st.Turns {
		if t.Marker.Key == key && (t.Marker.Phase == model.PhaseFailed || t.Marker.Phase == model.PhaseStarted) {
			f.ended(t.CommentID, model.EndSuperseded, "")
		}
	}
}

// finish notes comments that later ones replace: failed attempts at feedback that is answered now, failed requests to merge before the
// newest one, attempts on an issue before the newest one, and warnings about settings before later work. It leaves out what GitHub hides
// already.
func (f *fold) finish(comments []model.Comment) {
	st := &f.st
	for _, t := range st.Turns {
		if t.Marker.Phase == model.PhaseFailed && len(t.Marker.Events) > 0 && !slices.ContainsFunc(t.Marker.Events, func(e string) bool { return !st.Answered[e] }) {
			f.ended(t.CommentID, model.EndSuperseded, "")
		}
	}
	for i, m := range st.Merges {
		if m.Marker.State == model.MergeFailed && i < len(st.Merges)-1 {
			f.ended(m.CommentID, model.EndSuperseded, "")
		}
	}
	for i, a := range st.Flows {
		if i < len(st.Flows)-1 && a.Marker.Waits() {
			f.ended(a.CommentID, model.EndContinued, "")
		}
	}
	for _, warned := range f.warned {
		if slices.ContainsFunc(st.Turns, func(t model.Posted[model.TurnMarker]) bool { return t.At.After(warned.CreatedAt) }) {
			f.ended(warned.ID, model.EndSuperseded, "")
		}
	}
	shown := map[int64]bool{}
	for _, c := range comments {
		shown[c.ID] = shown[c.ID] || c.Kind == model.KindIssue && !c.Minimized
	}
	st.Ended = slices.DeleteFunc(st.Ended, func(e model.Ended) bool { return !shown[e.CommentID] || slices.Contains(st.Surplus, e.CommentID) })
}
