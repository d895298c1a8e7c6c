package train

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/strictjson"
)

// Version is that of the manifests that this package writes and reads.
const Version = 1

// MaxBytes is the size up to which a manifest is read.
const MaxBytes = 1 << 20

// Manifest is the record of a train. Times are Unix seconds, 0 for none. SHAs are whole.
type Manifest struct {
	Version int    `json:"version"`
	Base    string `json:"base"`          // branch
	SHA     string `json:"sha,omitempty"` // the tip of the base that the line stands on
	Next    int    `json:"next"`          // number of the next car
	// Rules are the checks that the rules of the base demand of a commit, as they were read last; nil: they were not read.
	Rules *Rules `json:"rules,omitempty"`
	// Writer tells the runs apart that write a manifest: two that write the same in one moment are two.
	Writer string `json:"writer,omitempty"`
	// Count is how often the record was written. The comments of its requests repeat it, so that an old record is recognized.
	Count int64 `json:"count,omitempty"`
	// Claim is of the run that moves the base; nil: none does.
	Claim *Claim `json:"claim,omitempty"`
	// Halt says why GitHub took no push of a car; nil: it does.
	Halt *Halt `json:"halt,omitempty"`
	// Trouble says why the newest run could not have a car tested; "": it knows of no reason. Who only looks sees less than a run does.
	Trouble string `json:"trouble,omitempty"`
	// Queue are the requests that have not come to an end, aboard or not, and those whose end is not told yet.
	Queue []Request `json:"queue,omitempty"`
	// Cars are the line, in its order, and cars of requests that only try.
	Cars []Car `json:"cars,omitempty"`
	// Landed are the last landings, oldest first.
	Landed []Landing `json:"landed,omitempty"`
	// Losses are what the record has lost, until everybody is told whose request it concerns.
	Losses []Loss `json:"losses,omitempty"`
}

// Claim names the run that is at a landing, or that tells of a loss, which no other does while that run lives.
type Claim struct {
	Holder string `json:"holder"`
	Until  int64  `json:"until"` // when the run is dead whatever else is known
}

// Rules are the names of required checks.
type Rules struct {
	Checks []string `json:"checks,omitempty"`
}

// Demanded are the checks that the rules of the base demand of a commit, as far as they were read.
func (m Manifest) Demanded() []string {
	if m.Rules == nil {
		return nil
	}
	return m.Rules.Checks
}

// Halt is a push that was refused.
type Halt struct {
	Why string `json:"why"`
	At  int64  `json:"at"`
}

// Request is what somebody asked for.
type Request struct {
	Number   int    `json:"n"`
	Head     string `json:"head"`              // that was approved
	Token    string `json:"token"`             // key of the command, label or approval
	Comment  int64  `json:"comment,omitempty"` // that tells how it stands; 0: none yet
	By       string `json:"by,omitempty"`
	At       int64  `json:"at"`                  // since when it is asked for and approved, which is its place in the queue
	Strategy string `json:"strategy,omitempty"`  // in records of older versions only, and read by nobody
	Priority int    `json:"priority,omitempty"`  // see High and Low
	Solo     bool   `json:"solo,omitempty"`      // in a car of its own
	ByGitHub bool   `json:"by_github,omitempty"` // GitHub itself merges it, and nothing with it
	Now      bool   `json:"now,omitempty"`       // before all others, without speculation
	Try      bool   `json:"try,omitempty"`       // is tested and never lands
	Needs    []int  `json:"needs,omitempty"`     // pull requests that have to land before it, or with it
	// Made are the commits that landings which came to nothing made of the head, to one of which it may have been moved.
	Made []string `json:"made,omitempty"`
	// Conflicts is how often it did not merge with others in the line, and ConflictOn the base at the last time, abbreviated.
	Conflicts  int    `json:"conflicts,omitempty"`
	ConflictOn string `json:"conflict_on,omitempty"`
	// Waits says that one of its conditions did not hold when somebody looked last.
	Waits bool `json:"waits,omitempty"`
	// Held says why it has to wait although nothing else shows that: the last look before it landed found it, or its comment
	// says so. It holds until the request is asked for again.
	Held string `json:"held,omitempty"`
	// Late says that CI has not begun with its last car in time. It boards alone, until something lands.
	Late bool `json:"late,omitempty"`
	// Back says why the last car that it was tested in was taken apart.
	Back string `json:"back,omitempty"`
	End  *End   `json:"end,omitempty"`
	Told string `json:"told,omitempty"` // key of what its comment says
}

