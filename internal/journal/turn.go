package journal

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

var turnMarkers = markers[model.TurnMarker]{
	kind:  KindTurn,
	place: func(m *model.TurnMarker) (*string, *int) { return &m.Repo, &m.Number },
	check: func(m *model.TurnMarker) error {
		if m.Phase == model.PhaseWaiting {
			return fmt.Errorf("phase %q is an issue's", m.Phase)
		}
		return checkTurn(m)
	},
	once:     func(m *model.TurnMarker) bool { return m.Restored }, // a receipt's replacement has its token
	take:     func(f *fold, cm model.Comment, m *model.TurnMarker) { f.turn(cm, m) },
	recall:   recallTurn,
	spent:    func(m *model.TurnMarker) *model.Spent { return m.Spent },
	describe: describeTurn,
}

// answerMarkers stand in the replies of a turn, in case its receipt is deleted.
var answerMarkers = markers[model.AnswerMarker]{
	kind:   KindAnswer,
	place:  func(m *model.AnswerMarker) (*string, *int) { return &m.Repo, &m.Number },
	check:  checkAnswer,
	recall: whole[model.AnswerMarker],
	take: func(f *fold, cm model.Comment, m *model.AnswerMarker) {
		if cm.Kind == model.KindReview {
			f.st.Traces = append(f.st.Traces, model.Trace{Marker: *m, At: cm.CreatedAt, Attested: true})
		}
	},
	describe: func(e *model.LogEntry, _ model.AnswerMarker) { e.State, e.What = "answered", "answered feedback" },
}

func checkTurn(m *model.TurnMarker) error {
	switch m.Phase {
	case model.PhaseStarted, model.PhasePlanned, model.PhaseDone, model.PhaseFailed, model.PhaseWaiting:
	default:
		return fmt.Errorf("phase %q is unknown", m.Phase)
	}
	if err := unpackOutbox(m); err != nil {
		return fmt.Errorf("outbox_z: %w", err)
	}
	if m.Phase == model.PhasePlanned && m.Outbox == nil {
		return errors.New("phase planned without an outbox")
	}
	return nil
}

// recallTurn keeps what a turn answered. It names nobody who may merge, and what it planned is done again.
func recallTurn(m *model.TurnMarker) {
	m.Delegates = nil
	if m.Phase == model.PhasePlanned {
		m.Phase, m.Outbox = model.PhaseStarted, nil
	}
}

// turn takes one state of a turn, and reports whether it did. A second comment of one claim repeats a state that the first one had;
// only a stop that people have to be notified of is a new comment.
func (f *fold) turn(cm model.Comment, m *model.TurnMarker) bool {
	st := &f.st
	if m.Claim != "" && m.Phase != model.PhaseWaiting && slices.ContainsFunc(st.Turns, func(t model.Posted[model.TurnMarker]) bool {
		return t.Marker.Claim == m.Claim && t.Marker.Key == m.Key
	}) {
		f.surplus(cm.ID)
		return false
	}
	st.Turns, st.Keys[m.Key] = append(st.Turns, *place(*m, cm)), true
	for _, t := range append(slices.Clone(m.Tries), m.Try()) {
		if t.Kept.Left() {
			st.Unfinished = &model.Unfinished{Try: t, Events: m.Events}
		}
	}
	if asked := st.Block; st.Lift(m.Lifts) {
		f.ended(asked.CommentID, model.EndAnswered, "")
	}
	if m.Phase == model.PhaseDone {
		st.Question, st.Unfinished = nil, nil
	}
	f.spent(m)
	if m.Delegates != nil { // what made them so may be in comments not read
		st.Delegates = slices.Clone(m.Delegates)
	}
	if m.Phase == model.PhaseDone || m.Phase == model.PhaseWaiting {
		f.done = append(f.done, *place(*m, cm))
		for _, e := range m.Events {
			st.Answered[e] = true
		}
	}
	return true
}

func describeTurn(e *model.LogEntry, m model.TurnMarker) {
	e.State, e.SHA, e.RunURL, e.CostUSD, e.Why = string(m.Phase), cmp.Or(m.Head, m.Planned), m.RunURL, m.CostUSD, firstLine(m.Reason)
	what := markdown.Count(len(m.Events), "comment")
	for _, failed := range [][2]string{{":actions:", "failed CI"}, {":merge:", "a failed merge"}} {
		if slices.ContainsFunc(m.Events, func(k string) bool { return strings.Contains(k, failed[0]) }) {
			if what = failed[1]; len(m.Events) > 1 {
				what += " and comments"
			}
		}
	}
	switch m.Phase {
	case model.PhaseDone:
		e.What = "answered " + what
	case model.PhaseFailed:
		e.What = fmt.Sprintf("attempt %d at %s failed", m.Attempt, what)
	case model.PhasePlanned:
		e.What = "is publishing its answer to " + what
	default:
		e.What = "is working on " + what
	}
}
