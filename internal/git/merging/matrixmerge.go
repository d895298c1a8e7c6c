package merging

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
)

// maxBad is how many merges may fail by themselves; each costs several processes.
const maxBad = 10

// mergeAll makes all merges, in one process for all bases that have the same attributes. The written objects are discarded.
func (r *finder) mergeAll(ctx context.Context, list []pair) (err error) {
	if len(list) == 0 {
		return nil
	}
	dir, err := r.c.Temporary("radar")
	if err != nil {
		return fmt.Errorf("make directory for merges: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := git.ShareObjects(r.c, filepath.Join(dir, "objects")); err != nil {
		return err
	}
	all, err := r.attributes(ctx, list)
	if err != nil {
		return err
	}
	for i := 0; len(list) > 0; i++ {
		files := all[list[0].head.Base]
		alike, others := []pair(nil), []pair(nil)
		for _, e := range list {
			if maps.Equal(all[e.head.Base], files) {
				alike = append(alike, e)
			} else {
				others = append(others, e)
			}
		}
		tree := filepath.Join(dir, strconv.Itoa(i))
		if err := os.Mkdir(tree, 0o700); err != nil {
			return fmt.Errorf("make directory for merges: %w", err)
		}
		if err := WriteAttributes(ctx, r.c, tree, files); err != nil {
			return err
		}
		if err := r.merge(ctx, filepath.Join(dir, "objects"), tree, alike); err != nil {
			return err
		}
		list = others
	}
	return nil
}

// attributes finds each base's attributes for the paths that its heads change, and fetches what a partial clone lacks of them.
func (r *finder) attributes(ctx context.Context, list []pair) (map[string]map[string]string, error) {
	names := map[string][]string{}
	for _, e := range list {
		names[e.head.Base] = []string{".gitattributes"}
	}
	seen := map[touchedPath]bool{}
	for i, h := range r.heads {
		for _, s := range r.touchedPaths(i) {
			name := s.path + ".gitattributes"
			if names[h.Base] != nil && strings.HasSuffix(s.path, "/") && filepath.IsLocal(name) && !seen[s] {
				names[h.Base], seen[s] = append(names[h.Base], name), true
			}
		}
	}
	all, ids := map[string]map[string]string{}, []string(nil)
	for base := range names {
		slices.Sort(names[base]) // git reads each directory once
		files, err := Attributes(ctx, r.c, r.Bases[base], names[base])
		if err != nil {
			return nil, err
		}
		all[base], ids = files, slices.AppendSeq(ids, maps.Values(files))
	}
	return all, history.FetchMissing(ctx, r.c, slices.Compact(slices.Sorted(slices.Values(ids))))
}

// merge makes merges in one process, and records the conflicts. If git exits at one that it cannot make, the rest is
// bisected until that merge is found and dropped.
func (r *finder) merge(ctx context.Context, objects, tree string, list []pair) error {
	pairs := make([][2]string, len(list))
	for i, e := range list {
		pairs[i] = [2]string{e.ours, e.theirs}
	}
	n, err := MergeAll(ctx, r.c, tree, objects, pairs, func(i int, found *Result, clean bool) {
		if paths := found.Paths(); !clean && len(paths) > 0 {
			r.Conflicts = append(r.Conflicts, Conflict{Number: list[i].head.Number, With: list[i].with, Paths: paths[:min(len(paths), maxConflictPaths)]})
		}
	})
	left := list[n:]
	if err == nil || ctx.Err() != nil || len(left) == 0 || r.bad == maxBad {
		return err
	}
	if len(left) == 1 {
		r.c.Opt.Log.Warn("merge_impossible", "pr_number", left[0].head.Number, "error", err)
		r.bad++
		r.Unlooked++
		return nil
	}
	half := len(left) / 2
	if err := r.merge(ctx, objects, tree, left[:half]); err != nil {
		return err
	}
	return r.merge(ctx, objects, tree, left[half:])
}
