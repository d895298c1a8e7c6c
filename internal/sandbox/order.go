package sandbox

import (
	"cmp"
	"maps"
	"slices"
)

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
	now.list = slices.SortedFunc(maps.Values(r.Issues), func(a, b *Issue) int { return cmp.Compare(a.Number, b.Number) })
	r.order = now
	return now.list
}

// checked is what there is of checks of one commit, oldest first.
type checked struct {
	made     []*CheckRun
	runs     []*Run
	statuses []*Status
}

// checkIndex finds checks by commit. What is checked is never taken away, so that counts tell whether it is still whole; a run
// that gets another head makes an end of it.
type checkIndex struct {
	bySHA                map[string]*checked
	made, runs, statuses int
}

// checked finds what there is of a commit.
func (r *Repository) checked(sha string) *checked {
	now := checkIndex{made: len(r.CheckRuns), runs: len(r.Runs), statuses: len(r.Statuses)}
	if x := r.index; x.bySHA == nil || x.made != now.made || x.runs != now.runs || x.statuses != now.statuses {
		now.bySHA = map[string]*checked{}
		at := func(sha string) *checked {
			if now.bySHA[sha] == nil {
				now.bySHA[sha] = &checked{}
			}
			return now.bySHA[sha]
		}
		for _, c := range r.CheckRuns {
			at(c.SHA).made = append(at(c.SHA).made, c)
		}
		for _, run := range r.Runs {
			at(run.HeadSHA).runs = append(at(run.HeadSHA).runs, run)
		}
		for _, st := range r.Statuses {
			at(st.SHA).statuses = append(at(st.SHA).statuses, st)
		}
		r.index = now
	}
	if c := r.index.bySHA[sha]; c != nil {
		return c
	}
	return &checked{}
}
