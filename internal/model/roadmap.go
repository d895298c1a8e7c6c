package model

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

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
	// Dropped says that the plan no longer has it.
	Dropped bool `json:"dropped,omitempty"`
	// Closed says that its issue was closed after that. Whoever reopens it wants it.
	Closed bool `json:"closed,omitempty"`
}

// ReasonItem is why the issue of a roadmap waits for a person: an item was closed, or somebody changed it.
const ReasonItem = "item_stopped"

// Tally is how many items of a roadmap there are, and which are in a state that people ask about.
type Tally struct {
	Done, Total, Waiting, Blocked int
	Running, Stopped              []RoadmapEntry
}

// TallyOf counts the items that the plan still has.
func TallyOf(items []RoadmapEntry) (t Tally) {
	for _, i := range items {
		if i.Dropped {
			continue
		}
		t.Total++
		switch i.State {
		case ItemDone:
			t.Done++
		case ItemRunning:
			t.Running = append(t.Running, i)
		case ItemFailed:
			t.Stopped = append(t.Stopped, i)
		case ItemBlocked:
			t.Blocked++
		default:
			t.Waiting++
		}
	}
	return t
}

// Ref names an item by its issue, or by its key before that is opened.
func (e RoadmapEntry) Ref() string {
	if e.Issue == 0 {
		return e.Key
	}
	return "#" + strconv.Itoa(e.Issue)
}

// String is the tally in a line, with what is blocked and why.
func (t Tally) String() string {
	parts := []string{fmt.Sprintf("%d of %d items done", t.Done, t.Total)}
	refs := func(items []RoadmapEntry) string {
		out := make([]string, len(items))
		for i, one := range items {
			out[i] = one.Ref()
		}
		return strings.Join(out, ", ")
	}
	if len(t.Running) > 0 {
		parts = append(parts, fmt.Sprintf("%d running: %s", len(t.Running), refs(t.Running)))
	}
	if len(t.Stopped) > 0 {
		parts = append(parts, fmt.Sprintf("%d stopped: %s", len(t.Stopped), refs(t.Stopped)))
	}
	if t.Blocked > 0 {
		parts = append(parts, fmt.Sprintf("%d blocked because of %s", t.Blocked, refs(t.Stopped)))
	}
	if t.Waiting > 0 {
		parts = append(parts, fmt.Sprintf("%d waiting for others", t.Waiting))
	}
	return strings.Join(parts, "; ")
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
	// Finished says that MergeXO has closed the issue since all was done, or closes it while nobody has reopened it. Whoever reopens
	// it after that wants it open.
	Finished bool `json:"finished,omitempty"`
	// Lost says that an earlier comment was edited or deleted, and that the file could not be read since: Items may not be all.
	Lost bool `json:"lost,omitempty"`

	Lease
}

// Open reports whether a run has left something to be done.
func (m RoadmapMarker) Open() bool { return m.Unfinished }

// ItemMarker is at the end of an issue that MergeXO opened for an item. Number is the issue of the roadmap.
type ItemMarker struct {
	Repo   string `json:"repo"`
	Number int    `json:"number"`
	Key    string `json:"key"`
}
