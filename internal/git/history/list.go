package history

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/model"
)

// MaxListed is how many commits a list names.
const MaxListed = 250

// Recent lists commits that git log finds, oldest first.
func Recent(ctx context.Context, c *git.Checkout, args ...string) ([]model.Commit, error) {
	out, err := c.Ask(ctx, slices.Concat([]string{"log", "-z", "--reverse", "--topo-order", "--no-show-signature", "--encoding=UTF-8", "--format=%H%n%an%n%s"}, args)...)
	if err != nil {
		return nil, fmt.Errorf("list commits: %w", err)
	}
	return CommitsIn(out)
}

// CommitsIn reads git log -z with an id, an author and a subject in a line each.
func CommitsIn(out []byte) ([]model.Commit, error) {
	var list []model.Commit
	for _, entry := range syntax.Fields(out) {
		part := strings.SplitN(strings.ToValidUTF8(entry, "\uFFFD"), "\n", 3)
		if len(part) != 3 {
			return nil, fmt.Errorf("list commits: unexpected entry %q", entry)
		}
		list = append(list, model.Commit{SHA: part[0], Author: part[1], Subject: part[2]})
	}
	return list, nil
}

// Named lists these commits in their order.
func Named(ctx context.Context, c *git.Checkout, shas []string) ([]model.Commit, error) {
	if len(shas) == 0 {
		return nil, nil
	}
	shas = shas[max(0, len(shas)-MaxListed):]
	out, err := Recent(ctx, c, slices.Concat([]string{"--no-walk=unsorted"}, shas)...)
	slices.SortFunc(out, func(a, b model.Commit) int { return slices.Index(shas, a.SHA) - slices.Index(shas, b.SHA) })
	return out, err
}

// List lists what is reachable from to and not from from, oldest first.
func List(ctx context.Context, c *git.Checkout, from, to string) ([]model.Commit, error) {
	if !syntax.IsSHA(from) || !syntax.IsSHA(to) {
		return nil, fmt.Errorf("list commits of %q..%q: not commit ids", from, to)
	}
	return Recent(ctx, c, from+".."+to)
}
