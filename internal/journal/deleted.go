package journal

import (
	"slices"

	"github.com/mergexo/mergexo/internal/model"
)

// deleted notes the comments of ours that somebody else deleted. What an operator pardoned since is over, and each receipt that was
// restored since tells of one of them.
func (f *fold) deleted(scope Scope) {
	st := &f.st
	for _, d := range scope.Deletions {
		if scope.ours(d.Author.Login) && !scope.ours(d.By.Login) && d.At.After(f.pardon.At) {
			st.Deleted = append(st.Deleted, model.Distrust{Editor: d.By.Login, Spoilt: true, Deleted: true, At: d.At})
		}
	}
	for _, t := range f.done {
		at := slices.IndexFunc(st.Deleted, func(d model.Distrust) bool { return !d.At.After(t.At) })
		if t.Marker.Restored && at >= 0 {
			st.Deleted = slices.Delete(st.Deleted, at, at+1)
		}
	}
}
