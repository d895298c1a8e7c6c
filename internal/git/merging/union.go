package merging

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/frontmatter"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
)

// maxUnionFile limits the size of a Markdown file whose lists are merged, in bytes.
const maxUnionFile = 16 << 20

// union is no-ff, except for Markdown files with front matter that both sides have and the branch changed: they keep the
// base's bytes, plus the branch's additions to lists (frontmatter.Merge).
func union(ctx context.Context, g *input) (Merged, error) {
	tree, won, err := unionTree(ctx, g)
	if err != nil {
		return Merged{}, err
	}
	return g.join(ctx, tree, won)
}

func unionTree(ctx context.Context, g *input) (tree string, won []string, err error) {
	files, err := unionFiles(ctx, g)
	if err != nil {
		return "", nil, err
	}
	tree, won, err = g.mergeForBase(ctx, g.Base, g.Head, g.Base, g.Head, files)
	if err != nil || len(files) == 0 {
		return tree, won, g.explain(ctx, err)
	}
	tree, err = git.Retree(ctx, g.c, tree, files)
	return tree, won, err
}

// unionFiles are the files whose lists are merged, with their new contents.
func unionFiles(ctx context.Context, g *input) (map[string]git.Entry, error) {
	changed, err := history.Steps(ctx, g.c, nil, []string{g.Head, g.start()})
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
	ours, err := git.Entries(ctx, g.c, g.Base, paths)
	if err != nil {
		return nil, err
	}
	theirs, err := git.Entries(ctx, g.c, g.Head, paths)
	if err != nil {
		return nil, err
	}
	var both []string
	var ids []string
	for _, p := range paths {
		if ours[p].IsFile() {
			both, ids = append(both, p), append(ids, ours[p].ID(), theirs[p].ID())
		}
	}
	if err := history.FetchMissing(ctx, g.c, slices.Compact(slices.Sorted(slices.Values(ids)))); err != nil {
		return nil, err
	}
	texts, err := g.c.Texts(ctx, ids, maxUnionFile)
	if err != nil {
		return nil, fmt.Errorf("read files: %w", err)
	}
	files := map[string]git.Entry{}
	for _, p := range both {
		if err := unite(g, files, p, ours[p], texts[ours[p].ID()], texts[theirs[p].ID()]); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func isMarkdown(p string) bool {
	return slices.Contains([]string{".md", ".markdown", ".mdown", ".mdx"}, strings.ToLower(path.Ext(p)))
}

// unite merges one file into files, unless neither side has front matter: then git merges it as usual.
func unite(g *input, files map[string]git.Entry, file string, at git.Entry, base, branch []byte) error {
	if !frontmatter.Has(base) && !frontmatter.Has(branch) {
		return nil
	}
	text, err := frontmatter.Merge(base, branch, g.UnionFields)
	if err != nil {
		side := "branch"
		if wrong := (*frontmatter.Error)(nil); errors.As(err, &wrong) && wrong.Base {
			side = "base"
		}
		return &ErrFrontmatter{Path: file, Side: side, Err: err}
	}
	id, err := git.WriteObject(g.c, "blob", text)
	files[file] = git.Entry(at.Mode() + " " + id)
	return err
}
