package merging

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
)

// get lists the server's refs and fetches what is missing. It asks for commits by ID: for thousands of names git takes
// minutes, since it compares each with each.
func (r *finder) get(ctx context.Context, heads []PullHead) error {
	if c := r.c; c.OwnClone && len(c.Refs) == 0 && !c.Partial {
		if _, err := c.Inside(ctx, "config", "remote.origin.promisor", "true"); err != nil {
			return fmt.Errorf("make a partial clone: %w", err)
		}
		c.Partial = true
	}
	for try := 0; ; try++ {
		if err := r.list(ctx, heads); err != nil {
			return err
		}
		var none *git.ErrNoRef
		err := gather(ctx, r.c, r.tips())
		if !errors.As(err, &none) || try == 1 {
			return err
		}
	}
}

// list lists the server's refs, and sorts the heads by them.
func (r *finder) list(ctx context.Context, heads []PullHead) error {
	names := make([]string, 0, 2*len(heads))
	for _, h := range heads {
		names = append(names, h.Ref, "refs/heads/"+h.Base)
	}
	slices.Sort(names)
	there, err := history.RemoteRefs(ctx, r.c, slices.Compact(names)...)
	if err != nil {
		return err
	}
	r.heads, r.Gone = nil, nil
	clear(r.Bases)
	for _, h := range heads {
		base := there["refs/heads/"+h.Base]
		if base != "" {
			r.Bases[h.Base] = base
		}
		switch {
		case there[h.Ref] != h.SHA:
			r.Gone = append(r.Gone, h.Number)
		case base != "":
			r.heads = append(r.heads, h)
		}
	}
	return nil
}

// tips are the commits of the heads and their bases.
func (r *finder) tips() []string {
	var all []string
	for _, h := range r.heads {
		all = append(all, h.SHA, r.Bases[h.Base])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// gather fetches commits at some of the server's refs without recording refs for them. *ErrNoRef names one that the server
// does not have after all.
func gather(ctx context.Context, c *git.Checkout, shas []string) error {
	limit := history.Bounded(ctx, c, 0)
	if len(limit) == 0 { // then a commit that is here has its whole history
		var err error
		if shas, err = history.Absent(ctx, c, shas); err != nil {
			return err
		}
	}
	return gatherBy(ctx, c, limit, shas)
}

func gatherBy(ctx context.Context, c *git.Checkout, options, shas []string) error {
	if len(shas) == 0 {
		return nil
	}
	return git.Wrap(history.Order{IDs: shas, Options: append(slices.Clone(options), history.Filtered(c)...)}.Do(ctx, c), "fetch heads")
}

// agree finds the merge bases of every head and its base, and fetches the history that is missing for that.
func agree(ctx context.Context, c *git.Checkout, list []pair) error {
	left, err := history.DeepenUntil(ctx, c, func() ([]string, error) {
		if err := forkPoints(ctx, c, list); err != nil {
			return nil, err
		}
		return undecided(ctx, c, list)
	}, func(step, shas []string) error { return gatherBy(ctx, c, step, shas) })
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("find merge base of %s: history is missing", left[0])
	}
	return err
}

// forksAtOnce is how many merge bases one process finds: that many fit into an argument list.
const forksAtOnce = 1000

// forkPoints finds all best merge bases. git rev-parse A...B names both commits, B first, and then them with a ^
// (https://git-scm.com/docs/git-rev-parse, "Symmetric difference notation").
func forkPoints(ctx context.Context, c *git.Checkout, list []pair) error {
	for len(list) > 0 {
		some := list[:min(len(list), forksAtOnce)]
		list = list[len(some):]
		args := []string{"rev-parse"}
		for _, e := range some {
			args = append(args, e.ours+"..."+e.theirs)
		}
		out, err := c.Ask(ctx, args...)
		if err != nil {
			return fmt.Errorf("find merge bases: %w", err)
		}
		plain := 0
		for row := range strings.Lines(string(out)) {
			id, fork := strings.CutPrefix(strings.TrimSuffix(row, "\n"), "^")
			if !fork {
				if plain++; plain%2 == 1 && plain/2 < len(some) {
					some[plain/2].forks = nil
				}
			} else if at := plain/2 - 1; at >= 0 {
				some[at].forks = append(some[at].forks, id)
			}
		}
		if plain != 2*len(some) {
			return errors.New("find merge bases: the answer breaks off")
		}
	}
	return nil
}

// undecided are the commits of those whose merge base may differ with more history. It is certain where one commit contains the other, and
// where there is one base and both sides end at the same boundary: then neither side's own commits are cut off.
func undecided(ctx context.Context, c *git.Checkout, list []pair) ([]string, error) {
	if len(c.Boundary) == 0 {
		return nil, nil
	}
	var tips []string
	for _, e := range list {
		tips = append(tips, e.ours, e.theirs)
	}
	slices.Sort(tips)
	ends, err := ends(ctx, c, slices.Compact(tips))
	if err != nil {
		return nil, err
	}
	var open []string
	for _, e := range list {
		contained := len(e.forks) == 1 && (e.forks[0] == e.ours || e.forks[0] == e.theirs)
		same := ends[e.ours] == ends[e.theirs] && (len(e.forks) == 1 || ends[e.ours] == "")
		if !contained && !same {
			open = append(open, e.ours, e.theirs)
		}
	}
	slices.Sort(open)
	return slices.Compact(open), nil
}

// ends maps each commit that is here to its shallow boundary: equal texts for equal boundaries, "" for none.
func ends(ctx context.Context, c *git.Checkout, tips []string) (map[string]string, error) {
	cut := map[string]string{}
	for row := range bytes.Lines(c.Boundary) {
		cut[strings.TrimSpace(string(row))] = strconv.Itoa(len(cut)) + " "
	}
	of, joined := map[string]string{}, map[[2]string]string{}
	union := func(a, b string) string {
		if a == b || b == "" {
			return a
		}
		if a == "" {
			return b
		}
		both, ok := joined[[2]string{a, b}]
		if !ok {
			words := slices.Sorted(strings.FieldsSeq(a + b))
			both = strings.Join(slices.Compact(words), " ") + " "
			joined[[2]string{a, b}] = both
		}
		return both
	}
	read := func(in *bufio.Reader) error {
		for {
			row, err := in.ReadString('\n')
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			ids := strings.Fields(row)
			all := cut[ids[0]]
			for _, parent := range ids[1:] {
				all = union(all, of[parent])
			}
			of[strings.Clone(ids[0])] = all
		}
	}
	if err := c.Pour(ctx, []byte(strings.Join(tips, "\n")+"\n"), read, "rev-list", "--reverse", "--topo-order", "--parents", "--stdin"); err != nil {
		return nil, fmt.Errorf("list commits: %w", err)
	}
	return of, nil
}
