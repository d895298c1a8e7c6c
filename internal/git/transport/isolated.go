package transport

import (
	"context"
	"fmt"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/relay"
	"github.com/mergexo/mergexo/internal/model"
)

// PublishIsolated is Publish of a branch alone, without a stage or anything to drop, while an agent may be at work as our
// own user.
//
// The errors are those of Publish, with one difference: where the history here is too short to tell whether SHA descends
// from Start, that is *ErrRewind at once, since Deepen may take long. It may be called from another goroutine
// while nothing else of the Checkout is called. The agent can stop git, or end it: give ctx a deadline. It can
// also make git say that it has pushed when it has not: who needs to know asks Remote later. One network operation.
func PublishIsolated(ctx context.Context, c *git.Checkout, p Update) error {
	if !p.valid() || p.Stage != "" || len(p.Drop) > 0 {
		return fmt.Errorf("publish %q: not a branch and commit ids alone", p)
	}
	if err := c.NewOwnDir(); err != nil { // what the agent has left in our git directory could make git lie or fail
		return err
	}
	if p.Start != "" {
		relation, err := history.Relation(ctx, c, p.Start, p.SHA)
		if err == nil && relation != model.Ahead && relation != model.Identical {
			err = &git.ErrRewind{Start: p.Start, SHA: p.SHA, Relation: relation}
		}
		if err != nil {
			return fmt.Errorf("publish: %w", err)
		}
	}
	if err := push(ctx, c, relay.Pushing(p.move())); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return nil
}
