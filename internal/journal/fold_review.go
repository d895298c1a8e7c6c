package journal

import "github.com/mergexo/mergexo/internal/model"

// review folds in a review that was asked for. A turn may be under way beside it, so neither count of the day's cost is taken
// for the whole.
func (f *fold) review(cm model.Comment, m *model.ReviewMarker) {
	st := &f.st
	st.Reviews = append(st.Reviews, *place(*m, cm))
	switch {
	case m.Spent == nil || m.Spent.Day < st.Spent.Day:
	case m.Spent.Day > st.Spent.Day:
		st.Spent = *m.Spent
	default:
		st.Spent.Turns, st.Spent.CostUSD = max(st.Spent.Turns, m.Spent.Turns), max(st.Spent.CostUSD, m.Spent.CostUSD)
	}
}
