package journal

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// Log lists what MergeXO did on one number, the newest first: an entry for each comment with a marker that counts. Unlike Fold it
// leaves out nothing that was later superseded, and counts no block as lifted.
func (c Codec) Log(comments []model.Comment, scope Scope) []model.LogEntry {
	var out []model.LogEntry
	days := map[string]float64{} // what was spent so far, by day
	for _, cm := range inOrder(Attribute(comments, scope)) {
		said, ok := new(fold).trusted(c, cm, scope)
		if !ok || said.kind == nil {
			continue
		}
		e := model.LogEntry{At: cm.UpdatedAt, Began: cm.CreatedAt, Number: scope.Number, URL: cm.URL}
		said.kind.log(&e, said.marker)
		if spent := said.kind.account(said.marker); spent != nil {
			if e.CostUSD == 0 {
				e.CostUSD = max(0, spent.CostUSD-days[spent.Day])
			}
			days[spent.Day] = max(days[spent.Day], spent.CostUSD)
		}
		out = append(out, e)
	}
	slices.Reverse(out) // of several in one second, the newest comment first
	SortLog(out)
	return out
}

// SortLog puts the newest entries first.
func SortLog(entries []model.LogEntry) {
	slices.SortStableFunc(entries, func(a, b model.LogEntry) int {
		return cmp.Or(b.At.Compare(a.At), b.Began.Compare(a.Began), cmp.Compare(b.Number, a.Number))
	})
}

// reason is a reason of a block or a stop in words.
func reason(code string) string { return strings.ReplaceAll(code, "_", " ") }

// firstLine is the first line of a text that has anything in it.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}
