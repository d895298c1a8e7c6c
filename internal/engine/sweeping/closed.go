package sweeping

import (
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/external"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// dueClosed finds what is due on a pull request that is no longer open: the end of what was begun before.
func (p *reading) dueClosed() *item {
	g := p.item()
	for _, m := range p.State.Requests() {
		if m.Marker.Leader == "" {
			g.due(model.DueMerge, m.At)
		}
	}
	if said := merge.Badge(p.State); said != nil {
		g.due(model.DueMerge, said.At)
	}
	if thread.OwesAnswers(p.Thread) || len(thread.OvertakenTurns(p.Thread)) > 0 {
		g.due(model.DueTurn, g.since)
	}
	if said := p.State.Review(); said != nil && said.Marker.Open() {
		g.due(model.DueReview, said.At)
	}
	if p.State.Conflicts != nil {
		g.due(model.DueSurplus, g.since)
	}
	if external.EndedByOthers(p.State) || external.LabelLeft(thread.ForkFacts(p.Thread, p.MayLetIn)) {
		g.due(model.DueExternal, g.since)
	}
	return g
}
