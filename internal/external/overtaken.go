package external

import "github.com/mergexo/mergexo/internal/model"

// EndedByOthers says that what a label had let in was merged or closed by other hands.
func EndedByOthers(st model.State) bool {
	e, m := st.External(), st.Merge()
	if e == nil || !e.Marker.Open() {
		return false
	}
	return m == nil || !m.Marker.Open() && (m.Marker.State != model.MergeDone || m.Marker.Mirror == "")
}
