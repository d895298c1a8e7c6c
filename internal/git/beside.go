package git

import (
	"context"
	"fmt"

	"github.com/mergexo/mergexo/internal/model"
)

// PublishBeside is Publish of a branch alone, without a stage or anything to drop, while an agent may be at work as our
// own user.
//
// The errors are those of Publish, with one difference: where the history here is too short to tell whether SHA descends
// from Start, that is *ErrRewind at once, since Deepen may take long. It may be called from another goroutine
// while nothing else of the Checkout is called. The agent can stop git, or end it: give ctx a deadline. It can
// also make git say that it has pushed when it has not: who needs to know asks Remote later. One network operation.
func (c *Checkout) PublishBeside(ctx context.Context, p Publish) error {
	if !p.valid() || p.Stage != "" || len(p.Drop) > 0 {
		return fmt.Errorf("publish %q: not a branch and commit ids alone", p)
	}
	if err := c.renew(); err != nil { // what the agent has left in our git directory could make git lie or fail
		return err
	}
	if p.Start != "" {
		relation, err := c.Relation(ctx, p.Start, p.SHA)
		if err == nil && relation != model.Ahead && relation != model.Identical {
			err = &ErrRewind{Start: p.Start, SHA: p.SHA, Relation: relation}
		}
		if err != nil {
			return fmt.Errorf("publish: %w", err)
		}
	}
	if err := c.push(ctx, pushing(p.move())); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return nil
}
