package journal

import (
	"slices"

	"github.com/mergexo/mergexo/internal/model"
)

// retry notes that an operator asked for another attempt on an issue, and so has seen what stands there.
func (f *fold) retry(cm model.Comment) {
	st := &f.st
	n := len(st.Flows)
	if n == 0 {
		return
	}
	st.Retried, f.pardon = true, model.Mark{At: cm.CreatedAt, ID: cm.ID}
	if st.Flows[n-1].Marker.Waiting == model.ReasonBudget {
		st.Spent = model.Spent{}
	}
}

// issue takes one attempt on an issue. Where it waits for a person that is said in a comment of its own, so that people
// hear of it, and the claim that it was made under has nothing more to say.
func (f *fold) issue(cm model.Comment, m *model.IssueMarker) {
	st := &f.st
	if m.Status == model.PhaseWaiting {
		spent := func(t model.TurnMarker) bool {
			return t.Claim == m.Claim && t.Claim != "" && (t.Phase == model.PhaseStarted || t.Phase == model.PhasePlanned)
		}
		for _, t := range st.Flows {
			if spent(t.Marker.TurnMarker) {
				st.Surplus = append(st.Surplus, t.CommentID)
			}
		}
		st.Flows = slices.DeleteFunc(st.Flows, func(t model.Said[model.IssueMarker]) bool { return spent(t.Marker.TurnMarker) })
		st.Turns = slices.DeleteFunc(st.Turns, func(t model.Said[model.TurnMarker]) bool { return spent(t.Marker) })
	}
	f.turn(cm, &m.TurnMarker)
	st.Flows, st.Retried = append(st.Flows, *place(*m, cm)), false
}
