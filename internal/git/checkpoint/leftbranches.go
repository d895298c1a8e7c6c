package checkpoint

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/git/worktree"
)

// maxLeft is how many branches LeftBranches returns, and maxLookedAt how many it examines.
const (
	maxLeft     = 10
	maxLookedAt = 1000
)

// LeftBranches lists local branches that an agent created or moved since the last Restore or Begin and left work on: their
// tips descend from start and are not reachable from HEAD. For the branch of Restore or Begin see Tip. The names are the
// agent's, valid for git but not always UTF-8. At most ten, sorted by name.
func LeftBranches(ctx context.Context, c *git.Checkout, start string) ([]git.Ref, error) {
	if c.Noted == nil || !syntax.IsSHA(start) {
		return nil, fmt.Errorf("look for branches astray of %q: not a commit id, or no branch was restored", start)
	}
	if err := c.Recreate(); err != nil {
		return nil, err
	}
	tips, err := worktree.LocalBranches(ctx, c)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(tips))
	names = slices.DeleteFunc(names, func(name string) bool { return name == c.Branch || c.Branches[name] == tips[name] })
	if len(names) == 0 {
		return nil, nil
	}
	head, err := c.Head(ctx)
	if git.Exhausts(err) { // nobody could look
		return nil, err
	}
	if err != nil { // an agent may leave HEAD where no commit is: nothing is reachable from there
		head = start
	}
	names = slices.DeleteFunc(names, func(name string) bool { return tips[name] == head })
	names = names[:min(len(names), maxLookedAt)]
	if names, err = commitsOnly(ctx, c, names, tips); err != nil || len(names) == 0 {
		return nil, err
	}
	// In our own directory, under our own names: what the agent wrote beside its refs has no influence.
	var known bytes.Buffer
	for i, name := range names {
		fmt.Fprintf(&known, "create refs/astray/%04d %s\n", i, tips[name])
	}
	if _, err := c.Tell(ctx, known.Bytes(), "update-ref", "--stdin"); err != nil {
		return nil, fmt.Errorf("look for branches astray: %w", err)
	}
	out, err := c.Ask(ctx, "for-each-ref", "--contains="+start, "--no-merged="+head, fmt.Sprintf("--count=%d", maxLeft), "--format=%(refname)", "refs/astray")
	if err != nil {
		return nil, fmt.Errorf("look for branches astray: %w", err)
	}
	var found []git.Ref
	for row := range strings.Lines(string(out)) {
		i, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(row), "refs/astray/"))
		if err != nil || i >= len(names) {
			return nil, fmt.Errorf("look for branches astray: unexpected answer %q", row)
		}
		found = append(found, git.Ref{Name: names[i], SHA: tips[names[i]]})
	}
	return found, c.NewOwnDir()
}

// commitsOnly removes the branches whose tips are missing or no commits.
func commitsOnly(ctx context.Context, c *git.Checkout, names []string, tips map[string]string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	var ask bytes.Buffer
	for _, name := range names {
		ask.WriteString(tips[name] + "\n")
	}
	out, err := c.Tell(ctx, ask.Bytes(), "cat-file", "--batch-check=%(objecttype)")
	if err != nil {
		return nil, fmt.Errorf("look for commits: %w", err)
	}
	kinds := strings.Split(string(out), "\n")
	var left []string
	for i, name := range names {
		if i < len(kinds) && kinds[i] == "commit" {
			left = append(left, name)
		}
	}
	return left, nil
}

// noteStarted records where an agent starts: the commit, and the existing local branches.
func noteStarted(ctx context.Context, c *git.Checkout, sha string) error {
	tips, err := worktree.LocalBranches(ctx, c)
	if err != nil {
		return err
	}
	c.Started, c.Branches = sha, tips
	return nil
}
