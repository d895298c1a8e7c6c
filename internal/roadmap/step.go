package roadmap

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// Fact is what GitHub shows of the issue of one item.
type Fact struct {
	Key       string
	Issue     int
	Title     string
	Linked    bool // it is a sub-issue of the roadmap's
	Labelled  bool // it has, or had, the label of a flow
	Closed    bool
	Completed bool // closed as completed
	Gone      bool // transferred, deleted or converted
	Held      bool // its title or text was changed by somebody who may not start an agent
	Kept      bool // somebody reopened it after it was closed, since the plan no longer had it
	// Pull is the newest pull request for it, Merged and Rejected (closed without a merge) are how that stands. A design's is only
	// the first half of the way.
	Pull             int
	Merged, Rejected bool
	Design           bool
	Asks             int // the issue or pull request where the work waits for a person; 0: nowhere
}

// Row is an item as it stands.
type Row struct {
	Item
	State model.ItemState
	Fact  Fact
	// For is what it waits for: keys of items.
	For []string
	// Dropped says that the plan no longer has it.
	Dropped bool
}

// Kind is what is to be done about an item.
type Kind string

// The kinds, in the order in which they are done.
const (
	Create Kind = "create" // open its issue
	Link   Kind = "link"   // make it a sub-issue
	Drop   Kind = "drop"   // close it: the plan no longer has it
	Label  Kind = "label"  // it may begin
	Ask    Kind = "ask"    // a person has to decide about one that failed
	Finish Kind = "finish" // close the issue of the roadmap
)

// Act is one thing to do.
type Act struct {
	Kind Kind
	Row  *Row // nil for Finish
}

// Step is how a roadmap stands and what is to be done about it.
type Step struct {
	Rows []Row // in the order of the file, dropped ones behind
	Acts []Act
	// Over says that nothing is open that the plan has, and that nothing runs that it had.
	Over bool
}

// Facts are what a step depends on. Asked says that somebody was asked about an item's issue as it stands.
type Facts struct {
	Plan  Plan
	Known []Fact
	Most  int // how many items run at once
	Asked func(Fact) bool
	// Lost says that the comment was edited or deleted that knew the issues of the items: one without an issue may have had one.
	Lost bool
	// Reopened says that MergeXO has finished the roadmap before, and that somebody has reopened its issue since.
	Reopened bool
}

// Next decides what is to be done. An item is ready once all that it needs is done, and ready items begin in the order of the
// file, so many at once. Nothing that a person has stopped or changed is begun again.
func Next(f Facts) Step {
	s := Step{Rows: f.rows()}
	running, open := 0, 0
	for i := range s.Rows {
		r := &s.Rows[i]
		if r.State == model.ItemRunning {
			running++
		}
		if r.State != model.ItemDone && (!r.Dropped || r.State == model.ItemRunning) {
			open++
		}
	}
	add := func(k Kind, r *Row) { s.Acts = append(s.Acts, Act{k, r}) }
	for _, r := range s.sorted() {
		if r.Fact.Issue == 0 && !r.Fact.Gone {
			add(Create, r)
		}
		if !r.Fact.Linked && !r.Fact.Gone {
			add(Link, r)
		}
	}
	for i := range s.Rows {
		r := &s.Rows[i]
		switch {
		case r.Dropped && !r.Fact.Closed && !r.Fact.Gone && !r.Fact.Kept && r.State != model.ItemRunning && r.State != model.ItemDone:
			add(Drop, r)
		case r.State == model.ItemQueued && running < f.Most:
			running++
			r.State = model.ItemRunning
			add(Label, r)
		}
	}
	for i := range s.Rows {
		if r := &s.Rows[i]; r.State == model.ItemFailed && !r.Dropped && !r.forgotten() && !f.Asked(r.Fact) {
			add(Ask, r)
		}
	}
	s.Over = open == 0 && len(f.Plan.Items) > 0
	if s.Over && !f.Reopened {
		add(Finish, nil)
	}
	return s
}

