package transport

import (
	"context"
	"fmt"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
)

// PublishIsolated is Publish of a branch alone, without a stage or deletions, while an agent may run as our own user.
//
// Errors are those of Publish, except that it returns *ErrRewind at once if the history here is too short to tell, since
// Deepen may take long. It may be called from another goroutine while no other call on the Checkout runs. The agent can
// stop or end git: give ctx a deadline. It can also fake a successful push: call Remote later if that matters. One network
// operation.
func PublishIsolated(ctx context.Context, c *git.Checkout, p Update) error {
	if !p.valid() || p.Stage != "" || len(p.Drop) > 0 {
		return fmt.Errorf("publish %q: not a branch and commit ids alone", p)
	}
	if err := git.NewOwnDir(c); err != nil { // the agent may have tampered with our git directory
		return err
	}
	if p.Start != "" {
		relation, err := history.Relation(ctx, c, p.Start, p.SHA)
		if err = grows(p.Start, p.SHA, relation, err); err != nil {
			return fmt.Errorf("publish: %w", err)
		}
	}
	return git.Wrap(push(ctx, c, p.move()), "publish")
}
