package merging

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// input is what a merge starts from: two trees, their merge bases, and the branch's own commits.
type input struct {
	Request
	c                  *git.Checkout
	files              string          // a directory with only Base's .gitattributes
	looked             map[string]bool // the directories of Base whose .gitattributes were read
	baseTree, headTree string
	fork               []string       // the best merge bases
	own                []history.Node // the branch's own commits, parents before children
	gone               []string       // commits of Head that the base dropped
	// since is the one commit from which the branch's own commits start if some of its history was dropped. Git's merge
	// would start too far back.
	since string

	applied    map[string]bool // memo of appliedOnBase
	targetTree string          // memo of target
	targetWon  []string
	targetErr  error
	agreed     bool // the commits, picked one by one, lead to the tree of target
}

// readInput reads what is to be merged. *ErrUnrelated, *ErrEmpty if Base contains Head, *ErrRewound if what the base
// dropped cannot be separated from the rest. Close the input afterwards.
func readInput(ctx context.Context, c *git.Checkout, m Request) (*input, error) {
	g := &input{Request: m, c: c}
	if err := g.trees(ctx); err != nil {
		return nil, err
	}
	all, err := nodes(ctx, c, m.Head, "^"+m.Base)
	if err != nil {
		return nil, err
	}
	if g.fork, err = forks(ctx, c, m, all); err != nil {
		return nil, err
	}
	if g.fork[0] == m.Head {
		return nil, &ErrEmpty{Proof: []string{m.Head + " is an ancestor of " + m.Base}}
	}
	if err := g.list(ctx, all); err != nil {
		return nil, err
	}
	if err := g.attributes(ctx); err != nil {
		return nil, errors.Join(err, g.close())
	}
	return g, nil
}

func (g *input) close() error {
	if g.files == "" {
		return nil
	}
	return git.Wrap(os.RemoveAll(g.files), "remove directory of attributes")
}

// trees reads both sides' trees, and drops known commits that are not here.
func (g *input) trees(ctx context.Context) error {
	for _, sha := range append([]string{g.Base, g.Head}, g.Known...) {
		if !syntax.IsSHA(sha) {
			return fmt.Errorf("merge %q into %q without %q: not commit ids", g.Head, g.Base, g.Known)
		}
	}
	ask := []string{g.Base + "^{commit}^{tree}", g.Head + "^{commit}^{tree}"}
	for _, sha := range g.Known {
		ask = append(ask, sha+"^{commit}")
	}
	found, err := git.Resolve(ctx, g.c, ask...)
	if err != nil {
		return fmt.Errorf("read what to merge: %w", err)
	}
	for i, sha := range []string{g.Base, g.Head} {
		if found[i] == "" {
			return fmt.Errorf("read what to merge: commit %s is not here", sha)
		}
	}
	g.baseTree, g.headTree = found[0], found[1]
	g.Known = slices.DeleteFunc(slices.Clone(g.Known), func(sha string) bool { return !slices.Contains(found[2:], sha) })
	return nil
}

// forks returns the best merge bases. all are the commits of the head that the base lacks. If they begin at one commit of the base, it is the
// only merge base, since all common ancestors are reachable from it. A shallow history may hide others, so git is asked there.
func forks(ctx context.Context, c *git.Checkout, m Request, all []history.Node) ([]string, error) {
	if begins := beginnings(all); len(c.Boundary) == 0 && len(begins) == 1 && begins[0] != "" {
		return begins, nil
	}
	return history.KnownMergeBases(ctx, c, m.Base, m.Head)
}

// beginnings returns the parents of commits, each once, without those in the list itself; "" stands for the parent of a root commit.
func beginnings(commits []history.Node) (begins []string) {
	among := map[string]bool{}
	for _, t := range commits {
		among[t.SHA] = true
	}
	for _, t := range commits {
		for _, parent := range t.Parents {
			if !among[parent] && !slices.Contains(begins, parent) {
				begins = append(begins, parent)
			}
		}
		if len(t.Parents) == 0 {
			begins = append(begins, "")
		}
	}
	return begins
}

// list finds the branch's own commits, and those that the base dropped, among all that the base lacks.
func (g *input) list(ctx context.Context, all []history.Node) (err error) {
	g.own = all
	if len(g.Known) == 0 {
		return nil
	}
	not := []string{g.Head, "^" + g.Base}
	for _, sha := range g.Known {
		not = append(not, "^"+sha)
	}
	if g.own, err = nodes(ctx, g.c, not...); err != nil {
		return err
	}
	if len(g.own) == len(all) {
		return nil
	}
	mine := map[string]bool{}
	for _, t := range g.own {
		mine[t.SHA] = true
	}
	for _, t := range slices.Backward(all) {
		if !mine[t.SHA] {
			g.gone = append(g.gone, t.SHA)
		}
	}
	begins := beginnings(g.own)
	if len(begins) != 1 || begins[0] == "" {
		return &ErrRewound{Commits: g.gone}
	}
	g.since = begins[0]
	return nil
}

// nodes lists commits with their parents, parents first.
func nodes(ctx context.Context, c *git.Checkout, revisions ...string) ([]history.Node, error) {
	return history.Nodes(ctx, c, revisions, "--reverse", "--topo-order")
}

// start is the commit that the branch's changes are compared with.
func (g *input) start() string {
	if g.since != "" {
		return g.since
	}
	return g.fork[0]
}

// singles are those of some commits that are no merges.
func singles(commits []history.Node) []history.Node {
	return slices.DeleteFunc(slices.Clone(commits), history.Node.IsMerge)
}

// merges are those of some commits that are merges.
func merges(commits []history.Node) []history.Node {
	return slices.DeleteFunc(slices.Clone(commits), func(t history.Node) bool { return !t.IsMerge() })
}
