package merging

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/frontmatter"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/mergetree"
	"github.com/mergexo/mergexo/internal/git/syntax"
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
	tree, err = replaceEntries(ctx, g.c, tree, files)
	return tree, won, err
}

// unionFiles are the files whose lists are merged, with their new contents.
func unionFiles(ctx context.Context, g *input) ([]mergetree.Stage, error) {
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
	ours, err := mergetree.Entries(ctx, g.c, g.Base, paths)
	if err != nil {
		return nil, err
	}
	theirs, err := mergetree.Entries(ctx, g.c, g.Head, paths)
	if err != nil {
		return nil, err
	}
	var both []string
	var ids []string
	for _, p := range paths {
		if strings.HasPrefix(ours[p].Mode, "100") {
			both, ids = append(both, p), append(ids, ours[p].Id, theirs[p].Id)
		}
	}
	texts, err := readTexts(ctx, g.c, ids, maxUnionFile)
	if err != nil {
		return nil, err
	}
	var files []mergetree.Stage
	for _, p := range both {
		at, err := unite(ctx, g, ours[p], texts[ours[p].Id], texts[theirs[p].Id])
		if err != nil {
			return nil, err
		}
		if at.Mode != "" {
			files = append(files, at)
		}
	}
	return files, nil
}

func isMarkdown(p string) bool {
	return slices.Contains([]string{".md", ".markdown", ".mdown", ".mdx"}, strings.ToLower(path.Ext(p)))
}

// unite merges one file; the result has no mode if neither side has front matter, so that git merges it as usual.
func unite(ctx context.Context, g *input, at mergetree.Stage, base, branch []byte) (mergetree.Stage, error) {
	if !frontmatter.Has(base) && !frontmatter.Has(branch) {
		return mergetree.Stage{}, nil
	}
	text, err := frontmatter.Merge(base, branch, g.UnionFields)
	if err != nil {
		side := "branch"
		if wrong := (*frontmatter.Error)(nil); errors.As(err, &wrong) && wrong.Base {
			side = "base"
		}
		return mergetree.Stage{}, &ErrFrontmatter{Path: at.Path, Side: side, Err: err}
	}
	if string(text) == string(base) {
		return at, nil
	}
	out, err := g.c.Tell(ctx, text, "hash-object", "-w", "--no-filters", "--stdin")
	if err != nil {
		return mergetree.Stage{}, fmt.Errorf("write %q: %w", at.Path, err)
	}
	at.Id = syntax.Line(out)
	return at, nil
}

// readTexts reads the contents of objects; one longer than limit bytes is an error.
func readTexts(ctx context.Context, c *git.Checkout, ids []string, limit int64) (map[string][]byte, error) {
	list := slices.Compact(slices.Sorted(slices.Values(ids)))
	if err := fetch.Missing(ctx, c, list); err != nil {
		return nil, err
	}
	texts := make(map[string][]byte, len(list))
	err := c.Contents(ctx, list, func(id string, content io.Reader) (err error) {
		texts[id], err = io.ReadAll(io.LimitReader(content, limit+1))
		if err == nil && int64(len(texts[id])) > limit {
			err = fmt.Errorf("object %s has over %d bytes", id, limit)
		}
		return err
	})
	return texts, git.Wrap(err, "read files")
}
