package command

import "github.com/mergexo/mergexo/internal/markdown"

// retry resets the failed attempts, so that pending work is tried as if for the first time.
func retry(c Case) Answer {
	if a, ok := c.tracked(); !ok {
		return a
	}
	for _, g := range c.Gates {
		if g.Met {
			continue
		}
		if c.State.Block != nil {
			return c.reject("Pull request %d is %s. `/mergexo unblock` ends the block.", c.Target.Pull.Number, markdown.Plain(g.Evidence))
		}
		return c.reject("Nothing can be retried now: %s.", markdown.Plain(g.Evidence))
	}
	if c.Status.Pending == 0 && c.Status.Failed == 0 {
		return c.reject("There is nothing to retry: all feedback on pull request %d is answered.", c.Target.Pull.Number)
	}
	return c.apply("**Trying again.** Failed attempts no longer count, and %s handled now.", pending(c.Status.Pending))
}

func pending(n int) string {
	if n == 1 {
		return "1 pending comment is"
	}
	return markdown.Count(n, "pending comment") + " are"
}
