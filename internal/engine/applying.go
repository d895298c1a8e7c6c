package engine

import (
	"github.com/mergexo/mergexo/internal/engine/effect"
)

// Applier carries effects out, or only tells them in a dry run.
func Applier(dry bool) effect.Applier {
	if dry {
		return effect.NewDry()
	}
	return effect.Live{}
}
