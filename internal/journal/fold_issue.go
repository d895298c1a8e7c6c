package journal

import (
	"slices"

	"github.com/mergexo/mergexo/internal/model"
)

// retry records that an operator asked for another attempt on an issue, and so has seen the comments there.
func (f *fold) retry(cm model.Comment) {
	st := &f.st
	n := len(st.Flows)
	if n == 0 {
		return
	}
	st.Retried, f.pardon = true, model.Mark{At: cm.CreatedAt, ID: cm.ID}
	if st.Flows[n-1].Marker.Waiting == model.ReasonBudget {
		st.Spent, f.beside = model.Spent{}, nil
	}
}

// issue folds in one attempt on an issue. An attempt that waits for a person is a new comment, so that people are notified, and
// replaces the claim that it was made under.
func (f *fold) issue(cm model.Comment, m *model.IssueMarker) {
	st := &f.st
	if m.Status == model.PhaseWaiting {
		spent := func(t model.TurnMarker) bool {
			return t.Claim == m.Claim && t.Claim != "" && (t.Phase == model.PhaseStarted || t.Phase == model.PhasePlanned)
		}
		for _, t := range st.Flows {
			if spent(t.Marker.TurnMarker) {
				f.surplus(t.CommentID)
			}
		}
		st.Flows = slices.DeleteFunc(st.Flows, func(t model.Posted[model.IssueMarker]) bool { return spent(t.Marker.TurnMarker) })
		st.Turns = slices.DeleteFunc(st.Turns, func(t model.Posted[model.TurnMarker]) bool { return spent(t.Marker) })
	}
	f.turn(cm, &m.TurnMarker)
	st.Flows, st.Retried = append(st.Flows, *place(*m, cm)), false
}
