package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// ground is what a merge starts from: the two trees, where they parted, and the branch's own commits.
type ground struct {
	Merge
	c                  *Checkout
	files              string // a directory with nothing but the .gitattributes that Base has
	baseTree, headTree string
	fork               []string // the best merge bases
	own                []twig   // the branch's own commits, parents before children
	gone               []string // commits of Head that the base had and gave up
	// since is the one commit that the branch's own commits start from when some of its history is gone. Git's merge would
	// start too far back.
	since string

	aim    string // memo of target
	won    []string
	failed error
}

// twig is one commit of the branch.
type twig struct {
	sha     string
	parents []string
}

func (t twig) isMerge() bool { return len(t.parents) > 1 }

// survey looks at what is to be merged. *ErrUnrelated, *ErrEmpty when Base has Head, *ErrRewound when what the base gave
// up cannot be told from the rest. Close the ground afterwards.
func (c *Checkout) survey(ctx context.Context, m Merge) (*ground, error) {
	g := &ground{Merge: m, c: c}
	if err := g.trees(ctx); err != nil {
		return nil, err
	}
	out, err := c.ask(ctx, "merge-base", "--all", m.Base, m.Head)
	if err != nil && exitCode(err) != 1 {
		return nil, fmt.Errorf("find merge base of %s and %s: %w", m.Base, m.Head, err)
	}
	g.fork = strings.Fields(string(out))
	switch {
	case len(g.fork) == 0:
		return nil, &ErrUnrelated{Base: m.Base, Head: m.Head}
	case g.fork[0] == m.Head:
		return nil, &ErrEmpty{Proof: []string{m.Head + " is an ancestor of " + m.Base}}
	}
	if err := g.list(ctx); err != nil {
		return nil, err
	}
	if err := g.attributes(ctx); err != nil {
		return nil, errors.Join(err, g.close())
	}
	return g, nil
}

func (g *ground) close() error {
	if g.files == "" {
		return nil
	}
	if err := os.RemoveAll(g.files); err != nil {
		return fmt.Errorf("remove directory of attributes: %w", err)
	}
	return nil
}

// trees reads the trees of both sides, and forgets the known commits that are not here.
func (g *ground) trees(ctx context.Context) error {
	for _, sha := range append([]string{g.Base, g.Head}, g.Known...) {
		if !isSHA(sha) {
			return fmt.Errorf("merge %q into %q without %q: not commit ids", g.Head, g.Base, g.Known)
		}
	}
	ask := []string{g.Base + "^{commit}^{tree}", g.Head + "^{commit}^{tree}"}
	for _, sha := range g.Known {
		ask = append(ask, sha+"^{commit}")
	}
	out, err := g.c.tell(ctx, []byte(strings.Join(ask, "\n")+"\n"), "cat-file", "--batch-check=%(objectname) %(objecttype)")
	if err != nil {
		return fmt.Errorf("read what to merge: %w", err)
	}
	rows := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(rows) != len(ask) {
		return fmt.Errorf("read what to merge: unexpected answer %q", out)
	}
	for i, to := range []*string{&g.baseTree, &g.headTree} {
		id, kind, _ := strings.Cut(rows[i], " ")
		if *to = id; kind != "tree" {
			return fmt.Errorf("read what to merge: commit %s is not here", []string{g.Base, g.Head}[i])
		}
	}
	var here []string
	for i, sha := range g.Known {
		if rows[i+2] == sha+" commit" {
			here = append(here, sha)
		}
	}
	g.Known = here
	return nil
}

// list finds the branch's own commits, and those that the base gave up.
func (g *ground) list(ctx context.Context) error {
	all, err := g.c.twigs(ctx, g.Head, "^"+g.Base)
	if err != nil {
		return err
	}
	g.own = all
	if len(g.Known) == 0 {
		return nil
	}
	not := []string{g.Head, "^" + g.Base}
	for _, sha := range g.Known {
		not = append(not, "^"+sha)
	}
	if g.own, err = g.c.twigs(ctx, not...); err != nil {
		return err
	}
	if len(g.own) == len(all) {
		return nil
	}
	mine := map[string]bool{}
	for _, t := range g.own {
		mine[t.sha] = true
	}
	for _, t := range slices.Backward(all) {
		if !mine[t.sha] {
			g.gone = append(g.gone, t.sha)
		}
	}
	var edge []string
	for _, t := range g.own {
		for _, parent := range t.parents {
			if !mine[parent] && !slices.Contains(edge, parent) {
				edge = append(edge, parent)
			}
		}
		if len(t.parents) == 0 {
			edge = append(edge, "")
		}
	}
	if len(edge) != 1 || edge[0] == "" {
		return &ErrRewound{Commits: g.gone}
	}
	g.since = edge[0]
	return nil
}

