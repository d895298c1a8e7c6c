package sweeping

import (
	"github.com/mergexo/mergexo/internal/command"
	"github.com/mergexo/mergexo/internal/model"
)

// maxAltered is how many edited comments of outsiders a sweep asks GitHub for the first text of. Anybody can edit one on each
// pull request, and each pull request with one costs a call.
const maxAltered = 20

// posted is a query's Posted for a reading that no event came with and nothing was known before.
func (f *scan) posted(s model.Snapshot, c model.Comment) (text string, ask bool) {
	if !command.Altered(c, s, model.Event{}) {
		return "", false
	}
	if !command.Inside(c) {
		f.altered++
	}
	return "", command.Inside(c) || f.altered <= maxAltered
}
