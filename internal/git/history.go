package git

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// Head is what HEAD of the checkout is now; to be asked after the agent ran. First it puts back the configuration that
// the agent may have changed and starts a git directory of our own anew. It fails when the checkout's git directory is
// gone, broken or without the commit.
func (c *Checkout) Head(ctx context.Context) (string, error) {
	if err := c.putBack(); err != nil {
		return "", err
	}
	if err := c.renew(); err != nil {
		return "", err
	}
	out, err := c.inside(ctx, "rev-parse", "--verify", "HEAD^{commit}")
	if err != nil {
		return "", fmt.Errorf("read HEAD of the checkout: %w", err)
	}
	head := line(out)
	here, err := c.present(ctx, head)
	if err != nil {
		return "", err
	}
	if !here {
		return "", fmt.Errorf("read HEAD of the checkout: commit %s is not among its objects", head)
	}
	return head, nil
}

// present tells whether all the commits are here.
func (c *Checkout) present(ctx context.Context, shas ...string) (bool, error) {
	out, err := c.tell(ctx, []byte(strings.Join(shas, "\n")+"\n"), "cat-file", "--batch-check=%(objecttype)")
	if err != nil {
		return false, fmt.Errorf("look for commits: %w", err)
	}
	for row := range strings.Lines(string(out)) {
		if row != "commit\n" {
			return false, nil
		}
	}
	return true, nil
}

// Relation says how later stands to earlier, asked of git in our own directory. It is model.Unknown when a commit is
// missing here, or when a shallow history ends before the answer: git itself then says "not an ancestor" of a true one.
// "Ahead" and "behind" need no such care: a path that is here is here.
//
// Diverged says for certain that the history has not grown from earlier to later. Where the history of earlier is cut
// off, it may have gone back instead of away: to tell these apart needs what is missing, and they mean the same to
// every caller.
func (c *Checkout) Relation(ctx context.Context, earlier, later string) (model.Relation, error) {
	if !isSHA(earlier) || !isSHA(later) {
		return model.Unknown, fmt.Errorf("relate %q to %q: not commit ids", later, earlier)
	}
	if here, err := c.present(ctx, earlier, later); err != nil || !here {
		return model.Unknown, err
	}
	if earlier == later {
		return model.Identical, nil
	}
	for _, ask := range []struct {
		from, to string
		answer   model.Relation
	}{{earlier, later, model.Ahead}, {later, earlier, model.Behind}} {
		_, err := c.ask(ctx, "merge-base", "--is-ancestor", ask.from, ask.to)
		if err == nil {
			return ask.answer, nil
		}
		if exitCode(err) != 1 {
			return model.Unknown, fmt.Errorf("relate %s to %s: %w", later, earlier, err)
		}
	}
	hidden, err := c.cutOff(ctx, later, earlier)
	if err != nil {
		return model.Unknown, fmt.Errorf("relate %s to %s: %w", later, earlier, err)
	}
	if hidden {
		return model.Unknown, nil
	}
	return model.Diverged, nil
}

// cutOff tells whether a shallow boundary may hide except among the ancestors of tip. A boundary commit that both have
// hides nothing: behind it are ancestors of except, and no commit is its own ancestor.
func (c *Checkout) cutOff(ctx context.Context, tip, except string) (bool, error) {
	if len(c.boundary) == 0 {
		return false, nil
	}
	out, err := c.ask(ctx, "rev-list", tip, "^"+except)
	if err != nil {
		return false, err
	}
	ends := map[string]bool{}
	for row := range strings.Lines(string(c.boundary)) {
		ends[row] = true
	}
	for row := range strings.Lines(string(out)) {
		if ends[row] {
			return true, nil
		}
	}
	return false, nil
}

// Commit is one commit as a person needs it.
type Commit struct {
	SHA     string
	Subject string
	Author  Identity
}

// Commits lists what is reachable from to and not from from, oldest first.
func (c *Checkout) Commits(ctx context.Context, from, to string) ([]Commit, error) {
	if !isSHA(from) || !isSHA(to) {
		return nil, fmt.Errorf("list commits of %q..%q: not commit ids", from, to)
	}
	out, err := c.ask(ctx, "log", "-z", "--reverse", "--topo-order", "--no-show-signature", "--format=%H%n%an%n%ae%n%s", from+".."+to)
	if err != nil {
		return nil, fmt.Errorf("list commits of %s..%s: %w", from, to, err)
	}
	var list []Commit
	for _, entry := range fields(out) {
		part := strings.SplitN(entry, "\n", 4)
		if len(part) != 4 {
			return nil, fmt.Errorf("list commits of %s..%s: unexpected entry %q", from, to, entry)
		}
		list = append(list, Commit{SHA: part[0], Author: Identity{part[1], part[2]}, Subject: part[3]})
	}
	return list, nil
}

// Change is one path that two commits differ in. Renames are a deletion and an addition.
type Change struct {
	Path    string // bytes as git has them, not always UTF-8
	OldMode string // six octal digits; 000000 when it was not there
	NewMode string // 120000 is a symbolic link, 160000 a submodule, 000000 a deletion
	Status  string // A, D, M or T
	Size    int64  // of the new blob in bytes; 0 for deletions and submodules
	Target  string // of a symbolic link
	id      string // of the new blob
}

// Modes of tree entries that matter to a policy.
const (
	ModeSymlink   = "120000"
	ModeSubmodule = "160000"
	ModeAbsent    = "000000"
)

