package journal

import (
	"errors"
	"fmt"

	"github.com/mergexo/mergexo/internal/model"
)

var reviewMarkers = markers[model.ReviewMarker]{
	kind:    KindReview,
	place:   func(m *model.ReviewMarker) (*string, *int) { return &m.Repo, &m.Number },
	check:   checkReview,
	answers: func(m *model.ReviewMarker) (string, model.Verdict) { return m.Command, model.Applied },
	once:    always[model.ReviewMarker],
	take:    (*fold).review,
	spent:   func(m *model.ReviewMarker) *model.Spent { return m.Spent },
	describe: func(e *model.LogEntry, m model.ReviewMarker) {
		e.State, e.SHA, e.By, e.Why, e.RunURL = string(m.State), m.Head, m.By, firstLine(m.Reason), m.RunURL
		e.What = map[model.ReviewState]string{model.ReviewRunning: "is reviewing", model.ReviewDone: "reviewed", model.ReviewFailed: "could not review"}[m.State] + " the pull request"
	},
}

func checkReview(m *model.ReviewMarker) error {
	switch m.State {
	case model.ReviewRunning, model.ReviewDone, model.ReviewFailed:
	default:
		return fmt.Errorf("state %q is unknown", m.State)
	}
	if !isSHA(m.Head) || m.Command == "" {
		return errors.New("it names no head or nothing that asked for it")
	}
	return nil
}

// review folds in a review that was asked for. A turn may be in progress beside it: each of the two knows what was spent when it was
// claimed, and its own part. So a day's account is what one of them says with the parts of those that came after it, and of all
// such sums the greatest.
func (f *fold) review(cm model.Comment, m *model.ReviewMarker) {
	st := &f.st
	st.Reviews = append(st.Reviews, *place(*m, cm))
	if m.Spent == nil {
		return
	}
	own := model.Spent{Day: m.Spent.Day}
	if m.Own != nil {
		own = *m.Own
	}
	f.also(own)
	f.beside = append(f.beside, *m.Spent)
	st.Spent = greater(greater(st.Spent, plus(st.Spent, own)), *m.Spent)
}

// also adds what came later to the accounts of reviews.
func (f *fold) also(own model.Spent) {
	for i, s := range f.beside {
		f.beside[i] = plus(s, own)
	}
}

// spent folds in the account of a turn, which knows of all that was claimed before it.
func (f *fold) spent(m *model.TurnMarker) {
	if m.Spent == nil {
		return
	}
	if m.Restored { // it counts its own turn only
		f.also(*m.Spent)
		f.st.Spent = greater(plus(f.st.Spent, *m.Spent), *m.Spent)
		return
	}
	if m.Claim != "" || m.Head != "" { // else it was posted without an agent, and repeats what was spent
		f.also(model.Spent{Day: m.Spent.Day, Turns: 1, CostUSD: m.CostUSD})
	}
	f.st.Spent = *m.Spent
	for _, s := range f.beside {
		f.st.Spent = greater(f.st.Spent, s)
	}
}

// plus is the account of a day with what else was spent on it.
func plus(s, own model.Spent) model.Spent {
	if s.Day == own.Day {
		s.Turns, s.CostUSD = s.Turns+own.Turns, s.CostUSD+own.CostUSD
	}
	return s
}

// greater is the account of the later day, and of one day the greater one.
func greater(a, b model.Spent) model.Spent {
	if a.Day != b.Day {
		if a.Day > b.Day {
			return a
		}
		return b
	}
	a.Turns, a.CostUSD = max(a.Turns, b.Turns), max(a.CostUSD, b.CostUSD)
	return a
}
