package checkout

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha1" //nolint:gosec // git's own
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
)

// Limits for an agent's commits: bytes of one commit (headers and message), and their number.
const (
	maxOwnCommit  = 1 << 20
	maxOwnCommits = 10_000
)

// Recommitted maps commits to their rewritten versions.
type Recommitted struct {
	Head  string            // the rewritten head
	moved map[string]string // from the old commit to the new one
	ours  map[string]bool   // commits of ours, as they are now
}

// Recommit rewrites the commits of head as ours, except those reachable from from, the known commits, or what the workspace
// had of the server before the agent ran: we become author and committer, clean rewrites the message, and signatures and
// other headers go. Trees, order, parents and dates stay. A commit that needs no change stays itself if its parents do, so
// Recommit is idempotent. It moves nothing in the checkout (Follow); no network operation.
//
// *ErrTreeLimits names a commit that is too large, or says that there are too many. *history.ErrUnverified names one that
// somebody gave another content.
func Recommit(ctx context.Context, c *git.Checkout, from, head string, known []string, clean func(message string) string) (Recommitted, error) {
	own, err := ownCommits(ctx, c, from, head, known)
	if err != nil {
		return Recommitted{Head: head}, err
	}
	return rewrite(ctx, c, head, own, clean)
}

// Reword gives the head that Recommit made another message if it is a commit of ours. It moves nothing in the checkout (Follow); no
// network operation.
func Reword(ctx context.Context, c *git.Checkout, made Recommitted, message func(string) string) (Recommitted, error) {
	if !made.ours[made.Head] {
		return Recommitted{Head: made.Head}, nil
	}
	return rewrite(ctx, c, made.Head, []string{made.Head}, message)
}

// ownCommits are the commits of head, parents first, that neither from nor the known commits reach, nor what the workspace had of
// the server.
func ownCommits(ctx context.Context, c *git.Checkout, from, head string, known []string) ([]string, error) {
	there, err := c.Peel(ctx, c.Tracked...)
	if err != nil {
		return nil, err
	}
	there = slices.DeleteFunc(there, func(id string) bool { return id == "" }) // not here
	own, err := history.Span(ctx, c, from, head, slices.Concat(known, there))
	if err == nil && len(own) > maxOwnCommits {
		err = &git.ErrTreeLimits{Tree: head, Detail: fmt.Sprintf("has over %d commits that are not on the server", maxOwnCommits)}
	}
	return own, err
}

// rewrite makes some commits ours, parents first, and head with them.
func rewrite(ctx context.Context, c *git.Checkout, head string, own []string, clean func(message string) string) (Recommitted, error) {
	done := Recommitted{Head: head, moved: map[string]string{}, ours: map[string]bool{}}
	if len(own) == 0 {
		return done, nil
	}
	err := c.Contents(ctx, own, func(id string, content io.Reader) error {
		raw, err := io.ReadAll(io.LimitReader(content, maxOwnCommit+1))
		if err != nil {
			return fmt.Errorf("read commit %s: %w", id, err)
		}
		if len(raw) > maxOwnCommit {
			return &git.ErrTreeLimits{Tree: id, Detail: fmt.Sprintf("is a commit of over %d bytes", maxOwnCommit)}
		}
		// Git does not compare an object with its name, and whoever wrote to the checkout could have given it another content. What
		// is made of that would have a name of its own, which a server would believe.
		if sum := sha1.Sum(fmt.Appendf(nil, "commit %d\x00%s", len(raw), raw)); hex.EncodeToString(sum[:]) != id { //nolint:gosec // git's own
			return &history.ErrUnverified{Detail: fmt.Sprintf("commit %s has another content than its name says", id)}
		}
		own, parent, err := without(ctx, c, id, raw, done.moved)
		if err != nil || parent != "" {
			done.moved[id] = parent
			return err
		}
		ours, changed := ownCommit(c, own, done.moved, clean)
		if changed || !bytes.Equal(own, raw) {
			done.moved[id], err = git.WriteObject(c, "commit", ours)
		}
		done.ours[cmp.Or(done.moved[id], id)] = true
		return err
	})
	if now := done.moved[head]; now != "" {
		done.Head = now
	}
	return done, err
}

