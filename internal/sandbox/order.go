package sandbox

import (
	"sort"
)

// numbers are the numbers of all issues and pull requests, ascending.
func (r *Repository) numbers() []int {
	ns := make([]int, 0, len(r.Issues))
	for n := range r.Issues {
		ns = append(ns, n)
	}
	sort.Ints(ns)
	return ns
}

// issueOrder is a list of all issues by their numbers, with what tells that it is still all of them: numbers are not given
// twice, so that any issue that comes or goes changes one of the counts.
type issueOrder struct {
	list                        []*Issue
	issues, highest, departures int
}

// inOrder are all issues and pull requests by their numbers, ascending. The list is not to be changed.
func (r *Repository) inOrder() []*Issue {
	now := issueOrder{issues: len(r.Issues), highest: r.LastNumber, departures: len(r.Departed)}
	if o := r.order; o.list != nil && o.issues == now.issues && o.highest == now.highest && o.departures == now.departures {
		return o.list
	}
	now.list = make([]*Issue, 0, len(r.Issues))
	for _, n := range r.numbers() {
		now.list = append(now.list, r.Issues[n])
	}
	r.order = now
	return now.list
}
