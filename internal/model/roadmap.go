package model

import "time"

// RoadmapItem is one item of a roadmap: a piece of work that becomes an issue.
type RoadmapItem struct {
	Key        string   `json:"key"`
	Title      string   `json:"title"`
	Flow       string   `json:"flow"` // FlowDesign, FlowBugfix or FlowSmallJob
	Needs      []string `json:"needs"`
	Acceptance string   `json:"acceptance"`
}

// ItemState is how far an item of a roadmap has come.
type ItemState string

// The states of an item.
const (
	ItemPlanned ItemState = "planned" // its issue does not exist yet
	ItemWaiting ItemState = "waiting" // for what it needs
	ItemBlocked ItemState = "blocked" // by an item that failed
	ItemQueued  ItemState = "queued"  // for one of the running items to end
	ItemRunning ItemState = "running" // its issue has the label of its flow
	ItemDone    ItemState = "done"
	ItemFailed  ItemState = "failed" // a person has to decide
)

// RoadmapEntry is an item in a roadmap's marker.
type RoadmapEntry struct {
	Key   string    `json:"key"`
	Issue int       `json:"issue,omitempty"`
	State ItemState `json:"state"`
	Pull  int       `json:"pull,omitempty"` // the newest pull request for it
}

// RoadmapMarker is the sticky comment on the issue of a roadmap.
type RoadmapMarker struct {
	Repo   string         `json:"repo"`
	Number int            `json:"number"`
	File   string         `json:"file"`
	Pull   int            `json:"pull,omitempty"` // that merged the file first
	Items  []RoadmapEntry `json:"items,omitempty"`
	// Looked stands for all that the comment was made from. While a sweep finds the same, nothing is due.
	Looked string `json:"looked,omitempty"`
	// Found is when all issues of items were found that there were; later ones are in Items, or were opened by a run that died.
	Found time.Time `json:"found,omitzero"`
	// Unfinished says that the run behind it had to leave something for the next one.
	Unfinished bool `json:"unfinished,omitempty"`
}

// ItemMarker is at the end of an issue that MergeXO opened for an item. Number is the issue of the roadmap.
type ItemMarker struct {
	Repo   string `json:"repo"`
	Number int    `json:"number"`
	Key    string `json:"key"`
}
