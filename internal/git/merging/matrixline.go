package merging

import (
	"context"
	"fmt"
	"iter"
	"path"
	"strings"

	"github.com/mergexo/mergexo/internal/git/history"
)

const (
	fewestHeads  = 10      // of a base, for which reading its line takes less time than merging
	maxLinePaths = 200_000 // of all commits of a line
)

// line holds the newest commits of a base branch, along first parents, and their changes. A commit's place counts from the tip, at 0.
// The other maps hold the place of the newest commit that made such a change.
type line struct {
	ids     []string
	place   map[string]int // of a commit
	changed map[string]int // a path, or a directory with a final slash
	added   map[string]int // a directory below which a file was added
	removed map[string]int // a directory below which a file was removed
	paths   int
}

// lines lists the lines of the bases with many heads, each with one commit more than the base has heads: comparing a commit
// with its parent takes about as long as a merge.
func (r *finder) lines(ctx context.Context) (map[string]*line, error) {
	heads, of := map[string]int{}, map[string]*line{}
	for _, h := range r.heads {
		heads[h.Base]++
	}
	for base, n := range heads {
		if n < fewestHeads || r.c.Treeless {
			continue
		}
		out, err := r.c.Ask(ctx, "rev-list", "--first-parent", fmt.Sprintf("--max-count=%d", n+1), r.Bases[base])
		if err != nil {
			return nil, fmt.Errorf("list commits of %s: %w", base, err)
		}
		of[base] = &line{ids: strings.Fields(string(out)), place: map[string]int{}, changed: map[string]int{}, added: map[string]int{}, removed: map[string]int{}}
	}
	return of, nil
}

// add adds what the line's next commit changes. Past the limit, the line ends.
func (l *line) add(at int, all []history.Altered) {
	if l.paths += len(all); l.paths > maxLinePaths {
		return
	}
	note := func(in map[string]int, key string) {
		if _, ok := in[key]; !ok {
			in[key] = at
		}
	}
	l.place[l.ids[at]], l.place[l.ids[at+1]] = at, at+1
	for _, a := range all {
		note(l.changed, a.Path)
		for dir := range above(a.Path) {
			note(l.changed, dir+"/")
			if a.Old == "" {
				note(l.added, dir)
			}
			if a.New == "" {
				note(l.removed, dir)
			}
		}
	}
}

// apart reports whether a head with these changes since fork merges cleanly, as far as that is certain without a merge. No path is changed
// on both sides, so none is renamed on one side and changed on the other. No file of one side is a directory of the other. And no side adds
// a file to a directory from which the other removed one, so no renamed directory moves it.
func (l *line) apart(fork string, changes []history.Altered) bool {
	since, ok := l.place[fork]
	if !ok || len(changes) > maxHeadPaths {
		return false
	}
	met := func(in map[string]int, key string) bool {
		at, ok := in[key]
		return ok && at < since
	}
	for _, a := range changes {
		if met(l.changed, a.Path) || met(l.changed, a.Path+"/") {
			return false
		}
		for dir := range above(a.Path) {
			if met(l.changed, dir) || a.Old == "" && met(l.removed, dir) || a.New == "" && met(l.added, dir) {
				return false
			}
		}
	}
	return true
}

// above lists the directories above a path, innermost first. The root is left out: nothing can rename it.
func above(file string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for dir := path.Dir(file); dir != "." && yield(dir); dir = path.Dir(dir) {
		}
	}
}
