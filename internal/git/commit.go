package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Dirty tells whether the checkout has anything to commit: changed, staged or new files that are not ignored, or a
// merge that was not concluded.
func (c *Checkout) Dirty(ctx context.Context) (bool, error) {
	head, err := c.Head(ctx)
	if err != nil {
		return false, err
	}
	merged, err := c.mergeHeads(ctx)
	if err != nil || len(merged) > 0 {
		return err == nil, err
	}
	if _, err := c.ask(ctx, "update-ref", "--no-deref", "HEAD", head); err != nil {
		return false, fmt.Errorf("look for changes: %w", err)
	}
	out, err := c.tree(ctx, "status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=dirty")
	if err != nil {
		return false, fmt.Errorf("look for changes: %w", err)
	}
	return len(out) > 0, nil
}

// Commit commits everything that is not ignored, on top of HEAD, and moves HEAD there; made is false when there is
// nothing to commit, and sha is HEAD then. A merge that was resolved but not concluded becomes a merge commit; one with
// conflicts left is ErrUnmerged. No hook runs and nothing is signed.
func (c *Checkout) Commit(ctx context.Context, message string) (sha string, made bool, err error) {
	message = strings.TrimSpace(strings.NewReplacer("\x00", "", "\r\n", "\n", "\r", "\n").Replace(message))
	if message == "" {
		return "", false, errors.New("commit: the message is empty")
	}
	head, err := c.Head(ctx)
	if err != nil {
		return "", false, err
	}
	if err := c.unmerged(ctx); err != nil {
		return "", false, err
	}
	merged, err := c.mergeHeads(ctx)
	if err != nil {
		return "", false, err
	}
	if _, err := c.tree(ctx, "add", "-A", "--", "."); err != nil {
		return "", false, fmt.Errorf("stage changes: %w", err)
	}
	out, err := c.tree(ctx, "write-tree")
	if err != nil {
		return "", false, fmt.Errorf("write tree: %w", err)
	}
	tree := line(out)
	if out, err = c.ask(ctx, "rev-parse", "--verify", head+"^{tree}"); err != nil {
		return "", false, fmt.Errorf("read tree of HEAD: %w", err)
	}
	if tree == line(out) && len(merged) == 0 {
		return head, false, nil
	}
	args := []string{"commit-tree", tree, "-F", "-", "-p", head}
	for _, parent := range merged {
		args = append(args, "-p", parent)
	}
	if out, err = c.tell(ctx, []byte(message+"\n"), args...); err != nil {
		return "", false, fmt.Errorf("commit: %w", err)
	}
	sha = line(out)
	if err := c.moveHead(ctx, sha, head); err != nil {
		return "", false, err
	}
	return sha, true, c.forgetStates()
}

// moveHead moves HEAD, and the branch it is on, from one commit to another.
func (c *Checkout) moveHead(ctx context.Context, to, from string) error {
	if _, err := c.inside(ctx, "update-ref", "HEAD", to, from); err != nil {
		return fmt.Errorf("move HEAD to %s: %w", to, err)
	}
	c.refs[haveHead] = to
	return nil
}

// unmerged is ErrUnmerged when the index has conflicts.
func (c *Checkout) unmerged(ctx context.Context) error {
	out, err := c.tree(ctx, "ls-files", "-z", "--unmerged")
	if err != nil {
		return fmt.Errorf("look for conflicts: %w", err)
	}
	var paths []string
	for _, entry := range fields(out) {
		_, path, _ := strings.Cut(entry, "\t")
		paths = append(paths, path)
	}
	if paths = slices.Compact(paths); len(paths) > 0 {
		return &ErrUnmerged{Paths: paths}
	}
	return nil
}

// mergeHeads are the commits that a merge in progress brings in.
func (c *Checkout) mergeHeads(ctx context.Context) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(c.gitDir, "MERGE_HEAD"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read MERGE_HEAD: %w", err)
	}
	heads := strings.Fields(string(text))
	for _, head := range heads {
		if !isSHA(head) {
			return nil, fmt.Errorf("read MERGE_HEAD: %q is not a commit id", head)
		}
	}
	if here, err := c.present(ctx, heads...); err != nil || !here {
		return nil, errors.Join(err, errors.New("read MERGE_HEAD: it names a commit that is not here"))
	}
	return heads, nil
}
