package journal

import (
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

var commandMarkers = markers[model.CommandMarker]{
	kind:    KindCommand,
	place:   func(m *model.CommandMarker) (*string, *int) { return &m.Repo, &m.Number },
	answers: func(m *model.CommandMarker) (string, model.Verdict) { return m.Key, m.Result },
	once:    always[model.CommandMarker],
	take: func(f *fold, cm model.Comment, m *model.CommandMarker) {
		if mark := (model.Mark{At: m.At, ID: m.Seen}); m.Seen != 0 && !mark.At.Before(f.seen.At) {
			f.seen = mark
		}
		if m.Result == model.Applied && (m.About == 0 || m.About == m.Number) {
			f.command(cm, m)
		}
	},
	describe: func(e *model.LogEntry, m model.CommandMarker) {
		e.State, e.By, e.What = string(m.Result), m.By, "answered /mergexo "+m.Command
	},
}

// command folds in an operator's command; its reply is what makes it take effect.
func (f *fold) command(cm model.Comment, m *model.CommandMarker) {
	st := &f.st
	switch m.Command {
	case "pause":
		first(&st.Paused, *m, cm)
	case "resume":
		st.Paused, st.Resumed = nil, m.At
	case "release":
		first(&st.Released, *m, cm)
	case "delegate":
		st.Delegates = append(slices.DeleteFunc(st.Delegates, func(d model.Delegate) bool { return strings.EqualFold(d.Login, m.Login) }), model.Delegate{Login: m.Login, At: m.At})
	case "delegate cancel":
		st.Delegates = []model.Delegate{} // which a receipt says, unlike nil
	case "merge cancel":
		f.cancel(m)
	case "retry":
		st.Turns = withoutFailed(st.Turns)
		f.retry(cm)
	}
}
