package sweeping

import (
	"strings"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/external"
	"github.com/mergexo/mergexo/internal/model"
)

// dueReview finds a review that a run has left, and a label that asks for one, which counts like a command.
func (p *reading) dueReview(g *item) {
	if said := p.State.Review(); said != nil && said.Marker.Open() {
		g.due(model.DueReview, said.At)
	}
	if p.Settings.Review.Auto != config.AutoLabel {
		return
	}
	if change, on := external.LabelledBy(p.Snap.Pull, p.Settings.Review.Label); on && !change.By.Bot {
		g.commanders = append(g.commanders, strings.ToLower(change.By.Login))
	}
}
