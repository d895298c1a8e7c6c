// Package sweep makes the decisions of a sweep that need no I/O: the order of the work and the job that does it, what to say
// about conflicts and lost replies, and which refs nobody needs.
package sweep

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Whole is the name, in --only, of the work that belongs to the whole repository instead of one number.
const Whole = "repository"

// Order puts work in the order in which it is done: by its most pressing reason, then by who has waited longest, then by
// number. The reasons of each are put in order too. What is given stays as it is.
func Order(work []model.Work) []model.Work {
	reasons := model.Reasons()
	pressing := func(a, b model.Reason) int { return cmp.Compare(rank(reasons, a), rank(reasons, b)) }
	out := slices.Clone(work)
	for i := range out {
		out[i].Why = slices.Clone(out[i].Why)
		slices.SortStableFunc(out[i].Why, pressing)
	}
	first := func(w model.Work) int {
		if len(w.Why) == 0 {
			return len(reasons)
		}
		return rank(reasons, w.Why[0])
	}
	slices.SortStableFunc(out, func(a, b model.Work) int {
		return cmp.Or(cmp.Compare(first(a), first(b)), waited(a, b), cmp.Compare(a.Number, b.Number))
	})
	return out
}

func rank(reasons []model.Reason, r model.Reason) int {
	if i := slices.Index(reasons, r); i >= 0 {
		return i
	}
	return len(reasons)
}

// waited sorts by waiting time, longest first; what has no known time comes last.
func waited(a, b model.Work) int {
	if a.Since.IsZero() != b.Since.IsZero() {
		return map[bool]int{true: 1, false: -1}[a.Since.IsZero()]
	}
	return a.Since.Compare(b.Since)
}

// Matrix spreads work over a limited number of jobs, in the order of the work. As long as there are enough jobs, each handles
// one number and shares the concurrency group of that number's events. The matrix is empty if there is no work; Actions refuses
// an empty one, so the caller skips the job.
func Matrix(work []model.Work, most int) model.Matrix {
	var numbers, whole []model.Work
	at := map[int]int{}
	for _, w := range Order(work) {
		list := &numbers
		if w.Number == 0 {
			list = &whole
		}
		if i, twice := at[w.Number]; twice {
			(*list)[i].Why = append((*list)[i].Why, w.Why...)
			continue
		}
		at[w.Number] = len(*list)
		*list = append(*list, w)
	}
	m := model.Matrix{Include: []model.MatrixJob{}}
	switch room := most - len(whole); {
	case len(numbers) <= room:
		for _, w := range numbers {
			m.Include = append(m.Include, job(strconv.Itoa(w.Number), w))
		}
	case room < 1:
		return model.Matrix{Include: []model.MatrixJob{job("sweep-1", append(numbers, whole...)...)}}
	default:
		for i := range room {
			var share []model.Work
			for n := i; n < len(numbers); n += room { // the most pressing of each come first
				share = append(share, numbers[n])
			}
			m.Include = append(m.Include, job(fmt.Sprintf("sweep-%d", i+1), share...))
		}
	}
	for _, w := range whole {
		m.Include = append(m.Include, job(Whole, w))
	}
	return m
}

func job(group string, work ...model.Work) model.MatrixJob {
	only := make([]string, len(work))
	for i, w := range work {
		only[i] = Whole
		if w.Number != 0 {
			only[i] = strconv.Itoa(w.Number)
		}
	}
	why := markdown.Count(len(work), "number")
	if len(work) == 1 {
		why = words(work[0].Why)
	}
	return model.MatrixJob{Group: group, Only: strings.Join(only, ","), Why: why}
}

// words are reasons as people read them.
func words(why []model.Reason) string {
	list := make([]string, len(why))
	for i, r := range why {
		list[i] = strings.ReplaceAll(string(r), "_", " ")
	}
	return strings.Join(list, ", ")
}

// ParseOnly parses what a matrix job handles: numbers, the work of the whole repository, or both, as in "7,9,12" or "repository".
func ParseOnly(s string) (numbers []int, whole bool, err error) {
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		if part == Whole {
			whole = true
			continue
		}
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return nil, false, fmt.Errorf("%q: want numbers of pull requests or issues such as 7,9, or %q for what concerns the whole repository", s, Whole)
		}
		if !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	return numbers, whole, nil
}
