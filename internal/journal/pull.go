package journal

import "github.com/mergexo/mergexo/internal/model"

var pullMarkers = markers[model.PRMarker]{
	kind:    KindPR,
	place:   func(m *model.PRMarker) (*string, *int) { return &m.Repo, &m.Number },
	answers: func(m *model.PRMarker) (string, model.Verdict) { return m.Command, model.Applied },
	once:    always[model.PRMarker],
	take:    (*fold).track,
	describe: func(e *model.LogEntry, m model.PRMarker) {
		e.State, e.SHA, e.By, e.What = "tracked", m.Head, m.By, "follows the pull request"
	},
}

var settingsMarkers = markers[model.SettingsMarker]{
	kind:   KindSettings,
	place:  func(m *model.SettingsMarker) (*string, *int) { return &m.Repo, &m.Number },
	once:   always[model.SettingsMarker],
	recall: whole[model.SettingsMarker],
	take:   func(f *fold, cm model.Comment, _ *model.SettingsMarker) { f.warned = append(f.warned, cm) },
	describe: func(e *model.LogEntry, _ model.SettingsMarker) {
		e.State, e.What = "invalid", "reported settings that cannot be used"
	},
}

// track takes a marker that starts tracking: the first one, or the one that ends a release and starts over at its head.
func (f *fold) track(cm model.Comment, m *model.PRMarker) {
	st := &f.st
	switch {
	case st.Released != nil || !m.AwayFrom.IsZero(): // the release may be in comments not read
		if !m.AwayFrom.IsZero() && !m.At.IsZero() {
			st.Away = append(st.Away, model.Span{From: m.AwayFrom, To: m.At})
		}
		f.lift(model.EndUnblocked, m.By)
		st.Released, st.Paused = nil, nil
		f.rebase(cm, m.Head, m.Receipt)
		f.pardon, st.Adopted = model.Mark{At: cm.CreatedAt, ID: cm.ID}, m.At
		f.abandon(m.Head)
		st.Tracked = place(*m, cm)
	case !first(&st.Tracked, *m, cm) && m.Command == "": // else an operator's command lost a race with another run's marker
		f.surplus(cm.ID)
	}
	if st.Accepted == "" {
		st.Accepted = m.Head
	}
}
