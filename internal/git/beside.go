package git

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/mergexo/internal/model"
)

// PublishBeside is Publish of a branch alone, without a stage or anything to drop, while an agent may be at work as our
// own user. What runs as that user can read the environment, the arguments and the memory of git. So git gets no
// credential: it pushes to a relay in our own process, which has it, adds it, and passes on this one push and no other.
//
// The errors are those of Publish, with one difference: where the history here is too short to tell whether SHA descends
// from Start, that is *ErrRewind at once, since Deepen needs the credential. It may be called from another goroutine
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
	if err := c.pushBeside(ctx, p); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return nil
}

// pushBeside pushes through a relay.
func (c *Checkout) pushBeside(ctx context.Context, p Publish) error {
	one := move{from: p.Start, to: p.SHA, ref: "refs/heads/" + p.Branch}
	if one.from == "" {
		one.from = nowhere
	}
	relay, err := c.relay(ctx, one)
	if err != nil {
		return err
	}
	defer relay.close()
	// Nothing of Options.Network: a proxy is for the real server, and its URL may have a password.
	settings := []setting{
		{"remote.origin.url", relay.address}, {"http.proxy", ""}, {"http.followRedirects", "false"}, {"core.askPass", ""}, {"credential.helper", ""},
	}
	through := func(ctx context.Context, args ...string) ([]byte, error) {
		out, err := c.talk(ctx, nil, nil, settings, args...)
		var failed *Error
		if errors.As(err, &failed) {
			failed.Stderr = c.redact(relay.reword(failed.Stderr))
		}
		return out, err
	}
	return c.pushBy(ctx, through, "--force-with-lease="+one.ref+":"+p.Start, p.SHA+":"+one.ref)
}
