package merging

import (
	"context"
	"fmt"
	"path"
	"path/filepath"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/model"
)

// attributes makes a directory with Base's relevant .gitattributes: git merge reads them from a working tree, and ours does
// not show Base. They select built-in merge drivers and binary files; programs that they name are not configured and do not
// run.
func (g *input) attributes(ctx context.Context) error {
	dir, err := g.c.Temporary("attributes")
	if err != nil {
		return fmt.Errorf("make directory for attributes: %w", err)
	}
	g.files, g.looked = dir, map[string]bool{}
	changed := []string{".gitattributes"}
	if fork := g.start(); fork != g.Head {
		paths, err := history.ChangedPaths(ctx, g.c, fork, g.Head)
		if err != nil {
			return err
		}
		changed = append(changed, paths...)
	}
	_, err = g.look(ctx, changed)
	return err
}

// merge makes a merge. If it merged contents in a directory that the branch did not change, because the base renamed
// something, it is repeated with that directory's attributes.
func (g *input) merge(ctx context.Context, ours, theirs string) (found *Result, clean bool, err error) {
	files := g.files
	if model.ByGitHub(g.Strategy) { // which reads none
		files = g.c.OwnDir
	}
	for {
		if found, clean, err = Merge(ctx, g.c, files, ours, theirs); err != nil {
			return nil, false, err
		}
		var paths []string
		for _, s := range found.Messages {
			paths = append(paths, s.Paths...)
		}
		if more, err := g.look(ctx, paths); err != nil || !more {
			return found, clean, err
		}
	}
}

// unapplied says that a conflicting path has a merge driver that was not applied: git gets none of the programs that attributes name,
// and GitHub reads no attributes (https://github.com/isaacs/github/issues/487).
func (g *input) unapplied(ctx context.Context, paths []string) string {
	env := g.c.OwnEnv("GIT_WORK_TREE="+g.files, "GIT_INDEX_FILE="+g.c.OwnDir+"/no-index")
	args := append([]string{"check-attr", "-z", "merge", "--"}, paths[:min(len(paths), 200)]...)
	out, _ := g.c.Run(ctx, git.Spec{Dir: g.files, Env: env, Args: git.Safely(args)}) // it only explains
	part := syntax.Fields(out)
	for ; len(part) >= 3; part = part[3:] {
		why := ", and MergeXO runs no such program: merge the base into the branch in a clone that has it"
		switch part[2] {
		case "unspecified", "set", "unset", "text", "binary":
			continue
		case "union":
			if why = ", which GitHub does not apply: merge the base into the branch, or use another strategy"; !model.ByGitHub(g.Strategy) {
				continue
			}
		}
		return fmt.Sprintf("; %q has merge=%s in .gitattributes%s", part[0], syntax.Clean(part[2]), why)
	}
	return ""
}

// look writes the attributes that may stand for these paths, and tells whether there were any that were not there yet.
func (g *input) look(ctx context.Context, paths []string) (bool, error) {
	var names []string
	for _, file := range paths {
		for dir := path.Dir(file); !g.looked[dir]; dir = path.Dir(dir) {
			g.looked[dir] = true
			if name := path.Join(dir, ".gitattributes"); filepath.IsLocal(name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return false, nil
	}
	files, err := Attributes(ctx, g.c, g.Base, names)
	if err != nil || len(files) == 0 {
		return false, err
	}
	return true, WriteAttributes(ctx, g.c, g.files, files)
}
