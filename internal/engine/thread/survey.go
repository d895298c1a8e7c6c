package thread

import (
	"slices"
	"strings"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// Survey lets a run look at a thread with what a sweep has read about many numbers at once. The run goes up to its first effect
// or question. An effect means that the number has work. Asks has the questions that one request answers for many numbers, and
// the sweep repeats the run with the answers.
type Survey struct {
	Asks Asks
	// Due is the reason of a sweep to visit the number if the run ends at the step at hand, and Since is since when it waits.
	Due   model.Reason
	Since time.Time
	// End ends the run.
	End func(next string) error

	// The answers so far. A missing key, false and nil are questions without one.
	Runs     map[string][]model.CIRun // of workflows, by the head
	Pulls    map[int]model.PullRef    // the zero value: it does not exist
	Resolved bool                     // the snapshot shows which review threads are resolved
	Roadmap  *bool                    // the roadmap has changed since the comment on it was written
}

// Asks are questions that one request answers for many numbers.
type Asks struct {
	Logins []string // what may they do?
	Pulls  []int    // in which state are they?
	Runs   bool     // which workflow runs has the head?
	// Resolved asks which review threads are resolved, and Roadmap whether the roadmap has changed.
	Resolved, Roadmap bool
}

// None reports whether nothing is asked.
func (a Asks) None() bool {
	return len(a.Logins)+len(a.Pulls) == 0 && !a.Runs && !a.Resolved && !a.Roadmap
}

// Due tells a survey why a sweep has to visit the thread if the next step has anything to do, and since when.
func (t *Thread) Due(why model.Reason, since time.Time) {
	if t.Survey != nil {
		t.Survey.Due, t.Survey.Since = why, since
	}
}

// lacks ends the run until its questions have answers.
func (s *Survey) lacks(a Asks) error {
	s.Asks = a
	return s.End("a question")
}

// RunsSeen returns the workflow runs on a head. The error ends the run if the survey does not know them yet.
func (s *Survey) RunsSeen(head string) ([]model.CIRun, error) {
	runs, known := s.Runs[head]
	if !known {
		return nil, s.lacks(Asks{Runs: true})
	}
	return runs, nil
}

// PullsSeen returns these pull requests, without those that do not exist. The error ends the run if the survey does not know one
// yet.
func (s *Survey) PullsSeen(numbers ...int) ([]model.PullRef, error) {
	seen, unknown := []model.PullRef{}, []int(nil)
	for _, n := range numbers {
		if now, known := s.Pulls[n]; !known {
			unknown = append(unknown, n)
		} else if now.Number != 0 {
			seen = append(seen, now)
		}
	}
	if len(unknown) > 0 {
		return nil, s.lacks(Asks{Pulls: unknown})
	}
	return seen, nil
}

// RoadmapChanged reports whether the roadmap of the issue is not what the comment on it was made from.
func (s *Survey) RoadmapChanged() (bool, error) {
	if s.Roadmap == nil {
		return false, s.lacks(Asks{Roadmap: true})
	}
	return *s.Roadmap, nil
}

// threads makes sure that the snapshot shows which threads are resolved, where some of what is pending is said in one.
func (s *Survey) threads(pending []model.Comment) error {
	if s == nil || s.Resolved || !slices.ContainsFunc(pending, func(c model.Comment) bool { return c.Kind == model.KindReview }) {
		return nil
	}
	return s.lacks(Asks{Resolved: true})
}

// along are people, in lower case, about whose rights a survey asks in the same request.
func along(t *Thread) []string {
	logins := append(strangers(t), ForeignPeople(t.State)...)
	if !t.Snap.IsPull() {
		return logins
	}
	for _, label := range []string{t.Settings.External.Label, t.Settings.Merge.AutoLabel, t.Settings.Review.Label} {
		if change, on := t.Snap.Pull.LabelledBy(label); on && !change.By.Bot && !t.Operators.Listed(change.By.Login) {
			logins = append(logins, strings.ToLower(change.By.Login))
		}
	}
	return logins
}
