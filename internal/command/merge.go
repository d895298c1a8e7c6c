package command

import (
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// MergeCancel is what the receipt of a `merge cancel` calls the command: by being there it ends the request that waits.
const MergeCancel = "merge cancel"

// Found is what was found out and done for a command that needs more than what our comments add up to.
type Found struct {
	Verdict model.Verdict // Applied, Rejected or Failed
	Text    string
	// Marker is the request to merge that the answer makes; nil for none, as after a dry run.
	Marker *model.MergeMarker
}

// Early answers a merge or a revert for which nothing further has to be found out; false: Found has to be filled in first.
func Early(c Case) (Answer, bool) {
	switch {
	case c.Command.Problem != "":
		return Decide(c), true
	case c.Command.Name == "merge" && c.Command.Cancel:
		return c.cancel(), true
	case c.Command.Name == "merge":
		a, ok := c.changeable()
		return a, !ok
	case c.Command.Name == "revert":
		a, ok := c.revertible()
		return a, !ok
	}
	return Decide(c), true
}

// merge asks for the pull request to be merged, for what would happen, or for a request to be taken back.
func merge(c Case) Answer {
	if a, ok := Early(c); ok {
		return a
	}
	return c.found("Whether it can be merged could not be found out")
}

// revert takes back what a pull request has merged, by another pull request.
func revert(c Case) Answer {
	if a, ok := c.revertible(); !ok {
		return a
	}
	return c.found("What it has merged could not be found out")
}

// revertible rejects a revert where nothing was merged.
func (c Case) revertible() (Answer, bool) {
	pull, m := c.Target.Pull, c.State.Merge()
	switch {
	case c.Away:
		return c.reject("This was said while a person had taken over, by label. Once the label is off, give the command again."), false
	case pull.State != model.PullMerged && (m == nil || m.Marker.State != model.MergeDone):
		return c.reject("Pull request %d is %s; only what was merged can be reverted.", pull.Number, strings.ToLower(string(pull.State))), false
	}
	return Answer{}, true
}

// cancel takes back the request that waits. That is always possible: it only stops something.
func (c Case) cancel() Answer {
	m := c.State.Merge()
	switch {
	case m != nil && m.Marker.State == model.MergeDone:
		return c.reject("Pull request %d is [merged](%s) already. `/mergexo revert` takes back what it put on its base.", c.Target.Pull.Number, m.URL)
	case c.Target.Pull.State == model.PullMerged:
		return c.reject("Pull request %d is merged already. `/mergexo revert` takes back what it put on its base.", c.Target.Pull.Number)
	case m == nil || !m.Marker.Open():
		return c.reject("No request to merge pull request %d is waiting.", c.Target.Pull.Number)
	}
	if m.Marker.State == model.MergeRunning {
		return c.reject("The [merge](%s) is under way, and is not stopped half-way. Once it is done, `/mergexo revert` takes it back.", m.URL)
	}
	return Answer{model.Applied, fmt.Sprintf("The [request](%s) by %s is taken back. Nothing was changed.", m.URL, m.Marker.By),
		model.CommandMarker{Key: c.Key, Command: MergeCancel, Result: model.Applied, By: c.By, At: c.At}}
}

// found is the answer that was found out, or without one that it could not be.
func (c Case) found(problem string) Answer {
	switch f := c.Found; {
	case f == nil:
		return c.answer(model.Failed, "%s. Nothing was changed; give the command again.", problem)
	case f.Marker != nil:
		m := *f.Marker
		m.Command, m.By, m.At = c.Key, c.By, c.At
		return Answer{f.Verdict, f.Text, m}
	default:
		return c.answer(f.Verdict, "%s", f.Text)
	}
}
