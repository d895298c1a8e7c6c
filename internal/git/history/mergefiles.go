package history

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
)

// FillMerge fetches the files for a merge into a partial clone: everything that the head's own commits changed, before and
// after, the base's versions of those paths, and the files that git examines to detect the base's renames. One network
// operation, and one more for the trees that a treeless clone lacks; none if all are here or the clone is not partial.
func FillMerge(ctx context.Context, c *git.Checkout, met Divergence) error {
	if !c.Partial || met.Unrelated || met.MergeBase == met.HeadSHA {
		return nil
	}
	if err := fillTrees(ctx, c, met.BaseSHA, met.HeadSHA); err != nil {
		return err
	}
	need := Needed{}
	own, err := OwnChanges(ctx, c, met)
	if err != nil {
		return err
	}
	need.Both(own)
	merges, err := Nodes(ctx, c, []string{met.HeadSHA, "^" + met.BaseSHA}, "--merges")
	if err != nil {
		return err
	}
	// A merge in the branch is repeated to see what a person changed in it.
	for _, one := range append(merges, Node{Parents: []string{met.BaseSHA, met.HeadSHA}}) {
		if err := NeedBoth(ctx, c, need, [2]string(one.Parents[:2]), own); err != nil {
			return err
		}
	}
	return need.Fetch(ctx, c)
}

// fillTrees fetches into a treeless clone the trees of what each side has since their merge bases, and of these.
func fillTrees(ctx context.Context, c *git.Checkout, one, other string) error {
	if !c.Treeless {
		return nil
	}
	out, err := c.Ask(ctx, "rev-list", "--boundary", one+"..."+other)
	if err != nil {
		return fmt.Errorf("list commits whose trees are missing: %w", err)
	}
	return fetchTrees(ctx, c, bytes.ReplaceAll(out, []byte("-"), nil), "--no-walk", "--stdin")
}

// Altered is one path in which two trees differ.
type Altered struct{ Path, Old, New string } // ids of blobs; "" where there is none

// Needed is a set of ids of blobs.
type Needed map[string]bool

// Add adds ids; "" is none.
func (n Needed) Add(ids ...string) {
	for _, id := range ids {
		if id != "" {
			n[id] = true
		}
	}
}

// Both adds what paths have in either tree.
func (n Needed) Both(all []Altered) {
	for _, change := range all {
		n.Add(change.Old, change.New)
	}
}

// Fetch is FetchMissing for the blobs.
func (n Needed) Fetch(ctx context.Context, c *git.Checkout) error {
	return FetchMissing(ctx, c, slices.Sorted(maps.Keys(n)))
}

// OwnChanges is everything that the head's own commits change, without merges.
func OwnChanges(ctx context.Context, c *git.Checkout, met Divergence) (list []Altered, err error) {
	out, err := c.Ask(ctx, "rev-list", "--no-merges", met.HeadSHA, "^"+met.BaseSHA)
	if err != nil {
		return nil, fmt.Errorf("list commits that change files: %w", err)
	}
	err = compare(ctx, c, strings.Fields(string(out)), func(_ int, of []Step) { list = append(list, altered(of)...) })
	return list, err
}

// Between is the difference between two commits' trees.
func Between(ctx context.Context, c *git.Checkout, from, to string) (list []Altered, err error) {
	err = Differences(ctx, c, [][2]string{{to, from}}, func(_ int, all []Altered) { list = all })
	return list, err
}

// Differences compares pairs of commits, newer first, in one process, and calls visit with each result.
func Differences(ctx context.Context, c *git.Checkout, pairs [][2]string, visit func(i int, all []Altered)) error {
	lines := make([]string, len(pairs))
	for i, pair := range pairs {
		lines[i] = pair[0] + " " + pair[1]
	}
	return compare(ctx, c, lines, func(i int, of []Step) { visit(i, altered(of)) })
}

// altered are steps from one parent.
func altered(steps []Step) []Altered {
	list := make([]Altered, len(steps))
	for i, s := range steps {
		list[i] = Altered{Path: s.Path, Old: strings.Join(s.before, "")}
		if s.IsBlob() {
			list[i].New = s.Id
		}
	}
	return list
}

// NeedBoth adds what merging two commits needs of either side. own are changes of the second one in addition to its visible
// ones.
func NeedBoth(ctx context.Context, c *git.Checkout, need Needed, pair [2]string, own []Altered) error {
	if err := fillTrees(ctx, c, pair[0], pair[1]); err != nil {
		return err
	}
	out, err := c.Ask(ctx, "merge-base", "--all", pair[0], pair[1])
	if err != nil && git.ExitCode(err) != 1 {
		return fmt.Errorf("find merge base of %s and %s: %w", pair[0], pair[1], err)
	}
	bases := strings.Fields(string(out))
	for i, from := range bases {
		one, err := Between(ctx, c, from, pair[0])
		if err != nil {
			return err
		}
		two, err := Between(ctx, c, from, pair[1])
		if err != nil {
			return err
		}
		two = append(two, own...)
		need.Shared(one, two)
		need.Shared(two, one)
		if i > 0 { // git merges the merge bases themselves first
			if err := NeedBoth(ctx, c, need, [2]string{bases[0], from}, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// Shared adds the files of one side that a merge with the other one reads.
func (n Needed) Shared(one, other []Altered) {
	touched, below := map[string]bool{}, map[string]bool{}
	for _, change := range other {
		touched[change.Path] = true
		if change.Old == "" { // it moves along if the one side renamed its directory
			for dir := path.Dir(change.Path); dir != "."; dir = path.Dir(dir) {
				below[dir] = true
			}
		}
	}
	added := map[string]bool{}
	for _, change := range one {
		if touched[change.Path] {
			n.Add(change.Old, change.New)
		}
		if change.Old == "" && change.New != "" {
			added[change.New] = true
		}
	}
	inexact := false
	for _, change := range one {
		if change.New != "" || change.Old == "" || added[change.Old] { // not deleted, or unchanged under another name
			continue
		}
		moves := touched[change.Path]
		for dir := path.Dir(change.Path); dir != "." && !moves; dir = path.Dir(dir) {
			moves = below[dir]
		}
		if moves {
			n.Add(change.Old)
			inexact = true
		}
	}
	for id := range added {
		if inexact {
			n.Add(id)
		}
	}
}
