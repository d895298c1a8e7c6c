package git

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// maxAstray is how many branches Astray gives, and lookedAt how many it looks at.
const (
	maxAstray = 10
	lookedAt  = 1000
)

// Astray lists local branches of the checkout that an agent made since the last Restore or Begin, or moved, and left work
// on: their tips descend from start and are not reachable from HEAD. The branch of Restore or Begin is not among them, Tip
// tells of that. The names are the agent's, bytes that git lets stand in one and not always UTF-8. At most ten, in the
// order of their names.
func (c *Checkout) Astray(ctx context.Context, start string) ([]Ref, error) {
	if c.saved == nil || !isSHA(start) {
		return nil, fmt.Errorf("look for branches astray of %q: not a commit id, or no branch was restored", start)
	}
	head, err := c.Head(ctx)
	if err != nil {
		return nil, err
	}
	tips, err := c.localBranches(ctx)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(tips))
	names = slices.DeleteFunc(names, func(name string) bool {
		return name == c.branch || c.branches[name] == tips[name] || tips[name] == head
	})
	names = names[:min(len(names), lookedAt)]
	if names, err = c.commitsOnly(ctx, names, tips); err != nil || len(names) == 0 {
		return nil, err
	}
	// In our own directory, under names of ours: what git says there does not hang on what the agent wrote beside its refs.
	var known bytes.Buffer
	for i, name := range names {
		fmt.Fprintf(&known, "create refs/astray/%04d %s\n", i, tips[name])
	}
	if _, err := c.tell(ctx, known.Bytes(), "update-ref", "--stdin"); err != nil {
		return nil, fmt.Errorf("look for branches astray: %w", err)
	}
	out, err := c.ask(ctx, "for-each-ref", "--contains="+start, "--no-merged="+head, fmt.Sprintf("--count=%d", maxAstray), "--format=%(refname)", "refs/astray")
	if err != nil {
		return nil, fmt.Errorf("look for branches astray: %w", err)
	}
	var found []Ref
	for row := range strings.Lines(string(out)) {
		i, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(row), "refs/astray/"))
		if err != nil || i >= len(names) {
			return nil, fmt.Errorf("look for branches astray: unexpected answer %q", row)
		}
		found = append(found, Ref{Name: names[i], SHA: tips[names[i]]})
	}
	return found, c.renew()
}

// commitsOnly leaves out the branches whose tips are not here, or are not commits.
func (c *Checkout) commitsOnly(ctx context.Context, names []string, tips map[string]string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	var ask bytes.Buffer
	for _, name := range names {
		ask.WriteString(tips[name] + "\n")
	}
	out, err := c.tell(ctx, ask.Bytes(), "cat-file", "--batch-check=%(objecttype)")
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

// noteStart notes where an agent is going to begin: the commit, and the local branches that are there already.
func (c *Checkout) noteStart(ctx context.Context, sha string) error {
	tips, err := c.localBranches(ctx)
	if err != nil {
		return err
	}
	c.started, c.branches = sha, tips
	return nil
}

// localBranches are the branches of the checkout, by their full names, and their tips.
func (c *Checkout) localBranches(ctx context.Context) (map[string]string, error) {
	out, err := c.inside(ctx, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads")
	if err != nil {
		return nil, fmt.Errorf("list local branches: %w", err)
	}
	tips := map[string]string{}
	for row := range strings.Lines(string(out)) {
		if tip, name, ok := strings.Cut(strings.TrimSuffix(row, "\n"), " "); ok && isSHA(tip) {
			tips[name] = tip
		}
	}
	return tips, nil
}
