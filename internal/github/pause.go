package github

import (
	"context"
	"time"
)

// Pause waits for d, or until ctx ends, whose error it then returns. It is the one way to wait for something that somebody
// else does to what GitHub holds.
func (c *Client) Pause(ctx context.Context, d time.Duration) error { return c.conn.sleep(ctx, d) }
