package command

import (
	"slices"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// FailedMerge is the request to merge that a retry makes again, where the newest one of this head has failed and no turn has; false:
// there is none.
func FailedMerge(c Case) (Case, bool) {
	said, head := c.State.Merge(), c.Target.Pull.HeadSHA
	if c.Command.Name != "retry" || c.Status.Failed > 0 || said == nil || c.Target.Pull.State != model.PullOpen {
		return c, false
	}
	m := said.Marker
	over := m.State != model.MergeFailed || m.Tries() || m.Reason == model.CodeCancelled || m.Reason == model.CodeReplaced
	if over || m.Mirror != "" || m.Leader != "" || m.Head != head && !slices.Contains(m.Tips(), head) {
		return c, false
	}
	if c.Command.Strategy = m.Asked; m.Train != nil {
		c.Command.Train = *m.Train
	}
	return c, true
}

// retry asks again for the merge that failed, or resets the failed attempts, so that pending work is tried as if for the first time.
func retry(c Case) Answer {
	if _, failed := FailedMerge(c); failed {
		if a, ok := c.changeable(); !ok {
			return a
		}
		return c.found("MergeXO could not determine whether this pull request can be merged")
	}
	if a, ok := c.tracked(); !ok {
		return a
	}
	switch g, is := model.Unmet(c.Gates); {
	case is && c.State.Block != nil:
		return c.reject("Pull request %d is %s. `/mergexo unblock` ends the block.", c.Target.Pull.Number, markdown.Plain(g.Evidence))
	case is:
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
