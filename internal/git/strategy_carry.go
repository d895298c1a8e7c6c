package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// maxPicks is how many commits are put over one by one. Each is a merge and two new commits: measured, some 10 ms in a
// repository of 50,000 files.
const maxPicks = 1000

// carried are the branch's commits put on top of Base.
type carried struct {
	tip, tree string
	made      map[string]string // new commit -> the one that it was made from
	kept      int               // how many change something
	dropped   []string
	signed    int
	won       []string
}

// order is how commits are picked.
type order struct {
	// message is the new message of a commit that is put over, with the rest of its object; nil: commits keep what they say, and
	// one that need not be put over stays what it is.
	message func(sha string, raw []byte) []byte
	// without are commits to leave out, as git rebase leaves out what the base has already.
	without map[string]bool
}

// carry picks the branch's own commits one by one, without its merge commits, parents before children. A commit whose parent
// is the tip already stays what it is, unless it gets another message. What changes nothing any more is dropped, and so is a
// commit that does not apply any more because the base has it already, word for word. *ErrConflict names the commit;
// *ErrTooMany.
func (g *ground) carry(ctx context.Context, o order) (carried, error) {
	done := carried{tip: g.Base, tree: g.baseTree, made: map[string]string{}}
	own := g.singles()
	if o.message == nil {
		for len(own) > 0 && slices.Equal(own[0].parents, []string{done.tip}) && !o.without[own[0].sha] {
			done.tip, done.made[own[0].sha] = own[0].sha, own[0].sha
			done.kept++
			own = own[1:]
		}
	}
	if len(own) == 0 && done.tip == g.Head {
		done.tree = g.headTree
		return done, nil
	}
	if len(own) > maxPicks {
		return carried{}, &ErrTooMany{Count: len(own), Most: maxPicks}
	}
	return done, g.pickAll(ctx, &done, own, o)
}

// singles are the branch's own commits that are no merges.
func (g *ground) singles() []twig {
	return slices.DeleteFunc(slices.Clone(g.own), twig.isMerge)
}

// pickAll puts commits on top of those that stayed what they are. Side branches of the branch come one after the other then,
// so that the first that is picked need not begin where the last of those ends.
func (g *ground) pickAll(ctx context.Context, done *carried, picks []twig, o order) error {
	raws, err := g.c.raws(ctx, append(picks, twig{sha: done.tip}))
	if err != nil {
		return err
	}
	if done.tree = treeIn(raws[done.tip]); len(picks) == 0 {
		return nil
	}
	p, err := g.c.pickerOn(ctx, g.files, done.tip, done.tree)
	if err != nil {
		return err
	}
	defer p.close()
	for _, t := range picks {
		if o.without[t.sha] {
			done.dropped = append(done.dropped, t.sha)
			continue
		}
		if err := g.pickOne(ctx, p, done, t, raws, o.message); err != nil {
			return err
		}
	}
	done.tip, done.tree = p.tip, p.tree
	return nil
}

// pickOne puts one commit on top.
func (g *ground) pickOne(ctx context.Context, p *picker, done *carried, t twig, raws map[string][]byte, message func(string, []byte) []byte) error {
	raw := raws[t.sha]
	tree, won, err := g.step(ctx, p, t, raws)
	if err != nil {
		return err
	}
	done.won = append(done.won, won...)
	if tree == "" {
		done.dropped = append(done.dropped, t.sha)
		return nil
	}
	if message == nil && slices.Equal(t.parents, []string{p.tip}) {
		p.tip, p.tree = t.sha, tree
	} else {
		if isSigned(raw) {
			done.signed++
		}
		made := g.c.rewrite(raw, tree, p.tip)
		if message != nil {
			made = message(t.sha, made)
		}
		if err := p.put(t.sha, made, tree); err != nil {
			return err
		}
	}
	if done.made[p.tip] = t.sha; !isEmpty(t, raws) {
		done.kept++
	}
	return nil
}

// step is the tree of the tip with what a commit changed; "" where the commit is to be dropped.
func (g *ground) step(ctx context.Context, p *picker, t twig, raws map[string][]byte) (tree string, won []string, err error) {
	tree, won, err = g.pickTree(ctx, p, t, raws)
	if conflict := (*ErrConflict)(nil); errors.As(err, &conflict) {
		twins, failed := g.twinsOfBase(ctx)
		if failed != nil || !twins[t.sha] {
			return "", nil, errOr(failed, err)
		}
		return "", nil, nil
	}
	if err == nil && tree == p.tree && !isEmpty(t, raws) {
		tree = ""
	}
	return tree, won, err
}

// isEmpty says that somebody made a commit that changes nothing.
func isEmpty(t twig, raws map[string][]byte) bool {
	return len(t.parents) == 1 && treeIn(raws[t.sha]) == treeIn(raws[t.parents[0]])
}

