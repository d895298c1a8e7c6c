package trainsim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/mergexo/mergexo/internal/train"
)

// Day is what happens to a base branch, before anybody decides anything.
type Day struct {
	Seed     uint64
	Requests int
	Span     time.Duration // within which all are approved, each at any time of it
	CI       time.Duration // of one run
	Red      float64       // how probably a change is bad on its own
	Flaky    float64       // how probably a run on a good commit is red
	Runners  int           // runs at once
	Wishes   float64       // how probably a request has a priority, goes alone or now, only tries, is merged by GitHub or depends on another one
	ByGitHub bool          // only GitHub may merge
	Statuses bool          // CI is another service, which reports by commit statuses: nobody can have it run again
	Faults   Faults
}

// Faults are how probably something goes wrong. Those that no comment explains are for each request.
type Faults struct {
	Conflict float64 // for a pair of requests that are near each other
	Unfit    float64 // it cannot be built
	Push     float64 // to the base by somebody else
	Change   float64 // a new head, a cancel, a close, a merge by hand, another base or a freeze
	Meddle   float64 // with a train branch
	Forge    float64 // a commit that nobody approved, in the manifest and on its branch
	Recheck  float64 // of a commit that CI has tested, by a person
	Settings float64 // a change of who merges: GitHub itself, or we
	Stop     float64 // of everything for a while: frozen, no CI on train branches, CI down, no base
	Crash    float64 // at each step of a run: before it, or after it without its answer
	Again    float64 // another command: a try of what is to land, or a merge of what was only to be tried
	Beside   float64 // another run, at each step of a run
	Lose     float64 // the manifest
	Refuse   float64 // a push, a landing or a re-run, by GitHub
	Hang     float64 // a run of CI, which does not report in time
	Mute     float64 // a run of CI, which ends and does not report a required check
	Late     float64 // a run of CI, which begins hours after it was asked for
	Blind    float64 // a fact, at each look: it is not read
}

// TheDay is the one that budgets are measured on.
func TheDay(seed uint64) Day {
	return Day{Seed: seed, Requests: 1000, Span: 24 * time.Hour, CI: 20 * time.Minute, Red: 0.03, Flaky: 0.02, Runners: 16}
}

// change is a request of a day.
type change struct {
	number   int
	approved int64
	bad      bool
	unfit    bool
	wish     train.Request // how it is asked for
}

// changes are the requests of a day, in the order of their approvals.
func (d Day) changes(rng *rand.Rand) []change {
	out := make([]change, d.Requests)
	for i := range out {
		out[i] = change{approved: rng.Int64N(max(1, int64(d.Span.Seconds()))), bad: rng.Float64() < d.Red}
	}
	slices.SortFunc(out, func(a, b change) int { return int(a.approved - b.approved) })
	for i := range out {
		out[i].number = d.number(i)
		if d.Wishes > 0 && rng.Float64() < d.Wishes {
			out[i].wish = wish(rng)
			if needs := i - 1 - rng.IntN(3); needs >= 0 && rng.IntN(6) == 0 {
				out[i].wish.Needs = []int{d.number(needs)}
			}
		}
		out[i].unfit = d.Faults.Unfit > 0 && rng.Float64() < d.Faults.Unfit
	}
	return out
}

// number is that of the request that is approved as the i-th. Where anything may go wrong the newest number is approved first, so
// that nothing passes for the order of approvals.
func (d Day) number(i int) int {
	if d.Faults != (Faults{}) {
		return d.Requests - i
	}
	return i + 1
}

// wish is how a request is asked for, in one or two ways of several.
func wish(rng *rand.Rand) (w train.Request) {
	for range 1 + rng.IntN(2) {
		switch rng.IntN(7) {
		case 0:
			w.Priority = train.High
		case 1:
			w.Priority = train.Low
		case 2:
			w.Priority = rng.IntN(7) - 3
		case 3:
			w.Solo = true
		case 4:
			w.Now = true
		case 5:
			w.Try = true
		case 6:
			w.ByGitHub = true
		}
	}
	return w
}

func (d Day) farm(rng *rand.Rand) *farm {
	return &farm{runners: max(1, d.Runners), takes: int64(d.CI.Seconds()), flaky: d.Flaky, hang: d.Faults.Hang, mute: d.Faults.Mute, late: d.Faults.Late, rng: rng}
}

// Figures are the result of a day. Times are minutes.
type Figures struct {
	Policy  string
	Landed  int
	Failed  int     // rightly
	Wronged int     // failed, or were thrown out and asked for again, though they are good
	PerHour float64 // landed, up to the last landing
	Median  float64 // from approval to landing
	P95     float64
	CI      float64 // time of runners for each that landed
	Runs    int
}

// tally collects the result of a day.
type tally struct {
	waits   []int64
	last    int64
	failed  int
	wronged int
}

func (t *tally) land(c change, now int64) {
	t.waits = append(t.waits, now-c.approved)
	t.last = now
}

func (t *tally) figures(policy string, f *farm) Figures {
	out := Figures{Policy: policy, Landed: len(t.waits), Failed: t.failed, Wronged: t.wronged, Runs: f.runs}
	if len(t.waits) == 0 {
		return out
	}
	slices.Sort(t.waits)
	at := func(share float64) float64 { return float64(t.waits[int(share*float64(len(t.waits)-1))]) / 60 }
	out.PerHour = float64(len(t.waits)) / (float64(t.last) / 3600)
	out.Median, out.P95 = at(0.5), at(0.95)
	out.CI = float64(f.spent) / 60 / float64(len(t.waits))
	return out
}

// RandomDay invents a small day on which everything may go wrong, and settings for it.
func RandomDay(seed uint64) (Day, train.Settings) {
	rng := rand.New(rand.NewPCG(seed, 5))
	some := func(most float64) float64 {
		if rng.IntN(2) == 0 {
			return 0
		}
		return rng.Float64() * most
	}
	d := Day{
		Seed: seed, Requests: 3 + rng.IntN(30), Span: time.Duration(1+rng.IntN(300)) * time.Minute, CI: time.Duration(5+rng.IntN(30)) * time.Minute,
		Red: some(0.3), Flaky: some(0.2), Runners: 1 + rng.IntN(8), Wishes: some(0.6), ByGitHub: rng.IntN(5) == 0,
		Faults: Faults{Conflict: some(0.1), Unfit: some(0.1), Push: some(0.2), Change: some(0.3), Meddle: some(0.2), Forge: some(0.1), Recheck: some(0.2),
			Settings: some(0.05), Stop: some(0.05), Crash: some(0.1), Beside: some(0.2), Lose: some(0.1), Refuse: some(0.1), Hang: some(0.05), Mute: some(0.05),
			Blind: some(0.05), Late: some(0.1), Again: some(0.3)},
		Statuses: rng.IntN(3) == 0,
	}
	s := train.Defaults()
	s.Batch, s.Speculate, s.Retries = 1+rng.IntN(8), 1+rng.IntN(6), rng.IntN(3)
	return d, s
}
