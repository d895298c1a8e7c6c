package trainsim

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/mergexo/mergexo/internal/train"
)

// commit is one in the repository of a world.
type commit struct {
	parent string
	number int // of the request that is new in it; 0: somebody else's
	bad    bool
	run    int // that made it and has not pushed it; 0: GitHub has it
}

// pull is a pull request of a world.
type pull struct {
	change
	state     train.PullState
	head      string
	revision  int
	merged    string // commit on the base
	waits     string
	cancelled string
	ended     string // token that its comment shows as over
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
	record   train.Manifest // the hidden ref
	swaps    int            // of the record
	lost     bool           // the record cannot be read
	tally    tally
	landed   []int // requests, in the order in which the base got them
	wrong    []string
	tips     int
	began    int // runs of the program
	settings train.Settings
}

func newWorld(d Day, s train.Settings) *world {
	w := &world{
		farm: d.farm(rand.New(rand.NewPCG(d.Seed, 2))), day: d, rng: rand.New(rand.NewPCG(d.Seed, 4)),
		commits: map[string]commit{"base": {}}, base: "base", branches: map[int]string{}, checks: map[string]*run{},
		pulls: map[int]*pull{}, record: train.New("main"), settings: s,
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
func (w *world) conflicting(a, b int) bool {
	a, b = min(a, b), max(a, b)
	if w.day.Faults.Conflict == 0 || a == 0 || a == b || b-a > 12 {
		return false
	}
	return rand.New(rand.NewPCG(w.day.Seed, uint64(a)<<32|uint64(b))).Float64() < w.day.Faults.Conflict
}

// clash says whether a change does not merge onto a commit.
func (w *world) clash(onto string, number int) bool {
	for at, depth := onto, 0; at != "" && depth < 60; at, depth = w.commits[at].parent, depth+1 {
		if w.conflicting(w.commits[at].number, number) {
			return true
		}
	}
	return false
}

// build makes the commits of a car, which only the run has.
func (w *world) build(b train.Build, run int) train.Result {
	on := b.Onto
	out := train.Built{Car: b.Car, On: b.Onto}
	for _, r := range b.Members {
		if w.clash(on, r.Number) {
			w.pulls[r.Number].upset = true
			return train.Conflict{Car: b.Car, Number: r.Number, On: b.Onto, Paths: []string{"file"}}
		}
		tip := w.sha(fmt.Sprint("tip", r.Number))
		w.commits[tip] = commit{parent: on, number: r.Number, bad: w.commits[on].bad || w.pulls[r.Number].bad, run: run}
		out.Members = append(out.Members, train.Member{Number: r.Number, Head: r.Head, Tip: tip})
		on = tip
	}
	return out
}

// push sets a train branch, and starts CI.
func (w *world) push(p train.Push) bool {
	if w.branches[p.Car] != p.From {
		return false
	}
	w.branches[p.Car] = p.Tip
	for at := p.Tip; w.commits[at].run != 0; at = w.commits[at].parent {
		c := w.commits[at]
		c.run = 0
		w.commits[at] = c
	}
	if r := w.checks[p.Tip]; r == nil || r.stopped {
		w.checks[p.Tip] = w.start(p.Tip, w.commits[p.Tip].bad)
	}
	return true
}

func (w *world) deleteBranch(d train.DeleteBranch) bool {
	if w.branches[d.Car] != d.From {
		return false
	}
	delete(w.branches, d.Car)
	if r := w.checks[d.From]; r != nil && !slices.Contains(w.tipsOf(), d.From) {
		w.stop(r)
	}
	return true
}

func (w *world) tipsOf() []string {
	var all []string
	for _, sha := range w.branches {
		all = append(all, sha)
	}
	return all
}

// workflowRun is the id of the workflow run of a commit, which keeps it when it is run again.
const workflowRun = 1

// rerun runs the failed checks of a commit again, unless that was done already.
func (w *world) rerun(e train.Rerun) {
	r := w.checks[e.Tip]
	if r == nil || !r.over || !r.red || !slices.Contains(e.IDs, workflowRun) || r.begun+1 > e.After {
		return
	}
	again := w.start(e.Tip, r.bad)
	again.attempts = r.attempts + 1
	w.checks[e.Tip] = again
}

// land moves the heads and then the base, if nobody has moved any of them.
func (w *world) land(l train.Land) train.Result {
	for _, m := range l.Members {
		p := w.pulls[m.Number]
		switch asked := p.asked(); {
		case p.ended == p.token():
			return train.Unready{Car: l.Car, Number: m.Number, Token: asked.Token, Over: true}
		case p.waits != "":
			return train.Unready{Car: l.Car, Number: m.Number, Token: asked.Token, Why: p.waits}
		}
		if p.state != train.Open || p.head != m.Head && !slices.ContainsFunc(w.made(m.Number), func(t string) bool { return t == p.head }) {
			return train.LandRefused{Car: l.Car, Attempt: l.Attempt, Why: fmt.Sprintf("#%d is not at its head", m.Number)}
		}
	}
	for _, m := range l.Members {
		w.pulls[m.Number].head = m.Tip
	}
	if w.fault(w.day.Faults.Refuse) {
		return train.LandRefused{Car: l.Car, Attempt: l.Attempt, Why: "GitHub refuses"}
	}
	if w.base != l.From {
		return train.LandRefused{Car: l.Car, Attempt: l.Attempt, Why: "the base has moved"}
	}
	w.move(l.To)
	return train.Arrived{Car: l.Car, From: l.From, SHA: l.To}
}

// made are the commits that a request was made into, and may be the head.
func (w *world) made(number int) []string {
	var all []string
	for sha, c := range w.commits {
		if c.number == number {
			all = append(all, sha)
		}
	}
	return all
}

// move has the base at a commit that a train tested, and looks whether that is so.
func (w *world) move(to string) {
	r := w.checks[to]
	if r == nil || !r.over || r.red || w.commits[to].bad {
		w.complain("%s landed, which is not green", to)
	}
	if !w.holds(to, w.base) {
		w.complain("%s does not stand on the base", to)
	}
	var numbers []int
	for at := to; at != w.base && at != ""; at = w.commits[at].parent {
		numbers = append(numbers, w.commits[at].number)
	}
	slices.Reverse(numbers)
	w.base = to
	for _, n := range numbers {
		if n == 0 || w.pulls[n].wish.Try {
			w.complain("#%d landed, which only tries", n)
			continue
		}
		w.inTurn(w.pulls[n])
		w.merge(n, to)
	}
}

// inTurn looks whether nobody waits who was there before a request that lands, and as urgent.
func (w *world) inTurn(p *pull) {
	for _, r := range w.record.Queue {
		q := w.pulls[r.Number]
		switch {
		case r.End != nil || q.upset || q.state != train.Open || q.ended == q.token() || q.queued == 0 || q.queued > p.approved:
		case q.wish.Try || len(q.wish.Needs) > 0 || q.wish.Now != p.wish.Now || q.wish.Priority != p.wish.Priority || q.approved >= p.approved:
		default:
			w.complain("#%d landed before #%d", p.number, q.number)
		}
	}
}

// merge shows a pull request as merged.
func (w *world) merge(number int, at string) {
	p := w.pulls[number]
	if p.landings++; p.landings > 1 {
		w.complain("#%d landed twice", number)
	}
	p.state, p.merged = train.Merged, at
	w.landed = append(w.landed, number)
	w.tally.land(p.change, w.now)
}

// facts are what a run reads.
func (w *world) facts(m train.Manifest) train.Facts {
	f := train.Facts{Base: w.base, Reached: map[string]bool{}, Requests: map[int]train.Standing{}, Checks: map[string]train.Checks{}, Branches: map[int]string{}}
	for n, sha := range w.branches {
		f.Branches[n] = sha
	}
	wanted := m.Wanted()
	for _, tip := range wanted.Ancestors {
		f.Reached[tip] = w.holds(w.base, tip)
	}
	for _, tip := range wanted.Tips {
		f.Checks[tip] = w.seen(tip)
	}
	for _, n := range slices.Concat(wanted.Requests, wanted.Needs) {
		f.Requests[n] = w.pulls[n].standing()
	}
	return f
}

func (w *world) seen(tip string) train.Checks {
	r := w.checks[tip]
	switch {
	case r == nil || !r.over:
		return train.Checks{State: train.ChecksPending, Open: []string{"build"}}
	case r.red:
		return train.Checks{State: train.ChecksFailed, Failed: []train.Check{{Name: "build", URL: "https://ci/" + tip, ID: workflowRun, Run: fmt.Sprint("CR_", r.attempts), At: r.begun + 1}}}
	}
	return train.Checks{State: train.ChecksPassed}
}

func (p *pull) standing() train.Standing {
	return train.Standing{State: p.state, Head: p.head, SHA: p.merged, Waits: p.waits, Cancelled: p.cancelled, Ended: p.ended}
}

// token is that of the newest request for a pull request.
func (p *pull) token() string { return fmt.Sprintf("%d/%d", p.number, p.revision) }

// asked is the newest request for a pull request, as its comment tells it.
func (p *pull) asked() train.Request {
	r := p.wish
	r.Number, r.Head, r.Token, r.At = p.number, p.approvedHead(), p.token(), p.approved
	return r
}

// approvedHead is the head that was approved.
func (p *pull) approvedHead() string { return fmt.Sprintf("head%d.%d", p.number, p.revision) }
