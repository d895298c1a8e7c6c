package sweeping

import (
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// dueReview finds a review that a run has left, and a label that asks for one, which counts like a command.
func (p *reading) dueReview(g *item) {
	held := turn.Held(p.Snap.Pull, p.State, p.Policy) != ""
	if said := p.State.Review(); said != nil && said.Marker.Open() && !(held && said.Marker.ByItself()) {
		g.due(model.DueReview, said.At)
	}
	if held {
		return
	}
	known := func(key string) bool {
		return slices.ContainsFunc(p.State.Reviews, func(s model.Posted[model.ReviewMarker]) bool { return s.Marker.Command == key })
	}
	switch auto := p.Settings.Review.Auto; {
	case auto == config.AutoReady && thread.ReadyLately(p.Snap.Pull, p.Snap.ReadAt) && !known(thread.ReadyToken(p.Event.Number)):
		g.readied = strings.ToLower(p.Snap.Pull.Author.Login)
		return
	case auto != config.AutoLabel:
		return
	}
	if change, on := p.Snap.Pull.LabelledBy(p.Settings.Review.Label); on && !change.By.Bot {
		g.commanders = append(g.commanders, strings.ToLower(change.By.Login))
	}
}
