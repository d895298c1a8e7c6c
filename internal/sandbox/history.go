package sandbox

import (
	"fmt"
	"slices"
	"strings"
)

// mostWalked is how many commits are walked here before git is asked, which is faster in a long history.
const mostWalked = 300

// history are the commits that can be reached from some, which belong to it. ok is false where they are too many, or where one
// is missing, as in a shallow copy.
func (g gitStore) history(r *Repository, from ...string) (reached map[string]*commitInfo, ok bool) {
	reached = map[string]*commitInfo{}
	for queue := slices.Clone(from); len(queue) > 0; queue = queue[1:] {
		if reached[queue[0]] != nil {
			continue
		}
		c, err := g.commitOf(r, queue[0])
		if err != nil || len(reached) == mostWalked {
			return nil, false
		}
		reached[c.SHA] = c
		queue = append(queue, c.Parents...)
	}
	return reached, true
}

// line are the commits in head that none of without has, newest first. ok is false where it takes git to tell, which it also does
// for the order of what was merged.
func (g gitStore) line(r *Repository, head string, without ...string) (shas []string, ok bool) {
	known, ok := g.history(r, without...)
	for at := head; ok && known[at] == nil; {
		c, err := g.commitOf(r, at)
		if err != nil || len(c.Parents) > 1 || len(shas) == mostWalked {
			return nil, false
		}
		shas = append(shas, at)
		if len(c.Parents) == 0 {
			break
		}
		at = c.Parents[0]
	}
	return shas, ok
}

// revList are the commits in head that base does not have, oldest first.
func (g gitStore) revList(r *Repository, base, head string) ([]string, error) {
	return fact(g.core, fmt.Sprint("rev-list ", base, head), func() ([]string, error) {
		if shas, ok := g.line(r, head, base); ok {
			slices.Reverse(shas)
			return shas, nil
		}
		out, err := g.run(r, "rev-list", "--reverse", "--topo-order", head, "^"+base)
		if err != nil {
			return nil, fmt.Errorf("list commits: %w", err)
		}
		return strings.Fields(out), nil
	})
}

// mergeBase is the best common ancestor of two commits, or "" for unrelated histories.
func (g gitStore) mergeBase(r *Repository, a, b string) (string, error) {
	if a == b {
		return a, nil
	}
	return fact(g.core, fmt.Sprint("merge-base ", a, b), func() (string, error) {
		if base, ok := g.onlyBase(r, a, b); ok {
			return base, nil
		}
		out, err := g.run(r, "merge-base", a, b)
		if exitCode(err) == 1 {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("find merge base: %w", err)
		}
		return out, nil
	})
}

// onlyBase finds the common ancestor that is behind no other one. ok is false where there are several, of which git chooses.
func (g gitStore) onlyBase(r *Repository, a, b string) (base string, ok bool) {
	ofA, okA := g.history(r, a)
	ofB, okB := g.history(r, b)
	behind, common := map[string]bool{}, []string{}
	for sha, c := range ofA {
		if ofB[sha] != nil {
			common = append(common, sha)
			for _, p := range c.Parents {
				behind[p] = true
			}
		}
	}
	best := slices.DeleteFunc(common, func(sha string) bool { return behind[sha] })
	if len(best) == 1 {
		base = best[0]
	}
	return base, okA && okB && len(best) < 2
}

// isAncestor tells whether commit b contains commit a.
func (g gitStore) isAncestor(r *Repository, a, b string) bool {
	base, err := g.mergeBase(r, a, b)
	return err == nil && base == a
}
