package conflicts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/git/mergetree"
)

// maxBad is how many merges may fail by themselves; each costs several processes.
const maxBad = 10

// rules are the attribute files of bases by directory: their IDs, "" for none.
type rules map[string]string

// agrees reports whether both can apply at once.
func (a rules) agrees(b rules) bool {
	for name, id := range b {
		if mine, ok := a[name]; ok && mine != id {
			return false
		}
	}
	return true
}

// mergeAll makes all merges, in one process if the bases' attributes do not contradict each other. The written objects are
// discarded.
func (r *finder) mergeAll(ctx context.Context, list []pair) (err error) {
	if len(list) == 0 {
		return nil
	}
	dir, err := r.c.Temporary("radar")
	if err != nil {
		return fmt.Errorf("make directory for merges: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	all, err := r.rules(ctx, list)
	if err != nil {
		return err
	}
	var groups []rules
	lists := map[int][]pair{}
	group := map[string]int{}
	for _, e := range list {
		at, ok := group[e.head.Base]
		if !ok {
			mine := all[e.head.Base]
			if at = slices.IndexFunc(groups, mine.agrees); at < 0 {
				at, groups = len(groups), append(groups, rules{})
			}
			for name, id := range mine {
				groups[at][name] = id
			}
			group[e.head.Base] = at
		}
		lists[at] = append(lists[at], e)
	}
	for i, files := range groups {
		place := filepath.Join(dir, strconv.Itoa(i))
		if err := mergePlace(ctx, r.c, place, files); err != nil {
			return err
		}
		if err := r.merge(ctx, place, lists[i]); err != nil {
			return err
		}
	}
	return nil
}

// rules finds each base's attributes for the paths that its heads change.
func (r *finder) rules(ctx context.Context, list []pair) (map[string]rules, error) {
	all := map[string]rules{}
	for _, e := range list {
		all[e.head.Base] = rules{".gitattributes": ""}
	}
	for i, h := range r.heads {
		for _, s := range r.touchedPaths(i) {
			name := s.path + ".gitattributes"
			if all[h.Base] != nil && strings.HasSuffix(s.path, "/") && filepath.IsLocal(name) {
				all[h.Base][name] = ""
			}
		}
	}
	for base, files := range all {
		there, err := mergetree.Entries(ctx, r.c, r.Bases[base], slices.Sorted(maps.Keys(files)))
		if err != nil {
			return nil, err
		}
		for name, at := range there {
			if strings.HasPrefix(at.Mode, "100") {
				files[name] = at.Id
			}
		}
	}
	return all, nil
}

// mergePlace makes a directory for temporary objects, with a subdirectory of attribute files only.
func mergePlace(ctx context.Context, c *git.Checkout, place string, files rules) error {
	var ids, names []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if id := files[name]; id != "" {
			ids, names = append(ids, id), append(names, name)
		}
	}
	if err := fetch.Missing(ctx, c, ids); err != nil {
		return err
	}
	if strings.Contains(c.Objects, "\n") {
		return fmt.Errorf("%q cannot be named as an alternate", c.Objects)
	}
	tree, info := filepath.Join(place, "tree"), filepath.Join(place, "objects", "info")
	err := errors.Join(os.MkdirAll(tree, 0o700), os.MkdirAll(info, 0o700), os.WriteFile(filepath.Join(info, "alternates"), []byte(c.Objects+"\n"), 0o600))
	if err != nil {
		return fmt.Errorf("make directory for merges: %w", err)
	}
	i := 0
	err = c.Contents(ctx, ids, func(_ string, content io.Reader) error {
		text, err := io.ReadAll(content)
		file := filepath.Join(tree, filepath.FromSlash(names[i]))
		i++
		return errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, text, 0o600))
	})
	if err != nil {
		return fmt.Errorf("read attributes: %w", err)
	}
	return nil
}

// merge makes merges in one process, and records the conflicts. If git exits at one that it cannot make, the rest is
// bisected until that merge is found and dropped.
func (r *finder) merge(ctx context.Context, place string, list []pair) error {
	pairs := make([][2]string, len(list))
	for i, e := range list {
		pairs[i] = [2]string{e.ours, e.theirs}
	}
	n, err := mergetree.MergeAll(ctx, r.c, filepath.Join(place, "tree"), filepath.Join(place, "objects"), pairs, func(i int, found *mergetree.Result, clean bool) {
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
	if err := r.merge(ctx, place, left[:half]); err != nil {
		return err
	}
	return r.merge(ctx, place, left[half:])
}
