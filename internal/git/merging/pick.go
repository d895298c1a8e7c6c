package merging

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/model"
)

// maxPicks is how many commits are picked one by one. Each is a merge and two new commits: measured, some 10 ms in a
// repository of 50,000 files.
const maxPicks = 1000

// picked are the branch's commits put on top of Base.
type picked struct {
	tip, tree string
	made      map[string]string // new commit -> the one that it was made from
	kept      int               // how many change something
	dropped   []string
	signed    int
	won       []string
}

// pickOptions is how commits are picked.
type pickOptions struct {
	// message is the new message of a picked commit, with the rest of its object; nil: commits keep their messages, and
	// one that need not be picked stays as it is.
	message func(sha string, raw []byte) []byte
	// without are commits to leave out, as git rebase leaves out what the base has already.
	without map[string]bool
}

// pickOwn picks the branch's own commits one by one, without its merge commits, parents before children. A commit whose parent
// is the tip already stays what it is, unless it gets another message. What no longer changes anything is dropped, and so is a
// commit that no longer applies because the base has exactly this change already. *ErrConflict names the commit;
// *ErrTooMany.
func (g *input) pickOwn(ctx context.Context, o pickOptions) (picked, error) {
	done := picked{tip: g.Base, tree: g.baseTree, made: map[string]string{}}
	own := singles(g.own)
	var stay []history.Node
	if o.message == nil {
		for len(own) > 0 && slices.Equal(own[0].Parents, []string{done.tip}) && !o.without[own[0].SHA] {
			done.tip, done.made[own[0].SHA] = own[0].SHA, own[0].SHA
			stay, own = append(stay, own[0]), own[1:]
		}
	}
	if len(own) == 0 && done.tip == g.Head {
		done.tree = g.headTree
		return done, nil
	}
	if len(own) > maxPicks {
		return picked{}, &ErrTooMany{Count: len(own), Most: maxPicks}
	}
	err := g.pickAll(ctx, &done, stay, own, o)
	return done, err
}

// pickAll puts commits on top of those that stay what they are. Side branches of the branch come one after the other then,
// so that the first that is picked need not begin where the last of those ends.
func (g *input) pickAll(ctx context.Context, done *picked, stay, picks []history.Node, o pickOptions) error {
	raws, err := rawCommits(ctx, g.c, slices.Concat(stay, picks, []history.Node{{SHA: done.tip}}))
	if err != nil {
		return err
	}
	for _, t := range stay {
		if !isEmpty(t, raws) {
			done.kept++
		}
	}
	if done.tree = treeIn(raws[done.tip]); len(picks) == 0 {
		return nil
	}
	for _, t := range picks {
		if o.without[t.SHA] {
			done.dropped = append(done.dropped, t.SHA)
		} else if err := g.pickOne(ctx, done, t, raws, o.message); err != nil {
			return err
		}
	}
	return nil
}

// pickOne puts one commit on top.
func (g *input) pickOne(ctx context.Context, done *picked, t history.Node, raws map[string][]byte, message func(string, []byte) []byte) error {
	raw := raws[t.SHA]
	tree, won, err := g.step(ctx, done.tree, t, raws)
	if err != nil {
		return err
	}
	done.won = append(done.won, won...)
	if tree == "" {
		done.dropped = append(done.dropped, t.SHA)
		return nil
	}
	tip := t.SHA
	if message != nil || !slices.Equal(t.Parents, []string{done.tip}) {
		if isSigned(raw) {
			done.signed++
		}
		made := Rewrite(g.c, raw, tree, done.tip)
		if message != nil {
			made = message(t.SHA, made)
		}
		if tip, err = git.WriteObject(g.c, "commit", made); err != nil {
			return fmt.Errorf("write commit for %s: %w", t.SHA, err)
		}
	}
	done.tip, done.tree, done.made[tip] = tip, tree, t.SHA
	if !isEmpty(t, raws) {
		done.kept++
	}
	return nil
}

// step is a tree, of the tip, with what a commit changed; "" where the commit is to be dropped.
func (g *input) step(ctx context.Context, at string, t history.Node, raws map[string][]byte) (tree string, won []string, err error) {
	tree, won, err = g.pickTree(ctx, at, t, raws)
	if AsConflict(err) != nil {
		twins, failed := appliedOnBase(ctx, g)
		if failed != nil || !twins[t.SHA] {
			return "", nil, cmp.Or[error](failed, err)
		}
		return "", nil, nil
	}
	if err == nil && tree == at && !isEmpty(t, raws) {
		tree = ""
	}
	return tree, won, err
}

// isEmpty says that somebody made a commit that changes nothing.
func isEmpty(t history.Node, raws map[string][]byte) bool {
	return len(t.Parents) == 1 && treeIn(raws[t.SHA]) == treeIn(raws[t.Parents[0]])
}

// pickTree is a tree, of the tip, with what a commit changed.
func (g *input) pickTree(ctx context.Context, at string, t history.Node, raws map[string][]byte) (tree string, won []string, err error) {
	theirs, parent := t.SHA, ""
	switch {
	case len(t.Parents) == 0: // the first commit of another history: it changes everything it has
		nothing, err := git.WriteObject(g.c, "tree", nil)
		if err != nil {
			return "", nil, err
		}
		if parent, err = StandIn(g.c, nothing); err != nil {
			return "", nil, err
		}
		if theirs, err = StandIn(g.c, treeIn(raws[t.SHA]), parent); err != nil {
			return "", nil, err
		}
	case treeIn(raws[t.Parents[0]]) == at: // git would say the same
		return treeIn(raws[t.SHA]), nil, nil
	default:
		parent = t.Parents[0]
	}
	ours, err := StandIn(g.c, at, parent)
	if err != nil {
		return "", nil, err
	}
	return g.mergeForBase(ctx, ours, theirs, ours, t.SHA, nil)
}

// rawCommits reads commits and their parents.
func rawCommits(ctx context.Context, c *git.Checkout, commits []history.Node) (map[string][]byte, error) {
	var ids []string
	for _, t := range commits {
		ids = append(append(ids, t.Parents...), t.SHA)
	}
	raws, err := c.Texts(ctx, ids, 0)
	return raws, git.Wrap(err, "read commits")
}

// treeIn is the tree that a commit object names.
func treeIn(raw []byte) string {
	return strings.TrimPrefix(syntax.Line(raw), "tree ")
}

// isSigned reports whether a commit object has a signature.
func isSigned(raw []byte) bool {
	head, _, _ := bytes.Cut(raw, []byte("\n\n"))
	return bytes.Contains(head, []byte("\ngpgsig ")) || bytes.Contains(head, []byte("\ngpgsig-sha256 "))
}

// merged fills in what is told of new commits on top of Base.
func (g *input) merged(ctx context.Context, tip, tree string, made map[string]string) (Merged, error) {
	m := Merged{Tip: tip, Tree: tree, Strategy: g.Strategy}
	list, err := history.Recent(ctx, g.c, []string{tip, "^" + g.Base}, "--max-count="+fmt.Sprint(history.MaxListed))
	if err != nil {
		return Merged{}, err
	}
	if m.Count = len(list); m.Count == history.MaxListed {
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
	m.Notes, err = notes(ctx, g, tip)
	return m, err
}

// count is how many commits are new on top of Base.
func (g *input) count(ctx context.Context, tip string) (n int, err error) {
	out, err := g.c.Ask(ctx, "rev-list", "--count", g.Base+".."+tip)
	if err == nil {
		n, err = strconv.Atoi(syntax.Line(out))
	}
	return n, git.Wrap(err, "count commits of %s", tip)
}