// twigs lists commits with their parents, parents first.
func (c *Checkout) twigs(ctx context.Context, revs ...string) ([]twig, error) {
	out, err := c.tell(ctx, []byte(strings.Join(revs, "\n")+"\n"), "rev-list", "--reverse", "--topo-order", "--parents", "--stdin")
	if err != nil {
		return nil, fmt.Errorf("list commits of %s: %w", revs[0], err)
	}
	var list []twig
	for row := range strings.Lines(string(out)) {
		ids := strings.Fields(row)
		list = append(list, twig{sha: ids[0], parents: ids[1:]})
	}
	return list, nil
}

// start is the commit that the branch's own changes are told from.
func (g *ground) start() string {
	if g.since != "" {
		return g.since
	}
	return g.fork[0]
}

// merges are the branch's merge commits.
func (g *ground) merges() []twig {
	var list []twig
	for _, t := range g.own {
		if t.isMerge() {
			list = append(list, t)
		}
	}
	return list
}

// attributes writes the .gitattributes of Base that can matter to a file that did change: git merge reads them from a
// working tree, and ours has nothing to do with Base. They decide about merge drivers that git has itself and about what
// is binary; programs that they name are not configured here and do not run.
func (g *ground) attributes(ctx context.Context) error {
	dir, err := os.MkdirTemp(g.c.opt.Temp, "mergexo-attributes-")
	if err != nil {
		return fmt.Errorf("make directory for attributes: %w", err)
	}
	g.files = dir
	names, err := g.where(ctx)
	if err != nil {
		return err
	}
	var ask bytes.Buffer
	for _, name := range names {
		ask.WriteString(g.Base + ":" + name + "\x00")
	}
	out, err := g.c.tell(ctx, ask.Bytes(), "cat-file", "-z", "--batch-check=%(objectname) %(objecttype)")
	if err != nil {
		return fmt.Errorf("look for attributes: %w", err)
	}
	// A name that is not there is repeated with whatever is in it, a newline as well, so each is looked up by its start.
	var ids, at []string
	rest := string(out)
	for _, name := range names {
		if missing := g.Base + ":" + name + " missing\n"; strings.HasPrefix(rest, missing) {
			rest = rest[len(missing):]
			continue
		}
		row, after, _ := strings.Cut(rest, "\n")
		rest = after
		if id, ok := strings.CutSuffix(row, " blob"); ok && isSHA(id) && filepath.IsLocal(name) {
			ids, at = append(ids, id), append(at, name)
		}
	}
	return g.writeAttributes(ctx, ids, at)
}

func (g *ground) writeAttributes(ctx context.Context, ids, names []string) error {
	i := 0
	err := g.c.contents(ctx, ids, func(_ string, content io.Reader) error {
		text, err := io.ReadAll(content)
		file := filepath.Join(g.files, filepath.FromSlash(names[i]))
		i++
		return errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, text, 0o600))
	})
	if err != nil {
		return fmt.Errorf("read attributes of %s: %w", g.Base, err)
	}
	return nil
}

// where lists the paths at which attributes may stand for what the branch changed, and for what the base has added, where
// a file that it renamed may be.
func (g *ground) where(ctx context.Context) ([]string, error) {
	fork := g.start()
	dirs := map[string]bool{".": true}
	for _, side := range []struct{ tip, filter string }{{g.Head, "ACDMRT"}, {g.Base, "A"}} {
		if side.tip == fork {
			continue
		}
		out, err := g.c.ask(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter="+side.filter, fork, side.tip)
		if err != nil {
			return nil, fmt.Errorf("list changed files: %w", err)
		}
		for _, file := range fields(out) {
			for dir := path.Dir(file); !dirs[dir]; dir = path.Dir(dir) {
				dirs[dir] = true
			}
		}
	}
	var names []string
	for dir := range dirs {
		names = append(names, path.Join(dir, ".gitattributes"))
	}
	slices.Sort(names)
	return names, nil
}
