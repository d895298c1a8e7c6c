package merging

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git/history"
)

// look finds the paths that each head changes since its merge base, and which heads are apart from their base. list has the heads
// in order.
func (r *finder) look(ctx context.Context, list []pair) error {
	lines, err := r.lines(ctx)
	if err != nil {
		return err
	}
	var pairs [][2]string
	var visits []func([]history.Altered)
	for _, l := range lines {
		for at := range len(l.ids) - 1 {
			pairs = append(pairs, [2]string{l.ids[at], l.ids[at+1]})
			visits = append(visits, func(all []history.Altered) { l.add(at, all) })
		}
	}
	r.paths = make([][]string, len(list))
	known := map[string]string{} // one copy of each path
	for i, e := range list {
		pairs = append(pairs, [2]string{e.theirs, e.forks[0]})
		visits = append(visits, func(all []history.Altered) {
			l := lines[e.head.Base]
			list[i].apart = l != nil && len(e.forks) == 1 && l.apart(e.forks[0], all)
			for _, change := range all[:min(len(all), maxHeadPaths)] {
				at, ok := known[change.Path]
				if !ok {
					at = strings.Clone(change.Path)
					known[at] = at
				}
				r.paths[i] = append(r.paths[i], at)
			}
		})
	}
	return history.Differences(ctx, r.c, pairs, func(i int, all []history.Altered) { visits[i](all) })
}

// touchedPath is something that heads of one base change: a file, or with a final slash a directory that contains one.
type touchedPath struct{ base, path string }

// pairs are heads of the same base that change a common path, or one a file where the other has a directory: newest first,
// up to the limit. The rest is counted.
func (r *finder) pairs(limit int) []pair {
	at := map[touchedPath][]int{} // the heads, newest first
	left := map[string]int{}
	for i, h := range r.heads {
		left[h.Base]++
		for _, s := range r.touchedPaths(i) {
			at[s] = append(at[s], i)
		}
	}
	var list []pair
	met := make([]int, len(r.heads)) // the last head found to share a path, plus one
	for i, h := range r.heads {
		left[h.Base]--
		for _, j := range r.sharing(i, at, met, left[h.Base]) {
			if len(list) == limit {
				r.Unlooked++
				continue
			}
			other := r.heads[j]
			list = append(list, pair{head: h, with: other.Number, ours: other.SHA, theirs: h.SHA})
		}
	}
	return list
}

// sharing are the older heads with a common path, newest first, up to a limit.
func (r *finder) sharing(i int, at map[touchedPath][]int, met []int, left int) []int {
	var found []int
	take := func(s touchedPath) {
		older := at[s]
		from, _ := slices.BinarySearch(older, i+1)
		for _, j := range older[from:] {
			if met[j] != i+1 {
				met[j] = i + 1
				found = append(found, j)
			}
		}
	}
	for _, s := range r.touchedPaths(i) {
		if len(found) == left {
			break
		}
		if file, isDir := strings.CutSuffix(s.path, "/"); isDir {
			take(touchedPath{s.base, file})
			continue
		}
		take(s)
		take(touchedPath{s.base, s.path + "/"})
	}
	slices.Sort(found)
	return found
}

// touchedPaths are what a head changes.
func (r *finder) touchedPaths(i int) []touchedPath {
	base, seen := r.heads[i].Base, map[string]bool{}
	list := make([]touchedPath, 0, 2*len(r.paths[i]))
	for _, file := range r.paths[i] {
		list = append(list, touchedPath{base, file})
		for dir := range above(file) {
			if seen[dir] {
				break
			}
			seen[dir] = true
			list = append(list, touchedPath{base, dir + "/"})
		}
	}
	return list
}

// fillAll fetches the files for all merges into a partial clone, in one network operation: see history.FillMerge.
func (r *finder) fillAll(ctx context.Context, list []pair) error {
	if !r.c.Partial {
		return nil
	}
	need := history.Needed{}
	var plain []pair
	for _, e := range list {
		if len(e.forks) == 1 {
			plain = append(plain, e)
		} else if err := history.NeedBoth(ctx, r.c, need, [2]string{e.ours, e.theirs}, nil); err != nil {
			return err
		}
	}
	// Sort by base and merge base, so that the base's changes are compared once.
	slices.SortFunc(plain, func(a, b pair) int {
		return cmp.Or(strings.Compare(a.ours, b.ours), strings.Compare(a.forks[0], b.forks[0]))
	})
	var pairs [][2]string
	var ours []bool
	for i, e := range plain {
		if i == 0 || plain[i-1].ours != e.ours || plain[i-1].forks[0] != e.forks[0] {
			pairs, ours = append(pairs, [2]string{e.ours, e.forks[0]}), append(ours, true)
		}
		pairs, ours = append(pairs, [2]string{e.theirs, e.forks[0]}), append(ours, false)
	}
	var one []history.Altered
	err := history.Differences(ctx, r.c, pairs, func(i int, all []history.Altered) {
		if ours[i] {
			one = all
			return
		}
		need.Shared(one, all)
		need.Shared(all, one)
	})
	if err != nil {
		return err
	}
	return need.Fetch(ctx, r.c)
}
