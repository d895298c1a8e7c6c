package engine

import (
	"github.com/mergexo/mergexo/internal/engine/effect"
)

// DryRun has the engine tell what a run would do, if that is wanted, and do nothing.
func (e *Engine) DryRun(wanted bool) {
	if wanted {
		e.Effects, e.Log = effect.NewDry(), effect.Quiet(e.Log)
	}
}

// Probe has the engine end its run before it does anything. The Probe tells what that would have been.
func (e *Engine) Probe() *effect.Probe {
	p := &effect.Probe{}
	e.Effects, e.Git.Opening, e.Log = p, p.Opening, effect.Quiet(e.Log)
	return p
}
