package dashboard

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// grid is the matrix of conflicts, with a list of what is in them.
type grid struct {
	Pulls []pullName // rows, and columns after the base
	Rows  []gridRow
	Left  int // pull requests that are left out of the matrix
	Pairs []pair
	More  int // conflicts that are left out of the list
}

// pullName is a pull request that the matrix is about.
type pullName struct {
	Number int
	Title  string
	URL    string
}

type gridRow struct {
	Pull  pullName
	Cells []cell
}

// cell is what a pull request and the one of the column, or the base, have in conflict.
type cell struct {
	Files string // how many; "": they do not conflict
	To    string // id of the pair
	Said  string
	Self  bool
}

// pair is one conflict.
type pair struct {
	ID    string
	A, B  pullName // B.Number 0: the base
	Files string
	Paths []string
	More  int
}

// couple are the numbers of two pull requests that conflict, the lower first; 0 is the base.
type couple [2]int

func (d drawer) grid(b model.Board) grid {
	paths := map[couple][]string{}
	for _, c := range b.Conflicts { // both pull requests may list the conflict
		if key := (couple{min(c.Number, c.With), max(c.Number, c.With)}); c.Number != c.With {
			paths[key] = append(paths[key], c.Paths...)
		}
	}
	for c, all := range paths {
		paths[c] = slices.Compact(slices.Sorted(slices.Values(all)))
	}
	couples := slices.SortedFunc(maps.Keys(paths), func(x, y couple) int { return slices.Compare(x[:], y[:]) })
	names := d.names(b, couples)
	g := grid{More: max(0, len(couples)-mostPairs)}
	listed := map[couple]pair{}
	for _, c := range couples[:len(couples)-g.More] {
		listed[c] = newPair(c, names, paths[c])
		g.Pairs = append(g.Pairs, listed[c])
	}
	shown := most(couples)
	g.Left = len(names) - 1 - len(shown)
	for _, n := range shown {
		g.Pulls = append(g.Pulls, names[n])
		r := gridRow{Pull: names[n]}
		for _, m := range append([]int{0}, shown...) {
			key := couple{min(n, m), max(n, m)}
			_, conflict := paths[key]
			c := cell{Self: n == m, To: listed[key].ID}
			if conflict {
				files := len(paths[key])
				c.Files, c.Said = fmt.Sprint(files), fmt.Sprintf("%s conflicts with %s: %s", names[n].Name(), names[m].Name(), markdown.Count(files, "file"))
				if files == 0 { // the paths are not known
					c.Files = "?"
				}
			}
			r.Cells = append(r.Cells, c)
		}
		g.Rows = append(g.Rows, r)
	}
	return g
}

// names are those of all that conflict, and of the base.
func (d drawer) names(b model.Board, couples []couple) map[int]pullName {
	names := map[int]pullName{0: {}}
	for _, c := range couples {
		for _, n := range c {
			if n != 0 {
				names[n] = pullName{Number: n, URL: d.link(fmt.Sprintf("%s/pull/%d", d.repo, n))}
			}
		}
	}
	for _, p := range b.Pulls {
		if _, ok := names[p.Number]; ok {
			names[p.Number] = pullName{p.Number, clean(p.Title), d.link(p.URL)}
		}
	}
	return names
}

// Name is how a text calls it.
func (p pullName) Name() string {
	if p.Number == 0 {
		return "the base"
	}
	return fmt.Sprintf("#%d", p.Number)
}

func newPair(c couple, names map[int]pullName, paths []string) pair {
	p := pair{ID: fmt.Sprintf("conflict-%d-%d", c[0], c[1]), A: names[c[0]], B: names[c[1]], Files: markdown.Count(len(paths), "file")}
	if c[0] == 0 {
		p.A, p.B = p.B, p.A
	}
	p.More = max(0, len(paths)-mostPaths)
	for _, path := range paths[:len(paths)-p.More] {
		p.Paths = append(p.Paths, clean(path))
	}
	return p
}

// most returns the pull requests with the most conflicts, as many as the matrix shows, ordered by number.
func most(couples []couple) []int {
	count := map[int]int{}
	for _, c := range couples {
		count[c[0]]++
		count[c[1]]++
	}
	delete(count, 0)
	numbers := slices.SortedFunc(maps.Keys(count), func(a, b int) int { return cmp.Or(count[b]-count[a], a-b) })
	numbers = numbers[:min(len(numbers), mostInGrid)]
	slices.Sort(numbers)
	return numbers
}
