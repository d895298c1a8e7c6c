// Package history relates commits and lists what they change: relation, merge base, paths, added text. It never mistakes a
// shallow boundary for the start of the history: what is missing is fetched, or the answer is Unknown.
package history

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
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
	ends := map[string]bool{}
	for row := range strings.Lines(string(c.Boundary)) {
		ends[row] = true
	}
	for row := range strings.Lines(string(out)) {
		if ends[row] {
			return true, nil
		}
	}
	return false, nil
}

// Message is the message of a commit.
func Message(ctx context.Context, c *git.Checkout, sha string) (string, error) {
	if !syntax.IsSHA(sha) {
		return "", fmt.Errorf("read the message of %q: not a commit id", sha)
	}
	out, err := c.Ask(ctx, "log", "-1", "--no-show-signature", "--encoding=UTF-8", "--format=%B", sha)
	if err != nil {
		return "", fmt.Errorf("read the message of %s: %w", sha, err)
	}
	return string(out), nil
}

// Commit is one commit as shown to people.
type Commit struct {
	SHA     string
	Subject string
	Author  git.Identity
}

// Commits lists what is reachable from to and not from from, oldest first.
func Commits(ctx context.Context, c *git.Checkout, from, to string) ([]Commit, error) {
	if !syntax.IsSHA(from) || !syntax.IsSHA(to) {
		return nil, fmt.Errorf("list commits of %q..%q: not commit ids", from, to)
	}
	out, err := c.Ask(ctx, "log", "-z", "--reverse", "--topo-order", "--no-show-signature", "--format=%H%n%an%n%ae%n%s", from+".."+to)
	if err != nil {
		return nil, fmt.Errorf("list commits of %s..%s: %w", from, to, err)
	}
	var list []Commit
	for _, entry := range syntax.Fields(out) {
		part := strings.SplitN(entry, "\n", 4)
		if len(part) != 4 {
			return nil, fmt.Errorf("list commits of %s..%s: unexpected entry %q", from, to, entry)
		}
		list = append(list, Commit{SHA: part[0], Author: git.Identity{Name: part[1], Email: part[2]}, Subject: part[3]})
	}
	return list, nil
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

// Changes lists the differences between two commits' trees.
func Changes(ctx context.Context, c *git.Checkout, from, to string) ([]Change, error) {
	if !syntax.IsSHA(from) || !syntax.IsSHA(to) {
		return nil, fmt.Errorf("compare %q with %q: not commit ids", from, to)
	}
	out, err := c.Ask(ctx, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to)
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", from, to, err)
	}
	part := syntax.Fields(out)
	if len(part)%2 != 0 {
		return nil, fmt.Errorf("compare %s with %s: unexpected answer", from, to)
	}
	var list []Change
	for i := 0; i < len(part); i += 2 {
		meta := strings.Fields(strings.TrimPrefix(part[i], ":"))
		if len(meta) != 5 {
			return nil, fmt.Errorf("compare %s with %s: unexpected entry %q", from, to, part[i])
		}
		list = append(list, Change{Path: part[i+1], OldMode: meta[0], NewMode: meta[1], Status: meta[4][:1], Id: meta[3]})
	}
	if err := measure(ctx, c, list); err != nil {
		return nil, err
	}
	return list, nil
}

// ChangedPaths lists the paths that differ between two commits' trees. No network operation.
func ChangedPaths(ctx context.Context, c *git.Checkout, from, to string) ([]string, error) {
	if !syntax.IsSHA(from) || !syntax.IsSHA(to) {
		return nil, fmt.Errorf("compare %q with %q: not commit ids", from, to)
	}
	out, err := c.Ask(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to)
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", from, to, err)
	}
	return syntax.Fields(out), nil
}

// measure fills in sizes and the targets of symbolic links.
func measure(ctx context.Context, c *git.Checkout, list []Change) error {
	var ids bytes.Buffer
	var blobs []*Change
	for i := range list {
		if list[i].NewMode != git.ModeAbsent && list[i].NewMode != git.ModeSubmodule {
			blobs = append(blobs, &list[i])
			ids.WriteString(list[i].Id + "\n")
		}
	}
	if len(blobs) == 0 {
		return nil
	}
	out, err := c.Tell(ctx, ids.Bytes(), "cat-file", "--batch-check=%(objectsize)")
	if err != nil {
		return fmt.Errorf("measure changed files: %w", err)
	}
	sizes := strings.Fields(string(out))
	if len(sizes) != len(blobs) {
		return fmt.Errorf("measure changed files: unexpected answer %q", out)
	}
	for i, change := range blobs {
		if change.Size, err = strconv.ParseInt(sizes[i], 10, 64); err != nil {
			return fmt.Errorf("measure %q: %w", change.Path, err)
		}
		if change.NewMode == git.ModeSymlink {
			target, err := c.Ask(ctx, "cat-file", "blob", change.Id)
			if err != nil {
				return fmt.Errorf("read symbolic link %q: %w", change.Path, err)
			}
			change.Target = string(target)
		}
	}
	return nil
}
