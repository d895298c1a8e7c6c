package merging

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/mergetree"
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
	var stay []commitNode
	if o.message == nil {
		for len(own) > 0 && slices.Equal(own[0].parents, []string{done.tip}) && !o.without[own[0].sha] {
			done.tip, done.made[own[0].sha] = own[0].sha, own[0].sha
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
func (g *input) pickAll(ctx context.Context, done *picked, stay, picks []commitNode, o pickOptions) error {
	raws, err := rawCommits(ctx, g.c, slices.Concat(stay, picks, []commitNode{{sha: done.tip}}))
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
	p := &mergetree.Picker{C: g.c, Files: g.files, Tip: done.tip, Tree: done.tree}
	for _, t := range picks {
		if o.without[t.sha] {
			done.dropped = append(done.dropped, t.sha)
			continue
		}
		if err := g.pickOne(ctx, p, done, t, raws, o.message); err != nil {
			return err
		}
	}
	done.tip, done.tree = p.Tip, p.Tree
	return nil
}

// pickOne puts one commit on top.
func (g *input) pickOne(ctx context.Context, p *mergetree.Picker, done *picked, t commitNode, raws map[string][]byte, message func(string, []byte) []byte) error {
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
	if message == nil && slices.Equal(t.parents, []string{p.Tip}) {
		p.Tip, p.Tree = t.sha, tree
	} else {
		if isSigned(raw) {
			done.signed++
		}
		made := mergetree.Rewrite(g.c, raw, tree, p.Tip)
		if message != nil {
			made = message(t.sha, made)
		}
		if err := p.Put(t.sha, made, tree); err != nil {
			return err
		}
	}
	if done.made[p.Tip] = t.sha; !isEmpty(t, raws) {
		done.kept++
	}
	return nil
}

// step is the tree of the tip with what a commit changed; "" where the commit is to be dropped.
func (g *input) step(ctx context.Context, p *mergetree.Picker, t commitNode, raws map[string][]byte) (tree string, won []string, err error) {
	tree, won, err = g.pickTree(ctx, p, t, raws)
	if conflict := (*mergetree.ErrConflict)(nil); errors.As(err, &conflict) {
		twins, failed := appliedOnBase(ctx, g)
		if failed != nil || !twins[t.sha] {
			return "", nil, cmp.Or[error](failed, err)
		}
		return "", nil, nil
	}
	if err == nil && tree == p.Tree && !isEmpty(t, raws) {
		tree = ""
	}
	return tree, won, err
}

// isEmpty says that somebody made a commit that changes nothing.
func isEmpty(t commitNode, raws map[string][]byte) bool {
	return len(t.parents) == 1 && treeIn(raws[t.sha]) == treeIn(raws[t.parents[0]])
}

// pickTree is the tree of the tip with what a commit changed.
func (g *input) pickTree(ctx context.Context, p *mergetree.Picker, t commitNode, raws map[string][]byte) (tree string, won []string, err error) {
	theirs, parent := t.sha, ""
	switch {
	case len(t.parents) == 0: // the first commit of another history: it changes everything it has
		nothing, err := git.WriteObject(g.c, "tree", nil)
		if err != nil {
			return "", nil, err
		}
		if parent, err = git.WriteCommit(g.c, nothing, "stand-in\n"); err != nil {
			return "", nil, err
		}
		if theirs, err = p.StandIn(treeIn(raws[t.sha]), parent); err != nil {
			return "", nil, err
		}
	case treeIn(raws[t.parents[0]]) == p.Tree: // git would say the same
		return treeIn(raws[t.sha]), nil, nil
	default:
		parent = t.parents[0]
	}
	ours, err := p.StandIn(p.Tree, parent)
	if err != nil {
		return "", nil, err
	}
	return g.mergeForBase(ctx, ours, theirs, ours, t.sha, nil)
}

// rawCommits reads commits and their parents.
func rawCommits(ctx context.Context, c *git.Checkout, commits []commitNode) (map[string][]byte, error) {
	var ids []string
	for _, t := range commits {
		ids = append(append(ids, t.parents...), t.sha)
	}
	slices.Sort(ids)
	raws := make(map[string][]byte, len(ids))
	err := c.Contents(ctx, slices.Compact(ids), func(id string, content io.Reader) (err error) {
		raws[id], err = io.ReadAll(content)
		return err
	})
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
	list, err := history.Recent(ctx, g.c, "--max-count="+fmt.Sprint(history.MaxListed), tip, "^"+g.Base)
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
