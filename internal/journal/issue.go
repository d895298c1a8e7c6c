package journal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

var issueMarkers = markers[model.IssueMarker]{
	kind:  KindIssue,
	place: func(m *model.IssueMarker) (*string, *int) { return &m.Repo, &m.Number },
	check: func(m *model.IssueMarker) error {
		if m.TurnMarker.Phase = m.Status; m.Waits() {
			m.TurnMarker.Phase = model.PhaseWaiting
		}
		if m.Kept.Branch == "" || m.Kept.Branch == m.Branch { // a marker of before there were two
			m.Tip = cmp.Or(m.Tip, m.LastCheckpoint)
		}
		return checkTurn(&m.TurnMarker)
	},
	once:     func(m *model.IssueMarker) bool { return m.Claim == "" }, // then it is posted once, too
	take:     (*fold).issue,
	recall:   func(m *model.IssueMarker) { recallTurn(&m.TurnMarker); m.Status = m.TurnMarker.Phase },
	spent:    func(m *model.IssueMarker) *model.Spent { return m.Spent },
	describe: describeIssue,
}

// retry records that an operator asked for another attempt on an issue, and so has seen the comments there.
func (f *fold) retry(cm model.Comment) {
	st := &f.st
	n := len(st.Flows)
	if n == 0 {
		return
	}
	st.Retry()
	f.pardon = model.Mark{At: cm.CreatedAt, ID: cm.ID}
	if n = len(st.Flows); st.Flows[n-1].Marker.Waiting == model.ReasonBudget {
		f.excuse(cm)
	}
}

// issue folds in one attempt on an issue. An attempt that waits for a person is a new comment, so that people are notified, and
// replaces the claim that it was made under.
func (f *fold) issue(cm model.Comment, m *model.IssueMarker) {
	st := &f.st
	if m.Waits() {
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
	if f.turn(cm, &m.TurnMarker) {
		st.Flows, st.Retried = append(st.Flows, *place(*m, cm)), false
	}
}

func describeIssue(e *model.LogEntry, m model.IssueMarker) {
	describeTurn(e, m.TurnMarker)
	work := strings.ReplaceAll(string(m.Flow), "_", " ")
	e.State, e.SHA = string(m.Status), cmp.Or(m.LastCheckpoint, e.SHA)
	switch m.Status {
	case model.PhaseDone:
		e.What = fmt.Sprintf("finished the %s", work)
		if m.Pull != 0 {
			e.What = fmt.Sprintf("opened pull request #%d (%s)", m.Pull, work)
		}
	case model.PhaseFailed:
		e.What = fmt.Sprintf("attempt %d at the %s failed", m.Attempt, work)
	case model.PhaseWaiting:
		e.What = fmt.Sprintf("stopped the %s: %s", work, reason(m.Waiting))
	case model.PhasePlanned:
		e.What = fmt.Sprintf("is opening the pull request (%s)", work)
	default:
		e.What = fmt.Sprintf("is working on the %s", work)
	}
}
