package journal

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/model"
)

var externalMarkers = markers[model.ExternalMarker]{
	kind:  KindExternal,
	place: func(m *model.ExternalMarker) (*string, *int) { return &m.Repo, &m.Number },
	check: checkExternal,
	take:  (*fold).external,
	describe: func(e *model.LogEntry, m model.ExternalMarker) {
		e.State, e.SHA, e.By, e.Why, e.RunURL = string(m.State), cmp.Or(m.Tip, m.Head), m.By, firstLine(m.Reason), m.RunURL
		e.What = "fork's pull request: " + m.State.Words()
	},
}

func checkExternal(m *model.ExternalMarker) error {
	switch m.State {
	case model.ExternalLinked, model.ExternalLetIn, model.ExternalFix, model.ExternalWanting, model.ExternalRejected, model.ExternalVoid, model.ExternalFailed:
	case model.ExternalApproved:
		if m.Mirror == "" || m.Tip == "" {
			return errors.New("state approved without a mirror or its tip")
		}
	case model.ExternalLanded:
		if len(m.Landed) == 0 {
			return errors.New("state landed without commits")
		}
	default:
		return fmt.Errorf("state %q is unknown", m.State)
	}
	if !isSHA(m.Head) {
		return fmt.Errorf("head %q is no commit's id", m.Head)
	}
	for _, one := range []struct{ name, sha string }{{"tip", m.Tip}, {"next", m.Next}, {"moved", m.Moved}} {
		if one.sha != "" && !isSHA(one.sha) {
			return fmt.Errorf("%s %q is no commit's id", one.name, one.sha)
		}
	}
	for _, c := range m.Landed {
		if !isSHA(c.SHA) {
			return fmt.Errorf("landed %q is no commit's id", c.SHA)
		}
	}
	if m.At.IsZero() || m.By == "" && m.State != model.ExternalLinked || m.Base == "" {
		return errors.New("it does not say who put the label on, when or for which base")
	}
	return nil
}

// external folds in one state of an admitted fork pull request. A state that notifies people is a new comment that replaces
// the open one; a second run's report of the same start or end does not. A later move of the head is recorded beside the
// decision, whose reasons stay. The newest entry belongs to the newest label, whenever it ended.
func (f *fold) external(cm model.Comment, m *model.ExternalMarker) {
	st := &f.st
	at := len(st.Externals) - 1
	for at >= 0 && (st.Externals[at].Marker.Head != m.Head || !st.Externals[at].Marker.At.Equal(m.At)) {
		at--
	}
	if at >= 0 {
		switch earlier := st.Externals[at]; {
		case earlier.Marker.Open() && m.State != model.ExternalLetIn && m.State != model.ExternalLinked:
			f.surplus(earlier.CommentID)
			st.Externals = slices.Delete(st.Externals, at, at+1)
		case earlier.Marker.State == model.ExternalLinked && m.State != model.ExternalLinked:
		case !earlier.Marker.Open() && earlier.Marker.State != model.ExternalVoid && m.State == model.ExternalVoid:
		default:
			f.surplus(cm.ID)
			return
		}
	}
	st.Externals = append(st.Externals, *place(*m, cm))
	slices.SortStableFunc(st.Externals, func(a, b model.Posted[model.ExternalMarker]) int { return a.Marker.At.Compare(b.Marker.At) })
}
