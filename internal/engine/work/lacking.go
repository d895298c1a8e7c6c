package work

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/syntax"
	"github.com/mergexo/mergexo/internal/model"
)

// lacking is what commits need beside themselves and no push of ours brings: commits of submodules, and contents that belong in Git
// LFS, of which GitHub refuses the pointers (GH008, https://github.com/git-lfs/git-lfs/issues/3231).
func lacking(ctx context.Context, c *git.Checkout, base string, steps, pointers []history.Step) (found finding, err error) {
	last, ids := map[string]history.Step{}, map[string]string{}
	for _, s := range steps {
		last[s.Path] = s
		if s.OldMode == git.ModeSubmodule && s.NewMode == git.ModeSubmodule && found.Detail == "" {
			if found.Detail, err = history.SubmoduleLacks(ctx, c, base, s.Path, s.Id); err != nil {
				return finding{}, err
			}
		}
	}
	filtered, err := checkout.FilteredByLFS(ctx, c, slices.Sorted(maps.Keys(last)))
	if err != nil {
		return finding{}, err
	}
	for _, path := range filtered { // whole contents, if there was no filter
		if s := last[path]; s.IsBlob() && s.NewMode != git.ModeSymlink && s.Size > 0 {
			ids[s.Id] = path
		}
	}
	for _, s := range pointers {
		if ids[s.Id] = s.Path; last[s.Path].Id == s.Id {
			found.pointers = append(found.pointers, s.Path)
		}
	}
	missing, err := history.Lacking(ctx, c, slices.Sorted(maps.Keys(ids)))
	for i, id := range missing {
		missing[i] = ids[id]
	}
	if slices.Sort(missing); len(missing) > 0 {
		found.Detail = strings.Join(missing, ", ") + ": the content belongs in Git LFS, and MergeXO uploads nothing there; add and push it from a clone with Git LFS"
	}
	if found.Detail != "" {
		found.Reason = model.ReasonForbidden
	}
	return found, err
}

// withContents puts whole files of the checkout on top of work, in place of their pointers: nobody else has the contents.
func withContents(ctx context.Context, w *Work, head string, pointers []string) string {
	made, err := checkout.Unfiltered(ctx, w.Checkout, head, pointers, "Have whole files in place of pointers\n\nOnce they are added in a clone with Git LFS, they are pointers again.")
	if err == nil && made != head {
		var found finding
		if found, _, err = Inspect(ctx, w, Base(w), made); err == nil && !found.nowhere {
			return made
		}
	}
	Note(w, "the bundle has only pointers in place of "+strings.Join(pointers, ", "))
	return head
}

// TellInside tells people what the agent changed inside submodules that is not part of what is pushed.
func TellInside(ctx context.Context, w *Work, pushed string) {
	inside, err := checkout.ChangedInSubmodules(ctx, w.Checkout, pushed)
	if err != nil {
		w.Log.Warn("submodules_not_looked_at", w.NumberKey(), w.Event.Number, "turn_key", w.Marker.Key, "error", err)
	}
	if len(inside) > 0 {
		Note(w, "changes inside submodules were not pushed, since they belong to other repositories: "+syntax.Quoted(inside))
	}
}
