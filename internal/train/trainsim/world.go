package trainsim

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/train"
)

// commit is one in the repository of a world.
type commit struct {
	parent string
	number int    // of the request that is new in it; 0: somebody else's
	tree   uint64 // of the changes that it holds, in any order
	bad    bool
	forged bool // it is none that a run made
	run    int  // that made it and has not pushed it; 0: GitHub has it
}

// pull is a pull request of a world.
type pull struct {
	change
	state     model.PullState
	head      string
	revision  int
	asks      int    // how often the head was asked for otherwise
	byGitHub  bool   // by the settings when it was asked for
	merged    string // commit on the base
	waits     string
	hidden    string // what it waits for, which only the look before its landing shows
	held      string // what its comment says that it waits for
	off       bool   // it goes to another base
	cancelled string
	ended     string // token that its comment shows as over
	tried     string // likewise of a try beside it
	outcome   train.Outcome
	landings  int   // how often it landed
	queued    int64 // when the record had it first, plus one; 0: never
	upset     bool  // something keeps it from landing in its turn
	comment   string
}

// world is GitHub, the repository and its CI on one day.
type world struct {
	*farm
	day      Day
	rng      *rand.Rand
	commits  map[string]commit
	base     string
	branches map[int]string
	checks   map[string]*run
	pulls    map[int]*pull
	byGitHub bool           // GitHub itself merges
	frozen   bool           // a label on every pull request keeps it from landing
	trouble  string         // why no car can be tested
	deaf     bool           // no workflow runs on train branches, which shows only when a car is built
	gone     bool           // there is no base
	record   train.Manifest // the hidden ref
	swaps    int            // of the record
	lost     bool           // the record cannot be read
	tally    tally
	landed   []int // requests, in the order in which the base got them
	wrong    []string
	tips     int
	began    int          // runs of the program
	alive    map[int]bool // runs that are at work
	settings train.Settings
}

func newWorld(d Day, s train.Settings) *world {
	w := &world{
		farm: d.farm(rand.New(rand.NewPCG(d.Seed, 2))), day: d, rng: rand.New(rand.NewPCG(d.Seed, 4)),
		commits: map[string]commit{"base": {}}, base: "base", branches: map[int]string{}, checks: map[string]*run{},
		pulls: map[int]*pull{}, record: train.New("main"), alive: map[int]bool{}, settings: s, byGitHub: d.ByGitHub,
	}
	w.done = func(*run) {}
	return w
}

// fault happens with a probability.
func (w *world) fault(probability float64) bool {
	return probability > 0 && w.rng.Float64() < probability
}

func (w *world) complain(format string, args ...any) {
	w.wrong = append(w.wrong, fmt.Sprintf("at %d: ", w.now)+fmt.Sprintf(format, args...))
}

// sha makes a name for a commit.
func (w *world) sha(of string) string {
	w.tips++
	return fmt.Sprintf("%s-%d", of, w.tips)
}

// content is a change, as trees hold it.
func content(of string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(of))
	return h.Sum64()
}

// push by somebody else has the base at a commit with a change of its own.
func (w *world) pushed(by string, number int) string {
	sha := w.sha(by)
	w.commits[sha] = commit{parent: w.base, number: number, tree: w.commits[w.base].tree ^ content(sha), bad: w.commits[w.base].bad}
	w.base = sha
	return sha
}

// holds says whether a commit has another one in its history.
func (w *world) holds(tip, other string) bool {
	for at := tip; at != ""; at = w.commits[at].parent {
		if at == other {
			return true
		}
	}
	return false
}

// conflicting says whether two changes do not merge, which both always answer alike.
func conflicting(w *world, a, b int) bool {
	a, b = min(a, b), max(a, b)
	if w.day.Faults.Conflict == 0 || a == 0 || a == b || b-a > 12 {
		return false
	}
	return rand.New(rand.NewPCG(w.day.Seed, uint64(a)<<32|uint64(b))).Float64() < w.day.Faults.Conflict
}

