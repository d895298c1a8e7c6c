package engine

import (
	"context"
	"errors"

	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/model"
)

// kind is what a run does in one way at a pull request and in another at an issue.
type kind interface {
	// takeTurn takes it as far as one turn goes, once its commands are answered. It says whether another look is due.
	takeTurn(ctx context.Context) (again bool, err error)
	// tellWaiting puts into the report what waits there for a person.
	tellWaiting()
	// explain tells why something happens with it, or does not.
	explain(ctx context.Context) (Explanation, error)
}

// kindOf is the kind of what was read.
func kindOf(p *topics) kind {
	if p.Snap.IsPull() {
		return pullTopics{p}
	}
	return issueTopics{p}
}

// tellNeed puts what waits for a person into the report of a run that could not go on without one.
func (p *topics) tellNeed(ended error) {
	s := (*thread.Stop)(nil)
	if errors.As(ended, &s) && s.Result == model.ResultBlocked && !s.Merge { // a merge has told it
		kindOf(p).tellWaiting()
	}
}
