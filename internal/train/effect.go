package train

import "github.com/mergexo/mergexo/internal/model"

// Effect is something outside that the manifest wants and the facts do not show.
type Effect interface{ effect() }

// Build makes the commits of a car: each member in its strategy's form, on top of what is before it. It changes nothing outside.
// Results: Built, Conflict, Unfit.
type Build struct {
	Car     int
	Onto    string
	Members []Request // in their order
}

// Push sets the branch of a car to its tip, if it is at From; "": there is none. Results: Pushed, PushRefused, Unfit, Stale.
type Push struct {
	Car       int
	Branch    string
	Tip, From string
}

// DeleteBranch deletes a train branch that no car has, if it is at From, and stops what runs on that commit. Result: Deleted.
type DeleteBranch struct {
	Car    int
	Branch string
	From   string
}

// Land moves the heads of the members to their tips, and then the base from From to To, if nobody has moved it. Results: Arrived,
// LandRefused.
type Land struct {
	Car      int
	From, To string
	Members  []Member
	Attempt  int
}

// Rerun runs the failed checks of a car again, unless that was done already. Result: NotRerun.
type Rerun struct {
	Car int
	Tip string
	IDs []int64 // of workflow runs
	// After is when the newest of the failed checks began: a workflow run whose newest attempt began later was run again.
	After int64
}

// Finish ends a request as its End says. Result: Finished.
type Finish struct{ Request Request }

// Tell has the comment of a request say how it stands. Result: Told, with the key.
type Tell struct {
	Request  Request
	Key      string             // equal for what is not worth an edit
	Position int                // in the queue, from 1, the members of the first car first
	Car      int                // that it is in; 0: none
	Ahead    []int              // numbers of the cars that have to land before
	State    State              // of its car; "": it is in none
	Why      string             // what it waits for; "": for its turn
	Back     string             // why the last car that it was tested in was taken apart; "": none was
	Checks   []Check            // the failed ones of its car
	Required []model.TrainCheck // all that its car needs, as far as they were read
	Tip      string             // of its car; "": none yet
	With     []int              // the others in its car
	ETA      int64              // when it probably lands; 0: unknown
}

func (Build) effect()        {}
func (Push) effect()         {}
func (DeleteBranch) effect() {}
func (Land) effect()         {}
func (Rerun) effect()        {}
func (Finish) effect()       {}
func (Tell) effect()         {}
