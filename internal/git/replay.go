package git

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
)

// Replay puts the commits start..head on top of onto, in order, with their authors, dates and messages, and then moves
// the checkout there; until every one of them has applied nothing in the checkout is touched. A merge in between is
// replayed as what it changed against its first parent, and a commit that changes nothing any more is dropped.
// *ErrConflict names the commit and the paths that did not combine.
func (c *Checkout) Replay(ctx context.Context, start, head, onto string) (newHead string, err error) {
	if !isSHA(start) || !isSHA(head) || !isSHA(onto) {
		return "", fmt.Errorf("replay %q..%q on %q: not commit ids", start, head, onto)
	}
	out, err := c.ask(ctx, "rev-list", "--reverse", "--topo-order", "--first-parent", "--parents", start+".."+head)
	if err != nil {
		return "", fmt.Errorf("list commits to replay: %w", err)
	}
	p, err := c.picker(ctx, c.top, onto)
	if err != nil {
		return "", err
	}
	defer p.close()
	for row := range strings.Lines(string(out)) {
		ids := strings.Fields(row)
		if len(ids) < 2 {
			return "", fmt.Errorf("replay %s: it has no parent here", strings.TrimSpace(row))
		}
		if err = c.replayOne(ctx, p, ids[0], ids[1]); err != nil {
			return "", err
		}
	}
	return p.tip, c.moveTo(ctx, p.tip)
}

// Replant is Replay where the commits are a line. Where there is a merge among them, they stay as they are and are merged
// into onto, by a commit with this message: a replay would make of the merge one commit of everything that it brought in.
func (c *Checkout) Replant(ctx context.Context, start, head, onto, message string) (newHead string, err error) {
	if !isSHA(start) || !isSHA(head) || !isSHA(onto) {
		return "", fmt.Errorf("replant %q..%q on %q: not commit ids", start, head, onto)
	}
	out, err := c.ask(ctx, "rev-list", "--merges", "--max-count=1", start+".."+head)
	if err != nil {
		return "", fmt.Errorf("look for merges to replant: %w", err)
	}
	if len(out) == 0 {
		return c.Replay(ctx, start, head, onto)
	}
	if err := c.moveTo(ctx, onto); err != nil {
		return "", err
	}
	return c.Merge(ctx, head, message)
}

// Merge merges another commit into HEAD of the checkout with a merge commit, or moves there when that is all it takes.
// *ErrConflict names the paths that did not combine; nothing is changed then. HEAD is returned.
func (c *Checkout) Merge(ctx context.Context, other, message string) (newHead string, err error) {
	head, err := c.Head(ctx)
	if err != nil {
		return "", err
	}
	if !isSHA(other) {
		return "", fmt.Errorf("merge %q: not a commit id", other)
	}
	out, err := c.ask(ctx, "merge-base", head, other)
	if err != nil {
		return "", fmt.Errorf("find merge base of %s and %s: %w", head, other, err)
	}
	switch line(out) {
	case other:
		return head, nil
	case head:
		return other, c.moveTo(ctx, other)
	}
	tree, err := c.combine(ctx, c.top, head, other, other)
	if err != nil {
		return "", err
	}
	if out, err = c.tell(ctx, []byte(strings.TrimSpace(message)+"\n"), "commit-tree", tree, "-F", "-", "-p", head, "-p", other); err != nil {
		return "", fmt.Errorf("commit merge: %w", err)
	}
	newHead = line(out)
	return newHead, c.moveTo(ctx, newHead)
}

// replayOne puts one commit on top of the tip, unless it changes nothing there.
func (c *Checkout) replayOne(ctx context.Context, p *picker, commit, parent string) error {
	tree, err := p.apply(ctx, commit, parent)
	if err != nil || tree == p.tree {
		return err
	}
	raw, err := c.ask(ctx, "cat-file", "commit", commit)
	if err != nil {
		return fmt.Errorf("read commit %s: %w", commit, err)
	}
	return p.put(commit, c.rewrite(raw, tree, p.tip), tree)
}

// moveTo moves HEAD, index and files of the checkout.
func (c *Checkout) moveTo(ctx context.Context, sha string) error {
	head, err := c.Head(ctx)
	if err != nil {
		return err
	}
	if err := c.reset(ctx, sha); err != nil {
		return err
	}
	if err := c.moveHead(ctx, sha, head); err != nil {
		return err
	}
	return c.forgetStates()
}

// rewrite is a commit object with another tree, one parent and us as committer. Author, date, encoding and message stay
// as they are, byte for byte; a signature, which would no longer hold, is left out.
func (c *Checkout) rewrite(raw []byte, tree, parent string) []byte {
	head, message, _ := bytes.Cut(raw, []byte("\n\n"))
	var author, encoding []byte
	for row := range bytes.Lines(head) {
		row = bytes.TrimSuffix(row, []byte("\n"))
		switch {
		case bytes.HasPrefix(row, []byte("author ")):
			author = row
		case bytes.HasPrefix(row, []byte("encoding ")):
			encoding = append(slices.Clone(row), '\n')
		}
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "tree %s\nparent %s\n%s\ncommitter %s %d +0000\n%s\n", tree, parent, author, c.opt.Identity, c.opt.Now().Unix(), encoding)
	out.Write(message)
	return out.Bytes()
}
