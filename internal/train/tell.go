package train

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// Branch is the name of the branch of a car.
func (m Manifest) Branch(car int) string { return fmt.Sprintf("mergexo/train/%s/%d", m.Base, car) }

// effects are what the manifest wants and the facts do not show.
func effects(f *fold) []Effect {
	var out []Effect
	for _, c := range f.Cars {
		if e := wants(f, c); e != nil {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b Effect) int { return cmp.Compare(rank(a), rank(b)) })
	for _, r := range f.Queue {
		if r.End != nil {
			out = append(out, Finish{Request: r})
		}
	}
	return slices.Concat(out, losses(f), strays(f), tells(f))
}

// rank is the order in which effects of cars are carried out.
func rank(e Effect) int {
	switch e.(type) {
	case Land:
		return 0
	case Rerun:
		return 1
	case Push:
		return 2
	}
	return 3
}

// wants is what a car lacks; nil: nothing.
func wants(f *fold, c Car) Effect {
	switch {
	case c.Tip == "":
		b := Build{Car: c.Number, Onto: c.On}
		for _, m := range c.Members {
			b.Members = append(b.Members, f.rides(m.Number))
		}
		return b
	case c.State == Moving:
		return Land{Car: c.Number, From: c.On, To: c.Tip, Members: c.Members, Attempt: c.Refused + 1}
	case c.Pushed == 0 && f.looked:
		return Push{Car: c.Number, Branch: f.Branch(c.Number), Tip: c.Tip, From: f.facts.Branches[c.Number]}
	case c.State == Testing && f.facts.Checks[c.Tip].State == model.CheckFailed && len(c.Rerun) > 0:
		return Rerun{Car: c.Number, Tip: c.Tip, IDs: c.Rerun, After: c.After}
	}
	return nil
}

// strays are the branches that no car has. One with a number that this manifest has not given out belongs to a run that knows
// more.
func strays(f *fold) []Effect {
	var out []Effect
	for _, n := range slices.Sorted(maps.Keys(f.facts.Branches)) {
		if n < f.Next && f.car(n) == nil {
			out = append(out, DeleteBranch{Car: n, Branch: f.Branch(n), From: f.facts.Branches[n]})
		}
	}
	return out
}

// tells are the comments that do not say how their requests stand.
func tells(f *fold) []Effect {
	var out []Effect
	for _, t := range positions(f) {
		if t.Request.Told != t.Key {
			out = append(out, t)
		}
	}
	return out
}

// Positions tells how each request of a manifest stands that has not ended, those aboard first, as comments, the dashboard and
// the summary show it.
func Positions(m Manifest, facts Facts, s Settings, now time.Time) []Tell {
	return positions(told(m, facts, s, now))
}

// told is a manifest that nobody folds. Of one that no run has written, the facts tell the trouble.
func told(m Manifest, facts Facts, s Settings, now time.Time) *fold {
	if m.SHA == "" {
		m.Trouble = facts.Trouble
	}
	return &fold{Manifest: m, facts: facts, settings: s.effective(), now: now.Unix()}
}

func positions(f *fold) []Tell {
	var out []Tell
	var ahead []int
	took, lands, known := f.median(), f.now, true
	for _, i := range line(f) {
		c := f.Cars[i]
		at := expected(f, c, took)
		lands, known = max(lands, at), known && at != 0
		for _, m := range c.Members {
			t := aboardTell(f, c, m)
			t.Ahead = slices.Clone(ahead)
			if known {
				t.ETA = lands
			}
			out = append(out, t)
		}
		ahead = append(ahead, c.Number)
	}
	in := aboard(f)
	trouble, stands := trouble(f), standing(f)
	for _, r := range f.Order() {
		if !in[r.Number] && r.End == nil {
			t := Tell{Request: r, Ahead: slices.Clone(ahead), Why: reason(f, r, stands, trouble), Back: r.Back}
			if t.Why == "" && known {
				t.ETA = guess(f, took, len(out)+1)
			}
			out = append(out, t)
		}
	}
	for _, c := range f.Cars {
		if c.Try {
			out = append(out, aboardTell(f, c, c.Members[0]))
		}
	}
	for i := range out {
		out[i].Position = i + 1
		out[i].Key = out[i].key()
	}
	return out
}

// aboardTell tells how a member of a car stands, but for its place in the line.
func aboardTell(f *fold, c Car, m Member) Tell {
	t := Tell{Request: f.rides(m.Number), Car: c.Number, State: c.State, Why: carTrouble(f, c), Checks: c.Checks, Tip: c.Tip}
	t.Back = t.Request.Back
	if checks, read := f.facts.Checks[c.Tip]; read {
		t.Required = checks.Required
	} else if c.State == Pushing || c.State == Testing {
		t.Required = f.facts.Needed
	}
	t.With = slices.DeleteFunc(numbers(c.Members), func(n int) bool { return n == m.Number })
	return t
}

// expected is when a car of the line could land by itself, if all goes well; 0: unknown.
func expected(f *fold, c Car, took int64) int64 {
	switch {
	case carTrouble(f, c) != "":
		return 0
	case c.State == Moving:
		return f.now
	case took == 0 || c.State == Red || trouble(f) != "":
		return 0
	}
	return max(f.now, c.Since+took)
}

// reason says what keeps a request from boarding; "": its turn has not come.
func reason(f *fold, r Request, in map[int]bool, trouble string) string {
	if w := cmp.Or(f.facts.Requests[r.Number].Waits, r.Held); w != "" {
		return w
	}
	if n := missing(f, r, in); n != 0 {
		if at := f.request(n); at < 0 || f.Queue[at].Try {
			return fmt.Sprintf("it depends on #%d, which is not in the merge train: nobody has asked to merge it, or that request waits", n)
		}
		return fmt.Sprintf("it depends on #%d, which has not landed", n)
	}
	if trouble == "" && r.ConflictOn != "" {
		return "it conflicts with a change ahead of it, and is retried once that has landed"
	}
	return trouble
}

// guess is when a request at a position behind the line lands, if all goes well; 0: unknown.
func guess(f *fold, took int64, position int) int64 {
	if took == 0 {
		return 0
	}
	rounds := int64((position-1)/(f.settings.Batch*f.settings.Speculate)) + 1
	return f.now + rounds*took
}

// median is the median of how long the last landings took from the push, in seconds; 0: unknown.
func (m Manifest) median() int64 {
	var all []int64
	for _, l := range m.Landed {
		if l.Took > 0 {
			all = append(all, l.Took)
		}
	}
	return median(all)
}

// median is that of some numbers, which it sorts; 0 for none.
func median(all []int64) int64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// key is equal for what is not worth an edit: far back in the queue each place is not.
func (t Tell) key() string {
	at := strconv.Itoa(near(t.Position))
	if t.Car != 0 {
		at = fmt.Sprintf("car%d", t.Car)
	}
	state := t.State
	if state == Pushing || state == Building {
		state = Testing
	}
	return short(fmt.Sprint(at, "|", state, "|", t.Why, "|", t.Back, "|", t.Checks))
}

// near is a position to the precision that is worth an edit: 1, 2, 5, 10, 20, 50, ...
func near(position int) int {
	decade := 1
	for decade*10 <= position {
		decade *= 10
	}
	switch {
	case position >= 5*decade:
		return 5 * decade
	case position >= 2*decade:
		return 2 * decade
	}
	return decade
}

// short is a key that fits into a manifest of many requests.
func short(text string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return strconv.FormatUint(h.Sum64(), 36)
}