// Changes lists what differs between the trees of two commits.
func (c *Checkout) Changes(ctx context.Context, from, to string) ([]Change, error) {
	if !isSHA(from) || !isSHA(to) {
		return nil, fmt.Errorf("compare %q with %q: not commit ids", from, to)
	}
	out, err := c.ask(ctx, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to)
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", from, to, err)
	}
	part := fields(out)
	if len(part)%2 != 0 {
		return nil, fmt.Errorf("compare %s with %s: unexpected answer", from, to)
	}
	var list []Change
	for i := 0; i < len(part); i += 2 {
		meta := strings.Fields(strings.TrimPrefix(part[i], ":"))
		if len(meta) != 5 {
			return nil, fmt.Errorf("compare %s with %s: unexpected entry %q", from, to, part[i])
		}
		list = append(list, Change{Path: part[i+1], OldMode: meta[0], NewMode: meta[1], Status: meta[4][:1], id: meta[3]})
	}
	if err := c.measure(ctx, list); err != nil {
		return nil, err
	}
	return list, nil
}

// ChangedPaths lists the paths that differ between the trees of two commits, as git has them. No network operation.
func (c *Checkout) ChangedPaths(ctx context.Context, from, to string) ([]string, error) {
	if !isSHA(from) || !isSHA(to) {
		return nil, fmt.Errorf("compare %q with %q: not commit ids", from, to)
	}
	out, err := c.ask(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to)
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", from, to, err)
	}
	return fields(out), nil
}

// measure fills in sizes and the targets of symbolic links.
func (c *Checkout) measure(ctx context.Context, list []Change) error {
	var ids bytes.Buffer
	var blobs []*Change
	for i := range list {
		if list[i].NewMode != ModeAbsent && list[i].NewMode != ModeSubmodule {
			blobs = append(blobs, &list[i])
			ids.WriteString(list[i].id + "\n")
		}
	}
	if len(blobs) == 0 {
		return nil
	}
	out, err := c.tell(ctx, ids.Bytes(), "cat-file", "--batch-check=%(objectsize)")
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
		if change.NewMode == ModeSymlink {
			target, err := c.ask(ctx, "cat-file", "blob", change.id)
			if err != nil {
				return fmt.Errorf("read symbolic link %q: %w", change.Path, err)
			}
			change.Target = string(target)
		}
	}
	return nil
}

// maxFiles is how many names Files gives.
const maxFiles = 1000

// Files lists the files of a commit below a directory, by their paths: none where there is no such directory, and at most
// a thousand.
func (c *Checkout) Files(ctx context.Context, rev, dir string) ([]string, error) {
	if !isSHA(rev) {
		return nil, fmt.Errorf("list files of %q: not a commit id", rev)
	}
	out, err := c.ask(ctx, "ls-tree", "-r", "-z", "--name-only", "--full-tree", rev, "--", strings.TrimSuffix(dir, "/")+"/")
	if err != nil {
		return nil, fmt.Errorf("list files in %s: %w", dir, err)
	}
	names := fields(out)
	return names[:min(len(names), maxFiles)], nil
}

// Names lists what is in a directory of a commit, "" for the whole tree, by its names there: none where there is no such
// directory, and at most a thousand.
func (c *Checkout) Names(ctx context.Context, rev, dir string) ([]string, error) {
	if !isSHA(rev) {
		return nil, fmt.Errorf("list names of %q: not a commit id", rev)
	}
	args, prefix := []string{"ls-tree", "-z", "--name-only", "--full-tree", rev}, ""
	if dir != "" {
		prefix = strings.TrimSuffix(dir, "/") + "/"
		args = append(args, "--", prefix)
	}
	out, err := c.ask(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("list names in %q of %s: %w", dir, rev, err)
	}
	names := fields(out)
	names = names[:min(len(names), maxFiles)]
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], prefix)
	}
	return names, nil
}

// Blob is the content of a file in a commit; fs.ErrNotExist when the commit has no file there. No network operation, but
// one where a partial clone lacks the file.
func (c *Checkout) Blob(ctx context.Context, rev, path string) ([]byte, error) {
	if !isSHA(rev) {
		return nil, fmt.Errorf("read %q of %q: not a commit id", path, rev)
	}
	out, err := c.ask(ctx, "ls-tree", "-z", "--full-tree", rev, "--", path)
	if err != nil {
		return nil, fmt.Errorf("read %q of %s: %w", path, rev, err)
	}
	meta, name, _ := strings.Cut(strings.TrimSuffix(string(out), "\x00"), "\t")
	entry := strings.Fields(meta)
	if len(entry) != 3 || entry[1] != "blob" || name != path {
		return nil, fmt.Errorf("read %q of %s: %w", path, rev, fs.ErrNotExist)
	}
	if c.promisor {
		absent, err := c.absent(ctx, entry[2:])
		if err == nil {
			err = c.fetchObjects(ctx, absent)
		}
		if err != nil {
			return nil, fmt.Errorf("read %q of %s: %w", path, rev, err)
		}
	}
	blob, err := c.ask(ctx, "cat-file", "blob", entry[2])
	if err != nil {
		return nil, fmt.Errorf("read %q of %s: %w", path, rev, err)
	}
	return blob, nil
}

// TreeOf is the tree of a commit.
func (c *Checkout) TreeOf(ctx context.Context, sha string) (string, error) {
	if !isSHA(sha) {
		return "", fmt.Errorf("read tree of %q: not a commit id", sha)
	}
	out, err := c.ask(ctx, "rev-parse", "--verify", sha+"^{tree}")
	if err != nil {
		return "", fmt.Errorf("read tree of %s: %w", sha, err)
	}
	return line(out), nil
}
