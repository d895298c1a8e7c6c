package lineage

import "github.com/mergexo/mergexo/internal/model"

// Place is where the commits of an attempt go.
type Place string

// The places.
const (
	Landed    Place = "landed"    // the branch has them, or there are none
	Push      Place = "push"      // the branch takes them as they are
	Replay    Place = "replay"    // somebody's commits came first: on top of these
	Rename    Place = "rename"    // the branch is somebody else's: to one with another name
	Retry     Place = "retry"     // it is not known how the branch stands to them; a later look tells
	Rewritten Place = "rewritten" // the branch lost the commit that they sit on: a person decides
)

// Commits are the result of an attempt, and the branch that they are for.
type Commits struct {
	Head    string // of the branch; "": there is none
	Base    string // the commit that they sit on
	Planned string // the last of them; Base for none
	Moved   string // the head that an operator has accepted although they sit on another history
	Foreign bool   // nothing of ours was ever on the branch
	Own     bool   // nobody has a pull request from the branch yet: it takes commits that it lost
}

// Place decides where the commits go. since tells how the head stands to an earlier commit, and is asked as little as the answer needs.
// The record of an attempt whose run died holds the same values, so that the next run goes on from wherever it stopped.
func (c Commits) Place(since func(earlier string) model.Relation) Place {
	switch {
	case c.Head == c.Planned:
		return Landed
	case c.Head == "", c.Head == c.Base && !c.Foreign:
		return Push
	}
	ours := since(c.Planned)
	switch {
	case ours == model.Ahead: // and somebody went on from there
		return Landed
	case Decide(ours) == Resolve:
		return Retry
	case c.Foreign:
		return Rename
	case c.Own && ours == model.Behind:
		return Push
	}
	from := c.Base
	if c.Moved != "" {
		from = c.Moved
	}
	switch Decide(since(from)) {
	case Block:
		return Rewritten
	case Resolve:
		return Retry
	}
	if ours == model.Behind && c.Moved == "" { // it has some of them
		return Push
	}
	return Replay
}