// pickTree is the tree of the tip with what a commit changed.
func (g *ground) pickTree(ctx context.Context, p *picker, t twig, raws map[string][]byte) (tree string, won []string, err error) {
	theirs, parent := t.sha, ""
	switch {
	case len(t.parents) == 0: // the first commit of another history: it changes everything it has
		nothing, err := g.c.tell(ctx, nil, "mktree")
		if err != nil {
			return "", nil, fmt.Errorf("write empty tree: %w", err)
		}
		if parent, err = p.write(g.c.plain(line(nothing), nil, "stand-in\n")); err != nil {
			return "", nil, err
		}
		if theirs, err = p.standIn(treeIn(raws[t.sha]), parent); err != nil {
			return "", nil, err
		}
	case treeIn(raws[t.parents[0]]) == p.tree: // git would say the same
		return treeIn(raws[t.sha]), nil, nil
	default:
		parent = t.parents[0]
	}
	ours, err := p.standIn(p.tree, parent)
	if err != nil {
		return "", nil, err
	}
	found, clean, err := g.merge(ctx, ours, theirs)
	if err != nil {
		return "", nil, fmt.Errorf("pick %s: %w", t.sha, err)
	}
	if clean {
		return found.tree, nil, nil
	}
	return g.settle(ctx, found, ours, t.sha)
}

// raws reads commits and their parents.
func (c *Checkout) raws(ctx context.Context, commits []twig) (map[string][]byte, error) {
	var ids []string
	for _, t := range commits {
		ids = append(append(ids, t.parents...), t.sha)
	}
	slices.Sort(ids)
	raws := make(map[string][]byte, len(ids))
	err := c.contents(ctx, slices.Compact(ids), func(id string, content io.Reader) (err error) {
		raws[id], err = io.ReadAll(content)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read commits: %w", err)
	}
	return raws, nil
}

// treeIn is the tree that a commit object names.
func treeIn(raw []byte) string {
	return strings.TrimPrefix(line(raw), "tree ")
}

// isSigned tells whether a commit object has a signature.
func isSigned(raw []byte) bool {
	head, _, _ := bytes.Cut(raw, []byte("\n\n"))
	return bytes.Contains(head, []byte("\ngpgsig ")) || bytes.Contains(head, []byte("\ngpgsig-sha256 "))
}

// merged fills in what is told of new commits on top of Base.
func (g *ground) merged(ctx context.Context, tip, tree string, made map[string]string) (Merged, error) {
	m := Merged{Tip: tip, Tree: tree, Strategy: g.Strategy}
	list, err := g.c.recent(ctx, "--max-count="+fmt.Sprint(maxListed), tip, "^"+g.Base)
	if err != nil {
		return Merged{}, err
	}
	if m.Count = len(list); m.Count == maxListed {
		if m.Count, err = g.count(ctx, tip); err != nil {
			return Merged{}, err
		}
	}
	for _, commit := range list {
		m.Commits = append(m.Commits, model.Moved{Commit: commit, Was: made[commit.SHA]})
	}
	if m.Evil, err = g.evil(ctx); err != nil {
		return Merged{}, err
	}
	m.MergeCommits = len(g.merges())
	m.Notes, err = g.notes(ctx, tip)
	return m, err
}

// count is how many commits are new on top of Base.
func (g *ground) count(ctx context.Context, tip string) (n int, err error) {
	out, err := g.c.ask(ctx, "rev-list", "--count", g.Base+".."+tip)
	if err == nil {
		n, err = strconv.Atoi(line(out))
	}
	if err != nil {
		return 0, fmt.Errorf("count commits of %s: %w", tip, err)
	}
	return n, nil
}

// recent lists commits that git log finds, oldest first.
func (c *Checkout) recent(ctx context.Context, args ...string) ([]model.Commit, error) {
	out, err := c.ask(ctx, concat([]string{"log", "-z", "--reverse", "--topo-order", "--no-show-signature", "--encoding=UTF-8", "--format=%H%n%an%n%s"}, args)...)
	if err != nil {
		return nil, fmt.Errorf("list commits: %w", err)
	}
	return commitsIn(out)
}

// commitsIn reads git log -z with an id, an author and a subject in a line each.
func commitsIn(out []byte) ([]model.Commit, error) {
	var list []model.Commit
	for _, entry := range fields(out) {
		part := strings.SplitN(strings.ToValidUTF8(entry, "\uFFFD"), "\n", 3)
		if len(part) != 3 {
			return nil, fmt.Errorf("list commits: unexpected entry %q", entry)
		}
		list = append(list, model.Commit{SHA: part[0], Author: part[1], Subject: part[2]})
	}
	return list, nil
}

// named lists these commits in their order.
func (c *Checkout) named(ctx context.Context, shas []string) ([]model.Commit, error) {
	if len(shas) == 0 {
		return nil, nil
	}
	shas = shas[max(0, len(shas)-maxListed):]
	out, err := c.recent(ctx, concat([]string{"--no-walk=unsorted"}, shas)...)
	slices.SortFunc(out, func(a, b model.Commit) int { return slices.Index(shas, a.SHA) - slices.Index(shas, b.SHA) })
	return out, err
}
