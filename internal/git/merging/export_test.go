package merging

import (
	"context"
)

// Falsify changes what a strategy builds, until restore is called.
func Falsify(name string, change func(*Merged)) (restore func()) {
	was := strategies[name]
	wrong := was
	wrong.build = func(ctx context.Context, g *input) (Merged, error) {
		made, err := was.build(ctx, g)
		if err == nil {
			change(&made)
		}
		return made, err
	}
	strategies[name] = wrong
	return func() { strategies[name] = was }
}
