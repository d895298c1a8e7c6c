package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/frontmatter"
)

// maxUnionFile is how large a Markdown file may be for its lists to be merged, in bytes.
const maxUnionFile = 16 << 20

// union is no-ff, but for Markdown files with front matter that both sides have and the branch changed: of those the base's
// bytes stay, with what the branch's lists have beyond the base's (frontmatter.Merge).
func union(ctx context.Context, g *ground) (Merged, error) {
	tree, won, err := g.unionTree(ctx)
	if err != nil {
		return Merged{}, err
	}
	return g.join(ctx, tree, won)
}

func (g *ground) unionTree(ctx context.Context) (tree string, won []string, err error) {
	files, err := g.unionFiles(ctx)
	if err != nil {
		return "", nil, err
	}
	found, clean, err := g.merge(ctx, g.Base, g.Head)
	if err != nil {
		return "", nil, fmt.Errorf("merge %s: %w", g.Head, err)
	}
	tree = found.tree
	if !clean {
		if rest := found.without(files); len(rest.stages) > 0 || len(rest.conflicts()) > 0 {
			if tree, won, err = g.settle(ctx, rest, g.Base, g.Head); err != nil {
				return "", nil, g.explain(ctx, err)
			}
		}
	}
	if len(files) == 0 {
		return tree, won, nil
	}
	tree, err = g.c.graft(ctx, tree, files)
	return tree, won, err
}

// without leaves out what is said about some paths alone.
func (f *clash) without(files []stage) *clash {
	ours := func(p string) bool { return slices.ContainsFunc(files, func(at stage) bool { return at.path == p }) }
	rest := &clash{tree: f.tree}
	for _, s := range f.stages {
		if !ours(s.path) {
			rest.stages = append(rest.stages, s)
		}
	}
	for _, s := range f.said {
		if slices.ContainsFunc(s.paths, func(p string) bool { return !ours(p) }) {
			rest.said = append(rest.said, s)
		}
	}
	return rest
}

// unionFiles are the files whose lists are merged, with their new contents.
func (g *ground) unionFiles(ctx context.Context) ([]stage, error) {
	changed, err := g.c.steps(ctx, nil, []string{g.Head, g.start()})
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, s := range changed {
		if isMarkdown(s.Path) && strings.HasPrefix(s.NewMode, "100") {
			paths = append(paths, s.Path)
		}
	}
	slices.Sort(paths)
	ours, err := g.c.entries(ctx, g.Base, paths)
	if err != nil {
		return nil, err
	}
	theirs, err := g.c.entries(ctx, g.Head, paths)
	if err != nil {
		return nil, err
	}
	var both []string
	var ids []string
	for _, p := range paths {
		if strings.HasPrefix(ours[p].mode, "100") {
			both, ids = append(both, p), append(ids, ours[p].id, theirs[p].id)
		}
	}
	texts, err := g.c.texts(ctx, ids, maxUnionFile)
	if err != nil {
		return nil, err
	}
	var files []stage
	for _, p := range both {
		at, err := g.unite(ctx, ours[p], texts[ours[p].id], texts[theirs[p].id])
		if err != nil {
			return nil, err
		}
		if at.mode != "" {
			files = append(files, at)
		}
	}
	return files, nil
}

func isMarkdown(p string) bool {
	return slices.Contains([]string{".md", ".markdown", ".mdown", ".mdx"}, strings.ToLower(path.Ext(p)))
}

// unite merges one file; the answer has no mode when neither side has front matter, so that git merges it as any other.
func (g *ground) unite(ctx context.Context, at stage, base, branch []byte) (stage, error) {
	if !frontmatter.Has(base) && !frontmatter.Has(branch) {
		return stage{}, nil
	}
	text, err := frontmatter.Merge(base, branch, g.UnionFields)
	if err != nil {
		side := "branch"
		if wrong := (*frontmatter.Error)(nil); errors.As(err, &wrong) && wrong.Base {
			side = "base"
		}
		return stage{}, &ErrFrontmatter{Path: at.path, Side: side, Err: err}
	}
	if string(text) == string(base) {
		return at, nil
	}
	out, err := g.c.tell(ctx, text, "hash-object", "-w", "--no-filters", "--stdin")
	if err != nil {
		return stage{}, fmt.Errorf("write %q: %w", at.path, err)
	}
	at.id = line(out)
	return at, nil
}

// texts reads the contents of objects; one that is longer than limit bytes is an error.
func (c *Checkout) texts(ctx context.Context, ids []string, limit int64) (map[string][]byte, error) {
	list := slices.Compact(slices.Sorted(slices.Values(ids)))
	if err := c.fill(ctx, list); err != nil {
		return nil, err
	}
	texts := make(map[string][]byte, len(list))
	err := c.contents(ctx, list, func(id string, content io.Reader) (err error) {
		texts[id], err = io.ReadAll(io.LimitReader(content, limit+1))
		if err == nil && int64(len(texts[id])) > limit {
			err = fmt.Errorf("object %s has over %d bytes", id, limit)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read files: %w", err)
	}
	return texts, nil
}
