// Package lineage decides what the relation of two heads means for a pull request, whose history may only grow.
package lineage

import "github.com/mergexo/mergexo/internal/model"

// Decision is what a guard says.
type Decision string

// The decisions of a guard.
const (
	Pass  Decision = "pass"
	Block Decision = "block"
	// Resolve: the relation is not known here. It must be found out or tried again later, and is never taken for either answer.
	Resolve Decision = "resolve"
)

// Decide says whether a pull request may go on from a head with this relation to the accepted one.
func Decide(r model.Relation) Decision {
	switch r {
	case model.Identical, model.Ahead:
		return Pass
	case model.Behind, model.Diverged:
		return Block
	}
	return Resolve
}
