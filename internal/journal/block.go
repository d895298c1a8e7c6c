package journal

import (
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

var blockMarkers = markers[model.BlockMarker]{
	kind:   KindBlock,
	place:  func(m *model.BlockMarker) (*string, *int) { return &m.Repo, &m.Number },
	take:   (*fold).block,
	recall: whole[model.BlockMarker],
	describe: func(e *model.LogEntry, m model.BlockMarker) {
		e.State, e.SHA, e.Why = m.Reason, m.Observed, firstLine(m.Detail)
		e.What = "blocked the pull request: " + reason(m.Reason)
	},
}

var unblockMarkers = markers[model.UnblockMarker]{
	kind:    KindUnblock,
	place:   func(m *model.UnblockMarker) (*string, *int) { return &m.Repo, &m.Number },
	answers: func(m *model.UnblockMarker) (string, model.Verdict) { return m.Command, model.Applied },
	once:    always[model.UnblockMarker],
	take:    (*fold).unblock,
	describe: func(e *model.LogEntry, m model.UnblockMarker) {
		e.State, e.SHA, e.By, e.What = "unblocked", m.Head, m.By, "unblocked the pull request"
	},
}

// block keeps the first block since the last unblock, unless that one has expired or only asks a question.
func (f *fold) block(cm model.Comment, m *model.BlockMarker) {
	st := &f.st
	if at := slices.IndexFunc(st.Turns, func(t model.Posted[model.TurnMarker]) bool { return t.Marker.Key == m.Key }); at >= 0 && m.Kept.Left() {
		st.Unfinished = &model.Unfinished{Try: model.Try{Kept: m.Kept}, Events: st.Turns[at].Marker.Events}
	}
	question := st.Block != nil && st.Block.Marker.Reason == model.ReasonAgent && m.Reason != model.ReasonAgent
	if question { // lifting the new block does not answer it: the next turn is told
		st.Question = st.Block
	}
	if st.Block == nil || question || over(st.Block, cm.CreatedAt) {
		if !question { // which nobody has answered
			f.lift(model.EndExpired, "")
		}
		st.Block = place(*m, cm)
		f.supersede(m.Key)
	} else {
		f.surplus(cm.ID)
	}
}

// unblock ends the block that it is about. A later block with another reason stays.
func (f *fold) unblock(cm model.Comment, m *model.UnblockMarker) {
	st := &f.st
	if m.Block != 0 && st.Block != nil && st.Block.CommentID != m.Block {
		return
	}
	reason := model.ReasonMarkerEdited // an unnamed change is never accepted
	if st.Block != nil {
		reason = st.Block.Marker.Reason
	}
	switch reason {
	case model.ReasonMarkerEdited, model.ReasonMarkerDeleted:
		f.pardon = model.Mark{At: cm.CreatedAt, ID: cm.ID}
	case model.ReasonAgent: // the next turn is told what was asked
		st.Question = st.Block
	case model.ReasonBudget:
		f.excuse(cm)
	case model.ReasonFlaky: // the operator asked for another try
		for i := range st.Turns {
			st.Turns[i].Marker.Flaky = nil
		}
	case model.ReasonSession:
		for i := range st.Turns { // the operator allows a new one
			st.Turns[i].Marker.Session = ""
		}
	}
	f.lift(model.EndUnblocked, m.By)
	f.rebase(cm, m.Head, m.Receipt)
	if m.Restored {
		st.Turns = withoutFailed(st.Turns)
	} else {
		f.abandon(m.Head)
	}
}

// excuse ends a block about the budget of a day, or of the repository's.
func (f *fold) excuse(cm model.Comment) {
	f.st.Spent, f.st.Excused, f.beside = model.Spent{}, cm.CreatedAt.UTC().Format(time.DateOnly), nil
}

// over reports whether a block has expired.
func over(b *model.Posted[model.BlockMarker], at time.Time) bool {
	return b != nil && !b.Marker.Until.IsZero() && !at.Before(b.Marker.Until)
}
