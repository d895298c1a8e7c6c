package checkout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// Dirty reports whether the checkout has anything to commit on head, which is its HEAD: changed, staged or new files that
// are not ignored, or a merge that was not concluded.
func Dirty(ctx context.Context, c *git.Checkout, head string) (bool, error) {
	if c.Committed == head && head != "" {
		return false, nil
	}
	if err := c.Recreate(); err != nil {
		return false, err
	}
	merged, err := mergeHeads(ctx, c)
	if err != nil || len(merged) > 0 {
		return err == nil, err
	}
	changes, err := look(ctx, c, c.Index, head)
	return changes.Any(), err
}

// Commit commits everything that is not ignored, on top of head, which is the checkout's HEAD, and moves HEAD; made is false
// if there is nothing to commit, and sha is head then. What git does not take is in LeftOut. A resolved merge becomes a merge commit;
// one with conflicts left is ErrUnmerged. No hook runs and nothing is signed.
func Commit(ctx context.Context, c *git.Checkout, head, message string) (sha string, made bool, err error) {
	message = strings.TrimSpace(strings.NewReplacer("\x00", "", "\r\n", "\n", "\r", "\n").Replace(message))
	if message == "" {
		return "", false, errors.New("commit: the message is empty")
	}
	if err := c.Recreate(); err != nil {
		return "", false, err
	}
	merged, err := mergeHeads(ctx, c)
	if err != nil {
		return "", false, err
	}
	changes, err := look(ctx, c, c.Index, head)
	if err != nil {
		return "", false, err
	}
	if !changes.Any() && len(merged) == 0 {
		c.Committed = head
		return head, false, nil
	}
	if len(changes.Unmerged) > 0 {
		return "", false, &git.ErrUnmerged{Paths: changes.Unmerged}
	}
	large := changes.LeaveOut(c.Top)
	refused, err := changes.Take(ctx, c, c.Index)
	if err != nil {
		return "", false, err
	}
	maps.Copy(refused, large)
	for _, path := range slices.Sorted(maps.Keys(refused)) {
		c.LeftOut = append(c.LeftOut, fmt.Sprintf("%q (%s)", path, refused[path]))
		noteOne(ctx, c, path, changes.Was[path], changes.Was[path])
	}
	tree, err := git.WriteTree(ctx, c, c.Index)
	if err != nil {
		return "", false, err
	}
	before, err := history.TreeOf(ctx, c, head)
	if err != nil || before == tree && len(merged) == 0 {
		c.Committed = head
		return head, false, err
	}
	if sha, err = git.WriteCommit(c, tree, message+"\n", append([]string{head}, merged...)...); err != nil {
		return "", false, err
	}
	if err := moveHead(ctx, c, sha, head); err != nil {
		return "", false, err
	}
	c.Committed, c.Trees[sha] = sha, tree
	return sha, true, forgetStates(c)
}

// mergeHeads are the commits that a merge in progress merges.
func mergeHeads(ctx context.Context, c *git.Checkout) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(c.GitDir, "MERGE_HEAD"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read MERGE_HEAD: %w", err)
	}
	heads := strings.Fields(string(text))
	for _, head := range heads {
		if !syntax.IsSHA(head) {
			return nil, fmt.Errorf("read MERGE_HEAD: %q is not a commit id", head)
		}
	}
	if here, err := c.Present(ctx, heads...); err != nil || !here {
		return nil, errors.Join(err, errors.New("read MERGE_HEAD: it names a commit that is not here"))
	}
	return heads, nil
}