// clash says whether a change does not merge onto a commit.
func (w *world) clash(onto string, number int) bool {
	for at, depth := onto, 0; at != "" && depth < 60; at, depth = w.commits[at].parent, depth+1 {
		if conflicting(w, w.commits[at].number, number) {
			return true
		}
	}
	return false
}

// facts are what a run reads, of those that wait only the first ones. What it did not get to read in this look it does not get
// to see in any fold of it; whoever is asked for is read.
func (r *trainRun) facts(asked []train.Request) train.Facts {
	w := r.world
	f := train.Facts{Base: w.base, Gone: w.gone, Trouble: w.trouble,
		Reached: map[string]bool{}, Requests: map[int]train.Standing{}, Checks: map[string]train.Checks{}, Branches: map[int]string{}}
	if w.gone {
		f.Base = ""
	}
	for n, sha := range w.branches {
		f.Branches[n] = sha
	}
	if r.misses("branches") {
		f.Branches = nil
	}
	wanted := r.record.Wanted()
	for _, tip := range wanted.Ancestors {
		f.Reached[tip] = w.holds(w.base, tip)
	}
	for _, tip := range wanted.Tips {
		if !r.misses(tip) {
			f.Checks[tip] = w.seen(tip)
		}
	}
	numbers := wanted.Requests[:min(len(wanted.Requests), r.record.Near(w.settings))]
	for _, q := range asked {
		numbers = append(append(numbers, q.Number), q.Needs...)
	}
	for _, n := range slices.Concat(numbers, wanted.Needs) {
		f.Requests[n] = w.standing(n)
		if r.misses(fmt.Sprint(n)) && !slices.ContainsFunc(asked, func(q train.Request) bool { return q.Number == n }) {
			w.pulls[n].upset = true
			delete(f.Requests, n)
		}
	}
	return f
}

// misses says that a run does not get to read something in this look.
func (r *trainRun) misses(what string) bool {
	return r.day.Faults.Blind > 0 && rand.New(rand.NewPCG(r.look, content(what))).Float64() < r.day.Faults.Blind
}

func (w *world) seen(tip string) train.Checks {
	r := w.checks[tip]
	switch {
	case r == nil || !r.over || r.mute:
		c := train.Checks{State: model.CheckPending, Open: []string{"build"}}
		if r != nil && !r.over && !w.day.Statuses { // of which nobody knows whether it has begun
			c.Begun = r.begun + 1
		}
		return c
	case r.red && w.day.Statuses:
		return train.Checks{State: model.CheckFailed, Failed: []train.Check{{Name: "build", URL: "https://ci/" + tip, At: r.begun + 1}}}
	case r.red:
		return train.Checks{State: model.CheckFailed, Failed: []train.Check{{Name: "build", URL: "https://ci/" + tip, ID: workflowRun, Run: fmt.Sprint("CR_", r.attempts), At: r.begun + 1}}}
	}
	return train.Checks{State: model.CheckPassed}
}

func (w *world) standing(number int) train.Standing {
	p := w.pulls[number]
	if w.frozen {
		q := *p
		q.waits, p = "it has the label freeze", &q
	}
	return train.Standing{State: p.state, Head: p.head, SHA: p.merged, Waits: p.waits, Held: p.held, Off: p.off, Cancelled: p.cancelled, Ended: cmp.Or(p.tried, p.ended)}
}

// token is that of the newest request for a pull request.
func (p *pull) token() string { return fmt.Sprintf("%d/%d/%d", p.number, p.revision, p.asks) }

// asked is the newest request for a pull request, as its comment tells it.
func (p *pull) asked() train.Request {
	r := p.wish
	r.Number, r.Head, r.Token, r.At, r.ByGitHub = p.number, p.approvedHead(), p.token(), p.approved, p.byGitHub || p.wish.ByGitHub
	return r
}

// approvedHead is the head that was approved.
func (p *pull) approvedHead() string { return fmt.Sprintf("head%d.%d", p.number, p.revision) }
