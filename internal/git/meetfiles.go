package git

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
)

// fillMerge gets, into a partial clone, the files that merging needs: all that the head's own commits changed, as they were
// and as they are, those of the base that it changed in the same paths, and those that git has to look into to know whether
// the base has renamed what the head changed. One network operation, none when they are here or it is no partial clone.
func (c *Checkout) fillMerge(ctx context.Context, met Met) error {
	if !c.promisor || met.Unrelated || met.MergeBase == met.HeadSHA {
		return nil
	}
	need := &needed{ids: map[string]bool{}}
	own, err := c.ownChanges(ctx, met)
	if err != nil {
		return err
	}
	for _, change := range own {
		need.add(change.old, change.new)
	}
	merges, err := c.merges(ctx, met)
	if err != nil {
		return err
	}
	// A merge in the branch is made anew to see what a person changed in it.
	for _, pair := range append(merges, [2]string{met.BaseSHA, met.HeadSHA}) {
		if err := c.needBoth(ctx, need, pair, own); err != nil {
			return err
		}
	}
	ids, err := c.absent(ctx, need.sorted())
	if err != nil {
		return err
	}
	return c.fetchObjects(ctx, ids)
}

// altered is one path that two trees differ in.
type altered struct{ path, old, new string } // ids of blobs; "" where there is none

// needed is a set of blobs.
type needed struct{ ids map[string]bool }

func (n *needed) add(ids ...string) {
	for _, id := range ids {
		if id != "" {
			n.ids[id] = true
		}
	}
}

func (n *needed) sorted() []string {
	list := make([]string, 0, len(n.ids))
	for id := range n.ids {
		list = append(list, id)
	}
	slices.Sort(list)
	return list
}

// ownChanges is all that commits of the head change that the base has not, merges apart.
func (c *Checkout) ownChanges(ctx context.Context, met Met) ([]altered, error) {
	out, err := c.ask(ctx, "log", "-z", "--format=", "--raw", "--no-merges", "--root", "--no-renames", "--no-abbrev", "--no-show-signature", met.HeadSHA, "^"+met.BaseSHA)
	if err != nil {
		return nil, fmt.Errorf("list files that commits changed: %w", err)
	}
	return alterations(out)
}

// between is what differs in the trees of two commits.
func (c *Checkout) between(ctx context.Context, from, to string) ([]altered, error) {
	out, err := c.ask(ctx, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to)
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", from, to, err)
	}
	return alterations(out)
}

// alterations reads git's raw differences (https://git-scm.com/docs/git-diff#_raw_output_format).
func alterations(out []byte) ([]altered, error) {
	part := slices.DeleteFunc(fields(out), func(s string) bool { return s == "" }) // git log puts one between commits
	if len(part)%2 != 0 {
		return nil, fmt.Errorf("read raw differences: unexpected answer of %d parts", len(part))
	}
	blob := func(mode, id string) string {
		if mode == ModeAbsent || mode == ModeSubmodule || strings.Trim(id, "0") == "" {
			return ""
		}
		return id
	}
	var list []altered
	for i := 0; i < len(part); i += 2 {
		meta := strings.Fields(strings.TrimPrefix(part[i], ":"))
		if len(meta) != 5 {
			return nil, fmt.Errorf("read raw differences: unexpected entry %q", part[i])
		}
		list = append(list, altered{path: part[i+1], old: blob(meta[0], meta[2]), new: blob(meta[1], meta[3])})
	}
	return list, nil
}

// needBoth adds what merging two commits needs of either side. own are changes that count for the second one beside those
// that are still to be seen in it.
func (c *Checkout) needBoth(ctx context.Context, need *needed, pair [2]string, own []altered) error {
	out, err := c.ask(ctx, "merge-base", "--all", pair[0], pair[1])
	if err != nil && exitCode(err) != 1 {
		return fmt.Errorf("find merge base of %s and %s: %w", pair[0], pair[1], err)
	}
	bases := strings.Fields(string(out))
	for i, from := range bases {
		one, err := c.between(ctx, from, pair[0])
		if err != nil {
			return err
		}
		two, err := c.between(ctx, from, pair[1])
		if err != nil {
			return err
		}
		two = append(two, own...)
		need.shared(one, two)
		need.shared(two, one)
		if i > 0 { // git merges the merge bases themselves first
			if err := c.needBoth(ctx, need, [2]string{bases[0], from}, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// shared adds the files of one side that a merge with the other one looks into.
func (n *needed) shared(one, other []altered) {
	touched, below := map[string]bool{}, map[string]bool{}
	for _, change := range other {
		touched[change.path] = true
		if change.old == "" { // where the one side has renamed its directory, it goes along
			for dir := path.Dir(change.path); dir != "."; dir = path.Dir(dir) {
				below[dir] = true
			}
		}
	}
	added := map[string]bool{}
	for _, change := range one {
		if touched[change.path] {
			n.add(change.old, change.new)
		}
		if change.old == "" && change.new != "" {
			added[change.new] = true
		}
	}
	inexact := false
	for _, change := range one {
		if change.new != "" || change.old == "" || added[change.old] { // not gone, or to be found elsewhere as it was
			continue
		}
		moves := touched[change.path]
		for dir := path.Dir(change.path); dir != "." && !moves; dir = path.Dir(dir) {
			moves = below[dir]
		}
		if moves {
			n.add(change.old)
			inexact = true
		}
	}
	for id := range added {
		if inexact {
			n.add(id)
		}
	}
}

// absent are those of the objects that are not here.
func (c *Checkout) absent(ctx context.Context, ids []string) ([]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	out, err := c.tell(ctx, []byte(strings.Join(ids, "\n")+"\n"), "cat-file", "--batch-check=%(objectname)")
	if err != nil {
		return nil, fmt.Errorf("look for missing files: %w", err)
	}
	var list []string
	for row := range strings.Lines(string(out)) {
		if id, gone := strings.CutSuffix(row, " missing\n"); gone {
			list = append(list, id)
		}
	}
	return list, nil
}
