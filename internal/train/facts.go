package train

import (
	"slices"

	"github.com/mergexo/mergexo/internal/model"
)

// Facts are what was read from GitHub for one fold.
type Facts struct {
	Base string // the tip of the base branch; "" if it was not read
	Gone bool   // there is no base branch
	// Reached says of the tips in Wanted.Ancestors whether the base's history has them.
	Reached map[string]bool
	// Trouble says why no car can be tested, such as a required check that no workflow produces on train branches, by its name;
	// "": nothing is known of any.
	Trouble string
	// Requests are those of Wanted.Requests, by number. One that is missing is one that nobody knows about now: it stays
	// where it is, and neither boards nor lands, and nobody behind it boards.
	Requests map[int]Standing
	// Asked are requests that people made. One that is in the queue with its token already, or has ended, changes nothing.
	Asked []Request
	// Checks are how the required checks stand, by tip. One that is missing was not read.
	Checks map[string]Checks
	// Needed are the checks that each car needs, for people to see while nothing has reported them.
	Needed []model.TrainCheck
	// Branches are the tips of mergexo/train/{base}/{n}, by n: all that there are.
	Branches map[int]string
	// Results are those of the effects of earlier folds of this run.
	Results []Result
}

// Standing is how a pull request stands.
type Standing struct {
	State model.PullState
	Head  string
	SHA   string // the commit on the base: merged
	// Waits says which condition does not hold, in words without a full stop; "": all hold.
	Waits string
	// Held is what its comment says that it waits for, where that is not its turn in the train; "": nothing, or nobody has looked.
	Held string
	// Off says that it no longer goes to this base.
	Off bool
	// Cancelled names who took the request back; "": nobody.
	Cancelled string
	// Ended is the token of the request that its comment shows as over; "": none.
	Ended string
}

// Checks are how the required checks of a commit stand together.
type Checks struct {
	State  model.CheckState
	Failed []Check  // with links
	Open   []string // names of those that have not reported
	Begun  int64    // when the newest of those began that are at work; 0: none is
	// Required are all of them, for people to see.
	Required []model.TrainCheck
}

// Result is what a run learned from an effect of its own.
type Result interface{ learn(*fold) }

// Built is a car whose commits were made: Tips has the tip of each of its members, in their order.
type Built struct {
	Car     int
	On      string
	Members []Member // with their tips
}

// Conflict is a member that does not merge with what is before it in its car, or with what the car stands on.
type Conflict struct {
	Car, Number int
	On          string
	Paths       []string
}

// Unfit are members that could not be built for another reason than a conflict, or whose changes GitHub takes on no branch, and
// never will be.
type Unfit struct {
	Car     int
	Numbers []int
	Code    model.MergeCode
	Why     string
}

// Merges says who merges a request, as the settings have it now: GitHub itself, or we.
type Merges struct {
	Number   int
	ByGitHub bool
}

// Pushed is a car whose branch is at its tip.
type Pushed struct {
	Car int
	Tip string
}

// PushRefused is a car whose branch GitHub did not take.
type PushRefused struct {
	Car int
	Why string
}

// Stale is a car that has to be built again: the run that built it died before it pushed the commits, or its members land in another
// way by now.
type Stale struct {
	Car      int
	Tip, Why string
}

// The reasons why a car is stale.
const (
	WhyLost     = "its commits were lost"
	WhyOutdated = "the settings or a title have changed"
)

// Foreign is a car whose commits are not what its members' approved heads make, whatever the record says. Somebody else has
// written it.
type Foreign struct {
	Car int
	Tip string
}

// Untested is a landing that has not been begun now, since the checks of its car do not say that it is green. The heads of its
// members may have been moved to it before.
type Untested struct {
	Car int
	Tip string
}

// Arrived is a car that has landed: the base went from From to SHA, which is not its tip where GitHub made the commit.
type Arrived struct {
	Car       int
	From, SHA string
}

// LandRefused is a landing that was refused, the Attempt that its effect had.
type LandRefused struct {
	Car, Attempt int
	Why          string
}

// NotRerun is a car whose failed checks are not run again: what they say counts.
type NotRerun struct {
	Car int
	Tip string
}

// Unready is a landing that has moved nothing since a member must not land as things are: it waits, with Why. Over says that it
// never will: it fails with Code, or has ended already where that is "".
type Unready struct {
	Car, Number int
	Token       string // of the member's request
	Over        bool
	Code        model.MergeCode
	Why         string
}

// Deleted is a train branch that is gone.
type Deleted struct{ Car int }

// Told is a request whose comment says what its effect had.
type Told struct {
	Number int
	Key    string
}

// Finished is a request whose comment shows that the one with that token is over.
type Finished struct {
	Number int
	Token  string
}

// Wanted is what the facts of a fold have to tell.
type Wanted struct {
	Tips      []string // whose checks
	Ancestors []string // whether the base has them, if its tip is neither SHA of the manifest nor one of them
	Requests  []int    // that stand in cars, then the others in the order in which they board
	Needs     []int    // pull requests, not in the queue, that those depend on
}

// Wanted lists what the facts of the next fold have to tell. Of the requests that wait, a run may leave out those far behind.
func (m Manifest) Wanted() Wanted {
	var w Wanted
	aboard := map[int]bool{}
	for _, c := range m.Cars {
		if c.Tip != "" {
			w.Tips = append(w.Tips, c.Tip)
		}
		if c.State == Moving {
			w.Ancestors = append(w.Ancestors, c.Tip)
		}
		for _, member := range c.Members {
			aboard[member.Number] = true
			w.Requests = append(w.Requests, member.Number)
		}
	}
	for _, r := range m.Order() {
		if !aboard[r.Number] {
			w.Requests = append(w.Requests, r.Number)
		}
	}
	for _, r := range m.Queue {
		for _, n := range r.Needs {
			if !slices.Contains(w.Needs, n) && !slices.ContainsFunc(m.Queue, func(q Request) bool { return q.Number == n }) {
				w.Needs = append(w.Needs, n)
			}
		}
	}
	return w
}

// Near is how many of Wanted.Requests matter now: those aboard, as many as may board, and one more for each that is only tried or
// known to wait for something, since it boards no car of the line and those behind it do.
func (m Manifest) Near(s Settings) int {
	near := s.effective().Batch * (s.effective().Speculate + 1)
	for _, c := range m.Cars {
		near += len(c.Members)
	}
	for _, r := range m.Queue {
		if r.Try || r.Waits || r.Held != "" || r.Conflicts > 0 || len(r.Needs) > 0 || r.End != nil {
			near++
		}
	}
	return near
}
