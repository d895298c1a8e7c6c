package model

import "time"

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

// Train is the merge train of a base branch as people see it.
type Train struct {
	Base    string         `json:"base"`
	Trouble string         `json:"trouble,omitempty"` // why no car can be tested
	Cars    []TrainCar     `json:"cars"`              // in the order in which they land
	Queue   []TrainPlace   `json:"queue"`             // all requests, those in cars first
	Landed  []TrainLanding `json:"landed"`            // the newest first
}

// TrainCar is a commit under test.
type TrainCar struct {
	Number  int          `json:"number"`
	State   string       `json:"state"` // building, pushing, testing, green, red or landing
	Members []int        `json:"members"`
	On      string       `json:"on"` // the commit that it stands on
	Tip     string       `json:"tip,omitempty"`
	Branch  string       `json:"branch,omitempty"`
	Since   time.Time    `json:"since,omitzero"`
	Failed  []TrainCheck `json:"failed,omitempty"`
	Why     string       `json:"why,omitempty"`
	Try     bool         `json:"try,omitempty"`
}

// TrainCheck is a failed check of a car.
type TrainCheck struct {
	Name string `json:"name"`
	URL  string `json:"url,omitempty"`
}

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

// TrainLandings is how many landings a train remembers.
const TrainLandings = 30

// TrainLanding is a request that has landed.
type TrainLanding struct {
	Number int       `json:"number"`
	SHA    string    `json:"sha"`
	Asked  time.Time `json:"asked,omitzero"`
	At     time.Time `json:"at"`
}
