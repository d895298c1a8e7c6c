package model

import (
	"fmt"
	"time"
)

// TrainView is what GitHub shows of the merge train of a base branch.
type TrainView struct {
	// Manifest is the content of the train's private ref at the commit that was asked for; nil for none.
	Manifest []byte
	// BaseSHA is the tip of the base; "" where there is no such branch.
	BaseSHA       string
	Viewer        Actor
	Settings      string // of the base branch
	SettingsFound bool
	Branches      []TrainBranch
	// Cut says that there are more branches than were read.
	Cut bool
	// ChecksHidden says that the token may not read the checks.
	ChecksHidden bool
}

// TrainBranch is a branch that is tested for the train, with the newest check of each name.
type TrainBranch struct {
	Name   string // without refs/heads/
	SHA    string
	Checks []Check
	More   bool // there are more checks than were read
}

// Train is the merge train of a base branch as people see it: the same for the terminal, the dashboard, job summaries and JSON.
type Train struct {
	Base    string         `json:"base"`
	Trouble string         `json:"trouble,omitempty"` // why no car can be tested
	Cars    []TrainCar     `json:"cars"`              // in the order in which they land
	Queue   []TrainPlace   `json:"queue"`             // all requests, those in cars first
	Landed  []TrainLanding `json:"landed"`            // the newest first
	Today   TrainDay       `json:"today"`
}

// TrainCar is a commit under test.
type TrainCar struct {
	Number  int          `json:"number"`
	State   string       `json:"state"` // building, pushing, testing, green, red or landing
	Members []int        `json:"members"`
	On      string       `json:"on"`               // the commit that it stands on
	Behind  int          `json:"behind,omitempty"` // the car that lands just before it; 0: none
	Tip     string       `json:"tip,omitempty"`
	Branch  string       `json:"branch,omitempty"`
	Since   time.Time    `json:"since,omitzero"`
	Checks  []TrainCheck `json:"checks,omitempty"` // the required ones
	Failed  []TrainCheck `json:"failed,omitempty"`
	Why     string       `json:"why,omitempty"`
	Try     bool         `json:"try,omitempty"`
	ETA     time.Time    `json:"eta,omitzero"` // when it probably lands
}

// TrainCheck is a check of a car.
type TrainCheck struct {
	Name  string     `json:"name"`
	State CheckState `json:"state,omitempty"`
	URL   string     `json:"url,omitempty"`
}

// CheckExpected is the state of a check of a car that has not reported.
const CheckExpected CheckState = "expected"

// TrainPlace is the place of a request.
type TrainPlace struct {
	Position int       `json:"position"`
	Number   int       `json:"number"`
	Car      int       `json:"car,omitempty"`    // 0: it is in none
	Behind   []int     `json:"behind,omitempty"` // cars that land before
	By       string    `json:"by,omitempty"`
	Asked    time.Time `json:"asked,omitzero"`
	Why      string    `json:"why,omitempty"` // what it waits for
	ETA      time.Time `json:"eta,omitzero"`
}

// TrainStanding is the place of one request, for who asks about that one only.
type TrainStanding struct {
	Base string `json:"base"`
	TrainPlace
	State  string       `json:"state,omitempty"`  // of its car
	With   []int        `json:"with,omitempty"`   // the others in its car
	Checks []TrainCheck `json:"checks,omitempty"` // that its car needs
	Says   string       `json:"-"`                // the same as Markdown
}

// TrainLandings is how many landings a train remembers.
const TrainLandings = 30

// TrainLanding is a request that has landed.
type TrainLanding struct {
	Number int       `json:"number"`
	SHA    string    `json:"sha"`
	Asked  time.Time `json:"asked,omitzero"`
	At     time.Time `json:"at"`
}

// Took is the time from the approval to the landing; 0: unknown.
func (l TrainLanding) Took() time.Duration {
	if l.Asked.IsZero() || !l.At.After(l.Asked) {
		return 0
	}
	return l.At.Sub(l.Asked)
}

// TrainDay is what has landed since midnight UTC.
type TrainDay struct {
	Landed int  `json:"landed"`
	More   bool `json:"more,omitempty"` // the train remembers no others, but there may have been some
	// MedianSeconds is the median of the time from the approval to the landing, of all landings that the train remembers; 0: nobody
	// knows.
	MedianSeconds int64 `json:"median_seconds,omitempty"`
}

// Median is the time from the approval to the landing; 0: unknown.
func (d TrainDay) Median() time.Duration { return time.Duration(d.MedianSeconds) * time.Second }

// Doing is what a car does now, in words.
func (c TrainCar) Doing() string {
	switch c.State {
	case "building":
		if c.Why != "" {
			return "waiting"
		}
		return "being built"
	case "pushing", "testing":
		return "being tested"
	case "green":
		return "passed"
	case "red":
		return "failed"
	}
	return c.State
}

// Doing is how a check stands, in words.
func (c TrainCheck) Doing() string {
	switch c.State {
	case CheckExpected:
		return "not reported"
	case CheckPending:
		return "pending"
	case "":
		return "failed" // one of an older record
	}
	return string(c.State)
}

// Shown are the checks of a car that people see: those that failed where any did, else all that it needs.
func (c TrainCar) Shown() []TrainCheck {
	if len(c.Failed) > 0 {
		return c.Failed
	}
	return c.Checks
}

// Count is how many have landed today, in words.
func (d TrainDay) Count() string {
	if d.More {
		return fmt.Sprintf("at least %d", d.Landed)
	}
	return fmt.Sprint(d.Landed)
}
