package roadmap

import (
	"slices"

	"github.com/mergexo/mergexo/internal/model"
)

// Told reports whether a roadmap's comment tells the issue of an item.
func Told(entries []model.RoadmapEntry, key string) bool {
	return slices.ContainsFunc(entries, func(e model.RoadmapEntry) bool { return e.Key == key && e.Issue != 0 })
}

// Remember adds to the items that were found, by their keys, what a roadmap's comment says about them.
func Remember(found map[string]Fact, entries []model.RoadmapEntry) {
	for _, e := range entries {
		f, there := found[e.Key]
		switch {
		case !there && (e.Issue != 0 || e.State == model.ItemFailed): // deleted, transferred, or somebody took the end of its text away
			f = Fact{Key: e.Key, Title: e.Key, Issue: e.Issue, Gone: true}
		case !there:
			continue
		case e.State == model.ItemRunning || e.State == model.ItemDone || e.Pull != 0: // it has begun, whatever its labels are now
			f.Labelled = true
		}
		f.Pull, f.Kept = e.Pull, e.Closed && !f.Closed
		found[e.Key] = f
	}
}
