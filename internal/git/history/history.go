// Package history relates commits, lists what they change, and fetches what it needs for that.
//
// It never mistakes a shallow boundary for the start of the history. Every fetch is bounded: a shallow clone gets only the
// requested history, a partial one only the named objects.
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

// Relation says how later relates to earlier, as git in our own directory sees it. It is model.Unknown if a commit is
// missing, or if a shallow history ends before the answer: git then says "not an ancestor" of a true one. "Ahead" and
// "behind" are certain: a path that is here is here.
//
// Diverged means that the history has certainly not grown from earlier to later. If the history of earlier is cut off, it
// may be "behind" instead: to tell these apart needs the missing part, and every caller treats them alike.
func Relation(ctx context.Context, c *git.Checkout, earlier, later string) (model.Relation, error) {
	if !syntax.IsSHA(earlier) || !syntax.IsSHA(later) {
		return model.Unknown, fmt.Errorf("relate %q to %q: not commit ids", later, earlier)
	}
	if earlier == later {
		if here, err := c.Present(ctx, later); err != nil || !here {
			return model.Unknown, err
		}
		return model.Identical, nil
	}
	for _, ask := range []struct {
		from, to string
		answer   model.Relation
	}{{earlier, later, model.Ahead}, {later, earlier, model.Behind}} {
		_, err := c.Ask(ctx, "merge-base", "--is-ancestor", ask.from, ask.to)
		if err == nil {
			return ask.answer, nil
		}
		if git.ExitCode(err) != 1 {
			if here, herr := c.Present(ctx, earlier, later); herr == nil && !here {
				return model.Unknown, nil
			}
			return model.Unknown, fmt.Errorf("relate %s to %s: %w", later, earlier, err)
		}
	}
	hidden, err := cutOff(ctx, c, later, earlier)
	if err != nil {
		return model.Unknown, fmt.Errorf("relate %s to %s: %w", later, earlier, err)
	}
	if hidden {
		return model.Unknown, nil
	}
	return model.Diverged, nil
}

// cutOff reports whether a shallow boundary may hide except among the ancestors of tip. A common boundary commit hides
// nothing: behind it are ancestors of except, and no commit is its own ancestor.
func cutOff(ctx context.Context, c *git.Checkout, tip, except string) (bool, error) {
	if len(c.Boundary) == 0 {
		return false, nil
	}
	out, err := c.Ask(ctx, "rev-list", tip, "^"+except)
	if err != nil {
		return false, err
	}
	ends := Ends(c)
	return slices.ContainsFunc(strings.Fields(string(out)), func(id string) bool { return ends[id] }), nil
}

// Ends are the commits at which a shallow history ends.
func Ends(c *git.Checkout) map[string]bool {
	ends := map[string]bool{}
	for id := range strings.FieldsSeq(string(c.Boundary)) {
		ends[id] = true
	}
	return ends
}

// Message is the message of a commit.
func Message(ctx context.Context, c *git.Checkout, sha string) (string, error) {
	if !syntax.IsSHA(sha) {
		return "", fmt.Errorf("read the message of %q: not a commit id", sha)
	}
	found, err := Log(ctx, c, "%B", []string{sha}, "--no-walk")
	for _, part := range found {
		return part[0], nil
	}
	return "", git.Wrap(err, "read the message of %s", sha)
}

// Change is one path in which two commits differ. Renames are a deletion and an addition.
type Change struct {
	Path    string // bytes as git has them, not always UTF-8
	OldMode string // six octal digits; 000000 when it was not there
	NewMode string // 120000 is a symbolic link, 160000 a submodule, 000000 a deletion
	Status  string // A, D, M or T
	Size    int64  // of the new blob in bytes; 0 for deletions and submodules
	Target  string // of a symbolic link
	Id      string // of the new blob
}

// Changes lists the differences between two commits' trees, without sizes and targets.
func Changes(ctx context.Context, c *git.Checkout, from, to string) ([]Change, error) {
	if !syntax.IsSHA(from) || !syntax.IsSHA(to) {
		return nil, fmt.Errorf("compare %q with %q: not commit ids", from, to)
	}
	steps, err := Steps(ctx, c, nil, []string{to, from})
	list := make([]Change, len(steps))
	for i, s := range steps {
		list[i] = s.Change
	}
	return list, err
}

// FirstChanged is a path below dir that a commit of to changes and none that the others have; "" for none. What only a merge changes does
// not count.
func FirstChanged(ctx context.Context, c *git.Checkout, dir, to string, others ...string) (string, error) {
	args := append(append([]string{"log", "-z", "--format=", "--name-only", "--max-count=1", to, "--not"}, others...), "--", dir)
	out, err := c.Ask(ctx, args...)
	if err != nil {
		return "", fmt.Errorf("look for changes of %s in %s: %w", dir, to, err)
	}
	first, _, _ := strings.Cut(string(out), "\x00")
	return strings.TrimSpace(first), nil
}

// ChangedPaths lists the paths that differ between two trees, or those of two commits. No network operation.
func ChangedPaths(ctx context.Context, c *git.Checkout, from, to string) ([]string, error) {
	if !syntax.IsSHA(from) || !syntax.IsSHA(to) {
		return nil, fmt.Errorf("compare %q with %q: not commit ids", from, to)
	}
	out, err := c.Ask(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to)
	return syntax.Fields(out), git.Wrap(err, "compare %s with %s", from, to)
}
