package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
)

// FetchTree fetches the blobs of a commit's tree that a partial clone lacks, in one network operation, and in one more the trees that a
// treeless clone lacks; none for other clones.
func FetchTree(ctx context.Context, c *git.Checkout, sha string) error {
	return FetchReachable(ctx, c, "--no-walk", sha)
}

// FetchReachable is FetchTree for all that git rev-list finds.
func FetchReachable(ctx context.Context, c *git.Checkout, args ...string) error {
	if !c.Partial {
		return nil
	}
	if err := fetchTrees(ctx, c, nil, args...); err != nil {
		return err
	}
	return reachable(ctx, c, nil, args)
}

// fetchTrees fetches the trees that a treeless clone lacks of all that git rev-list finds, in one network operation; none for other
// clones. The server sends a tree with all trees below it.
func fetchTrees(ctx context.Context, c *git.Checkout, stdin []byte, args ...string) error {
	if !c.Treeless {
		return nil
	}
	return reachable(ctx, c, stdin, append([]string{"--filter=blob:none"}, args...))
}

func reachable(ctx context.Context, c *git.Checkout, stdin []byte, args []string) error {
	out, err := c.Tell(ctx, stdin, append([]string{"rev-list", "--objects", "--missing=print"}, args...)...)
	if err != nil {
		return fmt.Errorf("list missing files: %w", err)
	}
	var absent []string
	for row := range strings.Lines(string(out)) {
		if id, ok := strings.CutPrefix(row, "?"); ok {
			absent = append(absent, strings.TrimSpace(id))
		}
	}
	return fetchObjects(ctx, c, absent)
}

// ErrPartial says that a shallow or partial clone lacks what is needed, and that its origin is not to be asked for it.
var ErrPartial = errors.New("the checkout is not complete")

// fetchObjects fetches a partial clone's objects by ID, in one network operation; none for no objects.
func fetchObjects(ctx context.Context, c *git.Checkout, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	if c.Opt.URL == "" {
		return fmt.Errorf("%w: it is a partial clone that lacks files, and with --local its origin is not asked for them; merge without it", ErrPartial)
	}
	order := Order{IDs: ids, Options: []string{"--filter=blob:none"}, Settings: []string{"-c", "fetch.negotiationAlgorithm=noop"}}
	_, err := order.send(ctx, c) // a file that the server lacks is no branch that is gone
	return git.Wrap(errors.Join(err, git.TakeShallow(c)), "fetch missing files")
}

// Lacking are those of the objects that the server does not have, ten at most. One network operation, and one more for each.
func Lacking(ctx context.Context, c *git.Checkout, ids []string) (lacking []string, err error) {
	for len(ids) > 0 && len(lacking) < 10 {
		err := git.InSeparateDir(c, false, func(own *git.Checkout) error { return missing(own, fetchObjects(ctx, own, ids), ids) }) // which has none of them
		none := (*git.ErrNoRef)(nil)
		if !errors.As(err, &none) {
			return lacking, err
		}
		lacking = append(lacking, none.Ref)
		ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(lacking, id) })
	}
	return lacking, nil
}

// Filtered is the option that keeps files out of a fetch into a partial clone. Without it the server sends deltas against
// files that it assumes to be here, and git fetches those one by one.
func Filtered(c *git.Checkout) []string {
	if !c.Partial {
		return nil
	}
	return []string{"--filter=blob:none"}
}

// Absent are those of the objects that are not here.
func Absent(ctx context.Context, c *git.Checkout, ids []string) ([]string, error) {
	var list []string
	found, err := git.Resolve(ctx, c, ids...)
	for i, id := range found {
		if id == "" {
			list = append(list, ids[i])
		}
	}
	return list, err
}

// FetchMissing fetches those objects that a partial clone lacks, in one network operation; none for other clones.
func FetchMissing(ctx context.Context, c *git.Checkout, ids []string) error {
	if !c.Partial {
		return nil
	}
	lacking, err := Absent(ctx, c, ids)
	if err != nil {
		return err
	}
	return fetchObjects(ctx, c, lacking)
}
