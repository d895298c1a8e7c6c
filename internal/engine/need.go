package engine

import (
	"errors"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/needs"
)

// tellNeed puts what waits for a person into the report of a run that could not go on without one.
func (p *topics) tellNeed(ended error) {
	s := (*thread.Stop)(nil)
	if !errors.As(ended, &s) || s.Result != model.ResultBlocked || s.Merge { // a merge has told it
		return
	}
	if p.Snap.IsPull() {
		p.Report.Need = p.PullStatus(nil).Need
	} else if n := len(p.State.Flows); n > 0 && p.State.Flows[n-1].Marker.Status == model.PhaseWaiting {
		p.Report.Need = needs.OfIssue(p.Snap.Issue().Title, p.State.Flows[n-1])
	}
}
