package journal

import (
	"fmt"
	"slices"

	"github.com/mergexo/mergexo/internal/model"
)

func checkExternal(m *model.ExternalMarker) error {
	wrong := func(format string, args ...any) error { return fmt.Errorf("mergexo-external marker: "+format, args...) }
	switch m.State {
	case model.ExternalLinked, model.ExternalLetIn, model.ExternalFix, model.ExternalWanting, model.ExternalRejected, model.ExternalVoid, model.ExternalFailed:
	case model.ExternalApproved:
		if m.Mirror == "" || m.Tip == "" {
			return wrong("state approved without a mirror or its tip")
		}
	case model.ExternalLanded:
		if len(m.Landed) == 0 {
			return wrong("state landed without commits")
		}
	default:
		return wrong("state %q is unknown", m.State)
	}
	if !isSHA(m.Head) {
		return wrong("head %q is no commit's id", m.Head)
	}
	for _, one := range []struct{ name, sha string }{{"tip", m.Tip}, {"next", m.Next}, {"moved", m.Moved}} {
		if one.sha != "" && !isSHA(one.sha) {
			return wrong("%s %q is no commit's id", one.name, one.sha)
		}
	}
	for _, c := range m.Landed {
		if !isSHA(c.SHA) {
			return wrong("landed %q is no commit's id", c.SHA)
		}
	}
	if m.At.IsZero() || m.By == "" && m.State != model.ExternalLinked || m.Base == "" {
		return wrong("it does not say who put the label on, when or for which base")
	}
	return nil
}

func checkConflicts(m *model.ConflictMarker) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("mergexo-conflicts marker: "+format, args...)
	}
	for _, sha := range []string{m.Head, m.BaseSHA} {
		if !isSHA(sha) {
			return wrong("%q is no commit's id", sha)
		}
	}
	if m.Base == "" {
		return wrong("it names no base")
	}
	for _, w := range m.With {
		if w.Number < 1 || !isSHA(w.Head) {
			return wrong("pull request %d with head %q cannot be", w.Number, w.Head)
		}
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

// conflicts takes the sticky comment on conflicts: the first one, so that two racing runs agree.
func (f *fold) conflicts(cm model.Comment, m *model.ConflictMarker) {
	if !first(&f.st.Conflicts, *m, cm) {
		f.surplus(cm.ID)
	}
}

// sticky reports whether a comment was posted as the one on conflicts or on a roadmap, which can be regenerated, so an edit loses
// nothing. If GitHub does not report the original text, it may have been any other comment.
func sticky(cm model.Comment) bool {
	kind := parseTrailer(cm.Posted).kind
	return kind == KindConflicts || kind == KindRoadmap
}
