package journal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

var turnMarkers = markers[model.TurnMarker]{
	kind:     KindTurn,
	place:    func(m *model.TurnMarker) (*string, *int) { return &m.Repo, &m.Number },
	check:    func(m *model.TurnMarker) error { return checkTurn(KindTurn, m) },
	once:     func(m *model.TurnMarker) bool { return m.Restored }, // a receipt's replacement has its token
	take:     (*fold).turn,
	spent:    func(m *model.TurnMarker) *model.Spent { return m.Spent },
	describe: describeTurn,
}

// answerMarkers stand in the replies of a turn, in case its receipt is deleted.
var answerMarkers = markers[model.AnswerMarker]{
	kind:  KindAnswer,
	place: func(m *model.AnswerMarker) (*string, *int) { return &m.Repo, &m.Number },
	check: checkAnswer,
	take: func(f *fold, cm model.Comment, m *model.AnswerMarker) {
		if cm.Kind == model.KindReview {
			f.st.Traces = append(f.st.Traces, model.Trace{Marker: *m, At: cm.CreatedAt, Attested: true})
		}
	},
	describe: func(e *model.LogEntry, _ model.AnswerMarker) { e.State, e.What = "answered", "answered feedback" },
}

func checkTurn(kind string, m *model.TurnMarker) error {
	switch m.Phase {
	case model.PhaseStarted, model.PhasePlanned, model.PhaseDone, model.PhaseFailed:
	case model.PhaseWaiting:
		if kind == KindTurn {
			return fmt.Errorf("mergexo-turn marker: phase %q is an issue's", m.Phase)
		}
	default:
		return fmt.Errorf("mergexo-%s marker: phase %q is unknown", kind, m.Phase)
	}
	if err := unpackOutbox(kind, m); err != nil {
		return err
	}
	if m.Phase == model.PhasePlanned && m.Outbox == nil {
		return fmt.Errorf("mergexo-%s marker: phase planned without an outbox", kind)
	}
	return nil
}

// turn takes one state of a turn.
func (f *fold) turn(cm model.Comment, m *model.TurnMarker) {
	st := &f.st
	st.Turns, st.Keys[m.Key] = append(st.Turns, *place(*m, cm)), true
	if st.Lift(m.Lifts); m.Phase == model.PhaseDone {
		st.Question = nil
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
}

func describeTurn(e *model.LogEntry, m model.TurnMarker) {
	e.State, e.SHA, e.RunURL, e.CostUSD, e.Why = string(m.Phase), cmp.Or(m.Head, m.Planned), m.RunURL, m.CostUSD, firstLine(m.Reason)
	what := count(len(m.Events), "comment")
	if slices.ContainsFunc(m.Events, func(k string) bool { return strings.Contains(k, ":actions:") }) {
		what = "failed CI"
		if n := len(m.Events); n > 1 {
			what += " and comments"
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