// Priorities by name; the larger one goes first, and 0 is that of a request that names none.
const (
	High = 10
	Low  = -10
)

// End is how a request ended.
type End struct {
	Outcome Outcome         `json:"outcome"`
	Code    model.MergeCode `json:"code,omitempty"`
	Why     string          `json:"why,omitempty"` // without a full stop
	How     string          `json:"how,omitempty"` // how a car that failed was tested and found, in sentences with whole SHAs
	Checks  []Check         `json:"checks,omitempty"`
	SHA     string          `json:"sha,omitempty"` // on the base, or that was tried
	At      int64           `json:"at"`
}

// Outcome is the kind of an end.
type Outcome string

// The outcomes of requests.
const (
	Landed  Outcome = "landed"
	Failed  Outcome = "failed"
	Passed  Outcome = "passed"  // of a request that only tries
	Refuted Outcome = "refuted" // likewise: it would fail
)

// Check is the result of a required check.
type Check struct {
	Name string `json:"name"`
	URL  string `json:"url,omitempty"`
	ID   int64  `json:"id,omitempty"`  // of the workflow run, which can be run again and keeps its id then; 0: nothing can
	Run  string `json:"run,omitempty"` // of the check run, which is another one after each re-run; "": unknown
	At   int64  `json:"at,omitempty"`  // when it began; 0: unknown
}

// Car is one commit under test with the requests that are new in it.
type Car struct {
	Number  int      `json:"n"`
	On      string   `json:"on"` // commit that it is built on
	Members []Member `json:"members"`
	Tip     string   `json:"tip,omitempty"` // of the last member; "": not built yet
	State   State    `json:"state"`
	Since   int64    `json:"since"`            // when it boarded, then when it was pushed, then when its checks were run again
	Pushed  int64    `json:"pushed,omitempty"` // 0: nobody has seen its branch yet
	// Doubts is how many red results there are of commits that hold this car and were split to look for the culprit.
	Doubts int `json:"doubts,omitempty"`
	// Reruns is how often its failed checks were run again. Rerun are the workflow runs that were asked for at the last time,
	// Again the keys of the check runs that had failed then, and After when the newest of these began.
	Reruns  int      `json:"reruns,omitempty"`
	Rerun   []int64  `json:"rerun,omitempty"`
	Again   []string `json:"again,omitempty"`
	After   int64    `json:"after,omitempty"`
	Checks  []Check  `json:"checks,omitempty"`  // the failed ones
	Refused int      `json:"refused,omitempty"` // landings
	Why     string   `json:"why,omitempty"`
	Try     bool     `json:"try,omitempty"`
	Late    bool     `json:"late,omitempty"` // its request is
}

// Member is a request in a car.
type Member struct {
	Number int    `json:"n"`
	Head   string `json:"head"`
	Tip    string `json:"tip,omitempty"` // what the car's parent, the members before and this one make
	// Strategy is the one that Tip was made by, and Way a key of all that decided over how; "" in records of earlier versions. They
	// tell a Tip that is outdated from one that is forged, and make none land.
	Strategy string `json:"strategy,omitempty"`
	Way      string `json:"way,omitempty"`
}

// State is how far a car has come.
type State string

// The states of cars.
const (
	Building State = "building" // has no tip yet
	Pushing  State = "pushing"  // has no branch yet
	Testing  State = "testing"
	Green    State = "green"
	Red      State = "red"
	Moving   State = "landing" // the base is being moved to it
)

// Landing is a request that landed.
type Landing struct {
	Number int    `json:"n"`
	SHA    string `json:"sha"`  // the base's tip afterwards
	From   int64  `json:"from"` // At of the request
	At     int64  `json:"at"`
	Took   int64  `json:"took,omitempty"` // seconds from the push of its car to its landing; 0: it was not tested here
}

// mostLanded is how many landings a manifest remembers.
const mostLanded = model.TrainLandings

// Stored is a manifest as Decode reads it again. Errors say why that would refuse it: then it must not be written.
func Stored(m Manifest) ([]byte, error) {
	raw, err := m.Encode()
	if err == nil {
		_, err = Decode(raw, m.Base)
	}
	return raw, err
}

