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

// Log is git log of some revisions: of each commit what the lines of a format say.
func Log(ctx context.Context, c *git.Checkout, format string, revisions []string, args ...string) ([][]string, error) {
	ask := slices.Concat([]string{"log", "-z", "--stdin", "--no-show-signature", "--encoding=UTF-8", "--format=" + format}, args)
	out, err := c.Tell(ctx, git.Rows(revisions), ask...)
	if err != nil {
		return nil, fmt.Errorf("list commits: %w", err)
	}
	var list [][]string
	for _, entry := range syntax.Fields(out) {
		part := strings.SplitN(entry, "\n", strings.Count(format, "%n")+1)
		if len(part) <= strings.Count(format, "%n") {
			return nil, fmt.Errorf("list commits: unexpected entry %q", entry)
		}
		list = append(list, part)
	}
	return list, nil
}

// Recent lists commits that git log finds, oldest first.
func Recent(ctx context.Context, c *git.Checkout, revisions []string, args ...string) ([]model.Commit, error) {
	return Commits(ctx, c, revisions, append([]string{"--reverse", "--topo-order"}, args...)...)
}

// Commits lists commits that git log finds, in its order.
func Commits(ctx context.Context, c *git.Checkout, revisions []string, args ...string) ([]model.Commit, error) {
	found, err := Log(ctx, c, "%H%n%an%n%s", revisions, args...)
	var list []model.Commit
	for _, part := range found {
		list = append(list, model.Commit{SHA: part[0], Author: valid(part[1]), Subject: valid(part[2])})
	}
	return list, err
}

func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// Node is a commit and its parents.
type Node struct {
	SHA     string
	Parents []string
}

// IsMerge reports whether it has several parents.
func (n Node) IsMerge() bool { return len(n.Parents) > 1 }

// Nodes lists commits that git rev-list finds, in its order.
func Nodes(ctx context.Context, c *git.Checkout, revisions []string, args ...string) ([]Node, error) {
	out, err := c.Tell(ctx, git.Rows(revisions), slices.Concat([]string{"rev-list", "--parents", "--stdin"}, args)...)
	if err != nil {
		return nil, fmt.Errorf("list commits of %s: %w", revisions[0], err)
	}
	var list []Node
	for row := range strings.Lines(string(out)) {
		ids := strings.Fields(row)
		list = append(list, Node{ids[0], ids[1:]})
	}
	return list, nil
}

// Named lists these commits in their order.
func Named(ctx context.Context, c *git.Checkout, shas []string) ([]model.Commit, error) {
	if len(shas) == 0 {
		return nil, nil
	}
	shas = shas[max(0, len(shas)-MaxListed):]
	out, err := Recent(ctx, c, shas, "--no-walk=unsorted")
	slices.SortFunc(out, func(a, b model.Commit) int { return slices.Index(shas, a.SHA) - slices.Index(shas, b.SHA) })
	return out, err
}

// List lists what is reachable from to and not from from, oldest first.
func List(ctx context.Context, c *git.Checkout, from, to string) ([]model.Commit, error) {
	if !syntax.IsSHA(from) || !syntax.IsSHA(to) {
		return nil, fmt.Errorf("list commits of %q..%q: not commit ids", from, to)
	}
	return Recent(ctx, c, []string{to, "^" + from})
}
