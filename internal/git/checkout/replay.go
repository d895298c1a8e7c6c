package checkout

import (
	"context"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// Replay puts the commits start..head on top of onto, in order, with their authors, dates and messages, and then moves the
// checkout there; it touches nothing before all of them apply. A merge is replayed as its change against its first parent,
// and a commit that becomes empty is dropped. *ErrConflict names the commit and the conflicting paths.
func Replay(ctx context.Context, c *git.Checkout, start, head, onto string) (newHead string, err error) {
	if !syntax.IsSHA(start) || !syntax.IsSHA(head) || !syntax.IsSHA(onto) {
		return "", fmt.Errorf("replay %q..%q on %q: not commit ids", start, head, onto)
	}
	list, err := history.Nodes(ctx, c, []string{head, "^" + start}, "--reverse", "--topo-order", "--first-parent")
	if err != nil {
		return "", fmt.Errorf("list commits to replay: %w", err)
	}
	tree, err := history.TreeOf(ctx, c, onto)
	if err != nil {
		return "", err
	}
	for _, one := range list {
		if len(one.Parents) == 0 {
			return "", fmt.Errorf("replay %s: it has no parent here", one.SHA)
		}
		if onto, tree, err = replayOne(ctx, c, one, onto, tree); err != nil {
			return "", err
		}
	}
	return onto, moveTo(ctx, c, onto)
}

// replayOne puts one commit on top of a tip with this tree, unless it is empty there.
func replayOne(ctx context.Context, c *git.Checkout, one history.Node, tip, tree string) (newTip, newTree string, err error) {
	ours, err := merging.StandIn(c, tree, one.Parents[0])
	if err != nil {
		return "", "", err
	}
	made, err := merging.Combine(ctx, c, c.Top, ours, one.SHA)
	if err != nil || made == tree {
		return tip, tree, err
	}
	raw, err := c.Ask(ctx, "cat-file", "commit", one.SHA)
	if err == nil {
		tip, err = git.WriteObject(c, "commit", merging.Rewrite(c, raw, made, tip))
	}
	return tip, made, git.Wrap(err, "replay %s", one.SHA)
}

// ReplayOrMerge is Replay for linear commits, and leaves those alone that are on onto already. If there is a merge among them, onto is merged with them instead, by a commit
// with this message: a replay would squash everything that the merge brought in.
func ReplayOrMerge(ctx context.Context, c *git.Checkout, start, head, onto, message string) (newHead string, err error) {
	if !syntax.IsSHA(start) || !syntax.IsSHA(head) || !syntax.IsSHA(onto) {
		return "", fmt.Errorf("replant %q..%q on %q: not commit ids", start, head, onto)
	}
	if start == onto {
		return head, moveTo(ctx, c, head)
	}
	out, err := c.Ask(ctx, "rev-list", "--merges", "--max-count=1", start+".."+head)
	if err != nil {
		return "", fmt.Errorf("look for merges to replant: %w", err)
	}
	if len(out) == 0 {
		return Replay(ctx, c, start, head, onto)
	}
	if err := moveTo(ctx, c, onto); err != nil {
		return "", err
	}
	return MergeInto(ctx, c, head, message)
}

// MergeInto merges another commit into the checkout's HEAD with a merge commit, or fast-forwards. *ErrConflict names the
// conflicting paths and changes nothing. It returns HEAD.
func MergeInto(ctx context.Context, c *git.Checkout, other, message string) (newHead string, err error) {
	head, err := c.Head(ctx)
	if err != nil {
		return "", err
	}
	if !syntax.IsSHA(other) {
		return "", fmt.Errorf("merge %q: not a commit id", other)
	}
	out, err := c.Ask(ctx, "merge-base", head, other)
	if err != nil {
		return "", fmt.Errorf("find merge base of %s and %s: %w", head, other, err)
	}
	switch syntax.Line(out) {
	case other:
		return head, nil
	case head:
		return other, moveTo(ctx, c, other)
	}
	tree, err := merging.Combine(ctx, c, c.Top, head, other)
	if err != nil {
		return "", err
	}
	if newHead, err = git.WriteCommit(c, tree, strings.TrimSpace(message)+"\n", head, other); err != nil {
		return "", err
	}
	return newHead, moveTo(ctx, c, newHead)
}

// moveTo moves HEAD, index and files of the checkout.
func moveTo(ctx context.Context, c *git.Checkout, sha string) error {
	head, err := c.Head(ctx)
	if err != nil {
		return err
	}
	if err := putTree(ctx, c, sha, sha); err != nil {
		return err
	}
	if err := moveHead(ctx, c, sha, head); err != nil {
		return err
	}
	return forgetStates(c)
}
