package command

import (
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// MergeCancel is the name of `merge cancel` in its receipt; the receipt itself ends the pending request.
const MergeCancel = "merge cancel"

// Found is the result of a command that needs more than our comments.
type Found struct {
	Verdict model.Verdict // Applied, Rejected or Failed
	Text    string
	// Marker is the merge request that the answer creates; nil for none, as after a dry run.
	Marker *model.MergeMarker
	// Request is a pull request whose merge is requested next; 0 for none.
	Request int
	// Review is the review that the answer begins; nil for none.
	Review *model.ReviewMarker
}

// Early answers a merge, a revert or a review that needs no lookups; false: fill in Found first.
func Early(c Case) (Answer, bool) {
	switch {
	case c.Command.Problem != "":
		return Decide(c), true
	case c.Command.Name == "merge" && c.Command.Cancel:
		return c.cancel(), true
	case c.Command.Name == "merge", c.Command.Name == "review":
		a, ok := c.changeable()
		return a, !ok
	case c.Command.Name == "revert":
		a, ok := c.revertible()
		return a, !ok
	}
	return Decide(c), true
}

// merge answers a request to merge, a dry run, or the cancelling of a request.
func merge(c Case) Answer {
	if a, ok := Early(c); ok {
		return a
	}
	return c.found("MergeXO could not determine whether this pull request can be merged")
}

// revert answers a request to undo a merged pull request with another pull request.
func revert(c Case) Answer {
	if a, ok := c.revertible(); !ok {
		return a
	}
	return c.found("MergeXO could not determine what this pull request has merged")
}

// revertible rejects a revert if nothing was merged.
func (c Case) revertible() (Answer, bool) {
	pull, m := c.Target.Pull, c.State.Merge()
	switch {
	case c.Away:
		return c.reject("A person had already taken over by adding a label. Remove the label, then repeat the command."), false
	case pull.State != model.PullMerged && (m == nil || m.Marker.State != model.MergeDone):
		return c.reject("Pull request %d is %s; only what was merged can be reverted.", pull.Number, strings.ToLower(string(pull.State))), false
	}
	return Answer{}, true
}

// cancel withdraws the pending request. That is always allowed: it only stops something.
func (c Case) cancel() Answer {
	m := c.State.Merge()
	switch {
	case m != nil && m.Marker.State == model.MergeDone:
		return c.reject("Pull request %d is already [merged](%s). `/mergexo revert` reverts it.", c.Target.Pull.Number, m.URL)
	case c.Target.Pull.State == model.PullMerged && !c.Facts.Halted:
		return c.reject("Pull request %d is already merged. `/mergexo revert` reverts it.", c.Target.Pull.Number)
	case m == nil || !m.Marker.Open(), m.Marker.Leader != "" && m.Marker.Expired(c.Target.ReadAt):
		return c.reject("No request to merge pull request %d is waiting.", c.Target.Pull.Number)
	case m.Marker.Leader != "":
		return c.reject("This pull request is merged together with others, by the request on %s. Repeat the command there.", m.Marker.Leader)
	}
	text := fmt.Sprintf("**Cancelled** the [request](%s) by %s. Nothing was merged.", m.URL, m.Marker.By)
	if m.Marker.State == model.MergeRunning {
		if !c.Facts.Halted {
			return c.reject("The [merge](%s) is running and cannot be stopped now. Once it has landed, `/mergexo revert` reverts it.", m.URL)
		}
		text = fmt.Sprintf("**Cancelled** the rest of the [request](%s) of %s. Anything that has already landed stays.", m.URL, m.Marker.By)
	}
	return Answer{model.Applied, text,
		model.CommandMarker{Key: c.Key, Command: MergeCancel, Result: model.Applied, By: c.By, At: c.At}}
}

// found is the answer that was worked out, or else that this failed.
func (c Case) found(problem string) Answer {
	switch f := c.Found; {
	case f == nil:
		return c.answer(model.Failed, "%s. Nothing was changed. Repeat the command.", problem)
	case f.Marker != nil:
		m := *f.Marker
		m.Command, m.By, m.At = c.Key, c.By, c.At
		return Answer{f.Verdict, f.Text, m}
	case f.Review != nil:
		m := *f.Review
		m.Command, m.By, m.At = c.Key, c.By, c.At
		return Answer{f.Verdict, f.Text, m}
	default:
		return c.answer(f.Verdict, "%s", f.Text)
	}
}