// rows are the items of the plan and those that it dropped, each with its state.
func (f Facts) rows() []Row {
	var rows []Row
	for _, i := range f.Plan.Items {
		r := Row{Item: i}
		if at := slices.IndexFunc(f.Known, func(k Fact) bool { return k.Key == i.Key }); at >= 0 {
			r.Fact = f.Known[at]
		}
		r.Fact.Key, r.Fact.Gone = i.Key, r.Fact.Gone || f.Lost && r.Fact.Issue == 0
		r.State = r.Fact.state()
		rows = append(rows, r)
	}
	for i := range rows {
		rows[i].wait(rows)
	}
	for i := range rows {
		if rows[i].State == model.ItemWaiting && len(Step{Rows: rows}.Causes(rows[i])) > 0 {
			rows[i].State = model.ItemBlocked
		}
	}
	known := slices.Clone(f.Known)
	slices.SortFunc(known, func(a, b Fact) int { return a.Issue - b.Issue })
	for _, k := range known {
		if f.Plan.Item(k.Key) == nil && k.Issue != 0 {
			rows = append(rows, Row{Item: Item{RoadmapItem: model.RoadmapItem{Key: k.Key, Title: k.Title}}, Fact: k, State: k.state(), Dropped: true})
		}
	}
	return rows
}

// state is how the issue of an item stands by itself.
func (k Fact) state() model.ItemState {
	switch {
	case k.Issue != 0 && k.Completed, k.Merged && !k.Design:
		return model.ItemDone
	case k.Gone, k.Closed, k.Rejected, k.Held:
		return model.ItemFailed
	case k.Labelled:
		return model.ItemRunning
	}
	return model.ItemPlanned
}

// forgotten says that nobody knows whether an item ever had an issue.
func (r Row) forgotten() bool { return r.Fact.Gone && r.Fact.Issue == 0 }

// wait sets what an item that has not begun waits for.
func (r *Row) wait(rows []Row) {
	if r.State != model.ItemPlanned {
		return
	}
	for _, key := range r.Needs {
		if needed := rowOf(rows, key); needed == nil || needed.Fact.state() != model.ItemDone {
			r.For = append(r.For, key)
		}
	}
	r.State = model.ItemQueued
	if len(r.For) > 0 {
		r.State = model.ItemWaiting
	}
}

// rowOf is the first row of an item; nil for none.
func rowOf(rows []Row, key string) *Row {
	for i := range rows {
		if rows[i].Key == key {
			return &rows[i]
		}
	}
	return nil
}

// Causes are the failed items that keep an item from beginning, in the order of the plan.
func (s Step) Causes(r Row) []Row {
	reach := map[string]bool{}
	var walk func(keys []string)
	walk = func(keys []string) {
		for _, key := range keys {
			if one := rowOf(s.Rows, key); one != nil && !reach[key] {
				reach[key] = true
				walk(one.For)
			}
		}
	}
	walk(r.For)
	return slices.DeleteFunc(slices.Clone(s.Rows), func(one Row) bool { return !reach[one.Key] || one.State != model.ItemFailed })
}

// sorted are the rows of the plan, what is needed first.
func (s Step) sorted() []*Row {
	var out []*Row
	seen := map[string]bool{}
	var visit func(r *Row)
	visit = func(r *Row) {
		if seen[r.Key] || r.Dropped {
			return
		}
		seen[r.Key] = true
		for _, key := range r.Needs {
			if needed := rowOf(s.Rows, key); needed != nil {
				visit(needed)
			}
		}
		out = append(out, r)
	}
	for i := range s.Rows {
		visit(&s.Rows[i])
	}
	return out
}

// Entries are the rows as the marker keeps them.
func (s Step) Entries() []model.RoadmapEntry {
	out := make([]model.RoadmapEntry, 0, len(s.Rows))
	for _, r := range s.Rows {
		out = append(out, model.RoadmapEntry{Key: r.Key, Issue: r.Fact.Issue, State: r.State, Pull: r.Fact.Pull, Dropped: r.Dropped, Closed: r.Dropped && (r.Fact.Closed || r.Fact.Kept)})
	}
	return out
}

// Sub is a sub-issue as a sweep sees it.
type Sub struct {
	Number int
	State  string // GitHub's: OPEN or CLOSED
	Reason string // why it was closed
}

// Looked stands for all that a sweep sees of a roadmap: the directory of its file, how many items may run, its sub-issues, and for
// each that runs its newest pull request and whether that is open, or where it waits for a person. One that was closed as not planned
// may have such a one, too.
func Looked(dir string, most int, subs []Sub, pull func(issue int) (number int, open, asks bool)) string {
	subs = slices.Clone(subs)
	slices.SortFunc(subs, func(a, b Sub) int { return a.Number - b.Number })
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d\n", dir, most)
	for _, s := range subs {
		fmt.Fprintf(&b, "%d %s %s", s.Number, s.State, s.Reason)
		if number, open, asks := pull(s.Number); s.State == "OPEN" || s.Reason != "COMPLETED" && open {
			fmt.Fprintf(&b, " %d %t", number, open)
			if asks {
				b.WriteString(" asks")
			}
		}
		b.WriteString("\n")
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:8])
}