// without is a commit object without the files that were taken along. parent stands for it if it holds nothing else.
func without(ctx context.Context, c *git.Checkout, id string, raw []byte, moved map[string]string) (own []byte, parent string, err error) {
	along, err := takenAlong(ctx, c, id)
	if err != nil || len(along) == 0 {
		return raw, "", err
	}
	row, rest, _ := bytes.Cut(raw, []byte("\n"))
	tree, err := git.Retree(ctx, c, strings.TrimPrefix(string(row), "tree "), along)
	if err != nil {
		return nil, "", err
	}
	head, _, _ := bytes.Cut(rest, []byte("\nauthor "))
	if parents := strings.Fields(string(head)); len(parents) == 2 {
		parent = cmp.Or(moved[parents[1]], parents[1])
		if before, err := history.TreeOf(ctx, c, parent); err != nil || before == tree {
			return nil, parent, err
		}
	}
	return fmt.Appendf(nil, "tree %s\n%s", tree, rest), "", nil
}

// ownCommit is a commit object rewritten as ours; changed says whether it differs.
func ownCommit(c *git.Checkout, raw []byte, moved map[string]string, clean func(string) string) (ours []byte, changed bool) {
	head, message, _ := bytes.Cut(raw, []byte("\n\n"))
	var tree string
	var parents, author, committer, rest []string
	for row := range strings.SplitSeq(string(head), "\n") {
		name, value, _ := strings.Cut(row, " ")
		switch name {
		case "tree":
			tree = value
		case "parent":
			if now := moved[value]; now != "" {
				changed, value = true, now
			}
			parents = append(parents, value)
		case "author":
			author = append(author, value)
		case "committer":
			committer = append(committer, value)
		default:
			rest = append(rest, row)
		}
	}
	text := strings.TrimSpace(clean(string(message)))
	who := c.Opt.Identity.String()
	ownLine := func(lines []string) bool {
		return len(lines) == 1 && strings.HasPrefix(lines[0], who+" ") && stamp.FindString(lines[0]) == strings.TrimPrefix(lines[0], who)
	}
	changed = changed || len(rest) > 0 || !ownLine(author) || !ownLine(committer) || text != strings.TrimSpace(string(message))
	var out bytes.Buffer
	fmt.Fprintf(&out, "tree %s\n", tree)
	for _, parent := range parents {
		fmt.Fprintf(&out, "parent %s\n", parent)
	}
	fmt.Fprintf(&out, "author %s%s\ncommitter %s%s\n\n%s\n", who, stamped(c, author), who, stamped(c, committer), text)
	return out.Bytes(), changed
}

// stamp is the date that ends a commit's author line (https://git-scm.com/docs/git-fast-import#_date_formats).
var stamp = regexp.MustCompile(` [0-9]{1,10} [+-][0-9]{4}$`)

// stamped is the author's date as in the commit, or now if it is unreadable.
func stamped(c *git.Checkout, lines []string) string {
	if len(lines) == 1 {
		if s := stamp.FindString(lines[0]); s != "" {
			return s
		}
	}
	return fmt.Sprintf(" %d +0000", c.Opt.Now().Unix())
}

// Follow moves the checkout's HEAD and local branches from old commits to those that Recommit made. Files and index stay
// the same.
func Follow(ctx context.Context, c *git.Checkout, r Recommitted) error {
	if len(r.moved) == 0 {
		return nil
	}
	if err := c.Recreate(); err != nil {
		return err
	}
	head := c.ReadHead()
	if r.moved[head] == "" { // nothing that was read: git has to say what it is
		var err error
		if head, err = c.Head(ctx); err != nil {
			return err
		}
	}
	tips, err := localBranches(ctx, c)
	if err != nil {
		return err
	}
	var orders bytes.Buffer
	for name, tip := range tips {
		if now := r.moved[tip]; now != "" {
			fmt.Fprintf(&orders, "update %s %s %s\n", name, now, tip)
		}
	}
	if orders.Len() > 0 {
		if _, err := c.InsideTold(ctx, orders.Bytes(), "update-ref", "--no-deref", "--stdin"); err != nil {
			return fmt.Errorf("move branches to commits of ours: %w", err)
		}
	}
	now := r.moved[head]
	if now == "" {
		return nil
	}
	if c.ReadHead() == now { // it is on a branch
		c.Refs[git.HaveHead] = now
		return nil
	}
	at, err := c.TipOf(ctx, "HEAD^{commit}")
	if err != nil {
		return err
	}
	if at == head { // detached
		return moveHead(ctx, c, now, head)
	}
	c.Refs[git.HaveHead] = now
	return nil
}
