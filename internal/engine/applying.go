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