// Encode is the manifest in JSON. Equal manifests are equal bytes.
func (m Manifest) Encode() ([]byte, error) {
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode the train's manifest: %w", err)
	}
	return append(raw, '\n'), nil
}

// Decode reads the manifest of the train to base. Errors say what in it is not a manifest of that train; then Rebuild makes
// one.
func Decode(raw []byte, base string) (Manifest, error) {
	var m Manifest
	if len(raw) > MaxBytes {
		return Manifest{}, fmt.Errorf("the train's manifest has %d bytes, more than %d", len(raw), MaxBytes)
	}
	err := strictjson.Decode(raw, &m, strictjson.Rules{
		Name: "the train's manifest",
		Required: map[string][]string{
			"": {"version", "base", "next"}, "queue[]": {"n", "head", "token", "at"}, "cars[]": {"n", "on", "members", "state", "since"},
			"cars[].members[]": {"n", "head"}, "landed[]": {"n", "sha", "from", "at"}, "queue[].end": {"outcome", "at"},
			"losses[]": {"record", "why"},
		},
		MaxItems: 5000,
	})
	if err != nil {
		return Manifest{}, err
	}
	if err := m.check(base); err != nil {
		return Manifest{}, fmt.Errorf("the train's manifest: %w", err)
	}
	for i := range m.Queue {
		m.Queue[i].Strategy = ""
	}
	return m, nil
}

// check says what Fold cannot go by.
func (m Manifest) check(base string) error {
	switch {
	case m.Version != Version:
		return fmt.Errorf("version %d, want %d", m.Version, Version)
	case m.Base != base:
		return fmt.Errorf("it is of base %s, want %s", strictjson.Excerpt(m.Base, 80), strictjson.Excerpt(base, 80))
	case m.Next < 1:
		return fmt.Errorf("next car %d, want at least 1", m.Next)
	}
	queued := map[int]bool{}
	for _, r := range m.Queue {
		if r.Number < 1 || queued[r.Number] {
			return fmt.Errorf("request %d occurs twice, or is not a pull request's number", r.Number)
		}
		queued[r.Number] = true
	}
	aboard, numbers := map[int]bool{}, map[int]bool{}
	for _, c := range m.Cars {
		if c.Number < 1 || c.Number >= m.Next || numbers[c.Number] {
			return fmt.Errorf("car %d occurs twice, or was never made", c.Number)
		}
		numbers[c.Number] = true
		if err := c.check(); err != nil {
			return fmt.Errorf("car %d: %w", c.Number, err)
		}
		for _, member := range c.Members {
			if aboard[member.Number] {
				return fmt.Errorf("request %d is aboard twice", member.Number)
			}
			aboard[member.Number] = true
		}
	}
	return nil
}

func (c Car) check() error {
	switch {
	case len(c.Members) == 0:
		return fmt.Errorf("it has no members")
	case !slices.Contains([]State{Building, Pushing, Testing, Green, Red, Moving}, c.State):
		return fmt.Errorf("unknown state %s", strictjson.Excerpt(string(c.State), 40))
	case (c.State == Building) != (c.Tip == ""):
		return fmt.Errorf("state %s does not go with tip %s", c.State, strictjson.Excerpt(c.Tip, 64))
	case c.Tip != c.Members[len(c.Members)-1].Tip:
		return fmt.Errorf("its tip is not that of its last member")
	}
	return nil
}

// New is the manifest of a train that nobody has asked for yet.
func New(base string) Manifest { return Manifest{Version: Version, Base: base, Next: 1} }

// Rebuild makes a manifest from the requests themselves, as their comments tell them, where the record is lost. What was under
// test is tested again; its branches, which the new train does not know, are deleted by the next fold.
func Rebuild(base string, requests []Request, next int) Manifest {
	m := New(base)
	m.Next = max(next, 1)
	for _, r := range requests {
		if !slices.ContainsFunc(m.Queue, func(o Request) bool { return o.Number == r.Number }) {
			r.Told = ""
			m.Queue = append(m.Queue, r)
		}
	}
	return m
}

// clone is a manifest that shares no memory with m that a fold may change.
func (m Manifest) clone() Manifest {
	m.Queue, m.Cars, m.Landed, m.Losses = slices.Clone(m.Queue), slices.Clone(m.Cars), slices.Clone(m.Landed), slices.Clone(m.Losses)
	for i := range m.Cars {
		m.Cars[i].Members = slices.Clone(m.Cars[i].Members)
	}
	return m
}
